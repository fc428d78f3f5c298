"""Where true values lie in published ranges."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.protection.conftest import GRID, make_risk

from celosia import Pattern
from celosia.pattern.midpoint import Midpoints, midpoint_share, midpoints
from celosia.pattern.modes.interval import Interval
from celosia.table.fixed import INFINITE, Fixed


def ranges(*ends: tuple[int, int]) -> Pattern:
    """Return the first cells of a table of 20, 50, 10, 80 and 8 as ranges."""
    risk = make_risk([[1] * len(GRID)], GRID, {6: (0, 0, 5)})
    lower, upper = (Fixed(np.array(side)) for side in zip(*ends, strict=True))
    return Pattern.of(risk.table, Interval(np.arange(len(ends)), lower, upper, table=risk.table))


def test_the_five_classes_of_baena_castro_and_gonzalez_table_4() -> None:
    """The middle lies half a width below the truth, a little below, at it, a little above, half a width above."""
    found = midpoints(ranges((10, 20), (40, 55), (5, 15), (79, 90), (8, 20)))
    assert found.counts == (1, 1, 1, 1, 1)
    assert found.shares == {"-50": 0.2, "(-50, 0)": 0.2, "0": 0.2, "(0, 50)": 0.2, "50": 0.2}


def test_the_share_of_true_middles() -> None:
    assert midpoint_share(ranges((18, 22), (40, 60), (5, 15), (79, 90))) == pytest.approx(0.75)


def test_ranges_without_an_end_have_no_middle() -> None:
    assert len(midpoints(ranges((10, INFINITE), (40, 60)))) == 1


def test_few_ranges_and_chance_are_no_reason_to_warn() -> None:
    """One in three is what chance gives where a range holds three values."""
    assert Midpoints((0, 0, 2, 0, 0)).warning is None
    assert Midpoints((10, 0, 10, 0, 10), chance=1 / 3).warning is None
    assert "33% of 30 ranges" in str(Midpoints((10, 0, 10, 0, 10), chance=0.01).warning)


def test_ends_at_the_truth_are_warned_of_like_middles() -> None:
    (said,) = Midpoints((3, 10, 0, 10, 4)).warnings
    assert said.startswith("26% of 27 ranges end at the true value: readers who take an end are right that often.")
    assert len(Midpoints((10, 0, 10, 0, 10), chance=0.01).warnings) == 2
    assert Midpoints((10, 0, 10, 0, 10), chance=1 / 3).warnings == ()
    assert Midpoints((2, 0, 0, 0, 2)).warnings == ()
