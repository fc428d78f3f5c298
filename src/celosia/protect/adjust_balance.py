r"""Balance rows: what one cell of a relation moves, the others move in all.

In a relation :math:`\sum_i c_i d_i = 0` no cell can move more than all the others together,
:math:`|c_s| |d_s| \le \sum_{i \ne s} |c_i| |d_i|`. The relaxation lets a split cell stand still between its sides and
pays for both; what it pays is what it moves in any table, so the others must move too. On tables with weights 1 and
equal levels these rows close most of the gap of the relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protect.adjust_steps import Beside, Steps
from celosia.protect.adjust_task import AdjustTask

_VIOLATED = 1e-6
"""Rows that a solution misses by more than this share of a unit are worth adding."""


@dataclass(frozen=True, slots=True, eq=False)
class Balances:
    """All balance rows of a task, over the distances that cells move.

    Parameters
    ----------
    rows
        ``rows @ |d| >= 0`` for every table, ``(k, n)``.
    """

    rows: sp.csr_array

    def violated(self, sizes: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return which rows distances violate."""
        return np.flatnonzero(self.rows @ sizes < -_VIOLATED)

    def beside(self, steps: Steps, places: NDArray[np.int64]) -> Beside:
        """Return some of the rows over the steps of a program."""
        factors, rest = steps.sizes
        rows = sp.csr_array(self.rows[places])
        return Beside(sp.csr_array(rows @ factors), -(rows @ rest))

    def tilt(self, places: NDArray[np.int64], multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what rows with multipliers add to the weights, negative ones being taken for zero, ``(n,)``."""
        return np.asarray(-(sp.csr_array(self.rows[places]).T @ np.maximum(multipliers, 0.0)))


def balances_of(task: AdjustTask) -> Balances:
    """Return one row for every split cell and every relation around it."""
    plain = task.matrix[task.right == 0]
    relations = abs(sp.csr_array(sp.vstack([plain, task.implied], format="csr"))).astype(np.float64)
    row = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    places = np.flatnonzero(task.split[relations.indices])
    flipped = sp.csr_array(
        (2 * relations.data[places], (np.arange(len(places)), relations.indices[places])),
        shape=(len(places), relations.shape[1]),
    )
    return Balances(sp.csr_array(relations[row[places]] - flipped))
