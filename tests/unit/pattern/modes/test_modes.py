from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from celosia import DataError, SpecError, Table
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.shown import Shown
from celosia.pattern.modes.suppressed import Suppressed
from celosia.table.fixed import Fixed

Maker = Callable[[Sequence[object]], Table]
REGIONS = ["31", "13.5", "17.5", "11", "3.5", "7.5", "20", "10", "10"]


def fixed(*texts: str) -> Fixed:
    return Fixed.of_texts(texts)


def cells(*numbers: int) -> Any:  # noqa: ANN401
    return np.array(numbers, dtype=np.int64)


def bounds(mode: Mode) -> list[tuple[str, str]]:
    lower, upper = mode.bounds()
    return list(zip(lower.texts(), upper.texts(), strict=True))


def published(mode: Mode) -> list[str] | None:
    numbers = mode.published()
    return None if numbers is None else numbers.texts()


def said(caught: pytest.ExceptionInfo[DataError] | pytest.ExceptionInfo[SpecError]) -> list[str]:
    return [str(problem) for problem in caught.value.problems]


# What each mode publishes, gives away and costs


def test_a_shown_cell_gives_itself_away_and_costs_nothing(bare: Maker) -> None:
    table = bare(["12.5", "7"])
    mode = Shown.of(table, [1, 0])
    assert mode.status == "shown"
    assert published(mode) == ["7", "12.5"]
    assert bounds(mode) == [("7", "7"), ("12.5", "12.5")]
    assert mode.loss(table, np.array([3.0, 5.0])) == 0


def test_a_suppressed_cell_gives_nothing_away_and_costs_its_cost(bare: Maker) -> None:
    table = bare([12, 7, 5])
    mode = Suppressed(cells(2, 0))
    assert mode.status == "hidden"
    assert published(mode) is None
    assert bounds(mode) == [("-inf", "inf")] * 2
    assert mode.loss(table, np.array([3.0, 5.0, 0.5])) == 3.5


def test_an_interval_gives_its_ends_away_and_costs_its_widths(bare: Maker) -> None:
    table = bare([12, 7, 5])
    mode = Interval(cells(0, 2), fixed("10", "5"), fixed("12.5", "9"), table=table)
    assert mode.status == "interval"
    assert published(mode) is None
    assert bounds(mode) == [("10", "12.5"), ("5", "9")]
    assert mode.loss(table, np.array([2.0, 1.0, 3.0])) == 2 * 2 + 2 * 0.5 + 3 * 4


def test_an_interval_has_costs_of_its_own_per_unit_and_per_range(bare: Maker) -> None:
    table = bare([12, 7])
    mode = Interval(
        cells(0, 1),
        fixed("10", "7"),
        fixed("15", "7"),
        lower_cost=np.array([1.0, 9.0]),
        upper_cost=np.array([10.0, 9.0]),
        fixed_cost=np.array([100.0, 1000.0]),
    )
    assert mode.loss(table, np.array([7.0, 7.0])) == 2 + 30 + 100


def test_an_open_interval_costs_infinitely_much_unless_its_side_is_free(bare: Maker) -> None:
    table = bare([12])
    mode = Interval(cells(0), fixed("10"), fixed("inf"), table=table)
    assert bounds(mode) == [("10", "inf")]
    assert mode.loss(table, np.array([1.0])) == np.inf
    free = Interval(cells(0), fixed("10"), fixed("inf"), upper_cost=np.zeros(1))
    assert free.loss(table, np.array([1.0])) == 2


def test_a_rounded_count_gives_away_what_lies_within_the_base(bare: Maker) -> None:
    table = bare([12, 7])
    mode = Rounded(cells(0, 1), fixed("10", "10"), fixed("5"), table.decimals, table=table)
    assert mode.status == "rounded"
    assert published(mode) == ["10", "10"]
    assert bounds(mode) == [("6", "14"), ("6", "14")]
    assert mode.loss(table, np.array([2.0, 1.0])) == 2 * 2 + 3


def test_the_unit_of_rounding_is_the_last_decimal_of_the_table(bare: Maker) -> None:
    table = bare(["12.25"])
    mode = Rounded(cells(0), fixed("10"), fixed("5"), table.decimals, table=table)
    assert bounds(mode) == [("5.01", "14.99")]


