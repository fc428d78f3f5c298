"""Examples of the tau-ARGUS manual, section 4.4.4."""

from __future__ import annotations

from fractions import Fraction

import polars as pl

from celosia import Dominance, MinFrequency, PPercent, assess, tabulate

HOLDINGS = pl.DataFrame(
    {
        "cell": ["(900, 30)"] * 5,
        "value": [700, 60, 10, 200, 40],
        "unit": ["a", "c", "e", "b", "d"],
        "group": ["AB", None, None, "AB", None],
    }
)
"""Units 700, 200, 60, 40 and 10, of which the first two are one holding; its records stand apart, in no order."""


def test_holding_example_units_are_safe_and_groups_are_not() -> None:
    table = tabulate(HOLDINGS, by=["cell"], value="value", respondent="unit", holding="group", largest=5)
    known = table.statistics
    assert known is not None
    assert known.holdings is not None
    assert known.respondents.largest[0].tolist() == [700, 200, 60, 40, 10]
    assert known.holdings.largest[0].tolist() == [900, 60, 40, 10, 0]
    assert (known.respondents.count[0], known.holdings.count[0]) == (5, 4)
    assert not assess(table, PPercent(10, by="respondent")).sensitive.any()
    assert assess(table, PPercent(10, by="holding")).sensitive.all()
    assert assess(table, PPercent(10)).sensitive.all()


def test_holding_example_the_level_of_the_group() -> None:
    """Ten percent of 900 less the 50 that remain without the two largest groups."""
    table = tabulate(HOLDINGS, by=["cell"], value="value", respondent="unit", holding="group")
    risk = assess(table, PPercent(10))
    assert risk.levels.upper.fraction(0) == risk.levels.lower.fraction(0) == Fraction(40)


def test_weights_example_100_times_4_and_10_times_7() -> None:
    """A value of 100 with weight 4 and one of 10 with weight 7 are four units of 100 and seven of 10: 470 in all."""
    frame = pl.DataFrame({"cell": ["x", "x"], "value": [100, 10], "weight": [4, 7]})
    table = tabulate(frame, by=["cell"], value="value", weight="weight")
    known = table.statistics
    assert known is not None
    assert table.amounts.fraction(0) == 470
    assert (known.records[0], known.weighted_records[0]) == (2, 11.0)
    # Two units of 100 out of 470 remain 270 for the p% rule: safe, though only two records contribute.
    assert not assess(table, PPercent(10)).sensitive[0]
    # The four largest units have 400 / 470 = 85.1 percent, the five largest 410 / 470 = 87.2 percent.
    assert assess(table, Dominance(4, 85)).sensitive[0]
    assert not assess(table, Dominance(4, 86)).sensitive[0]
    assert assess(table, Dominance(5, 87)).sensitive[0]
    assert not assess(table, Dominance(5, 88)).sensitive[0]
    assert assess(table, Dominance(4, 85)).levels.upper.floats[0] >= 400 / 0.85 - 470
    # Contributors are counted without their weights.
    assert assess(table, MinFrequency(3)).sensitive[0]


def test_weights_example_without_weights_is_sensitive() -> None:
    table = tabulate(pl.DataFrame({"cell": ["x", "x"], "value": [100, 10]}), by=["cell"], value="value")
    assert assess(table, PPercent(10)).sensitive[0]
