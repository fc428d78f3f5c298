"""Cells of a mixed release that may be rounded or perturbed: how, and how far, in steps of their decimals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protect.task import Task
from celosia.risk.risk import Levels, Risk


@dataclass(frozen=True, slots=True, eq=False)
class Roundings:
    """Columns of a task that may be rounded.

    Parameters
    ----------
    columns
        The columns, ``(m,)``.
    base, truth
        Of each, in steps, ``(m,)``.
    """

    columns: NDArray[np.int64]
    base: NDArray[np.int64]
    truth: NDArray[np.int64]

    @property
    def remainder(self) -> NDArray[np.int64]:
        """How far each truth lies above the multiple below it."""
        return np.asarray(self.truth % self.base)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Columns of a task that may be perturbed.

    Parameters
    ----------
    columns
        The columns, ``(m,)``.
    reach
        Of each, in steps, ``(m,)``.
    most_up, most_down, least_up, least_down
        How far each may and must move if it is perturbed, in steps, ``(m,)`` each.
    """

    columns: NDArray[np.int64]
    reach: NDArray[np.int64]
    most_up: NDArray[np.int64]
    most_down: NDArray[np.int64]
    least_up: NDArray[np.int64]
    least_down: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """What may be published about columns of a task as a number that is not the true one.

    Parameters
    ----------
    roundings, moves
        In which ways.
    step
        How many counts of the task are one step: a unit of the last decimal, or 1 where values are whole.
    """

    roundings: Roundings
    moves: Moves
    step: int

    @property
    def columns(self) -> NDArray[np.int64]:
        """The columns with such a way, increasing."""
        return np.union1d(self.roundings.columns, self.moves.columns)


def steps_of(task: Task, risk: Risk, *, integer: bool) -> tuple[int, int]:
    """Return how many units of the table's last decimal, and how many counts of a task, are one step."""
    units = 10**risk.table.decimals if integer else 1
    return units, units * 10**task.decimals // 10**risk.table.decimals


def moves_of(
    risk: Risk, task: Task, columns: NDArray[np.int64], reach: NDArray[np.int64], units: int, secret: int | None
) -> Moves:
    """Return how far columns may move within their reach, in steps; sensitive cells must, to a side drawn at random.

    A sensitive cell that is perturbed is moved at least by its level on that side, as far as the reach leaves its level
    on the other, as in `celosia.Perturb`. One whose reach is too small for that is left out.
    """
    cells = task.cells[columns]
    truth = np.asarray(risk.table.amounts.counts, dtype=np.int64)[cells] // units
    most_down = np.minimum(reach, truth) if risk.table.nonnegative else reach.copy()
    sensitive = np.flatnonzero(risk.sensitive[cells])
    least = np.zeros((2, len(cells)), dtype=np.int64)
    most = np.array([reach, most_down])
    upward = np.random.default_rng(secret).random(len(risk))[cells] < 0.5  # noqa: PLR2004  (a coin for every cell)
    for place in sensitive.tolist():
        own = _least(risk.levels, int(cells[place]), int(reach[place]), risk.table.decimals, units)
        own = (own[0], min(own[1], int(most_down[place])))
        side = 0 if upward[place] else 1
        side = side if own[side] > 0 else 1 - side
        least[side, place] = own[side]
        most[1 - side, place] = 0
    kept = np.ones(len(cells), dtype=bool)
    kept[sensitive] = least[:, sensitive].max(axis=0) > 0
    return Moves(columns[kept], reach[kept], most[0][kept], most[1][kept], least[0][kept], least[1][kept])


def _least(levels: Levels, cell: int, reach: int, decimals: int, units: int) -> tuple[int, int]:
    """Return how far a sensitive cell is moved at least, up and down, in steps; 0 where its reach is too small."""
    lower, upper, sliding = (
        -(-level.fraction(cell) * 10**decimals // units) for level in (levels.lower, levels.upper, levels.sliding)
    )
    half = max(1, -(-sliding // 2))
    up, down = (min(own or half, reach - other) for own, other in ((upper, lower), (lower, upper)))
    return int(max(up, 0)), int(max(down, 0))
