"""Run the benchmarks and write what they found.

    python -m benchmarks [--smoke] [--large] [NAME ...]
    python -m benchmarks csplib [--tables NAME,NAME] [--limit SECONDS] [--targets]

A full run replaces its sections of benchmarks/RESULTS.md; a smoke run only shows that everything still runs. Some
tables of CSPLIB, or targets alone, replace their own rows of the section, another limit none.
"""

from __future__ import annotations

import argparse

import benchmarks.adjustment
import benchmarks.assessment
import benchmarks.attackers
import benchmarks.audit
import benchmarks.combined
import benchmarks.fingerprints
import benchmarks.guesses
import benchmarks.intervals
import benchmarks.papers
import benchmarks.real
import benchmarks.respondents
import benchmarks.rounding
import benchmarks.scale
import benchmarks.start
import benchmarks.suppression
import benchmarks.tabulation  # noqa: F401  (importing registers)
from benchmarks.csplib import Part, csplib
from benchmarks.registry import BENCHMARKS, Row
from benchmarks.results import PAGE, page, replace_rows, section, table


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(BENCHMARKS)} (all)")
    parser.add_argument("--smoke", action="store_true", help="only see whether everything still runs")
    parser.add_argument("--large", action="store_true", help="with the largest tables")
    parser.add_argument("--tables", default="", metavar="NAME,NAME", help="some tables of csplib only")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="another limit of csplib; nothing is written")
    parser.add_argument("--targets", action="store_true", help="only the rows of csplib that have a target")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in BENCHMARKS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    smoke = asked.smoke
    part = Part(tuple(filter(None, asked.tables.split(","))), asked.limit, variants=not asked.targets)
    for name in asked.names or BENCHMARKS:
        print(f"{name} ...", flush=True)
        rows = _run(name, part, smoke=smoke)
        print(table(rows), flush=True)
        if name == "fingerprints":  # they have a file of their own
            if not all(row.met for row in rows):
                parser.exit(1, "Results have changed: say why in CHANGELOG.md, under Results may differ.\n")
        elif rows and not smoke and (name != "csplib" or part.kept):
            if name == "csplib" and not part.complete:
                rows = replace_rows(PAGE.read_text("utf-8"), name, rows)
            PAGE.write_text(page(PAGE.read_text("utf-8"), {name: section(name, rows)}, BENCHMARKS), encoding="utf-8")
            print(f"written to {PAGE.name}")


def _run(name: str, part: Part, *, smoke: bool) -> list[Row]:
    """Return the rows of a benchmark."""
    return csplib(smoke=smoke, part=part) if name == "csplib" else BENCHMARKS[name](smoke=smoke)


if __name__ == "__main__":
    main()
