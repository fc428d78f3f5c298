"""Tables that use little of the capacity that other attackers take.

Of two respondents the one takes away this capacity, the other that. A table that leaves alone what any of them would
take is a proof against all of them; where there is none, one that uses little of it leaves few suspects. So every cell
has a wished bound beside its bound: what a table uses beyond costs as much as it is, and a little is to be paid for the
rest, so that capacity is left for other tables, too.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.respondents.programs.scaled_model import ScaledModel
from celosia.solve.backend import Backend, Method

_WITHIN, _BEYOND = 1.0, 100.0  # what a unit costs within the wished bound, and beyond
_MANY = 3  # relations of a cell: a table of three dimensions


class SparingModel:
    """The relations of some columns, with what their moves cost, in a model that stays open.

    A column with finite bounds is the sum of four: up and down, within the wished bound and beyond.

    Parameters
    ----------
    matrix
        Relations, ``(m, n)``, of all columns.
    finite
        Which columns have finite bounds, and a cost, ``(n,)``.
    backend
        Solves.
    """

    def __init__(self, matrix: sp.csr_array, finite: NDArray[np.bool_], backend: Backend) -> None:
        priced = np.flatnonzero(finite)
        self._priced, self._free = priced, np.flatnonzero(~finite)
        part = matrix[:, priced]
        rows = sp.csr_array(sp.hstack([matrix[:, self._free], part, -part, part, -part]))
        self._n = matrix.shape[1]
        cost = np.repeat([0.0, _WITHIN, _BEYOND], [len(self._free), 2 * len(priced), 2 * len(priced)])
        self._model = ScaledModel(rows, backend, cost)
        relations = np.bincount(matrix.indices, minlength=self._n)[priced]
        # In many dimensions the last table is no help for the next (d3b: 107 ms from its basis, 34 from nothing).
        self._method: Method = "afresh" if np.median(relations) >= _MANY else "dual"

    def table(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], wished: NDArray[np.int64], unit: float
    ) -> NDArray[np.float64] | None:
        """Return moves between bounds at the least cost, None where there are none.

        Parameters
        ----------
        lower, upper
            Bounds, ``(n,)`` each.
        wished
            How far either way columns had better move at most, ``(n,)``.
        unit
            In which moves are returned, in counts; see `celosia.attack.respondents.programs.scaled_model`.
        """
        free, k = len(self._free), len(self._priced)
        low, high = (np.zeros(free + 4 * k, dtype=np.int64) for _ in range(2))
        low[:free], high[:free] = lower[self._free], upper[self._free]
        under, over, wish = lower[self._priced], upper[self._priced], np.maximum(wished[self._priced], 0)
        up, down = np.maximum(over, 0), np.maximum(-under, 0)
        low[free : free + k] = np.maximum(under, 0)
        low[free + k : free + 2 * k] = np.maximum(-over, 0)
        forced = (under > 0) | (over < 0)
        within_up, within_down = (np.where(forced, bound, np.minimum(bound, wish)) for bound in (up, down))
        high[free:] = np.concatenate([within_up, within_down, up - within_up, down - within_down])
        x = self._model.solve(low, high, unit, self._method)
        if x is None:
            return None
        y = np.zeros(self._n)
        y[self._free] = x[:free]
        y[self._priced] = x[free : free + k] - x[free + k : free + 2 * k]
        y[self._priced] += x[free + 2 * k : free + 3 * k] - x[free + 3 * k :]
        return y
