"""Ranges in which cells must move together: they do in what is published, judged in exact numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.oracles.examples import first_few
from tests.unit.protection.engine.test_local_columns import LEAVES, drawn
from tests.unit.protection.engine.test_oracle import run_with

from celosia import Combined, InfeasibleError, Intervals, Mixed, Pattern, Risk
from celosia.protection.combined.solve import solve as combine
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.publish.decimals import EndGrid
from celosia.protection.intervals.publish.missed_corners import find_missed_corners
from celosia.protection.intervals.publish.publication import RangePublisher
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.solve import solve as find_ranges
from celosia.protection.mixed.solve import solve as mix
from celosia.protection.result import Protection
from celosia.protection.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")


def reach_of(risk: Risk, pattern: Pattern) -> float:
    """Return which share of the corner is possible in what is published, by a program of its own."""
    (corner,) = risk.corners
    lower, upper = (side.floats - risk.table.values for side in pattern.bounds())
    needs, n = dict(corner.needs), len(risk)
    matrix = np.column_stack([risk.table.relations.matrix.toarray(), np.zeros(risk.table.relations.matrix.shape[0])])
    rows, right = [], []
    for leaf, cell in enumerate(LEAVES.tolist()):  # y - t c lies between what is open beside
        for sign, beside in ((1, corner.up), (-1, corner.down)):
            row = np.zeros(n + 1)
            row[cell], row[n] = sign, -sign * needs.get(leaf, 0)
            rows.append(row)
            right.append(float(beside[leaf]))
    bounds = [*zip(lower, upper, strict=True), (0.0, 1.0)]
    found = linprog(-np.eye(n + 1)[n], np.array(rows), right, matrix, np.zeros(len(matrix)), bounds)
    return float(-found.fun)


@pytest.mark.parametrize("seed", first_few(3, range(25)))
@pytest.mark.parametrize(
    ("solve", "method"),
    [(find_ranges, Intervals(secret=1)), (combine, Combined(secret=1)), (mix, Mixed(secret=1, hide_cost="value"))],
    ids=["ranges", "combined", "mixed"],
)
def test_what_is_published_lets_cells_move_together(
    solve: Callable[[Risk, Intervals, Run], Protection], method: Intervals, seed: int
) -> None:
    risk = drawn(seed)
    try:
        found = solve(risk, method, run_with("highs"))
    except InfeasibleError:
        return
    assert reach_of(risk, found.pattern) >= 1 - 1e-9
    assert found.safe
    assert found.risk.corners == found.audit.risk.corners == ()
    assert len(found.pattern.table) == len(risk)
    alone = solve(risk.without_corners, method, run_with("highs"))
    assert found.cost >= alone.bound * (1 - 1e-9)


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_placing_widens_ranges_in_which_cells_cannot_move_together(seed: int) -> None:
    """What rounding misses is made up for corners as it is for cells, here all of it."""
    risk, method = drawn(seed), Intervals(secret=1)
    ranges = RangeProblem(risk, method.require_widths(risk), method, integer=False)
    nothing = np.zeros(len(ranges.problem))
    placed = RangePublisher(ranges, run_with("highs")).publish(RangeSlacks(nothing, nothing))
    assert placed.audit.safe
    assert reach_of(risk, placed.pattern) >= 1 - 1e-9


def grid_and_ends(problem: ProtectionProblem, far: dict[int, int]) -> tuple[EndGrid, np.ndarray]:
    """Return a grid of tenths, and ends so far in it; columns that are no cells are free."""
    grid = EndGrid(problem, 1, 1, np.zeros(len(problem), dtype=bool))
    ends = np.array([far.get(int(cell), 0) for cell in problem.cells])
    return grid, np.where(np.arange(len(problem)) < problem.n_own, ends, grid.bound(problem.up))


@pytest.mark.parametrize(("short", "missed"), [(0, False), (1, True)])
def test_a_tenth_of_a_unit_decides(short: int, *, missed: bool) -> None:
    """Two cells of a row move by 3 and -3, as the totals of their columns do."""
    risk = drawn(0)
    (corner,) = risk.corners
    needs = ((0, 3), (1, -3))
    wide = np.full(len(LEAVES), 50, dtype=object)
    down, up = wide.copy(), wide.copy()
    down[0] = up[1] = 0
    problem = problem_of(replace(risk, corners=(replace(corner, needs=needs, down=down, up=up),)), integer=False)
    one, other = LEAVES[:2].tolist()
    below = [one + 8, other + 8]  # the totals of their columns
    up_to = {one: 30, other: 30} | dict.fromkeys(below, 30)
    up_to[one] -= short
    grid, ends = grid_and_ends(problem, up_to)
    found = find_missed_corners(problem, grid, (ends, ends))
    assert found == ([len(problem.requirements) - 1] if missed else [])
    assert Fraction(int(problem.requirements.up[-1]), 10**problem.decimals) == 3
