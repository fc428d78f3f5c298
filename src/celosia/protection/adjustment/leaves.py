"""Tables that add up by construction: leaves are chosen, totals follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.adjustment.formulation import AdjustTask


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Which cells follow from which.

    Parameters
    ----------
    layers
        One after the other: the rows of a layer, and the totals that follow from them and from what is known by then.
    rest
        Rows that define no total, ``(k,)``: they hold or they do not.
    """

    layers: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    rest: NDArray[np.int64]

    def completed(self, task: AdjustTask, moves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return moves in which those of totals are replaced by what follows from the leaves."""
        found = moves.copy()
        for rows, totals in self.layers:
            found[totals] = 0
            found[totals] = task.matrix[rows] @ found - task.right[rows]  # the total's own coefficient is -1
        return found


def leaves_of(matrix: sp.csr_array) -> Leaves:
    """Return which cells follow from which: a relation with a single negative cell, -1, defines it, once."""
    m, n = matrix.shape
    row = np.repeat(np.arange(m), np.diff(matrix.indptr))
    negative = matrix.data < 0
    single = np.bincount(row[negative], minlength=m) == 1
    total = np.full(m, -1, dtype=np.int64)
    ones = negative & (matrix.data == -1) & single[row]
    total[row[ones]] = matrix.indices[ones]
    _, first = np.unique(total, return_index=True)
    defining = np.zeros(m, dtype=bool)
    defining[first] = True
    defining &= total >= 0
    pattern = sp.csr_array((np.ones(matrix.nnz, dtype=np.int64), matrix.indices, matrix.indptr), shape=(m, n))
    unknown = np.zeros(n, dtype=np.int64)
    unknown[total[defining]] = 1
    layers, waiting = [], np.flatnonzero(defining)
    while len(waiting):
        ready = pattern[waiting] @ unknown == 1  # nothing but the total itself
        if not ready.any():
            break  # definitions that go round in circles: relations like any other
        layers.append((waiting[ready], total[waiting[ready]]))
        unknown[total[waiting[ready]]] = 0
        waiting = waiting[~ready]
    used = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for rows, _ in layers)])
    return Leaves(tuple(layers), np.setdiff1d(np.arange(m), used))
