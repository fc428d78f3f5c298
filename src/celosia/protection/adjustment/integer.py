"""From a solution in floating point to whole numbers that add up exactly.

Vertices of tables are mostly whole, and rounding finds them. Where some cells are not, they and their neighbours are
solved again as whole numbers; where that finds nothing, all cells near the solution are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.adjustment.balance import Whose, balances_of
from celosia.protection.adjustment.formulation import AdjustmentProblem
from celosia.protection.adjustment.parameters import ADJUSTMENT, AdjustmentParameters
from celosia.protection.adjustment.relaxation import check_answer, solve_relaxation
from celosia.protection.adjustment.steps import Steps, Whole, linear_steps, unit_steps
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.solve.solution import Solution, Status
from celosia.tolerance import INTEGRAL


@dataclass(frozen=True, slots=True, eq=False)
class WholeMoves:
    """Whole moves of a problem without split cells.

    Parameters
    ----------
    moves
        The moves, ``(n,)``.
    multipliers
        Multipliers of the relations that come close to proving them the cheapest, ``(m,)``.
    """

    moves: NDArray[np.int64]
    multipliers: NDArray[np.float64]


def find_whole_moves(
    problem: AdjustmentProblem, solver: Backend, clock: Clock, parameters: AdjustmentParameters = ADJUSTMENT
) -> WholeMoves | None:
    """Return the cheapest moves, or moves close to them, of a problem without split cells; None where none are found.

    Guarantee: the problem admits them, exactly.

    Raises
    ------
    TimeoutError
        The time is up.
    """
    try:
        found = solve_relaxation(problem, clock, parameters=parameters)
    except SolverError:
        return _descend_from_norm_1(problem, solver, clock, parameters)
    if found is None:
        return None
    if problem.norm == 1:
        moves = _round_to_whole(problem, found.moves, solver, clock, parameters)
        return None if moves is None else WholeMoves(moves, found.multipliers)
    if len(problem) > parameters.many_cells:
        moves = _round_to_whole(problem, found.moves, solver, clock, parameters)
        if moves is not None:
            return WholeMoves(moves, found.multipliers)
    low, high = np.floor(found.moves).astype(np.int64), np.ceil(found.moves).astype(np.int64)
    for width in parameters.windows:
        close = problem.tighten(low - width + 1, high + width - 1)
        steps = unit_steps(close)
        solution = check_answer(backends()[0].open(steps.program("nothing")).solve(time_limit=clock.left))
        if solution is not None and solution.x is not None and solution.duals is not None:
            moves = _round_to_whole(close, steps.moves(solution.x, "nothing"), solver, clock, parameters)
            if moves is not None:
                return WholeMoves(moves, solution.duals * steps.scale)
    return None


def _descend_from_norm_1(
    problem: AdjustmentProblem, solver: Backend, clock: Clock, parameters: AdjustmentParameters
) -> WholeMoves | None:
    """Return moves found without a quadratic program: from those of the norm 1 down, by unit steps nearby."""
    first = find_whole_moves(replace(problem, norm=1), solver, clock, parameters) if problem.norm != 1 else None
    if first is None:
        return None
    moves, cost, widest = first.moves, math.inf, max(parameters.windows)
    while (now := math.fsum(problem.costs(moves).tolist())) < cost:
        cost = now
        close = problem.tighten(moves - widest, moves + widest)
        steps = unit_steps(close)
        solution = check_answer(backends()[0].open(steps.program("nothing")).solve(time_limit=clock.left))
        if solution is None or solution.x is None or solution.duals is None:
            break
        multipliers = solution.duals * steps.scale
        better = _round_to_whole(close, steps.moves(solution.x, "nothing"), solver, clock, parameters)
        if better is None or math.fsum(problem.costs(better).tolist()) >= cost:
            return WholeMoves(moves, multipliers)
        moves = better
    return WholeMoves(moves, np.zeros(problem.matrix.shape[0]))


def _round_to_whole(
    problem: AdjustmentProblem,
    moves: NDArray[np.float64],
    solver: Backend,
    clock: Clock,
    parameters: AdjustmentParameters,
) -> NDArray[np.int64] | None:
    """Return whole moves near others: rounded, with totals from rounded leaves, or solved again nearby."""
    near = np.clip(np.rint(moves), problem.lower, problem.upper).astype(np.int64)
    if problem.admits(near):
        return near
    off = np.abs(moves - near) > INTEGRAL
    if off.mean() > parameters.fractional_share:
        near = leaves_of(problem.matrix).complete_totals(problem, near)
        if problem.admits(near):
            return near
        off = (near < problem.lower) | (near > problem.upper)
        broken = (problem.matrix @ near != problem.right).astype(np.int64)
        off |= np.asarray(abs(problem.matrix).T @ broken > 0)
    limit = parameters.neighbourhood_seconds
    for close in _neighbourhoods(problem, near, off, parameters.windows):
        found, _ = solve_whole(close, "everything", solver, clock, time_limit=limit, parameters=parameters)
        if found is not None and problem.admits(found):
            return found
    return None


def _neighbourhoods(
    problem: AdjustmentProblem, near: NDArray[np.int64], off: NDArray[np.bool_], windows: tuple[int, ...]
) -> Iterator[AdjustmentProblem]:
    """Yield ever larger problems around some moves, of which a few are not whole."""
    incidence = abs(problem.matrix)
    around = off
    for width in windows:
        around = around | ((incidence.T @ (incidence @ around.astype(np.int64))) > 0)
        lower, upper = (np.where(around, near + sign * width, near) for sign in (-1, 1))
        yield problem.tighten(lower, upper)
    yield problem.tighten(near - max(windows), near + max(windows))


def solve_whole(
    problem: AdjustmentProblem,
    whole: Whole,
    solver: Backend,
    clock: Clock,
    *,
    gap: float = 0.0,
    time_limit: float | None = None,
    balanced: Whose = "every",
    parameters: AdjustmentParameters = ADJUSTMENT,
) -> tuple[NDArray[np.int64] | None, Solution | None]:
    """Return the cheapest whole moves that a solver finds in time, None for none, and what it said.

    The objective and the bound are those of the problem. The caller checks whether the problem admits the moves: where
    only sides are whole, the others are rounded. Cells that cannot move are constants.
    """
    if bool((problem.lower > problem.upper).any()):
        return None, Solution.infeasible(0.0)
    moving = problem.lower < problem.upper
    columns = np.flatnonzero(moving)
    moves = np.where(moving, 0, problem.lower)
    matrix = sp.csr_array(problem.matrix[:, columns])
    right = problem.right - problem.matrix @ moves
    used = np.diff(matrix.indptr) > 0
    if bool(right[~used].any()):
        return None, Solution.infeasible(0.0)
    few = replace(problem.restrict_to(columns), matrix=sp.csr_array(matrix[used]), right=right[used])
    steps = steps_of(few)
    balance_rows = None
    if few.norm == 1 and few.split.any():
        needed = solve_relaxation(few, clock, balanced, parameters)
        if needed is None:
            return None, Solution.infeasible(0.0)
        balance_rows = balances_of(few, balanced).balance_rows(steps, needed.balances)
    limit = clock.left if time_limit is None else min(clock.left, time_limit)
    said = solver.open(steps.program(whole, balance_rows)).solve(time_limit=limit, gap=gap)
    constant = steps.constant + float(problem.costs(moves)[~moving].sum())
    said = replace(said, objective=said.objective * steps.scale + constant, bound=said.bound * steps.scale + constant)
    if said.x is None:
        return None, said
    moves[columns] = np.rint(steps.moves(said.x, whole)).astype(np.int64)
    return moves, said


def steps_of(problem: AdjustmentProblem) -> Steps:
    """Return exact steps of a problem, whose bounds must be close where the norm is 2."""
    return linear_steps(problem) if problem.norm == 1 else unit_steps(problem)


def is_infeasible(said: Solution | None) -> bool:
    """Return whether a solver proved that there are no such moves."""
    return said is not None and said.status is Status.INFEASIBLE


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """The order in which the totals of a table follow from its leaves.

    Parameters
    ----------
    layers
        One after the other: the rows of a layer, and the totals that follow from them and from what is known by then.
    rest
        Rows that define no total, ``(k,)``: they hold or they do not.
    """

    layers: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    rest: NDArray[np.int64]

    def complete_totals(self, problem: AdjustmentProblem, moves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return moves in which those of totals are replaced by what follows from the leaves."""
        found = moves.copy()
        for rows, totals in self.layers:
            found[totals] = 0
            found[totals] = problem.matrix[rows] @ found - problem.right[rows]  # the total's own coefficient is -1
        return found


