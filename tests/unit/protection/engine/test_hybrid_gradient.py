"""The first-order method for masters against the simplex method."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.first_order.hybrid_gradient import Program, start_iterate, take_steps
from celosia.protection.engine.master import CutPool, Master
from celosia.solve.highs.backend import HighsBackend
from celosia.solve.problem import LinearProgram

SEEDS = range(5)


def drawn(seed: int, m: int = 60, n: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return rows that cover something, or say that a column is not hidden alone, their right sides, and costs."""
    rng = np.random.default_rng(seed)
    matrix, right = np.zeros((m, n)), np.zeros(m)
    for i in range(m):
        columns = rng.choice(n, size=4, replace=False)
        matrix[i, columns] = 1.0
        right[i] = i % 2
        if not i % 2:
            matrix[i, columns[0]] = -1.0
    return matrix, right, rng.integers(1, 50, size=n).astype(np.float64)


def optimum(matrix: NDArray[np.float64], right: NDArray[np.float64], cost: NDArray[np.float64]) -> float:
    return float(linprog(cost, A_ub=-matrix, b_ub=-right, bounds=(0, 1)).fun)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_of_its_multipliers_comes_close_to_the_optimum_from_below(seed: int) -> None:
    matrix, right, cost = drawn(seed)
    n = len(cost)
    program = Program.of(sp.csr_array(matrix), right, cost, np.zeros(n), np.ones(n))
    now = start_iterate(program, np.zeros(n), np.zeros(len(right)))
    said = take_steps(program, now, 4000)
    reduced = cost - matrix.T @ now.best
    bound = right @ now.best + np.minimum(reduced, 0.0).sum()
    best = optimum(matrix, right, cost)
    assert (now.best >= 0.0).all()
    assert said == pytest.approx(bound, rel=1e-9)
    assert best * (1 - 1e-3) <= bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_master_that_is_approached_bounds_as_one_that_is_solved(seed: int) -> None:
    matrix, right, cost = drawn(seed)
    n, nothing = len(cost), np.zeros(0)
    base = LinearProgram(sp.csr_array((0, n)), nothing, nothing, np.zeros(n), np.ones(n), cost)
    master = Master(base, HighsBackend(), CutPool())
    cuts = [Cut(np.flatnonzero(row), row[np.flatnonzero(row)], side) for row, side in zip(matrix, right, strict=True)]
    master.add(cuts[:40])
    first = master.approach(1000)
    master.purge(1)
    master.add(cuts)
    second, exact = master.approach(3000), master.solve()
    assert exact is not None
    assert first.bound <= second.bound <= exact.bound * (1 + 1e-9)
    assert second.bound >= exact.bound * (1 - 1e-3)
    assert (matrix @ second.x >= right - 0.05).all()
    assert ((second.x >= 0.0) & (second.x <= 1.0)).all()


def test_slack_cuts_without_a_multiplier_leave_an_approached_master() -> None:
    n, nothing = 3, np.zeros(0)
    base = LinearProgram(sp.csr_array((0, n)), nothing, nothing, np.zeros(n), np.ones(n), np.array([1.0, 2.0, 3.0]))
    master = Master(base, HighsBackend(), CutPool())
    master.add([Cut(np.array([0]), np.ones(1)), Cut(np.array([0, 1]), np.ones(2), 0.5)])
    point = master.approach(2000)
    master.purge(1)
    assert len(master) == 1
    assert point.bound == pytest.approx(1.0, abs=1e-3)


def test_columns_that_cost_nothing_are_no_trouble() -> None:
    program = Program.of(sp.csr_array(np.ones((1, 2))), np.ones(1), np.zeros(2), np.zeros(2), np.ones(2))
    now = start_iterate(program, np.zeros(2), np.zeros(1))
    assert take_steps(program, now, 200) == pytest.approx(0.0, abs=1e-9)
    assert np.isfinite(now.x).all()
