"""The relations that are left where only some cells are unknown."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def take_filled_rows(matrix: sp.csr_array) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return the rows of a matrix that have entries, and their places; the entries are those of the matrix itself."""
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    if len(rows) == matrix.shape[0]:
        return matrix, rows
    starts = matrix.indptr[np.append(rows, matrix.shape[0])]
    return sp.csr_array((matrix.data, matrix.indices, starts), shape=(len(rows), matrix.shape[1])), rows
