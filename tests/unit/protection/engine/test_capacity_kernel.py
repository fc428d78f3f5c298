"""Cuts by the dozen are the same as cuts one by one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.protection.conftest import GRID, make_risk

from celosia.protection.engine.capacity import CutBuilder, Reach, build_cover
from celosia.protection.engine.cuts.capacity_kernel import Reaches, build_cuts
from celosia.protection.engine.problem import problem_of
from celosia.protection.engine.subproblems.flow import Capacities, FlowRequirements, find_crossings, find_minimum_cuts
from celosia.protection.engine.subproblems.requirements import SideRequirements, split_sides
from celosia.protection.engine.subproblems.support import SupportGraph

SIDE = 4


@pytest.fixture
def table() -> tuple[CutBuilder, SupportGraph, SideRequirements]:
    """A grid with margins in which two inner cells and one total are sensitive, as a network."""
    cells = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    rows = []
    for line in (*cells, *cells.T):
        row = np.zeros(SIDE * SIDE, dtype=int)
        row[line] = [1] * (SIDE - 1) + [-1]
        rows.append(row.tolist())
    problem = problem_of(make_risk(rows, GRID, {0: (3, 4, 0), 6: (5, 5, 0), 7: (10, 6, 0)}), integer=False)
    hidden = SupportGraph.of(problem, np.arange(len(problem)))
    assert hidden.parts.network.all()
    return CutBuilder.of(problem), hidden, split_sides(problem.requirements)


@pytest.mark.parametrize("seed", range(20))
def test_cells_that_cross_a_minimum_cut_are_what_its_relations_sum_to(
    table: tuple[CutBuilder, SupportGraph, SideRequirements], seed: int
) -> None:
    builder, hidden, sides = table
    x = np.maximum(np.random.default_rng(seed).random(len(builder.problem)) - 0.7, builder.problem.forced)
    asked = FlowRequirements(sides.columns, sides.attackers, sides.upward, sides.levels)
    rooms = Capacities(builder.up, builder.down, x)
    got, ends, nodes = find_minimum_cuts(asked, rooms, hidden.network, 1e-4)
    starts, columns, values, _ = find_crossings(asked, rooms, hidden.network, ends, nodes)
    assert (got < 1).any()
    for number in np.flatnonzero(np.diff(ends)).tolist():
        k = number // 2
        rows, gamma = hidden.multipliers(nodes[ends[number] : ends[number + 1]])
        column, who = int(sides.columns[k]), int(sides.attackers[k])
        reach = builder.bound_move(rows, gamma, column, who, upward=bool(sides.upward[k]))
        assert reach is not None
        part = slice(starts[number], starts[number + 1])
        assert dict(zip(columns[part].tolist(), values[part].tolist(), strict=True)) == dict(
            zip(reach.columns.tolist(), reach.values.tolist(), strict=True)
        )
        hidden_ones = x[reach.columns] > 0
        most = float(reach.values[hidden_ones] @ x[reach.columns[hidden_ones]])
        assert most / sides.levels[k] >= got[k] - 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_cuts_and_covers_are_those_of_the_workshop(
    table: tuple[CutBuilder, SupportGraph, SideRequirements], seed: int
) -> None:
    builder, _, _ = table
    random, n = np.random.default_rng(seed), len(builder.problem)
    x = random.random(n) * (random.random(n) < 0.5)
    reaches, targets, levels = [], [], []
    for _ in range(30):
        columns = random.permutation(n)[: random.integers(0, 9)]
        values = random.choice([0.5, 1.0, 3.0, 7.5, np.inf], size=len(columns))
        reaches.append(Reach(columns, values))
        targets.append(int(random.choice(np.setdiff1d(np.arange(n), columns))))
        levels.append(float(random.choice([1.0, 4.0, 11.0])))
    plain = []
    for reach, target, level in zip(reaches, targets, levels, strict=True):
        cut = builder.build_cut([reach], level, target)
        plain += [] if cut is None else [one for one in (cut, build_cover(cut, x)) if one is not None]
    starts = np.cumsum([0, *(len(reach.columns) for reach in reaches)])
    columns, values = (np.concatenate([getattr(one, name) for one in reaches]) for name in ("columns", "values"))
    together = Reaches(starts, columns, values, np.array(targets), np.array(levels))
    for threshold in (0.0, 0.3):
        found = build_cuts(together, builder.problem.forced, x, threshold, True).cuts  # noqa: FBT003 - compiled
        missed = [cut.violation(x) for cut in found]
        assert missed == sorted(missed, reverse=True)
        assert sorted(cut.key for cut in found) == sorted(cut.key for cut in plain if cut.violation(x) > threshold)
