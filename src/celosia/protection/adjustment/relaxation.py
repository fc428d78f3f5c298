"""The relaxation of an adjustment: costs replaced by their convex envelopes, whole numbers by any numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.adjustment.balance import Balances, Whose, balances_of
from celosia.protection.adjustment.formulation import ENDLESS, AdjustTask
from celosia.protection.adjustment.steps import linear_steps
from celosia.solve.backend import Capability
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Solution, Status

_MANY_ROWS = 2_000
"""With more balance rows than this the interior-point method is faster: 7 s against 54 s with 7,000 rows."""

_ROUNDS = 8
"""So many times violated balance rows are looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """A solution of the relaxation.

    Parameters
    ----------
    moves
        Where cells go, ``(n,)``; split cells anywhere between their sides.
    multipliers
        Of the relations, ``(m,)``; their accuracy is the solver's.
    tilt
        What balance rows add to the weights, ``(n,)``.
    balances
        The balance rows that were needed, ``(k,)``; see `celosia.protection.adjustment.balance`.
    """

    moves: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    tilt: NDArray[np.float64]
    balances: NDArray[np.int64]


def relaxed(task: AdjustTask, clock: Clock, balanced: Whose | None = None) -> Relaxed | None:
    """Return the solution of the relaxation, None where there is none.

    Parameters
    ----------
    task
        The task.
    clock
        How much time there is.
    balanced
        With balance rows of these cells, which only the norm 1 has: a better bound, and more work.

    Raises
    ------
    TimeoutError
        The time is up.
    SolverError
        The solver gives no answer.
    """
    if task.norm == 1:
        return _linear(task, clock, None if balanced is None else balances_of(task, balanced))
    return _quadratic(task, clock)


def _linear(task: AdjustTask, clock: Clock, balances: Balances | None) -> Relaxed | None:
    """Return the solution, with balance rows as long as it violates some."""
    steps = linear_steps(task)
    model = backends()[0].open(steps.program("nothing"))
    factors, rest = steps.sizes
    used, found = np.zeros(0, dtype=np.int64), None
    for _ in range(_ROUNDS):
        try:
            large = len(used) > _MANY_ROWS
            solution = answer(model.solve(time_limit=clock.left, method="interior" if large else "auto"))
        except TimeoutError:
            if found is None:
                raise
            break
        if solution is None or solution.x is None or solution.duals is None:
            return None
        own, others = np.split(solution.duals * steps.scale, [task.matrix.shape[0]])
        tilt = np.zeros(len(task)) if balances is None else balances.tilt(used, others)
        found = Relaxed(steps.moves(solution.x, "nothing"), own, tilt, used)
        if balances is None:
            break
        new = np.setdiff1d(balances.violated(factors @ solution.x + rest), used)
        if not len(new):
            break
        rows, least = balances.beside(steps, new)
        model.add_rows(rows, least, np.full(len(least), np.inf))
        used = np.concatenate([used, new])
    return found


def _quadratic(task: AdjustTask, clock: Clock) -> Relaxed | None:
    """Return the solution for squares: a split cell stands on its chord, or on one of the parabola's arms beyond it."""
    matrix = task.matrix.astype(np.float64)
    split, plain = np.flatnonzero(task.split), np.flatnonzero(~task.split)
    scale = float(np.median(task.weight)) if len(task) else 1.0
    weight, offset = task.weight / scale, task.offset
    up, down = task.up[split] - offset[split], task.down[split] + offset[split]  # from the true value
    own = weight[split]
    shift = np.zeros(len(task))
    shift[split] = -task.down[split]
    right = task.right - matrix @ shift
    arms = np.concatenate([2 * own * up, 2 * own * down])
    squares = np.concatenate([weight[plain], np.zeros(len(split)), own, own]) * 2
    problem = LinearProgram(
        sp.csr_array(sp.hstack([matrix[:, plain], matrix[:, split], matrix[:, split], -matrix[:, split]])),
        row_lower=right,
        row_upper=right,
        lower=np.concatenate([_ends(task.lower[plain]), np.zeros(3 * len(split))]),
        upper=np.concatenate(
            [
                _ends(task.upper[plain]),
                up + down,
                _ends(task.upper[split] - task.up[split]),
                _ends(-task.down[split] - task.lower[split]),
            ]
        ),
        cost=np.concatenate([-2 * weight[plain] * offset[plain], own * (up - down), arms]),
        quadratic=sp.csc_array(sp.diags_array(squares)),
    )
    solution = answer(backends(Capability.QP)[0].open(problem).solve(time_limit=clock.left))
    if solution is None or solution.x is None or solution.duals is None:
        return None
    moves = np.zeros(len(task))
    first, jump, climb, descent = np.split(solution.x, len(plain) + len(split) * np.arange(3))
    moves[plain] = first
    moves[split] = -task.down[split] + jump + climb - descent
    return Relaxed(moves, solution.duals * scale, np.zeros(len(task)), np.zeros(0, dtype=np.int64))


def _ends(bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return bounds for a solver."""
    return np.where(np.abs(bounds) >= ENDLESS / 2, np.copysign(np.inf, bounds), bounds.astype(np.float64))


def answer(solution: Solution) -> Solution | None:
    """Return a solution, None where there is none.

    Raises
    ------
    TimeoutError
        The time is up.
    SolverError
        The solver talks nonsense.
    """
    if solution.status is Status.STOPPED:
        raise TimeoutError
    if solution.status is Status.UNBOUNDED:
        raise SolverError.one("solver", "calls the distance between two tables unbounded.", "Report this.")
    return None if solution.status is Status.INFEASIBLE else solution
