"""Rows that are given only when a point violates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.solve.backend import Model, Row, Separate
from celosia.solve.clock import Clock
from celosia.solve.problem import numbers
from celosia.solve.solution import Solution, Status
from celosia.tolerance import ROW_SATISFIED


def find_violated(rows: Sequence[Row], x: NDArray[np.float64]) -> list[Row]:
    """Return the rows that a point violates by more than the tolerance."""
    found = []
    for row in rows:
        activity = float(np.dot(row.values, x[row.columns]))
        if activity < row.lower - ROW_SATISFIED or activity > row.upper + ROW_SATISFIED:
            found.append(row)
    return found


def stack_rows(rows: Sequence[Row], n_columns: int) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.float64]]:
    """Return rows as a matrix with its sides."""
    starts = np.cumsum([0, *(len(row.columns) for row in rows)])
    columns = np.concatenate([np.zeros(0, dtype=np.int64), *(row.columns for row in rows)])
    values = np.concatenate([np.zeros(0), *(row.values for row in rows)])
    matrix = sp.csr_array((values, columns, starts), shape=(len(rows), n_columns))
    return matrix, numbers([row.lower for row in rows]), numbers([row.upper for row in rows])


def solve_in_rounds(
    model: Model, separate: Separate, *, time_limit: float | None, gap: float, absolute_gap: float
) -> Solution:
    """Return the solution with all lazy rows: solve, separate, add the rows, and again until there are none.

    This is `Model.solve_lazily` for LPs, and for back ends that cannot add rows inside a tree.

    Guarantee
    ---------
    Every round solves a relaxation, so the bound of any round holds, and a point that violates nothing is feasible:
    what is returned as OPTIMAL is optimal to the gap. Each round adds a row that the last point violates, so a point
    never comes back; where the solver's tolerance hides the violation, SolverError is raised instead of an answer.
    """
    clock = Clock(time_limit)
    bound = -np.inf
    last: NDArray[np.float64] | None = None
    while True:
        found = model.solve(time_limit=None if time_limit is None else clock.left, gap=gap, absolute_gap=absolute_gap)
        if found.status is Status.UNBOUNDED:
            raise unbounded_error()
        bound = max(bound, found.bound)
        if found.x is None:
            return replace(found, bound=bound, seconds=clock.seconds)
        missing = find_violated(separate(found.x), found.x)
        if not missing:
            return replace(found, bound=min(bound, found.objective), seconds=clock.seconds)
        if found.status is Status.STOPPED:
            return Solution.stopped(bound, clock.seconds)
        if last is not None and np.array_equal(found.x, last):
            raise stalled_error()
        last = found.x
        model.add_rows(*stack_rows(missing, len(found.x)))


def stalled_error() -> SolverError:
    """Return the error for rows that cut a point off in exact arithmetic only."""
    return SolverError.one(
        "separate",
        "returned rows that the solver takes for satisfied at a point that violates them.",
        "Scale them so that their largest entry is near 1.",
    )


def unbounded_error() -> SolverError:
    """Return the error for a problem that only its lazy rows would bound."""
    return SolverError.one("problem", "is unbounded without its lazy rows.", "Give its columns bounds.")
