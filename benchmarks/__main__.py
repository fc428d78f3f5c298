"""Run the benchmarks and write what they found.

    python -m benchmarks [--smoke] [--large] [NAME ...]

A full run replaces its sections of benchmarks/RESULTS.md; a smoke run only shows that everything still runs.
"""

from __future__ import annotations

import sys

import benchmarks.adjustment
import benchmarks.assessment
import benchmarks.audit
import benchmarks.combined
import benchmarks.intervals
import benchmarks.respondents
import benchmarks.rounding
import benchmarks.suppression
import benchmarks.tabulation  # noqa: F401  (importing registers)
from benchmarks.registry import BENCHMARKS
from benchmarks.results import PAGE, page, section, table


def main() -> None:
    """Run what was asked for."""
    smoke = "--smoke" in sys.argv
    names = [word for word in sys.argv[1:] if not word.startswith("--")] or list(BENCHMARKS)
    for name in names:
        print(f"{name} ...", flush=True)
        rows = BENCHMARKS[name](smoke=smoke)
        print(table(rows), flush=True)
        if not smoke:
            PAGE.write_text(page(PAGE.read_text("utf-8"), {name: section(name, rows)}, BENCHMARKS), encoding="utf-8")
            print(f"written to {PAGE.name}")


if __name__ == "__main__":
    main()
