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


class RequiredLevels(NamedTuple):
    """How far classes must move; see `celosia.protection.engine.heuristics.joint.targets.Targets`."""

    columns: NDArray[np.int64]
    signs: NDArray[np.int64]
    levels: NDArray[np.float64]
    boxes: NDArray[np.int64]
    lower: Annotated[NDArray[np.float64], 2]
    upper: Annotated[NDArray[np.float64], 2]


@inner()
def meet_levels(  # noqa: C901  (one loop, compiled)
    moves: _Table, levels: RequiredLevels, refusals: NDArray[np.int64]
) -> bool:
    """Return whether every target reaches its level by these moves, ``(n, d)``; those that often fail are tried first.

    A move that takes one target to its level, and others as well, settles all of them.
    """
    n, d = moves.shape
    place, count = np.full(n, -1, dtype=np.int64), 0
    for i in range(n):
        for k in range(d):
            if abs(moves[i, k]) > TABLEAU_ZERO:
                place[i] = count
                count += 1
                break
    for t in range(len(levels.columns)):
        if place[levels.columns[t]] < 0:
            return False
    classes = np.flatnonzero(place >= 0)
    rows, y = moves[classes], np.zeros(count)
    order = np.argsort(-refusals)
    settled = np.zeros(len(order), dtype=np.bool_)
    for t in order:
        if settled[t]:
            continue
        box, sign = levels.boxes[t], 1.0 if levels.signs[t] == 0 else float(levels.signs[t])
        lower, upper = levels.lower[box][classes], levels.upper[box][classes]
        if not _reach(rows.copy(), place[levels.columns[t]], sign, levels.levels[t], lower, upper, y):
            refusals[t] += 1
            return False
        for other in order:
            if levels.boxes[other] == box:
                reached = y[place[levels.columns[other]]]
                reached = abs(reached) if levels.signs[other] == 0 else reached * levels.signs[other]
                settled[other] |= reached >= levels.levels[other]
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
        if wanted <= step:
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
