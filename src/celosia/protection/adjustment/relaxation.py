"""The relaxation of an adjustment: costs replaced by their convex envelopes, whole numbers by any numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.adjustment.balance import Balances, Whose, balances_of
from celosia.protection.adjustment.formulation import AdjustmentProblem
from celosia.protection.adjustment.parameters import ADJUSTMENT, AdjustmentParameters
from celosia.protection.adjustment.steps import linear_steps
from celosia.solve.backend import Capability
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Solution, Status
from celosia.tolerance import LARGEST_MOVE


@dataclass(frozen=True, slots=True, eq=False)
class RelaxationSolution:
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


def solve_relaxation(
    problem: AdjustmentProblem,
    clock: Clock,
    balanced: Whose | None = None,
    parameters: AdjustmentParameters = ADJUSTMENT,
) -> RelaxationSolution | None:
    """Return the solution of the relaxation, None where there is none.

    Parameters
    ----------
    problem
        The problem.
    clock
        How much time there is.
    balanced
        With balance rows of these cells, which only the norm 1 has: a better bound, and more work.
    parameters
        How hard to search.

    Raises
    ------
    TimeoutError
        The time is up.
    SolverError
        The solver gives no answer.
    """
    if problem.norm == 1:
        return _linear(problem, clock, None if balanced is None else balances_of(problem, balanced), parameters)
    return _quadratic(problem, clock)


def _linear(
    problem: AdjustmentProblem, clock: Clock, balances: Balances | None, parameters: AdjustmentParameters
) -> RelaxationSolution | None:
    """Return the solution, with balance rows as long as it violates some."""
    steps = linear_steps(problem)
    model = backends()[0].open(steps.program("nothing"))
    factors, rest = steps.sizes
    used, found = np.zeros(0, dtype=np.int64), None
    for _ in range(parameters.balance_rounds):
        try:
            large = len(used) > parameters.many_balance_rows
            solution = check_answer(model.solve(time_limit=clock.left, method="interior" if large else "auto"))
        except TimeoutError:
            if found is None:
                raise
            break
        if solution is None or solution.x is None or solution.duals is None:
            return None
        own, others = np.split(solution.duals * steps.scale, [problem.matrix.shape[0]])
        tilt = np.zeros(len(problem)) if balances is None else balances.tilt(used, others)
        found = RelaxationSolution(steps.moves(solution.x, "nothing"), own, tilt, used)
        if balances is None:
            break
        new = np.setdiff1d(balances.find_violated(factors @ solution.x + rest), used)
        if not len(new):
            break
        rows, least = balances.balance_rows(steps, new)
        model.add_rows(rows, least, np.full(len(least), np.inf))
        used = np.concatenate([used, new])
    return found


def _quadratic(problem: AdjustmentProblem, clock: Clock) -> RelaxationSolution | None:
    """Return the solution for squares: a split cell stands on its chord, or on one of the parabola's arms beyond it."""
    matrix = problem.matrix.astype(np.float64)
    split, plain = np.flatnonzero(problem.split), np.flatnonzero(~problem.split)
    scale = float(np.median(problem.weight)) if len(problem) else 1.0
    weight, offset = problem.weight / scale, problem.offset
    up, down = problem.up[split] - offset[split], problem.down[split] + offset[split]  # from the true value
    own = weight[split]
    shift = np.zeros(len(problem))
    shift[split] = -problem.down[split]
    right = problem.right - matrix @ shift
    arms = np.concatenate([2 * own * up, 2 * own * down])
    squares = np.concatenate([weight[plain], np.zeros(len(split)), own, own]) * 2
    program = LinearProgram(
        sp.csr_array(sp.hstack([matrix[:, plain], matrix[:, split], matrix[:, split], -matrix[:, split]])),
        row_lower=right,
        row_upper=right,
        lower=np.concatenate([_ends(problem.lower[plain]), np.zeros(3 * len(split))]),
        upper=np.concatenate(
            [
                _ends(problem.upper[plain]),
                up + down,
                _ends(problem.upper[split] - problem.up[split]),
                _ends(-problem.down[split] - problem.lower[split]),
            ]
        ),
        cost=np.concatenate([-2 * weight[plain] * offset[plain], own * (up - down), arms]),
        quadratic=sp.csc_array(sp.diags_array(squares)),
    )
    solution = check_answer(backends(Capability.QP)[0].open(program).solve(time_limit=clock.left))
    if solution is None or solution.x is None or solution.duals is None:
        return None
    moves = np.zeros(len(problem))
    first, jump, climb, descent = np.split(solution.x, len(plain) + len(split) * np.arange(3))
    moves[plain] = first
    moves[split] = -problem.down[split] + jump + climb - descent
    return RelaxationSolution(moves, solution.duals * scale, np.zeros(len(problem)), np.zeros(0, dtype=np.int64))


def _ends(bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return bounds for a solver."""
    return np.where(np.abs(bounds) >= LARGEST_MOVE / 2, np.copysign(np.inf, bounds), bounds.astype(np.float64))


def check_answer(solution: Solution) -> Solution | None:
    """Return a solution, None where there is none.

    Raises
    ------
    TimeoutError
        The time is up.
    SolverError
        The solver calls a distance unbounded.
    """
    if solution.status is Status.STOPPED:
        raise TimeoutError
    if solution.status is Status.UNBOUNDED:
        raise SolverError.one("solver", "calls the distance between two tables unbounded.", "Report this.")
    return None if solution.status is Status.INFEASIBLE else solution
