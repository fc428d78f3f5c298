"""How much of a table readers see, and what is said where that is next to nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.protection.conftest import GRID, make_risk

from celosia import Pattern, Table
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.suppressed import Suppressed
from celosia.pattern.shares import Shares
from celosia.table.fixed import Fixed

N = len(GRID)


def table(*, zeros: int = 0) -> Table:
    values = [0] * zeros + GRID[zeros:]
    return make_risk([[0] * N], values, {}).table


def pattern(own: Table, *, hidden: int = 0, ranges: int = 0, moved: int = 0) -> Pattern:
    """Return the last cells hidden, those before as ranges, those before moved, and the others shown."""
    cells = np.arange(N)[::-1]
    kinds: list[Mode] = []
    if hidden:
        kinds.append(Suppressed(np.sort(cells[:hidden]), own))
    if ranges:
        place = np.sort(cells[hidden : hidden + ranges])
        counts = own.amounts.counts[place]
        kinds.append(Interval(place, Fixed(counts - 1), Fixed(counts + 1), table=own))
    if moved:
        place = np.sort(cells[hidden + ranges : hidden + ranges + moved])
        far = Fixed(np.full(moved, 3))
        kinds.append(Perturbed(place, Fixed(own.amounts.counts[place] + 1), far, table=own))
    return Pattern.of(own, *kinds)


def test_shares_are_of_cells_that_are_not_zero_and_shown_means_exactly() -> None:
    own = table(zeros=6)
    found = Shares.of(pattern(own, hidden=4, ranges=2, moved=1))
    assert (found.cells, found.shown, found.ranges, found.hidden) == (N - 6, N - 13, 2, 4)
    assert found.shown_share == pytest.approx((N - 13) / (N - 6))
    assert found.hidden_share == pytest.approx(4 / (N - 6))


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ({}, None),
        ({"hidden": N - 2}, None),
        ({"moved": N}, None),
        ({"hidden": N - 5, "moved": 5}, None),
        (
            {"hidden": N - 1},
            "Nearly everything is hidden: 1 of 16 cells is shown. That is safe, and tells readers next to nothing.",
        ),
        ({"hidden": N}, "Everything is hidden: of 16 cells none is shown. That is safe, and tells readers nothing."),
        ({"ranges": N}, "No cell is shown exactly: of 16 cells all are ranges."),
        ({"ranges": N - 1}, "Hardly any cell is shown exactly: 1 of 16 cells; 15 are ranges."),
        (
            {"ranges": 10, "hidden": 6},
            "Hardly any cell is shown exactly: none of 16 cells; 10 are ranges, 6 are hidden.",
        ),
    ],
)
def test_next_to_nothing_is_said_in_words(kinds: dict[str, int], said: str | None) -> None:
    assert Shares.of(pattern(table(), **kinds)).warning == said


def test_zeros_that_are_shown_show_nothing() -> None:
    own = table(zeros=8)
    assert str(Shares.of(pattern(own, hidden=8)).warning).startswith("Everything is hidden: of 8 cells none is shown.")


def test_a_table_of_zeros_hides_nothing() -> None:
    own = replace(table(), amounts=Fixed(np.zeros(N, dtype=np.int64)))
    found = Shares.of(Pattern.hide(own, []))
    assert (found.shown_share, found.hidden_share, found.warning) == (1.0, 0.0, None)
