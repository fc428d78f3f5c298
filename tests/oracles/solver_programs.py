"""Small problems, and what can be said about them without a solver."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from celosia.solve.backend import Model, Row
from celosia.solve.problem import LinearProgram

Opened = Callable[[LinearProgram], Model]
INF = np.inf


def program(
    cost: ArrayLike,
    rows: ArrayLike | None = None,
    row_lower: ArrayLike = -INF,
    row_upper: ArrayLike = INF,
    lower: ArrayLike = 0.0,
    upper: ArrayLike = INF,
    *,
    integer: bool = False,
    quadratic: ArrayLike | None = None,
) -> LinearProgram:
    """Return a problem from lists; a single number stands for all rows or columns."""
    c = np.array(cost, dtype=float)
    matrix = np.zeros((0, len(c))) if rows is None else np.array(rows, dtype=float).reshape(-1, len(c))

    def spread(values: ArrayLike, length: int) -> NDArray[np.float64]:
        return np.array(np.broadcast_to(np.asarray(values, dtype=float), (length,)))

    return LinearProgram(
        sp.csr_array(matrix),
        spread(row_lower, len(matrix)),
        spread(row_upper, len(matrix)),
        spread(lower, len(c)),
        spread(upper, len(c)),
        c,
        integer=np.ones(len(c), dtype=bool) if integer else None,
        quadratic=None if quadratic is None else sp.csc_array(np.array(quadratic, dtype=float)),
    )


def random_program(seed: int, *, n_rows: int = 12, n_columns: int = 15) -> LinearProgram:
    """Return an LP with a known feasible point, all kinds of sides and bounds, and a finite optimum."""
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((n_rows, n_columns)) < 0.4, rng.integers(-4, 5, (n_rows, n_columns)), 0).astype(float)
    x = rng.integers(-3, 4, n_columns).astype(float)
    activity, room = matrix @ x, rng.integers(0, 4, n_rows)
    row_lower = np.where(rng.random(n_rows) < 0.6, activity - room, -INF)
    row_upper = np.where(rng.random(n_rows) < 0.6, activity + room, INF)
    cost = rng.integers(-5, 6, n_columns).astype(float)
    # Columns are closed on the side that their cost pulls them to: the optimum is finite.
    open_below, open_above = rng.random((2, n_columns)) < 0.4
    lower = np.where(open_below & (cost <= 0), -INF, x - rng.integers(0, 5, n_columns))
    upper = np.where(open_above & (cost >= 0), INF, x + rng.integers(0, 5, n_columns))
    return LinearProgram(sp.csr_array(matrix), row_lower, row_upper, lower, upper, cost)


def cover(seed: int, *, n_rows: int = 14, n_columns: int = 10) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows and costs of a set cover: every row needs at least one of its columns."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((n_rows, n_columns)) < 0.3).astype(float)
    rows[np.arange(n_rows), rng.integers(0, n_columns, n_rows)] = 1
    return rows, rng.integers(1, 20, n_columns).astype(float)


def cheapest_cover(rows: NDArray[np.float64], cost: NDArray[np.float64]) -> float:
    """Return the cost of the cheapest cover, by trying all of them."""
    points = np.array(list(product((0.0, 1.0), repeat=len(cost))))
    return float((points[(points @ rows.T >= 1).all(axis=1)] @ cost).min())


def cover_program(rows: NDArray[np.float64], cost: NDArray[np.float64]) -> LinearProgram:
    """Return a set cover as a MIP."""
    return program(cost, rows, row_lower=1, upper=1, integer=True)


def uncovered(rows: NDArray[np.float64], x: NDArray[np.float64], most: int = 2) -> list[Row]:
    """Return the first rows of a cover that a point leaves open."""
    open_rows = np.flatnonzero(rows @ x < 1 - 1e-6)[:most]
    return [Row(np.flatnonzero(rows[row]), np.ones(int(rows[row].sum())), 1.0, INF) for row in open_rows]


def dual_bound(problem: LinearProgram, duals: NDArray[np.float64]) -> float:
    r"""Return :math:`\min_{r \le z \le s} y'z + \min_{l \le x \le u} (c - A'y)'x`, which no objective is below.

    It holds for any multipliers y, so it owes nothing to the solver.
    """
    reduced = problem.cost - problem.rows.T @ duals

    def least(prices: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> float:
        at = np.where(prices > 0, lower, upper)
        used = np.abs(prices) > 1e-9
        return float(prices[used] @ at[used])

    return least(duals, problem.row_lower, problem.row_upper) + least(reduced, problem.lower, problem.upper)