def leaves_of(matrix: sp.csr_array) -> Leaves:
    """Return how totals follow from leaves: a relation with one negative coefficient, -1, defines that cell, once."""
    m, n = matrix.shape
    row = np.repeat(np.arange(m), np.diff(matrix.indptr))
    negative = matrix.data < 0
    single = np.bincount(row[negative], minlength=m) == 1
    total = np.full(m, -1, dtype=np.int64)
    ones = negative & (matrix.data == -1) & single[row]
    total[row[ones]] = matrix.indices[ones]
    _, first = np.unique(total, return_index=True)
    defining = np.zeros(m, dtype=bool)
    defining[first] = True
    defining &= total >= 0
    pattern = sp.csr_array((np.ones(matrix.nnz, dtype=np.int64), matrix.indices, matrix.indptr), shape=(m, n))
    unknown = np.zeros(n, dtype=np.int64)
    unknown[total[defining]] = 1
    layers, waiting = [], np.flatnonzero(defining)
    while len(waiting):
        ready = pattern[waiting] @ unknown == 1  # nothing but the total itself
        if not ready.any():
            break  # definitions that go round in circles: relations like any other
        layers.append((waiting[ready], total[waiting[ready]]))
        unknown[total[waiting[ready]]] = 0
        waiting = waiting[~ready]
    used = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for rows, _ in layers)])
    return Leaves(tuple(layers), np.setdiff1d(np.arange(m), used))
