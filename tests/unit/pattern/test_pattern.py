from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from celosia import DataError, Pattern, SpecError, Table
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.table.fixed import Fixed

Maker = Callable[[Sequence[object]], Table]


def fixed(*texts: str) -> Fixed:
    return Fixed.of_texts(texts)


def at(*cells: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(cells, dtype=np.int64)


def test_cells_that_no_mode_names_are_shown(bare: Maker) -> None:
    pattern = Pattern.of(bare(["1.5", "2", "3"]), Suppressed(at(1)))
    assert pattern.status.tolist() == ["shown", "hidden", "shown"]
    lower, upper = pattern.bounds()
    assert lower.texts() == ["1.5", "-inf", "3"]
    assert upper.texts() == ["1.5", "inf", "3"]
    assert pattern.published().texts() == ["1.5", "0", "3"]


def test_modes_mix_cell_by_cell(bare: Maker) -> None:
    table = bare([10, 20, 30, 40, 50])
    pattern = Pattern.of(
        table,
        Suppressed(at(4)),
        Interval(at(0), fixed("9.25"), fixed("12")),
        Rounded(at(1), fixed("20"), fixed("5"), 0),
        Perturbed(at(3), fixed("41"), fixed("2.5")),
    )
    assert pattern.status.tolist() == ["interval", "rounded", "shown", "perturbed", "hidden"]
    lower, upper = pattern.bounds()
    assert lower.texts() == ["9.25", "16", "30", "38.5", "-inf"]
    assert upper.texts() == ["12", "24", "30", "43.5", "inf"]
    assert lower.decimals == upper.decimals == 2
    assert pattern.loss([1, 1, 1, 2, 100]) == 2.75 + 0 + 0 + 2 + 100
    assert pattern.criterion == "intervals"


def test_one_adjusted_cell_makes_distance_the_criterion(bare: Maker) -> None:
    pattern = Pattern.of(bare([1, 2]), Adjusted(at(1), fixed("3")))
    assert pattern.criterion == "distance"
    assert pattern.bounds()[0].texts() == ["1", "-inf"]


@pytest.mark.parametrize("cells", [[2, 0], np.array([True, False, True])])
def test_suppressing_takes_places_or_a_mask(bare: Maker, cells: list[int]) -> None:
    assert Pattern.hide(bare([1, 2, 3]), cells).status.tolist() == ["hidden", "shown", "hidden"]


def test_suppressing_nothing_shows_everything(bare: Maker) -> None:
    assert Pattern.hide(bare([1, 2, 3]), []).status.tolist() == ["shown"] * 3


def test_suppressing_refuses_a_mask_of_another_length_and_unknown_cells(bare: Maker) -> None:
    with pytest.raises(SpecError, match="mask of the shape"):
        Pattern.hide(bare([1, 2, 3]), [True, False])
    with pytest.raises(SpecError, match=r"not in the table: 3\. Cells count from 0 up to 2"):
        Pattern.hide(bare([1, 2, 3]), [3])
    with pytest.raises(SpecError, match="name cells that are not in the table: 5"):
        Pattern.of(bare([1, 2, 3]), Suppressed(at(5)))


def test_a_cell_in_two_modes_and_one_in_none_are_named(regions: Maker) -> None:
    table = regions([9, 5, 4, 5, 3, 2, 4, 2, 2])
    with pytest.raises(SpecError) as caught:
        Pattern(table, (Suppressed(at(*range(8))), Interval(at(4), fixed("5"), fixed("6"))))
    assert [str(problem) for problem in caught.value.problems] == [
        "North x old: the cell is in more than one mode. Publish it in one way.",
        "North x old: the interval does not contain the true value. Widen or move it.",
        "South x new: no mode names the cell. Pattern.of shows what no mode names.",
    ]


def test_what_the_table_refutes_is_named_and_no_true_value_told(regions: Maker) -> None:
    table = regions([9000, 5000, 4000, 5000, 3000, 2000, 4000, 2000, 2000])
    with pytest.raises(DataError) as caught:
        Pattern.of(
            table,
            Interval(at(4), fixed("0"), fixed("1")),
            Perturbed(at(8), fixed("1"), fixed("1")),
            Rounded(at(5), fixed("0"), fixed("5"), 0),
        )
    assert [problem.place for problem in caught.value.problems] == ["North x old", "North x new", "South x new"]
    assert "000" not in str(caught.value)


@pytest.mark.parametrize("cost", [[1, 2], [1, 2, -1], [1, 2, np.nan], [1, 2, np.inf]])
def test_costs_must_be_one_for_each_cell_and_not_negative(bare: Maker, cost: list[float]) -> None:
    with pytest.raises(SpecError, match=r"^cost: (has|is negative or not finite)"):
        Pattern.hide(bare([1, 2, 3]), [0]).loss(cost)


def test_a_pattern_shows_itself_without_values(bare: Maker) -> None:
    pattern = Pattern.hide(bare([7777, 8888]), [0])
    assert repr(pattern) == "Pattern(Table(value by bare problem: 2 cells, 0 relations): 1 shown, 1 hidden)"
    assert pattern._repr_html_() == f"<pre>{pattern!r}</pre>"
