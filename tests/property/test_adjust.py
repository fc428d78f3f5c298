"""Adjusted tables against all there are, on tables small enough to write them all down."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracles.adjust_oracle import Shape, risk_of, tables
from tests.oracles.examples import few_and_many

import celosia as cz
from celosia import Adjust, Risk
from celosia.pattern.entries import SHOWN
from celosia.protection.adjustment.method import Totals, find_kept_totals

SHAPES = (Shape((3,)), Shape((2, 2)), Shape((2, 3)), Shape((2, 2, 2)))
REACH = {3: 12, 4: 6, 6: 2, 8: 1}
"""How far leaves are from the truth in the brute force, by their number; attackers know as much."""


@st.composite
def problems(draw: st.DrawFn) -> tuple[Shape, list[int], Risk]:
    """Draw a table, some sensitive cells, and attackers who know the leaves within the reach of the brute force."""
    shape = draw(st.sampled_from(SHAPES))
    leaves = draw(st.lists(st.integers(0, 9), min_size=len(shape.leaves), max_size=len(shape.leaves)))
    table = shape.table(leaves)
    reach = REACH[len(leaves)]
    cells = draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=3, unique=True))
    levels = {cell: (draw(st.integers(0, reach)), draw(st.integers(1, reach))) for cell in cells}
    lower, upper = np.full(len(table), -np.inf), np.full(len(table), np.inf)
    lower[shape.leaves] = np.asarray(leaves) - reach
    upper[shape.leaves] = np.asarray(leaves) + reach
    known = cz.Attacker.between(table, lower, upper)
    return shape, leaves, risk_of(table, levels, [known])


def cheapest(shape: Shape, leaves: list[int], risk: Risk, method: Adjust) -> float:
    """Return what the closest table costs, infinity where there is none."""
    truth = risk.table.amounts.counts
    every = tables(shape, leaves, REACH[len(leaves)])
    known = risk.attackers[0]
    inside = (every >= known.lower.floats) & (every <= known.upper.floats)
    kept = find_kept_totals(risk.table, method.totals) | ((truth == 0) & method.keep_zeros)
    fine = inside.all(axis=1) & (every[:, kept] == truth[kept]).all(axis=1)
    for cell in np.flatnonzero(risk.sensitive):
        down, up = (int(level.counts[cell]) for level in (risk.levels.lower, risk.levels.upper))
        left = (every[:, cell] <= truth[cell] - down) & (down > 0)
        fine &= left | ((every[:, cell] >= truth[cell] + up) & (up > 0))
    costs = (np.abs(every - truth) ** method.norm) @ method.weights(risk.table)
    return float(costs[fine].min(initial=np.inf))


@few_and_many(
    20,
    200,
    problems(),
    st.sampled_from([1, 2]),
    st.sampled_from(["1", "1/a", "1/sqrt(a)"]),
    st.sampled_from(["free", "grand", "all"]),
    st.booleans(),
)
def test_no_table_is_closer(
    problem: tuple[Shape, list[int], Risk],
    norm: Literal[1, 2],
    weight: str,
    totals: Totals,
    keep_zeros: bool,  # noqa: FBT001
) -> None:
    """The cost is that of the closest of all tables, and an impossible problem is called so."""
    shape, leaves, risk = problem
    method = Adjust(norm, weight, totals, keep_zeros=keep_zeros)
    try:
        result = cz.protect(risk, method)
    except cz.SpecError:  # a total or a zero cannot both be kept and be sensitive
        zero = risk.table.amounts.counts == 0
        assert bool((risk.sensitive & (find_kept_totals(risk.table, totals) | (zero & keep_zeros))).any())
        return
    except cz.InfeasibleError:
        assert cheapest(shape, leaves, risk, method) == np.inf
        return
    best = cheapest(shape, leaves, risk, method)
    assert result.cost == pytest.approx(best, rel=1e-9)
    assert result.optimal
    assert result.safe
    assert result.criterion == "distance"
    published = cz.publish(result).published.counts
    assert cost_of(risk, method, published) == pytest.approx(best, rel=1e-9)
    residual = risk.table.relations.matrix @ published
    assert not residual.any()


def cost_of(risk: Risk, method: Adjust, published: NDArray[np.int64]) -> float:
    return float((np.abs(published - risk.table.amounts.counts) ** method.norm) @ method.weights(risk.table))


@few_and_many(
    12,
    120,
    st.lists(st.integers(0, 60), min_size=4, max_size=4),
    st.integers(0, 3),
    st.integers(1, 20),
    st.integers(1, 2),
)
def test_whole_numbers_from_a_table_with_a_decimal(
    leaves: list[int], place: int, level: int, norm: Literal[1, 2]
) -> None:
    """Whole numbers that add up, closest to tenths that do, in which the sensitive cell is a level away."""
    shape = Shape((2, 2))
    table = shape.table(leaves, decimals=1)
    cell = shape.leaves[place]
    method = Adjust(norm, "1", decimals=0)
    risk = risk_of(table, {cell: (level, level)})
    result = cz.protect(risk, method)
    truth = table.amounts.counts
    every = tables(shape, leaves, 4, unit=10)
    fine = (every >= 0).all(axis=1) & (np.abs(every[:, cell] - truth[cell]) >= level)
    best = float((np.abs(every[fine] - truth) ** norm).sum(axis=1).min()) / 10**norm
    assert result.cost == pytest.approx(best, rel=1e-9)
    release = cz.publish(result)
    assert release.decimals == 0
    assert set(release.status.tolist()) == {"adjusted"}
    assert not (table.relations.matrix @ release.published.counts).any()


def test_kept_cells_are_shown_and_all_others_adjusted() -> None:
    """Cells that do not move are not told from those that do, unless they were to be kept."""
    shape = Shape((2, 3))
    risk = risk_of(shape.table([10, 20, 30, 40, 50, 60]), {shape.leaves[0]: (3, 3)})
    result = cz.protect(risk, Adjust(totals="all"))
    totals = find_kept_totals(risk.table, "all")
    assert ((cz.publish(result).status == SHOWN) == totals).all()
