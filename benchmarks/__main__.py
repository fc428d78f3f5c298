"""Run the benchmarks and write what they found.

    python -m benchmarks [--smoke] [--large] [NAME ...]

A full run replaces its sections of benchmarks/RESULTS.md; a smoke run only shows that everything still runs.
"""

from __future__ import annotations

import argparse

import benchmarks.adjustment
import benchmarks.assessment
import benchmarks.audit
import benchmarks.combined
import benchmarks.fingerprints
import benchmarks.intervals
import benchmarks.respondents
import benchmarks.rounding
import benchmarks.start
import benchmarks.suppression
import benchmarks.tabulation  # noqa: F401  (importing registers)
from benchmarks.registry import BENCHMARKS
from benchmarks.results import PAGE, page, section, table


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(BENCHMARKS)} (all)")
    parser.add_argument("--smoke", action="store_true", help="only see whether everything still runs")
    parser.add_argument("--large", action="store_true", help="with the largest tables")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in BENCHMARKS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    smoke = asked.smoke
    for name in asked.names or BENCHMARKS:
        print(f"{name} ...", flush=True)
        rows = BENCHMARKS[name](smoke=smoke)
        print(table(rows), flush=True)
        if name == "fingerprints":  # they have a file of their own
            if not all(row.met for row in rows):
                parser.exit(1, "Results have changed: say why in CHANGELOG.md, under Results may differ.\n")
        elif not smoke:
            PAGE.write_text(page(PAGE.read_text("utf-8"), {name: section(name, rows)}, BENCHMARKS), encoding="utf-8")
            print(f"written to {PAGE.name}")


if __name__ == "__main__":
    main()
