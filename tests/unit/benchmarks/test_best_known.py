"""The page of best known costs and bounds says what the committed benchmark results say."""

from __future__ import annotations

from benchmarks.best_known import HALF, UNITY, VALUES, Known, best_known, describe
from benchmarks.registry import Row
from benchmarks.results import PAGE, circumstances_of, page, rows_of, table

ROWS = [
    Row("a, seed 0, first safe pattern", "0.5 s", "0.20 s, cost 900", met=True),
    Row(
        "a, seed 0",
        "x",
        "cost 1,500, bound 900, gap 40.0%, 20 of 40 hidden, 9.1% of all costs; audit",
        met=True,
    ),
    Row("a, seed 0", "aim: x", "cost 1,500, gap 40.0%", met=False),
    Row(
        "a, seed 1",
        "x",
        "cost 1,200, bound 800, gap 33.3%, 18 of 40 hidden, 9.1% of all costs; audit",
        met=True,
    ),
    Row("a, seed 2", "x", "cost 100, bound 2,000, gap 40.0%, 1 of 40 hidden, 60.0 s; NOT SAFE: 3 of 4", met=False),
    Row("a, unit costs, 60 s", "", "cost 12, bound 12, proved, 12 of 40 hidden, 30% of all costs, 0.1 s; audit"),
    Row("a, LPL = UPL / 2, 60 s", "", "cost 11, bound 10, gap 9.1%, 11 of 40 hidden, 30% of all costs, 60 s; audit"),
    Row("b, seed 0", "x", "none in 60 s: was reached", met=False),
]


def test_the_best_of_all_seeds_counts_and_nothing_that_is_unsafe() -> None:
    assert best_known(ROWS) == {
        VALUES: {"a": Known(1200, 900, 18, 40)},
        UNITY: {"a": Known(12, 12, 12, 40)},
        HALF: {"a": Known(11, 10, 11, 40)},
    }


def test_the_lines_say_it() -> None:
    lines = describe(ROWS)
    assert "| a | 40 | 1,200 | 900 | 25.0% | 18 (45%) |" in lines
    assert "| a | 40 | 12 | 12 | proved | 12 (30%) |" in lines
    assert describe([]) == ["Nothing is measured yet: run `python -m benchmarks csplib`."]


def test_rows_survive_the_way_through_the_page() -> None:
    text = page("", {"csplib": f"2026-11-17, here.\n\n{table(ROWS)}"}, ["csplib"])
    assert best_known(rows_of(text, "csplib")) == best_known(ROWS)
    assert circumstances_of(text, "csplib") == "2026-11-17, here."
    assert circumstances_of(text, "none") == ""


def test_everything_that_the_committed_results_know_can_be_read() -> None:
    rows = rows_of(PAGE.read_text("utf-8"), "csplib")
    ends = [row for row in rows if " hidden, " in row.measured and "NOT SAFE" not in row.measured]
    names = {row.what.partition(",")[0] for row in ends}
    assert {name for tables in best_known(rows).values() for name in tables} == names
