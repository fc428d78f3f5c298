"""The page of results: a section a benchmark, each with the circumstances of its own last full run."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from benchmarks.registry import Row

_FOLDER = Path(__file__).parent
PAGE = _FOLDER / "RESULTS.md"
_PACKAGES = ("celosia", "duckdb", "highspy", "numba", "numpy", "pyarrow", "scipy")
_MET = {True: "met", False: "**not met**", None: ""}
_HEAD = """\
# Benchmark results

A section is what `python -m benchmarks NAME` last measured (`make bench` runs all). The same draws on every machine;
what is compared is measured in the same run. CPU seconds unless it says otherwise.
"""


def table(rows: Iterable[Row]) -> str:
    """Return rows as a table."""
    lines = ["| what | target | measured | |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {row.what} | {row.target} | {row.measured} | {_MET[row.met]} |" for row in rows])


def section(name: str, rows: Iterable[Row]) -> str:
    """Return what a benchmark found here and now, with its picture where it draws one."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    versions = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    where = f"{today}, {platform.machine()} with {os.cpu_count()} cores, load average {load} at the end."
    picture = f"{name}.svg"
    drawn = ["", f"![{name}]({picture})"] if (_FOLDER / picture).exists() else []
    return "\n".join([where, f"Python {platform.python_version()}, {versions}.", "", table(rows), *drawn])


def _section(text: str, name: str) -> str:
    return f"\n{text}\n## ".partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def rows_of(text: str, name: str) -> list[Row]:
    """Return the rows of a section of a page, none where there is no such section."""
    met = {word: value for value, word in _MET.items()}
    lines = _section(text, name).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [Row(what, target, measured, met[word]) for what, target, measured, word in cells[1:]]


def circumstances_of(text: str, name: str) -> str:
    """Return when and where a section was measured, empty where there is no such section."""
    return _section(text, name).strip().partition("\n\n")[0]


def replace_rows(text: str, name: str, rows: Iterable[Row]) -> list[Row]:
    """Return the rows of a section with some replaced, and new ones below those that begin with the same word."""
    groups: dict[str, dict[str, list[Row]]] = {}
    for part in (rows_of(text, name), rows):
        new: dict[str, list[Row]] = {}
        for row in part:
            new.setdefault(row.what, []).append(row)
        for what, found in new.items():
            groups.setdefault(what.partition(",")[0], {})[what] = found
    return [row for group in groups.values() for found in group.values() for row in found]


def page(old: str, new: Mapping[str, str], order: Iterable[str]) -> str:
    """Return a page with some sections replaced, the others kept, in the given order; unknown ones are dropped."""
    parts = dict(part.split("\n", 1) for part in f"\n{old}".split("\n## ")[1:])
    texts = {name: text.strip() for name, text in parts.items()} | dict(new)
    return "\n".join([_HEAD, *(f"## {name}\n\n{texts[name]}\n" for name in order if name in texts)])