def test_extra_multiples_widen_what_a_rounded_value_gives_away(bare: Maker) -> None:
    table = bare([12, 7])
    mode = Rounded(cells(0, 1), fixed("0", "9"), fixed("5", "3"), 0, extra=2, table=table)
    assert bounds(mode) == [("-14", "14"), ("1", "17")]


def test_rounding_to_the_unit_gives_the_value_away(bare: Maker) -> None:
    assert bounds(Rounded(cells(0), fixed("12"), fixed("1"), 0, table=bare([12]))) == [("12", "12")]


def test_a_perturbed_value_gives_away_what_lies_within_its_reach(bare: Maker) -> None:
    table = bare([12, 7, 9])
    mode = Perturbed(cells(0, 1, 2), fixed("10.5", "9", "9"), fixed("2.5"), table=table)
    assert mode.status == "perturbed"
    assert published(mode) == ["10.5", "9", "9"]
    assert bounds(mode) == [("8", "13"), ("6.5", "11.5"), ("6.5", "11.5")]
    assert mode.loss(table, np.array([2.0, 3.0, 1.0])) == 2 * 1.5 + 3 * 2


def test_a_perturbed_value_has_costs_of_its_own_below_and_above(bare: Maker) -> None:
    table = bare([12, 7])
    mode = Perturbed(cells(0, 1), fixed("10", "9"), fixed("2", "3"), np.array([1.0, 10.0]), np.array([100.0, 1000.0]))
    assert bounds(mode) == [("8", "12"), ("6", "12")]
    assert mode.loss(table, np.zeros(2)) == 2 + 2000


def test_an_adjusted_value_gives_nothing_away_and_costs_its_distance(bare: Maker) -> None:
    table = bare([12, 7])
    mode = Adjusted(cells(0, 1), fixed("14", "6.5"), table=table)
    assert mode.status == "adjusted"
    assert published(mode) == ["14", "6.5"]
    assert bounds(mode) == [("-inf", "inf")] * 2
    assert mode.loss(table, np.array([2.0, 4.0])) == 2 * 2 + 4 * 0.5


def test_the_loss_does_not_depend_on_the_order_of_the_cells(bare: Maker) -> None:
    table = bare(["1e15", "0.1", "0.2", "-1e15"])
    cost = np.array([0.1, 1e15, 3.3, 1e-3])
    orders = [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)]
    assert len({Suppressed(cells(*order)).loss(table, cost) for order in orders}) == 1


def test_numbers_beyond_64_bits_are_exact(bare: Maker) -> None:
    table = bare(["1e30"])
    mode = Perturbed(cells(0), fixed("1000000000000000000000000000007"), fixed("7"), table=table)
    assert bounds(mode) == [("1" + "0" * 30, "1" + "0" * 28 + "14")]
    with pytest.raises(DataError):
        Perturbed(cells(0), fixed("1000000000000000000000000000008"), fixed("7"), table=table)


# What a mode refuses at birth


def test_a_mask_is_not_taken_for_cell_numbers() -> None:
    with pytest.raises(SpecError, match=r"cells: must be a list of cell numbers\..*flatnonzero"):
        Suppressed(np.array([True, False]))


def test_all_that_is_wrong_with_the_arguments_is_said_at_once(bare: Maker) -> None:
    with pytest.raises(SpecError) as caught:
        Interval(
            cells(0, 0, 7, -1), fixed("1", "2"), fixed("1", "2", "3", "4"), np.ones(3), -np.ones(4), table=bare([1, 2])
        )
    assert said(caught) == [
        "cells: are not in the table: 7, -1. Cells count from 0 up to 1.",
        "cells: stand twice: 0. Name each cell once.",
        "lower: has 2 numbers for 4 cells. Give one for each.",
        "lower_cost: has the shape (3,) for 4 cells. Give one for each.",
        "upper_cost: is negative or not finite at 0, 1, 2, 3. Costs are zero or more.",
    ]


