r"""Combinations of relations in kernel coordinates, made exact, and the cuts that they are.

Any v with :math:`N'v = 0` is a combination of relations: :math:`\sum v_i d_i = 0` for every move. With :math:`v_p = 1`
it bounds the move of class p by those of the others. For a sensitive class that is a capacity cut. For any other it
says that a class which is hidden alone among those of the combination is hidden in vain, because it cannot move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut, Reach, round_multipliers
from celosia.tolerance import PIVOT_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.subproblems.requirements import SideRequirements


class Combinations:
    """Builds cuts from proposed combinations of relations.

    Parameters
    ----------
    builder
        Builds capacity cuts, and knows the problem.
    coordinates
        Kernel coordinates of its columns.

    Attributes
    ----------
    builder
        The same.
    matrix
        N, ``(n, d)``.
    own, own_factor
        The column that each coordinate moves, and how far, ``(d,)``.
    """

    def __init__(self, builder: CutBuilder, coordinates: KernelCoordinates) -> None:
        self.builder = builder
        self.matrix = sp.csr_array(coordinates.combinations, dtype=np.float64)
        self.own, self.own_factor = coordinates.cells, coordinates.own.astype(np.float64)

    @property
    def has_units(self) -> bool:
        """Whether each coordinate's own column moves by that coordinate alone, so that these columns are a basis."""
        return bool((np.diff(self.matrix.indptr)[self.own] == 1).all()) and bool(self.own_factor.all())

    def repair(self, v: NDArray[np.float64], column: int) -> NDArray[np.float64] | None:
        """Return v with N'v = 0 exactly and 1 at a column: the rest is taken from the coordinates' own columns.

        Guarantee: what is returned is a combination of relations; None where doubles do not do.
        """
        rounded = round_multipliers(v)
        if rounded is None:
            return None
        rounded[self.own] -= (self.matrix.T @ rounded) / self.own_factor
        if rounded[column] == 0 or bool((self.matrix.T @ rounded).any()):
            return None
        return np.asarray(rounded / rounded[column])

    def repair_rows(
        self, rows: NDArray[np.int64], basis: NDArray[np.int64], table: NDArray[np.float64]
    ) -> list[NDArray[np.float64] | None]:
        """Return the combinations of rows of a tableau, exactly: those in whole numbers are checked together.

        Parameters
        ----------
        rows
            The column of each row, ``(k,)``.
        basis
            The columns of the basis, ``(d,)``.
        table
            What each row is in columns of the basis, ``(k, d)``.
        """
        whole = np.rint(table)
        off = sp.csr_array(self.matrix[rows] - sp.csr_array(whole) @ self.matrix[basis])
        off.eliminate_zeros()
        exact = (np.diff(off.indptr) == 0) & (np.abs(table - whole).max(axis=1, initial=0.0) <= PIVOT_ZERO)
        found: list[NDArray[np.float64] | None] = []
        for k, row in enumerate(rows.tolist()):
            v = np.zeros(self.matrix.shape[0])
            v[basis] = -(whole if exact[k] else table)[k]
            v[row] = 1.0
            found.append(v if exact[k] else self.repair(v, row))
        return found

    def build_capacity_cut(self, v: NDArray[np.float64], sides: SideRequirements, k: int) -> Cut | None:
        """Return the cut by which a combination bounds the move of a requirement's column; None where it says nothing.

        A positive coefficient of another column needs that one to move the other way.
        """
        column, who, level = int(sides.columns[k]), int(sides.attackers[k]), float(sides.levels[k])
        up, down = self.builder.up[who], self.builder.down[who]
        if not sides.upward[k]:
            up, down = down, up
        capacity = np.where(v > 0, down, up)
        used = np.flatnonzero((v != 0) & (capacity > 0))
        used = used[used != column]
        return self.builder.build_cut([Reach(used, np.abs(v[used]) * capacity[used])], level, column)

    def build_isolation_cut(self, v: NDArray[np.float64], column: int) -> Cut | None:
        """Return the inequality that a column is not the only hidden one of a combination, which determines it.

        It holds for patterns that hide no cell in vain; None where another column is hidden anyway.
        """
        columns = np.flatnonzero(v)
        if bool(self.builder.problem.forced[columns].any()):
            return None
        return Cut(columns, np.where(columns == column, -1.0, 1.0), 0.0, lean=True)
