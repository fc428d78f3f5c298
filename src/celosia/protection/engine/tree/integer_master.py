"""The master with integer variables, over the columns that are not fixed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.master import Master, lower_costs, scale_rows, scales_of
from celosia.solve.backend import Row
from celosia.solve.problem import LinearProgram
from celosia.tolerance import SMALLEST_COST, SUM_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class IntegerMaster:
    """The master with integer variables and every cut that it needs, for patterns that cost no more than a limit.

    Parameters
    ----------
    problem
        The program of the open columns, costs divided by the master's scale.
    columns
        The open columns.
    fixed
        Every column where it is fixed, 0 for open ones, ``(n,)``.
    offset
        What the fixed columns cost.
    scale
        By what costs are divided.
    """

    problem: LinearProgram
    columns: NDArray[np.int64]
    fixed: NDArray[np.float64]
    offset: float
    scale: float

    @classmethod
    def of(cls, master: Master, limit: float) -> IntegerMaster:
        """Return the integer master of a relaxed one."""
        open_, given = master.lower < master.upper, master.base
        columns, fixed = np.flatnonzero(open_), np.where(open_, 0.0, master.lower)
        low, high = master.lower[columns], master.upper[columns]
        cost, offset = lower_costs(master.cost[columns] / master.scale), float(master.cost @ fixed)
        places = master.needed
        right = master.pool.right(places)
        scale = scales_of(right)
        cuts = scale_rows(master.pool.matrix(places, len(fixed)), scale)
        everything = sp.csr_array(sp.vstack([given.rows, cuts], format="csr"))
        taken = everything @ fixed
        lower = np.concatenate([given.row_lower, right * scale]) - taken
        upper = np.concatenate([given.row_upper, np.full(len(places), np.inf)]) - taken
        rows = sp.csr_array(everything[:, columns])
        needed = np.flatnonzero((_least(rows, low, high) < lower - SUM_ROUNDING) | (upper < np.inf))
        rows, lower, upper = sp.csr_array(rows[needed]), lower[needed], upper[needed]
        if np.isfinite(limit):
            limited = np.where(np.abs(cost) < SMALLEST_COST, np.minimum(cost, 0.0), cost)
            rows = sp.csr_array(sp.vstack([rows, limited[None, :]], format="csr"))
            lower, upper = np.append(lower, -np.inf), np.append(upper, (limit - offset) / master.scale)
        whole = None if given.integer is None else given.integer[columns]
        problem = LinearProgram(rows, lower, upper, low.copy(), high.copy(), cost, integer=whole)
        return cls(problem, columns, fixed, offset, master.scale)

    def point(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a solution with the fixed columns."""
        point = self.fixed.copy()
        point[self.columns] = x
        return point

    def bound(self, bound: float) -> float:
        """Return a bound of the program as one of the master."""
        return bound * self.scale + self.offset

    def row(self, cut: Cut) -> Row:
        """Return a cut as a row of the program."""
        place = np.searchsorted(self.columns, cut.columns)
        place[place == len(self.columns)] = 0
        inside = self.columns[place] == cut.columns if len(self.columns) else np.zeros(len(place), dtype=bool)
        right = cut.right - float(cut.values @ self.fixed[cut.columns])
        scale = float(scales_of(np.array([cut.right]))[0])
        return Row(place[inside], cut.values[inside] * scale, right * scale, np.inf)


def _least(rows: sp.csr_array, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least that each row can be."""
    ends = np.where(rows.data > 0, low[rows.indices], high[rows.indices])
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.bincount(row, weights=rows.data * ends, minlength=rows.shape[0]).astype(np.float64)
