r"""The task of adjustment in whole numbers.

Published values lie on a grid: :math:`x_i = g (A_i + d_i)` with whole :math:`d_i`, where :math:`g A_i` is the true
value rounded down to the grid and :math:`f_i \in [0, 1)` is what that leaves over. Wanted is

.. math:: \min \sum_i w_i |d_i - f_i|^k \quad\text{s.t.}\quad M d = r,\ l \le d \le u,

and for cells that are *split* :math:`d_i \le -\mathrm{down}_i` or :math:`d_i \ge \mathrm{up}_i`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

ENDLESS = 2**50
"""A bound without an end: solvers get an infinite one, and doubles hold the number exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class AdjustTask:
    """Cells that may move, the relations between them, and where they may go.

    Parameters
    ----------
    cells
        The cells of the table, ``(n,)``.
    matrix, right
        M and r: relations, those that follow from others left out, ``(m, n)`` and ``(m,)``.
    implied
        The relations that were left out and have a right side of zero, ``(k, n)``.
    lower, upper
        l and u, ``(n,)``; at least `ENDLESS` in size where there is no end.
    down, up
        The sides of split cells, ``(n,)``; both zero where a cell is not split.
    weight
        w, per unit of the grid to the power k, ``(n,)``.
    offset
        f, ``(n,)``.
    norm
        k: 1 or 2.
    """

    cells: NDArray[np.int64]
    matrix: sp.csr_array
    right: NDArray[np.int64]
    implied: sp.csr_array
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    norm: int

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def split(self) -> NDArray[np.bool_]:
        """Which cells have two sides to go to, ``(n,)``."""
        return np.asarray(self.up + self.down > 0)

    def costs(self, moves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what moves cost, cell by cell."""
        return np.asarray(self.weight * np.abs(moves - self.offset) ** self.norm)

    def admits(self, moves: NDArray[np.int64]) -> bool:
        """Return whether moves add up and go only where they may. Exact."""
        inside = (self.lower <= moves) & (moves <= self.upper)
        sides = ~self.split | (moves <= -self.down) | (moves >= self.up)
        return bool(inside.all() and sides.all() and np.array_equal(self.matrix @ moves, self.right))

    def signed(self, upward: NDArray[np.bool_], free: NDArray[np.bool_] | None = None) -> AdjustTask:
        """Return the task in which split cells have chosen a side, but for those that are free to choose.

        Parameters
        ----------
        upward
            The side of every split cell, ``(n,)``.
        free
            Cells that stay split, ``(n,)``.
        """
        chosen = self.split if free is None else self.split & ~free
        return replace(
            self,
            lower=np.where(chosen & upward, self.up, self.lower),
            upper=np.where(chosen & ~upward, -self.down, self.upper),
            down=np.where(chosen, 0, self.down),
            up=np.where(chosen, 0, self.up),
        )

    def within(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> AdjustTask:
        """Return the task with bounds that may be narrower; a split cell that loses a side is split no more."""
        low, high = np.maximum(lower, self.lower), np.minimum(upper, self.upper)
        no_up, no_down = self.split & (high < self.up), self.split & (low > -self.down)
        low = np.where(no_down & ~no_up, np.maximum(low, self.up), low)
        high = np.where(no_up & ~no_down, np.minimum(high, -self.down), high)
        nowhere = no_up & no_down
        low, high = np.where(nowhere, 1, low), np.where(nowhere, 0, high)
        whole = self.split & ~no_up & ~no_down
        return replace(self, lower=low, upper=high, down=np.where(whole, self.down, 0), up=np.where(whole, self.up, 0))

    def part(self, columns: NDArray[np.int64]) -> AdjustTask:
        """Return the task of some columns that share no relation with the others."""
        matrix, implied = (sp.csr_array(rows[:, columns]) for rows in (self.matrix, self.implied))
        rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
        return AdjustTask(
            self.cells[columns],
            sp.csr_array(matrix[rows]),
            self.right[rows],
            sp.csr_array(implied[np.diff(implied.indptr) > 0]),
            self.lower[columns],
            self.upper[columns],
            self.down[columns],
            self.up[columns],
            self.weight[columns],
            self.offset[columns],
            self.norm,
        )
