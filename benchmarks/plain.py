"""The plain way to find out what an attacker can conclude: two linear programs a cell, each from scratch.

This is what the audit is measured against, on the table reduced to its unknown cells, and judged by.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from celosia.risk.attacker import Attacker
from celosia.table.table import Table

TOLERANCE = 1e-6
"""By how much, relative to its size and to one, what the solver finds may miss the truth."""


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """The unknown cells of a table in which some cells are hidden, as an attacker sees them.

    Parameters
    ----------
    cells
        The unknown cells, ``(n,)``.
    matrix
        The relations among them, ``(m, n)``.
    down, up
        How far each can move at most, ``(n,)`` each.
    """

    cells: NDArray[np.int64]
    matrix: sp.csr_array
    down: NDArray[np.float64]
    up: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, hidden: NDArray[np.bool_], attacker: Attacker) -> Plain:
        """Return what is left to solve: hidden cells that the attacker does not know already."""
        down = table.values - attacker.lower.floats
        up = attacker.upper.floats - table.values
        cells = np.flatnonzero(hidden & ((down > 0) | (up > 0)))
        matrix = sp.csr_array(table.relations.matrix[:, cells].astype(np.float64))
        return cls(cells, sp.csr_array(matrix[np.diff(matrix.indptr) > 0]), down[cells], up[cells])

    def reach(self, cell: int, side: Literal[-1, 1]) -> float:
        """Return how far a cell can move down or up."""
        place = int(np.searchsorted(self.cells, cell))
        if place == len(self.cells) or self.cells[place] != cell:
            return 0.0
        cost = np.zeros(len(self.cells))
        cost[place] = -side
        bounds = np.column_stack([-self.down, self.up])
        solved = linprog(cost, A_eq=self.matrix, b_eq=np.zeros(self.matrix.shape[0]), bounds=bounds, method="highs")
        if solved.status != 0:
            raise RuntimeError(f"cell {cell}: {solved.message}")
        return -float(solved.fun)

    def reaches(self, cells: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
        """Return how far some cells can move down and up, ``(k, 2)``, and the CPU seconds that it took."""
        began = time.process_time()
        found = [(self.reach(cell, -1), self.reach(cell, 1)) for cell in cells.tolist()]
        return np.array(found).reshape(-1, 2), time.process_time() - began