def test_a_base_and_a_reach_are_one_for_all_or_one_for_each() -> None:
    with pytest.raises(SpecError, match=r"base: has 2 numbers for 3 cells\. Give one for all or one for each\."):
        Rounded(cells(0, 1, 2), fixed("0", "0", "0"), fixed("5", "5"), 0)
    with pytest.raises(SpecError, match="reach: has 2 numbers"):
        Perturbed(cells(0, 1, 2), fixed("0", "0", "0"), fixed("5", "5"))


def test_rounding_refuses_negative_parameters() -> None:
    with pytest.raises(SpecError) as caught:
        Rounded(cells(0), fixed("0"), fixed("5"), -1, -2)
    assert said(caught) == ["decimals: must be zero or more, not -1.", "extra: must be zero or more, not -2."]


def test_rounding_refuses_bases_and_values_that_make_no_sense() -> None:
    with pytest.raises(DataError) as caught:
        Rounded(cells(3, 4, 5, 6, 7), fixed("0", "6", "5", "2.5", "inf"), fixed("0", "5", "-5", "2.5", "5"), 0)
    assert said(caught) == [
        "cell 3: the base is not positive. Take a positive base.",
        "cell 4: the published value is no multiple of the base. Round it.",
        "cell 5: the base is not positive. Take a positive base.",
        "cell 6: the base is no whole number of units of the last decimal. Take a coarser base.",
        "cell 7: the base or the published value is infinite. Suppress the cell.",
    ]


def test_an_interval_refuses_crossed_and_infinite_ends() -> None:
    with pytest.raises(DataError) as caught:
        Interval(cells(0, 1), fixed("2", "-inf"), fixed("1.5", "inf"))
    assert said(caught) == [
        "cell 0: lower is above upper. An interval contains the truth.",
        "cell 1: the interval is infinite on both sides. Suppress the cell.",
    ]


def test_a_perturbed_value_refuses_a_negative_or_infinite_reach() -> None:
    with pytest.raises(DataError) as caught:
        Perturbed(cells(0, 1), fixed("2", "3"), fixed("-1", "inf"))
    assert [problem.place for problem in caught.value.problems] == ["cell 0", "cell 1"]


@pytest.mark.parametrize("mode", [Shown, Adjusted])
def test_no_infinite_value_is_published(mode: type[Shown | Adjusted]) -> None:
    with pytest.raises(DataError, match="cell 4: the value is infinite"):
        mode(cells(4), fixed("inf"))


def test_with_a_table_the_truth_is_checked_and_cells_have_labels(regions: Maker) -> None:
    table = regions(REGIONS)
    with pytest.raises(DataError) as caught:
        Interval(cells(4, 5, 0), fixed("4", "9", "0"), fixed("5", "8", "40"), table=table)
    assert said(caught) == [
        "North x old: the interval does not contain the true value. Widen or move it.",
        "North x new: lower is above upper. An interval contains the truth.",
    ]
    with pytest.raises(DataError, match=r"^South: the published value is too far from the true one"):
        Rounded(cells(6), fixed("30"), fixed("10"), 1, table=table)
    with pytest.raises(DataError, match=r"^South: the published value is further from the true one than its reach"):
        Perturbed(cells(6), fixed("30"), fixed("9.9"), table=table)
    with pytest.raises(DataError, match=r"^South: the value to be shown is not the table's"):
        Shown(cells(6), fixed("20.1"), table)
    with pytest.raises(DataError, match=r"^South: decimals is 0, and the table has 1\."):
        Rounded(cells(6), fixed("20"), fixed("10"), 0, table=table)


def test_no_message_tells_a_true_value(bare: Maker) -> None:
    table = bare([987654321] * 30)
    everything = np.arange(30)
    with pytest.raises(DataError) as caught:
        Interval(everything, fixed(*["1"] * 30), fixed(*["2"] * 30), table=table)
    assert "987654321" not in str(caught.value)
    assert len(caught.value.problems) == 21
    assert said(caught)[-1] == "... and 10 more"


def test_a_mode_keeps_no_table(bare: Maker) -> None:
    mode = Interval(cells(0), fixed("1"), fixed("2"), table=bare([1]))
    assert not any(isinstance(kept, Table) for kept in gc.get_referents(mode))
