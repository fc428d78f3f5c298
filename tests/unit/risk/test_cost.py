from __future__ import annotations

from collections.abc import Callable
from math import log

import polars as pl
import pytest

from celosia import Cost, DataError, MinFrequency, SpecError, Table, assess, cells

Make = Callable[..., Table]


def of(table: Table, text: str) -> list[float]:
    found: list[float] = Cost.parse(text).of(table).tolist()
    return found


@pytest.mark.parametrize(
    ("text", "costs"),
    [
        ("unity", [1, 1, 1, 1]),
        ("value", [104, 100, 4, 1]),
        ("frequency", [5, 3, 1, 1]),
        ("value^0.5", [104**0.5, 10, 2, 1]),
        ("value^0", [1, 1, 1, 1]),
        ("0.5*value + 2*unity", [54, 52, 4, 2.5]),
        (" 2 * value ^ 2 + frequency ", [2 * 104**2 + 5, 20003, 33, 3]),
        ("log", [log(105), log(101), log(5), 0]),
        ("value^-1", [1 / 104, 0.01, 0.25, 1]),
        ("50*value^-0.5 + unity", [50 / 104**0.5 + 1, 6, 26, 51]),
        ("frequency^-1", [1 / 5, 1 / 3, 1, 1]),
    ],
)
def test_costs_are_written_as_people_write_them(contributed: Make, text: str, costs: list[float]) -> None:
    table = contributed({"a": [60, 30, 10], "b": [4], "c": [0]})
    assert of(table, text) == pytest.approx(costs)


def test_a_negative_power_of_zero_is_refused_by_the_first_cell(contributed: Make) -> None:
    with pytest.raises(DataError, match="cost: 'log' is zero in 1 cell, the first being b, and has no negative power"):
        of(contributed({"a": [60], "b": [0]}), "log^-1")


def test_negative_values_cost_by_their_size(contributed: Make) -> None:
    assert of(contributed({"a": [-60], "b": [10]}), "value") == [50, 60, 10]


def test_a_zero_costs_one_unit_of_the_last_decimal(contributed: Make) -> None:
    assert of(contributed({"a": [0.0], "b": [0.25]}), "value") == [0.25, 0.01, 0.25]


def test_a_column_of_the_cells_is_a_cost() -> None:
    frame = pl.DataFrame({"r": ["Total", "a", "b"], "v": [3, 1, 2], "w": [1.5, 0.0, 4.0]})
    table = cells(frame, by=["r"], value="v", cost="w")
    assert of(table, "cost") == [1.5, 0, 4]
    assert of(table, "2*cost^2 + unity") == [5.5, 1, 33]


def test_a_column_with_gaps_is_refused_by_the_first_cell() -> None:
    frame = pl.DataFrame({"r": ["Total", "a", "b"], "v": [3, 1, 2], "w": [1.5, None, 4.0]})
    with pytest.raises(DataError, match="cost: column 'cost' is negative or has gaps in 1 cells, the first being a"):
        of(cells(frame, by=["r"], value="v", cost="w"), "cost")


@pytest.mark.parametrize("text", ["", "value +", "value * 2", "-value", "2**value", "value ^ x", "+"])
def test_what_is_no_cost_is_refused(contributed: Make, text: str) -> None:
    with pytest.raises(SpecError, match="cost") as caught:
        of(contributed({"a": [1]}), text)
    assert caught.value.problems[0].place == "cost"


def test_an_unknown_measure_is_refused_with_a_hint(contributed: Make) -> None:
    with pytest.raises(SpecError, match=r"cost: 'valu' is not a measure. Did you mean 'value'"):
        of(contributed({"a": [1]}), "valu")


def test_a_status_is_no_cost() -> None:
    frame = pl.DataFrame({"r": ["Total", "a", "b"], "v": [3, 1, 2], "s": ["", "u", ""]})
    with pytest.raises(SpecError, match="cost: 'status' is not a measure"):
        of(cells(frame, by=["r"], value="v", status="s"), "status")


def test_frequency_needs_the_number_of_contributors() -> None:
    frame = pl.DataFrame({"r": ["Total", "a", "b"], "v": [3, 1, 2]})
    with pytest.raises(SpecError, match="cost: 'frequency' needs the number of contributors of every cell"):
        of(cells(frame, by=["r"], value="v"), "frequency")


def test_costs_go_into_the_risk(contributed: Make) -> None:
    table = contributed({"a": [60, 30, 10], "b": [4]})
    assert assess(table, MinFrequency(3), cost="unity").cost.tolist() == [1, 1, 1]
    assert assess(table, MinFrequency(3), cost=Cost(((3.0, "unity", 1.0),))).cost.tolist() == [3, 3, 3]
    assert assess(table, MinFrequency(3)).cost.tolist() == [104, 100, 4]
