from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import Finding, GivenStatus, OwnRule, Requests, SpecError, Table, ZeroCells, assess, cells
from celosia.risk.rules.finding import Rule
from celosia.table.fixed import Fixed

Make = Callable[..., Table]


def sensitive(table: Table, rule: Rule) -> list[str]:
    found = rule.find(table).sensitive
    return [table.label(cell) for cell in range(len(table)) if found[cell]]


def given(*statuses: str, values: tuple[int, ...] = (30, 10, 20), **levels: list[float | None]) -> Table:
    frame = pl.DataFrame({"cell": ["Total", "a", "b"], "value": values, "status": statuses, **levels}, strict=False)
    roles: dict[str, Any] = {name: name for name in levels}
    return cells(frame, by=["cell"], value="value", status="status", **roles)


@pytest.mark.parametrize(
    ("rule", "places"),
    [
        (lambda: ZeroCells(0), ["level"]),
        (lambda: ZeroCells(-1), ["level"]),
        (lambda: ZeroCells(float("inf")), ["level"]),
        (lambda: ZeroCells(float("nan")), ["level"]),
        (lambda: Requests(share=-1), ["share"]),
        (lambda: Requests(share=100), ["share"]),
        (lambda: Requests(share=-1, percent=0), ["share", "percent"]),
        (lambda: GivenStatus(percent=0), ["percent"]),
        (lambda: OwnRule(lambda table: np.ones(len(table), dtype=bool), percent=-5), ["percent"]),
    ],
)
def test_impossible_parameters_are_refused_by_name(rule: Callable[[], object], places: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        rule()
    assert [problem.place for problem in caught.value.problems] == places


def test_zero_cells_with_contributors_are_sensitive(contributed: Make) -> None:
    table = contributed({"zeros": [0, 0], "cancelled": [5, -5], "more": [1, 2]})
    assert sensitive(table, ZeroCells(10)) == ["cancelled", "zeros"]
    risk = assess(table, ZeroCells(2.5))
    place = next(cell for cell in range(len(table)) if table.label(cell) == "zeros")
    assert risk.levels.upper.fraction(place) == Fraction("2.5")


def test_zero_cells_of_ready_made_tables() -> None:
    """Nobody is known to contribute to a cell of count 0; of a cell without a count nobody knows."""
    frame = pl.DataFrame({"cell": ["Total", "a", "b"], "value": [5, 5, 0], "n": [3, 3, 0]})
    assert sensitive(cells(frame, by=["cell"], value="value"), ZeroCells(1)) == ["b"]
    assert sensitive(cells(frame, by=["cell"], value="value", count="n"), ZeroCells(1)) == []


def test_a_zero_cell_that_attackers_know_not_to_be_negative_is_protected_upwards(contributed: Make) -> None:
    risk = assess(contributed({"zeros": [0, 0], "more": [1, 2]}), ZeroCells(3))
    place = next(cell for cell in range(len(risk)) if risk.table.label(cell) == "zeros")
    assert risk.levels.lower.fraction(place) == 0
    assert risk.levels.upper.fraction(place) == 3


def test_requests_look_at_the_largest_who_asked(contributed: Make) -> None:
    table = contributed({"x": [70, 20, 10], "y": [50, 50]}, request=[0, 1, 1, 0, 0])
    assert sensitive(table, Requests()) == ["Total", "x"]
    assert sensitive(table, Requests(share=10)) == ["x"]
    assert sensitive(table, Requests(share=20)) == []
    assert Requests(percent=12.5).find(table).distance.fraction(1) == Fraction("12.5")


def test_a_request_for_nothing_is_a_request(contributed: Make) -> None:
    """Who contributes zero and asked: his zero is his secret, at any contribution."""
    table = contributed({"x": [70, 0]}, request=[0, 1])
    assert sensitive(table, Requests()) == ["Total"]
    assert sensitive(table, Requests(share=1)) == []


@pytest.mark.parametrize("amount", [1, 10**6, 10**12, 10**15])
@pytest.mark.parametrize("share", [33.33333, 0.00001, 99.999999])
def test_requests_with_many_decimals_are_exact_at_any_size(contributed: Make, amount: int, share: float) -> None:
    table = contributed({"x": [amount], "y": [1, 1]}, request=[1, 0, 0])
    # wraps round: the cell of a requester alone is safe.
    assert "x" in sensitive(table, Requests(share=share))


def test_requests_need_a_column(contributed: Make) -> None:
    with pytest.raises(SpecError, match=r"request: nobody could ask for protection. Name the request column"):
        Requests().find(contributed({"x": [1]}))


def test_given_statuses_are_sensitive_with_a_percentage_or_their_own_levels() -> None:
    table = given("", "u", "sensitive", upper_level=[None, 7.5, None])
    risk = assess(table, GivenStatus(percent=10))
    assert risk.sensitive.tolist() == [False, True, True]
    assert risk.levels.upper.floats.tolist() == [0, 7.5, 2]
    assert risk.levels.lower.floats.tolist() == [0, 1, 2]
    assert risk.reason(1) == ("given status",)


def test_given_statuses_need_a_column(contributed: Make) -> None:
    with pytest.raises(SpecError, match="given status: the cells came without a status"):
        GivenStatus().find(contributed({"x": [1]}))


def test_a_rule_of_ones_own_is_a_function(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [100]})

    def small(table: Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.asarray(table.values < 10)

    risk = assess(table, small)
    assert risk.rules == ("small",)
    assert risk.reason(1) == ("small",)
    assert assess(table, OwnRule(small, percent=50, name="too small")).levels.upper.fraction(1) == 1


def test_a_rule_of_ones_own_may_say_its_levels(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [100]})
    mask = np.array([False, True, True])
    risk = assess(table, OwnRule(lambda _: Finding(mask, Fixed.of_texts(["0", "3.5", "7"]))))
    assert risk.levels.upper.floats.tolist() == [0, 3.5, 7]


def test_levels_of_ones_own_may_have_any_decimals(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [100]})
    risk = assess(
        table, OwnRule(lambda _: Finding(np.array([False, True, False]), Fixed(np.array([0, 1234567891, 0]), 9)))
    )
    assert risk.levels.upper.fraction(1) == Fraction("1.234568")


class CallableRule:
    def __call__(self, table: Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.ones(len(table), dtype=bool)


def test_anything_callable_is_a_rule(contributed: Make) -> None:
    assert assess(contributed({"a": [1]}), CallableRule()).sensitive.all()


@pytest.mark.parametrize("said", [np.ones(3), np.ones(2, dtype=bool), True, [True], np.ones((3, 1), dtype=bool)])
def test_a_rule_of_ones_own_must_answer_for_every_cell(contributed: Make, said: object) -> None:
    table = contributed({"a": [1], "b": [100]})
    with pytest.raises(SpecError, match="own rule: must return a truth value for each of 3 cells, not"):
        assess(table, OwnRule(lambda _: said))  # type: ignore[arg-type, return-value]


def test_a_finding_of_ones_own_must_answer_for_every_cell(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [100]})
    with pytest.raises(SpecError, match="own rule"):
        assess(table, OwnRule(lambda _: Finding(np.ones(2, dtype=bool), Fixed(np.ones(2, dtype=np.int64)))))
