"""Run the benchmarks and write the table of results.

    python -m benchmarks [--smoke] [--large] [NAME ...]

A full run replaces benchmarks/RESULTS.md; a smoke run only shows that everything still runs.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import benchmarks.assessment
import benchmarks.tabulation  # noqa: F401  (importing registers)
from benchmarks.registry import BENCHMARKS, Row

_RESULTS = Path(__file__).parent / "RESULTS.md"
_PACKAGES = ("celosia", "duckdb", "numba", "numpy", "pyarrow", "scipy")


def main() -> None:
    """Run what was asked for."""
    smoke = "--smoke" in sys.argv
    names = [word for word in sys.argv[1:] if not word.startswith("--")] or list(BENCHMARKS)
    rows: list[Row] = []
    for name in names:
        print(f"{name} ...", flush=True)
        rows += BENCHMARKS[name](smoke)
    text = "\n".join(_table(rows))
    print(text)
    if not smoke and set(names) == set(BENCHMARKS):
        _RESULTS.write_text("\n".join([*_head(), text, "", "![scaling](tabulation.svg)", ""]), encoding="utf-8")
        print(f"written to {_RESULTS.name}")


def _table(rows: list[Row]) -> list[str]:
    met = {True: "met", False: "**not met**", None: ""}
    lines = ["| what | target | measured | |", "|---|---|---|---|"]
    return lines + [f"| {row.what} | {row.target} | {row.measured} | {met[row.met]} |" for row in rows]


def _head() -> list[str]:
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    return [
        "# Benchmark results",
        "",
        f"`make bench` of {today} on {platform.machine()} with {os.cpu_count()} cores, load average {load} at the end.",
        f"Python {platform.python_version()}, {versions}.",
        "The same draws on every machine; what is compared is measured",
        "in the same run, each in a process of its own. CPU seconds unless it says otherwise.",
        "",
    ]


if __name__ == "__main__":
    main()
