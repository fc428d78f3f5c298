"""The papers' experiments on tables of their sizes, theirs beside ours.

python -m benchmarks papers      runs them, keeps what came out in papers.json, and draws the figures of docs/papers.md

Values and sensitive cells are ours (`benchmarks.paper_tables`), and processors are younger by years: their seconds are
shown beside ours, and say nothing by comparison.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from dataclasses import asdict
from typing import Any

from benchmarks.paper_figures import draw_figures
from benchmarks.paper_page import DATA
from benchmarks.paper_roundings import TIWARI, round_all
from benchmarks.paper_runs import VARIANTS, Outcome, Task, run_all
from benchmarks.paper_tables import ASYMMETRIC, SYMMETRIC
from benchmarks.registry import Row, benchmark

INSTANCES = ("1", "2", "3", "4", "5", "6")
TABLES = ("1LINKED", "1B", "2C", "3ALT", "2LINKED", "1ALT", "2ALT")

_GAP = 0.001
_ADJUST_TARGET = 60.0
_SECONDS = 6.0
"""Seconds of the processor for a run that has no target of its own."""

_LARGE = ("2LINKED", "2ALT")
_LONGER = 20.0
"""And for the largest tables."""


def tasks(*, smoke: bool) -> list[Task]:
    """Return all runs."""
    if smoke:
        return [*(Task("thesis", "toy", variant) for variant in VARIANTS), *_on_hierarchies(("toy",))]
    found = [
        Task("thesis", table, variant, gap=1e-4, limit=_LONGER if table in _LARGE else _SECONDS)
        for table in TABLES
        for variant in VARIANTS
    ]
    sizes = [
        Task("suppress", table, "value", *SYMMETRIC, gap=_GAP, limit=_LONGER) for table in ("100 x 100", "500 x 500")
    ]
    return [*_on_hierarchies(INSTANCES), *found, *sizes]


def _on_hierarchies(tables: tuple[str, ...]) -> list[Task]:
    """Return the runs of Baena, Castro and González, and adjustment with both weights."""
    return [
        Task(part, table, variant, *levels, gap=_GAP, limit=_limit(part, table))
        for part, variants in (("adjust", ("1", "1/a")), ("suppress", ("value",)), ("ranges", ("unity",)))
        for table in tables
        for variant in variants
        for levels in (SYMMETRIC, ASYMMETRIC)
    ]


def _limit(part: str, table: str) -> float:
    """Return the seconds for a run; adjustment of the first three tables has a target."""
    if part != "adjust":
        return _SECONDS
    return _ADJUST_TARGET if table in INSTANCES[:3] else _LONGER


@benchmark("papers")
def papers(*, smoke: bool) -> list[Row]:
    """Run the experiments, and write what the page is made of."""
    asked = tasks(smoke=smoke)
    roundings = round_all(tuple(TIWARI)[:1] if smoke else tuple(TIWARI))
    found: dict[str, Outcome] = {}
    for part in dict.fromkeys(task.part for task in asked):
        found |= run_all([task for task in asked if task.part == part], apart=not smoke)
        if not smoke:
            _keep(found, roundings)
    if not smoke:
        draw_figures(found)
    rows = [_row(task, found[task.key]) for task in asked]
    return [*rows, *(Row(f"Tiwari, example {number}", "", said["said"]) for number, said in roundings.items())]


def _keep(found: dict[str, Outcome], roundings: dict[str, Any]) -> None:
    """Write what was found so far."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    runs = {key: asdict(outcome) for key, outcome in found.items()}
    kept = {"load": load, "day": dt.datetime.now(tz=dt.UTC).date().isoformat(), "runs": runs, "roundings": roundings}
    DATA.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def _row(task: Task, found: Outcome) -> Row:
    """Return a run as a row; only symmetric adjustment of the first three tables has a target."""
    said = f"{found.seconds:.1f} s, gap {found.gap:.3%}; cost {found.cost:,.6g}"
    said += f"; {found.changed:,} of {found.cells:,} cells"
    if found.width:
        said += f"; widths {found.width:,.4g}"
    if not found.safe:
        said = f"NOT SAFE; {said}"
    levels = task.lower, task.upper
    if task.part != "adjust" or task.table not in INSTANCES[:3] or levels != SYMMETRIC:
        return Row(task.key, "", said, None if found.safe else False)
    met = found.safe and found.gap <= _GAP * (1 + 1e-9) and found.seconds <= _ADJUST_TARGET
    return Row(task.key, "0.1 % in 60 s (aim: 10)", said, met)
