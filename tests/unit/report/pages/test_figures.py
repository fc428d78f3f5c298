from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from celosia.report.pages.figures import Figures, format_number
from celosia.table.fixed import INFINITE, Fixed

if TYPE_CHECKING:
    from celosia.risk.risk import Risk


@pytest.mark.parametrize(
    ("count", "decimals", "text"),
    [
        (0, 0, "0"),
        (1_234_567, 0, "1,234,567"),
        (1_234_567, 2, "12,345.67"),
        (5, 2, "0.05"),
        (-1_234, 0, "\N{MINUS SIGN}1,234"),
        (INFINITE, 3, "\N{INFINITY}"),
        (10**30, 0, "1" + ",000" * 10),
    ],
)
def test_numbers_are_written_exactly(count: int, decimals: int, text: str) -> None:
    assert format_number(count, decimals) == text


def test_a_variable_has_no_more_decimals_than_it_needs(linked: Risk) -> None:
    # The table counts in hundredths; turnover is whole, and export an eighth of it: 12.5 of every 100.
    figures = Figures.of(linked.table)
    assert figures.decimals == (0, 1)
    assert figures.values(np.array([0, len(linked) // 2])) == ["17,100", "2,137.5"]


def test_levels_are_rounded_up_and_alike(two_way: Risk) -> None:
    figures = Figures.of(two_way.table)
    assert figures.levels(Fixed(np.array([1_234_567_891, 2_500_000_000, 0]), 6)) == ["1,234.57", "2,500.00", ""]
    assert figures.levels(Fixed(np.array([1, INFINITE]), 6)) == ["0.01", "\N{INFINITY}"]
    assert figures.levels(Fixed(np.array([3_000_000]), 6)) == ["3"]
