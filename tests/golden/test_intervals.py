"""Published examples of interval publication: Salazar (2002), Karlsson and Olsson (2015), and known optima."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.instances import instance
from tests.oracles.bare_tables import lattice
from tests.oracles.first_model import least_loss
from tests.unit.protection.conftest import GRID, make_risk

from celosia import Attacker, Intervals, Pattern, Risk, audit, loss, protect
from celosia.attack.result import Audit
from celosia.pattern.modes.interval import Interval
from celosia.table.fixed import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")

SQUARE = [[*(1 if k // 4 == row and k % 4 < 3 else -(k == 4 * row + 3) for k in range(16))] for row in range(4)] + [
    [*(1 if k % 4 == column and k < 12 else -(k == 12 + column) for k in range(16))] for column in range(4)
]
"""Three rows and three columns with their totals, cells numbered row by row."""

FIGURE_5 = {0: (18, 24), 2: (6, 12), 4: (4, 10), 6: (20, 26)}
"""Salazar's Figure 5: cells and their ranges."""


def ranges(risk: Risk, ends: Mapping[int, tuple[int, int]]) -> Pattern:
    cells = np.array(sorted(ends))
    lower, upper = (Fixed(np.array([ends[cell][side] for cell in cells.tolist()])) for side in range(2))
    return Pattern.of(risk.table, Interval(cells, lower, upper, table=risk.table))


def concluded(found: Audit) -> dict[int, tuple[float | None, float | None]]:
    """Return the intervals of every cell that is not shown."""
    ends = zip(found.intervals.lower(), found.intervals.upper(), strict=True)
    return dict(zip(found.intervals.cells.tolist(), ends, strict=True))


def salazar(lower: int, upper: int) -> Risk:
    """Return Figure 1, whose cell Activity II, C = 22 is sensitive."""
    return make_risk(SQUARE, GRID, {6: (lower, upper, 0)}, cost=[1.0] * 16)


def test_salazar_figure_5_is_tight_and_gives_20_to_26() -> None:
    risk = salazar(2, 4)
    found = audit(ranges(risk, FIGURE_5), risk, intervals=True)
    assert concluded(found) == FIGURE_5


def test_salazar_figure_5_meets_2_and_4_but_not_10_and_12() -> None:
    """The text asks for LPL 10 and UPL 12 at cell II, C; the ranges that are printed give no more than 2 and 4."""
    assert audit(ranges(salazar(2, 4), FIGURE_5), salazar(2, 4)).safe
    assert not audit(ranges(salazar(10, 12), FIGURE_5), salazar(10, 12)).safe


def test_salazar_figure_5_loses_no_less_than_the_optimum() -> None:
    risk = salazar(2, 4)
    printed = sum(mode.loss(risk.table, risk.cost) for mode in ranges(risk, FIGURE_5).modes)
    found = protect(risk, Intervals())
    assert found.cost == pytest.approx(least_loss(risk), rel=1e-6)
    assert found.cost <= printed


def test_karlsson_olsson_figure_3_7_is_what_readers_can_conclude() -> None:
    """Cell A1 = 255 of Figure 3.6 keeps 15 down and 19 up, and every printed range is reached."""
    table = [255, 90, 45, 390, 290, 230, 65, 585, 545, 320, 110, 975]
    printed = {0: (240, 274), 2: (26, 60), 4: (271, 305), 6: (50, 84)}
    rows = lattice([{0: [1, 2]}, {0: [1, 2, 3]}])
    order = [
        3 + 4 * 2,
        2 * 4 + 0,
        2 * 4 + 1,
        2 * 4 + 2,
        3,
        0,
        1,
        2,
        7,
        4,
        5,
        6,
    ]  # totals first, as the lattice has them
    place = {old: new for new, old in enumerate(order)}
    values = [table[old] for old in order]
    risk = make_risk(rows, values, {place[0]: (15, 19, 0)}, cost=[1.0] * 12)
    found = audit(ranges(risk, {place[cell]: ends for cell, ends in printed.items()}), risk, intervals=True)
    assert found.safe
    assert concluded(found) == {place[cell]: ends for cell, ends in printed.items()}
    ours = protect(risk, Intervals())
    assert ours.cost == pytest.approx(4 * 34)
    assert ours.cost == pytest.approx(least_loss(risk), rel=1e-6)


@pytest.mark.parametrize(("values", "width"), [([101, 2, 100, 1, 1, 1], 8), ([77, 26, 52, 25, 25, 1], 104)])
def test_karlsson_olsson_example_3_6_measures_of_loss_disagree(values: Sequence[int], width: int) -> None:
    """Four hidden cells that sum to 103 in both tables, but ranges of 8 in one and of 104 (not 128) in the other.

    The thesis prints 128 for (77-51)+(26-0)+(26-0)+(26-0), which is 104.
    """
    first, second, one, two, three, four = values
    total = first + second
    cells = [one, two, first, three, four, second, first, second, total]
    risk = make_risk(lattice_rows(), cells, {0: (1, 1, 0)}, cost=[1.0] * 9)
    hidden = Pattern.hide(risk.table, np.array([0, 1, 3, 4]))
    found = loss(hidden, risk.table, audit(hidden, risk, intervals=True))
    assert sum(cells[k] for k in (0, 1, 3, 4)) == 103
    assert found.hidden == 4
    assert found.width == pytest.approx(width)


def lattice_rows() -> list[list[int]]:
    """Return the relations of two rows and two columns with totals behind them."""
    return [
        [1, 1, -1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, -1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 1, -1],
        [1, 0, 0, 1, 0, 0, -1, 0, 0],
        [0, 1, 0, 0, 1, 0, 0, -1, 0],
        [0, 0, 1, 0, 0, 1, 0, 0, -1],
    ]


@pytest.mark.parametrize(
    ("name", "unity", "optimum"), [("h1", True, 3670), ("h1", False, 1_901_471), ("h3", False, 4_545_203.8)]
)
def test_known_optima(name: str, unity: bool, optimum: float) -> None:  # noqa: FBT001
    """Optima that cuts and splitting agree on."""
    found = protect(instance(name, unity=unity, sliding=True), Intervals(secret=1))
    assert found.safe
    assert found.cost == pytest.approx(optimum, rel=1e-5)  # ends are rounded outward
    assert found.bound == pytest.approx(optimum, rel=1e-6)


def test_cuts_and_splitting_enclose_the_same_optimum() -> None:
    risk = instance("d3a", unity=True, sliding=True)
    found = protect(risk, Intervals(secret=1, search="splitting"), gap=0.01)
    assert found.safe
    assert found.bound <= 2292.4305 <= found.cost
    assert found.gap <= 0.01


def test_an_attacker_who_knows_more_costs_more() -> None:
    risk = salazar(2, 4)
    wiser = replace(risk, attackers=(*risk.attackers, Attacker.percentage(risk.table, 40)))
    assert protect(wiser, Intervals()).cost >= protect(risk, Intervals()).cost
