r"""Whether every target reaches its level by moves of few coordinates: a primal simplex method for tiny dense programs.

.. math:: \max\ s\,y_p \quad\text{s.t.}\quad y = E u,\; -l \le y \le m

starts at y = 0, with all coordinates free. In each step the coordinate that gains most moves until a class meets its
bound, which then takes its place. An answer that takes too many steps counts as no.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner
from celosia.tolerance import KERNEL_ZERO, TABLEAU_ZERO

_Table = Annotated[NDArray[np.float64], 2]
_MOST_STEPS = 40
"""Steps for every coordinate before a question is given up."""

_LEAST_KEPT = 0.02
"""Part of its level by which a witness must move a target to be scaled up: rounding errors are scaled up with it."""


class RequiredLevels(NamedTuple):
    """How far classes must move; see `celosia.protection.engine.heuristics.joint.targets.Targets`."""

    columns: NDArray[np.int64]
    signs: NDArray[np.int64]
    levels: NDArray[np.float64]
    boxes: NDArray[np.int64]
    lower: Annotated[NDArray[np.float64], 2]
    upper: Annotated[NDArray[np.float64], 2]


@inner()
def meet_levels(
    moves: _Table, among: NDArray[np.int64], witnesses: _Table, levels: RequiredLevels, refusals: NDArray[np.int64]
) -> bool:
    """Return whether every target reaches its level by moves of some classes; those that often fail are tried first.

    Parameters
    ----------
    moves, among
        The moves, ``(m, d)``, and of which classes they are, ``(m,)``; no other class moves.
    witnesses
        A combination of them for every target, which is replaced by one that takes it to its level, ``(t, m)``.
        Multiples are tried first, then those of other targets' witnesses, then a program.
    levels
        What must move.
    refusals
        How often every target was the reason for a no, counted on, ``(t,)``.
    """
    place = np.full(levels.lower.shape[1], -1, dtype=np.int64)
    for i in range(len(among)):
        place[among[i]] = i
    for one in levels.columns:
        if place[one] < 0 or np.abs(moves[place[one]]).max() <= TABLEAU_ZERO:
            return False
    order = np.argsort(-refusals)
    for t in order:
        own = place[levels.columns[t]]
        found = _scale(witnesses[t], own, t, among, levels, witnesses[t])
        for other in order:
            found = found or (other != t and _scale(witnesses[other], own, t, among, levels, witnesses[t]))
        if not found:
            box, sign = levels.boxes[t], 1.0 if levels.signs[t] == 0 else float(levels.signs[t])
            lower, upper = levels.lower[box][among], levels.upper[box][among]
            if not _reach(moves.copy(), own, sign, levels.levels[t], lower, upper, witnesses[t]):
                refusals[t] += 1
                return False
    return True


@inner()
def _scale(
    move: NDArray[np.float64],
    own: int,
    t: int,
    among: NDArray[np.int64],
    levels: RequiredLevels,
    scaled: NDArray[np.float64],
) -> bool:
    """Return whether a multiple of a move takes a target to its level within its bounds, and fill it in then."""
    level = levels.levels[t] * (1.0 if levels.signs[t] == 0 else levels.signs[t])
    if abs(move[own]) < _LEAST_KEPT * abs(level):
        return False
    factor, box, most = level / move[own], levels.boxes[t], 1.0 + KERNEL_ZERO
    for i in range(len(move)):
        step = factor * move[i]
        if step > levels.upper[box, among[i]] * most or -step > levels.lower[box, among[i]] * most:
            return False
    scaled[:] = factor * move
    return True


@inner()
def _reach(
    rows: _Table,
    own: int,
    sign: float,
    level: float,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    y: NDArray[np.float64],
) -> bool:
    """Return whether a class reaches its level, and by which move `y`; the rows are changed."""
    d = rows.shape[1]
    y[:] = 0.0
    side = np.zeros(d, dtype=np.int64)
    for _ in range(_MOST_STEPS * d):
        column, direction = _choose_column(rows[own], sign, side)
        if column < 0:
            return False
        step, row = _longest_step(rows, column, direction, y, lower, upper)
        wanted = (level - sign * y[own]) / (sign * direction * rows[own, column])
        if wanted <= step * (1.0 + KERNEL_ZERO):  # levels as large as a bound are common
            y += wanted * direction * rows[:, column]
            return True
        if row < 0:
            return False
        y += step * direction * rows[:, column]
        side[column] = 1 if direction * rows[row, column] > 0 else -1
        y[row] = upper[row] if side[column] > 0 else -lower[row]
        _exchange(rows, row, column)
    return False


@inner()
def _choose_column(gains: NDArray[np.float64], sign: float, side: NDArray[np.int64]) -> tuple[int, float]:
    """Return the coordinate that gains most, and its direction; one at a bound can only go back; -1 for none."""
    column, direction, best = -1, 0.0, KERNEL_ZERO
    for k in range(len(side)):
        gain = sign * gains[k]
        if gain > best and side[k] <= 0:
            column, direction, best = k, 1.0, gain
        elif -gain > best and side[k] >= 0:
            column, direction, best = k, -1.0, -gain
    return column, direction


@inner()
def _longest_step(
    rows: _Table,
    column: int,
    direction: float,
    y: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> tuple[float, int]:
    """Return how far a coordinate can move, and the class that meets its bound then, -1 where none does."""
    step, row = np.inf, -1
    for i in range(len(y)):
        move = direction * rows[i, column]
        if abs(move) > KERNEL_ZERO:
            room = (upper[i] - y[i]) / move if move > 0 else (lower[i] + y[i]) / -move
            if room < step:
                step, row = max(room, 0.0), i
    return step, row


@inner()
def _exchange(rows: _Table, row: int, column: int) -> None:
    """Let a coordinate be the move of a class."""
    d = rows.shape[1]
    rows[:, column] /= rows[row, column]
    for k in range(d):
        factor = rows[row, k]
        if k != column and factor != 0.0:
            for i in range(len(rows)):
                rows[i, k] -= factor * rows[i, column]
