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
from celosia.protection.adjustment.formulation import AdjustTask
from celosia.protection.adjustment.leaves import leaves_of
from celosia.protection.adjustment.relaxation import answer, relaxed
from celosia.protection.adjustment.steps import Steps, Whole, linear_steps, unit_steps
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.solve.solution import Solution, Status

_NEAR = 1e-6
"""What a solver may miss a whole number by."""

_WINDOWS = (1, 3, 10)
"""So many units around a solution are searched for a whole one, one after the other."""

_MANY = 10_000
"""Of so many cells squares are rounded leaf by leaf before a linear program over single units is tried."""

_SEVERAL = 0.02
"""Where a larger share of the cells is not whole, totals follow from rounded leaves."""

_SECONDS = 20.0
"""For the whole numbers of one neighbourhood."""


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Whole moves of a task without split cells.

    Parameters
    ----------
    moves
        The moves, ``(n,)``.
    multipliers
        Multipliers of the relations that come close to proving them the cheapest, ``(m,)``.
    """

    moves: NDArray[np.int64]
    multipliers: NDArray[np.float64]


def settled(task: AdjustTask, solver: Backend, clock: Clock) -> Settled | None:
    """Return the cheapest moves, or moves close to them, of a task without split cells; None where none are found.

    Guarantee: the task admits them, exactly.

    Raises
    ------
    TimeoutError
        The time is up.
    """
    try:
        found = relaxed(task, clock)
    except SolverError:
        return _descended(task, solver, clock)
    if found is None:
        return None
    if task.norm == 1:
        moves = _rounded(task, found.moves, solver, clock)
        return None if moves is None else Settled(moves, found.multipliers)
    moves = _rounded(task, found.moves, solver, clock) if len(task) > _MANY else None
    if moves is not None:
        return Settled(moves, found.multipliers)
    low, high = np.floor(found.moves).astype(np.int64), np.ceil(found.moves).astype(np.int64)
    for width in _WINDOWS:
        close = task.within(low - width + 1, high + width - 1)
        steps = unit_steps(close)
        solution = answer(backends()[0].open(steps.program("nothing")).solve(time_limit=clock.left))
        if solution is not None and solution.x is not None and solution.duals is not None:
            moves = _rounded(close, steps.moves(solution.x, "nothing"), solver, clock)
            if moves is not None:
                return Settled(moves, solution.duals * steps.scale)
    return None


def _descended(task: AdjustTask, solver: Backend, clock: Clock) -> Settled | None:
    """Return moves found without a quadratic program: from those of the norm 1 down, by unit steps nearby."""
    first = settled(replace(task, norm=1), solver, clock) if task.norm != 1 else None
    if first is None:
        return None
    moves, cost = first.moves, math.inf
    while (now := math.fsum(task.costs(moves).tolist())) < cost:
        cost = now
        close = task.within(moves - max(_WINDOWS), moves + max(_WINDOWS))
        steps = unit_steps(close)
        solution = answer(backends()[0].open(steps.program("nothing")).solve(time_limit=clock.left))
        if solution is None or solution.x is None or solution.duals is None:
            break
        multipliers = solution.duals * steps.scale
        better = _rounded(close, steps.moves(solution.x, "nothing"), solver, clock)
        if better is None or math.fsum(task.costs(better).tolist()) >= cost:
            return Settled(moves, multipliers)
        moves = better
    return Settled(moves, np.zeros(task.matrix.shape[0]))


def _rounded(task: AdjustTask, moves: NDArray[np.float64], solver: Backend, clock: Clock) -> NDArray[np.int64] | None:
    """Return whole moves near others: rounded, or with totals that follow from rounded leaves, or mended."""
    near = np.clip(np.rint(moves), task.lower, task.upper).astype(np.int64)
    if task.admits(near):
        return near
    off = np.abs(moves - near) > _NEAR
    if off.mean() > _SEVERAL:
        near = leaves_of(task.matrix).completed(task, near)
        if task.admits(near):
            return near
        off = (near < task.lower) | (near > task.upper)
        broken = (task.matrix @ near != task.right).astype(np.int64)
        off |= np.asarray(abs(task.matrix).T @ broken > 0)
    for close in _neighbourhoods(task, near, off):
        found, _ = solve_whole(close, "everything", solver, clock, time_limit=_SECONDS)
        if found is not None and task.admits(found):
            return found
    return None


def _neighbourhoods(task: AdjustTask, near: NDArray[np.int64], off: NDArray[np.bool_]) -> Iterator[AdjustTask]:
    """Yield ever larger tasks around some moves, of which a few are not whole."""
    incidence = abs(task.matrix)
    around = off
    for width in _WINDOWS:
        around = around | ((incidence.T @ (incidence @ around.astype(np.int64))) > 0)
        lower, upper = (np.where(around, near + sign * width, near) for sign in (-1, 1))
        yield task.within(lower, upper)
    yield task.within(near - max(_WINDOWS), near + max(_WINDOWS))


def solve_whole(
    task: AdjustTask,
    whole: Whole,
    solver: Backend,
    clock: Clock,
    *,
    gap: float = 0.0,
    time_limit: float | None = None,
    balanced: Whose = "every",
) -> tuple[NDArray[np.int64] | None, Solution | None]:
    """Return the cheapest whole moves that a solver finds in time, None for none, and what it said.

    The objective and the bound are those of the task. Whether the task admits the moves is for the caller to check:
    where only sides are whole, the others are rounded. Cells that cannot move are constants.
    """
    if bool((task.lower > task.upper).any()):
        return None, Solution.infeasible(0.0)
    moving = task.lower < task.upper
    columns = np.flatnonzero(moving)
    moves = np.where(moving, 0, task.lower)
    matrix = sp.csr_array(task.matrix[:, columns])
    right = task.right - task.matrix @ moves
    used = np.diff(matrix.indptr) > 0
    if bool(right[~used].any()):
        return None, Solution.infeasible(0.0)
    few = replace(task.part(columns), matrix=sp.csr_array(matrix[used]), right=right[used])
    steps = steps_of(few)
    beside = None
    if few.norm == 1 and few.split.any():
        needed = relaxed(few, clock, balanced)
        if needed is None:
            return None, Solution.infeasible(0.0)
        beside = balances_of(few, balanced).beside(steps, needed.balances)
    limit = clock.left if time_limit is None else min(clock.left, time_limit)
    said = solver.open(steps.program(whole, beside)).solve(time_limit=limit, gap=gap)
    constant = steps.constant + float(task.costs(moves)[~moving].sum())
    said = replace(said, objective=said.objective * steps.scale + constant, bound=said.bound * steps.scale + constant)
    if said.x is None:
        return None, said
    moves[columns] = np.rint(steps.moves(said.x, whole)).astype(np.int64)
    return moves, said


def steps_of(task: AdjustTask) -> Steps:
    """Return exact steps of a task, whose bounds must be close where the norm is 2."""
    return linear_steps(task) if task.norm == 1 else unit_steps(task)


def is_infeasible(said: Solution | None) -> bool:
    """Return whether a solver proved that there are no such moves."""
    return said is not None and said.status is Status.INFEASIBLE
