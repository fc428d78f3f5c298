from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia import DataError, Hierarchy, Table, cells

SIZES = {"size": Hierarchy.flat(["x", "y"])}


def table(**values: str | int) -> Table:
    frame = pl.DataFrame({"region": list(values), "value": [str(value) for value in values.values()]})
    return cells(frame, by=["region"], value="value")


def test_exact_sums_leave_nothing_over() -> None:
    found = table(Total=6, a=1, b=2, c=3)
    assert not found.relations.right.any()
    assert found.notes == ()


@pytest.mark.parametrize("total", ["7", "8", "5", "4"])
def test_rounding_may_leave_half_a_unit_a_figure(total: str) -> None:
    """Four figures may miss by two units: 1 + 2 + 3 against 4 to 8. What is left over becomes the right side."""
    found = table(Total=total, a=1, b=2, c=3)
    assert found.relations.right.tolist() == [6 - int(total)]
    assert not found.relations.residuals(found.amounts.counts).any()
    assert found.notes == ("1 relations hold up to rounding only",)


def test_the_tolerance_follows_the_decimals() -> None:
    assert table(Total="0.62", a="0.1", b="0.2", c="0.3").relations.right.tolist() == [-2]
    with pytest.raises(DataError, match=r"\(left side larger by up to 5%\)"):
        table(Total="0.63", a="0.1", b="0.2", c="0.3")


def test_the_worst_relations_are_listed_with_the_side_that_is_larger_and_without_values() -> None:
    rows = [("Total", "Total", 100), ("a", "Total", 10), ("b", "Total", 10)]
    rows += [("a", "x", 5), ("b", "x", 9), ("Total", "x", 1000)]
    frame = pl.DataFrame(rows, schema=["region", "size", "value"], orient="row")
    with pytest.raises(DataError) as caught:
        cells(frame, by=["region", "size"], value="value", hierarchies=SIZES)
    (problem,) = caught.value.problems
    assert problem.place == "additivity"
    assert problem.message == (
        "4 relations do not add up: x = a x x + b x x (left side larger by up to 100%); "
        "Total = x (right side larger by up to 100%); Total = a + b (left side larger by up to 100%); "
        "a = a x x (left side larger by up to 50%)."
    )
    assert problem.remedy == "Is a row missing, or a code in the wrong place of its hierarchy?"


def test_more_than_eight_bad_relations_are_counted() -> None:
    codes = [f"c{number}" for number in range(20)]
    rows = [("Total", "Total", 0), *((code, "Total", 100) for code in codes), *((code, "x", 1) for code in codes)]
    frame = pl.DataFrame([*rows, ("Total", "x", 20)], schema=["region", "size", "value"], orient="row")
    with pytest.raises(DataError, match=r"22 relations do not add up: .*; and 14 more\."):
        cells(frame, by=["region", "size"], value="value", hierarchies=SIZES)


def test_sums_beyond_64_bits_are_not_taken_for_zero() -> None:
    """Four times 2^62 is 2^64, which is 0 in 64 bits; the total says 0."""
    with pytest.raises(DataError):
        table(Total=0, a=2**62, b=2**62, c=2**62, d=2**62)


def test_values_beyond_64_bits_are_exact_or_refused_with_their_place() -> None:
    try:
        found = table(Total=2 * 10**19, a=10**19, b=10**19)
    except DataError as error:
        assert error.problems[0].remedy  # noqa: PT017
    else:
        assert found.amounts.texts() == ["2" + "0" * 19, "1" + "0" * 19, "1" + "0" * 19]


def test_settled_relations_are_exact_in_whole_numbers() -> None:
    found = table(Total="10.4", a="3.3", b="3.6", c="3.3")
    assert np.asarray(found.relations.matrix @ found.amounts.counts).tolist() == found.relations.right.tolist()
