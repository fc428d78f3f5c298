"""Combined suppression and mixed releases: what they cost, what they keep, and what they refuse."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.plain_combined import plain_combined
from tests.golden.test_intervals import SQUARE
from tests.oracles.bare_tables import seeded
from tests.oracles.suppression_cases import drawn, put
from tests.unit.protection.conftest import GRID, make_risk

from celosia import (
    Attacker,
    CelosiaError,
    Combined,
    InfeasibleError,
    Intervals,
    Mixed,
    Protection,
    Risk,
    SpecError,
    Suppress,
    audit,
    certify,
    protect,
    trade_off,
    verify,
)

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")

CLOSE = 1e-3
"""Ends on a grid cost a little more than ends anywhere."""


def risk_of(name: str, kind: str = "flat") -> Risk:
    """Return the first table drawn under a name that can be protected, with levels of a unit or more."""
    for number in count():
        risk = put(drawn(seeded(f"{name} {number}"), kind, wishes=False))[0]
        required = [max(one.lower, one.upper, one.sliding) for one in risk.requirements]
        with suppress(CelosiaError):
            if min(required) >= 1 and len(protect(risk, Suppress("unity")).secondary):
                return risk
    raise AssertionError


def ranges(result: Protection) -> int:
    return int((result.pattern.status == "interval").sum())


@pytest.mark.parametrize("name", ["a", "c", "d", "e"])
def test_a_range_without_a_price_of_its_own_is_partial_suppression(name: str) -> None:
    risk = risk_of(name)
    free = np.zeros(len(risk))
    free[0] = 1e-9
    both = [protect(risk, method) for method in (Intervals("unity"), Combined("unity", cell_cost=free))]
    assert both[1].cost == pytest.approx(both[0].cost, rel=CLOSE)
    assert both[1].bound <= both[0].cost * (1 + 1e-6)


@pytest.mark.parametrize("name", ["a", "c", "d", "e"])
def test_widths_that_cost_next_to_nothing_leave_as_few_ranges_as_complete_suppression(name: str) -> None:
    risk = risk_of(name)
    combined = protect(risk, Combined(np.full(len(risk), 1e-6), cell_cost="unity"))
    complete = protect(risk, Suppress("unity"))
    assert ranges(combined) == int((complete.pattern.status == "hidden").sum())


def test_the_published_ranges_are_safe_and_proved(tmp_path: Path) -> None:
    for method in (Combined("unity"), Mixed()):
        result = protect(risk_of("e"), method)
        assert result.safe
        assert audit(result.pattern, result.risk).safe
        certify(result).write(tmp_path / "proof.json")
        assert verify(tmp_path / "proof.json").consistent


def test_at_most_limits_the_number_of_ranges() -> None:
    risk = risk_of("d")
    few = ranges(protect(risk, Combined(np.full(len(risk), 1e-6))))
    many = protect(risk, Combined("unity", cell_cost=np.full(len(risk), 1e-9)))
    limited = protect(risk, Combined("unity", cell_cost=np.full(len(risk), 1e-9), at_most=few))
    assert ranges(limited) <= few
    assert limited.cost >= many.cost * (1 - CLOSE)


def test_fewer_ranges_than_sensitive_cells_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="at_most"):
        protect(risk_of("d"), Combined(at_most=0))


def test_a_mixed_release_is_never_dearer_than_a_pure_one_and_sometimes_cheaper() -> None:
    better = 0
    for number in range(12):
        risk = risk_of(f"mixed {number}", "tree")
        hide = 1.0 + np.arange(len(risk)) % 3
        try:
            hidden = protect(risk, Mixed(hide_cost=hide, may_range=[]))
            ranged = protect(risk, Mixed(hide_cost=hide, may_hide=[]))
        except CelosiaError:
            continue
        mixed = protect(risk, Mixed(hide_cost=hide))
        pure = min(hidden.cost, ranged.cost)
        assert mixed.bound <= pure * (1 + 1e-6)
        assert mixed.cost <= pure * (1 + CLOSE)
        better += mixed.cost < pure * (1 - CLOSE)
    assert better


def test_hidden_cells_alone_are_complete_suppression() -> None:
    risk = risk_of("e")
    alone = protect(risk, Mixed(hide_cost="unity", may_range=[]))
    assert alone.cost == pytest.approx(protect(risk, Suppress("unity")).cost)
    assert set(alone.pattern.status) <= {"shown", "hidden"}


def test_a_cell_that_may_be_neither_is_refused() -> None:
    risk = risk_of("e")
    others = np.flatnonzero(~risk.sensitive)
    with pytest.raises(SpecError, match="may_hide"):
        protect(risk, Mixed(may_hide=others, may_range=others))


def test_a_cell_that_must_be_hidden_is_hidden() -> None:
    risk = risk_of("e")
    cell = int(np.flatnonzero(~risk.sensitive)[0])
    result = protect(risk, Mixed(must_hide=[cell]))
    assert result.pattern.status[cell] == "hidden"


def test_the_trade_off_goes_from_few_wide_ranges_to_many_narrow_ones() -> None:
    curve = trade_off(risk_of("e", "tree"), points=7)
    cells, widths = [point.cells for point in curve.points], [point.width for point in curve.points]
    assert len(curve.points) == 7
    assert cells == sorted(cells)
    assert all(after <= before * (1 + CLOSE) for before, after in pairwise(widths))
    assert all(0 <= point.gap < CLOSE for point in curve.points)


@pytest.mark.parametrize("method", [Intervals, Combined, Mixed])
def test_a_least_width_that_the_table_cannot_give_is_named(method: type[Intervals]) -> None:
    """Cell 0 follows from its row, which must be shown."""
    risk = make_risk(SQUARE, GRID, {6: (0, 0, 6)}, cost=[1.0] * 16)
    with pytest.raises(SpecError, match=r"least_width: is impossible: .* 'cell 0'"):
        protect(risk, method(least_width={0: 3}, must_show=[1, 2, 3]))


@pytest.mark.parametrize("method", [Combined, Mixed])
def test_levels_beyond_what_may_be_published_are_named(method: type[Intervals]) -> None:
    risk = make_risk(SQUARE, GRID, {6: (0, 0, 6)}, cost=[1.0] * 16)
    narrow = dict.fromkeys([cell for cell in range(16) if cell != 6], 0.5)
    options: dict[str, Any] = {"may_hide": []} if method is Mixed else {}
    with pytest.raises(InfeasibleError, match=r"protection: is impossible: .* 'cell 6'"):
        protect(risk, method(most_width=narrow, **options))


def test_the_curve_takes_every_release_at_every_price() -> None:
    """A release that is known already counts wherever it is the cheapest, and the curve never bends back."""
    risk = risk_of("d")
    known = protect(risk, Combined("unity"))
    curve = trade_off(risk, points=7, gap=0.5, known=[known])
    assert len(curve.points) == 7
    for left, right in pairwise(curve.points):
        assert left.price < right.price
        assert left.width >= right.width * (1 - 1e-5)
        assert left.cells <= right.cells
    for point in curve.points:
        own = (known.pattern.status == "interval").sum()
        assert point.cost <= own + point.price * (known.cost - own) + 1e-6
        assert 0 <= point.gap <= 0.5


def test_ranges_next_to_hidden_cells_are_placed_at_random() -> None:
    """A vertex would put the truth at an end of them, whatever the secret."""
    rows = [[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0]]
    risk = make_risk(rows, [20, 10, 30, 28, 32, 60], {0: (0, 0, 8)}, cost=[1.0] * 6)
    seen = set()
    for secret in range(4):
        found = protect(risk, Mixed(may_range=[0, 1], may_hide=[3, 4], secret=secret))
        lower, upper = (side.floats for side in found.pattern.bounds())
        assert found.pattern.status.tolist() == ["interval", "interval", "shown", "hidden", "hidden", "shown"]
        assert found.safe
        assert upper[0] - lower[0] == pytest.approx(8)
        seen.add(lower[0])
    assert len(seen) > 1


@pytest.mark.parametrize("name", ["a", "d"])
def test_the_algorithm_of_the_thesis_finds_the_same_cost(name: str) -> None:
    """Algorithm 4.3 as printed, with its external bounds: zero, and eleven times the value."""
    risk = risk_of(name)
    values = risk.table.values
    near = Attacker.between(risk.table, np.minimum(0.0, 11 * values), np.maximum(0.0, 11 * values) + 1)
    risk = replace(risk, attackers=(near,), cost=np.ones(len(risk)))
    price = np.full(len(risk), 3.0)
    ours = protect(risk, Combined(cell_cost=price, secret=1, decimals=6))
    peer = plain_combined(risk, price, 60.0)
    assert peer.cost == pytest.approx(ours.cost, rel=CLOSE)
    assert peer.rounds > 1
