r"""The width model of interval publication: how wide every range is, whatever its place.

With sliding levels only, one attacker, and a cost per unit of width, a set of ranges of widths :math:`W` is safe when
every sensitive cell p has a move :math:`d^p` with

.. math:: M d^p = 0, \qquad d^p_p = s_p, \qquad |d^p_i| \le W_i \quad\text{for every cell } i,

and the ranges can be placed (`celosia.protect.shifting`): a move is the difference of the two tables f and g of Salazar
(2003), Figure 6, so the model asks no more than that one, with half the columns and half the tables. Any multipliers
:math:`\gamma` of the relations give the cut

.. math:: \sum_{i \ne p} |r_i| W_i \ge s_p, \qquad r = M'\gamma / (M'\gamma)_p,

because :math:`\sum_i r_i d_i = 0` for every move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.parts import Parts, parts_of
from celosia.attack.system import ENDLESS
from celosia.protect.cuts import Cut, combined
from celosia.protect.task import Task

_GRID = 2.0**-40
"""Multipliers are rounded to this grid, so that sums over relations of a table are exact in doubles."""

_SMALLEST = 1e-6
"""Multipliers whose combination hardly contains the cell itself say nothing about it."""

_LEAST_ENTRY = 1e-8
"""Smaller coefficients of cuts are raised to this, which keeps them valid: solvers drop such entries."""

_ROUNDING = 1e-12
"""More than what rounding a coefficient to a double changes it by."""


@dataclass(frozen=True, slots=True, eq=False)
class WidthTask:
    """The width model in arrays; widths and levels are parts of the mean level.

    Parameters
    ----------
    task
        What it was made of.
    cost
        What a width of one mean level costs, ``(n,)``.
    most
        The greatest widths, infinite where there is no end, ``(n,)``.
    targets
        The sensitive cells, as columns, increasing, ``(q,)``.
    levels
        How far each must move, ``(q,)``.
    unit
        The mean level in counts of the task.
    floor
        The least widths of cells that are no targets, None for zero, ``(n,)``.
    """

    task: Task
    cost: NDArray[np.float64]
    most: NDArray[np.float64]
    targets: NDArray[np.int64]
    levels: NDArray[np.float64]
    unit: float
    floor: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, task: Task, most: NDArray[np.float64] | None = None) -> WidthTask:
        """Return the width model of a task with one attacker; `most` are further limits in counts, ``(n,)``."""
        goals = task.goals
        needed = np.maximum(goals.sliding, goals.up + goals.down).astype(np.float64)
        level = np.zeros(len(task))
        np.maximum.at(level, goals.columns, needed)
        targets = np.flatnonzero(level)
        unit = float(level[targets].mean()) if len(targets) else 1.0
        room = _rooms(task)
        room = room if most is None else np.minimum(room, most)
        return cls(task, task.cost * (unit / 10**task.decimals), room / unit, targets, level[targets] / unit, unit)

    def __len__(self) -> int:
        return len(self.cost)

    @property
    def least(self) -> NDArray[np.float64]:
        """The least widths: a sensitive cell is as wide as its level, ``(n,)``."""
        least = np.zeros(len(self)) if self.floor is None else self.floor.copy()
        least[self.targets] = np.maximum(least[self.targets], self.levels)
        return least

    @property
    def rooms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The attacker's rooms down and up, infinite where there is no end, ``(n,)`` each."""
        down, up = (
            np.where(room[0] >= ENDLESS, np.inf, room[0]) / self.unit for room in (self.task.down, self.task.up)
        )
        return down, up

    def price(self, widths: NDArray[np.float64]) -> float:
        """Return what widths cost."""
        return float(self.cost @ widths)

    def parts(self) -> Parts:
        """Return the relations taken apart."""
        return parts_of(self.task.system(np.arange(len(self))))

    def cut(self, gamma: NDArray[np.float64], place: int, rows: NDArray[np.int64] | None = None) -> Cut | None:
        """Return the cut for a target from any multipliers of some rows, None where they say nothing about it.

        Guarantee: every safe set of widths satisfies it, whatever the accuracy of the multipliers: sums of multipliers
        on the grid are exact, and coefficients are rounded up.
        """
        largest = float(np.abs(gamma).max(initial=0.0))
        if not largest > 0:
            return None
        rounded = np.rint(gamma / (largest * _GRID)) * _GRID
        used = np.flatnonzero(rounded)
        matrix = self.task.matrix
        columns, g = combined(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data.astype(np.float64),
            used if rows is None else rows[used],
            rounded[used],
            len(self),
        )
        own = np.flatnonzero(columns == self.targets[place])
        if not len(own) or abs(g[own[0]]) < _SMALLEST:
            return None
        values = np.abs(g / g[own[0]])
        kept = (self.most[columns] > 0) & (np.arange(len(columns)) != own[0])
        order = np.argsort(columns[kept])
        values = np.maximum(values[kept] * (1 + _ROUNDING), _LEAST_ENTRY)
        return Cut(columns[kept][order], values[order], float(self.levels[place]))


def _rooms(task: Task) -> NDArray[np.float64]:
    """Return the width that the attacker's bounds leave every cell, ``(n,)``."""
    up, down = (np.where(room[0] >= ENDLESS, np.inf, room[0].astype(np.float64)) for room in (task.up, task.down))
    return np.asarray(up + down)
