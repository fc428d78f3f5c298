r"""Rerouting: the shortest move of hidden cells that moves a given cell by one.

.. math:: \min \sum_i |v_i| \quad\text{s.t.}\quad M v = 0,\; v_j = 1.

Subtracted from a witness with the right factor it takes cell j out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.parameters import PARAMETERS
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder


@dataclass(frozen=True, eq=False)
class Rerouting:
    """Finds detours round cells of one component.

    Parameters
    ----------
    n
        The number of its cells.
    model
        The open program: a column up and a column down for each.
    furthest
        See `longest_detour` of `celosia.protection.engine.parameters.HeuristicParameters`.
    """

    n: int
    model: Model
    furthest: float

    @classmethod
    def of(
        cls,
        builder: CutBuilder,
        columns: NDArray[np.int64],
        backend: Backend,
        furthest: float = PARAMETERS.heuristics.longest_detour,
    ) -> Rerouting:
        """Return the rerouting of the cells of a component."""
        return cls(len(columns), open_shortest_moves(builder, columns, backend), furthest)

    def find_detour(self, cell: int, share: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the shortest move of hidden cells that moves a cell up by one, None where there is none."""
        upper = np.where(np.concatenate([share, share]) > 0, self.furthest, 0.0)
        lower = np.zeros(2 * self.n)
        lower[cell] = upper[cell] = 1.0
        upper[self.n + cell] = 0.0
        self.model.change_bounds(np.arange(2 * self.n), lower, upper)
        found = self.model.solve(method="dual", duals=False)
        return None if found.x is None else found.x[: self.n] - found.x[self.n :]


def open_shortest_moves(builder: CutBuilder, columns: NDArray[np.int64], backend: Backend) -> Model:
    """Return the open program of the shortest move of some columns: a column up and one down for each, shut as yet."""
    matrix = sp.csr_array(builder.problem.matrix[:, columns])
    rows = matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)]
    shut = np.zeros(2 * len(columns))
    return backend.open(LinearProgram.of_moves(sp.hstack([rows, -rows]), shut, shut, np.ones(len(shut))))
