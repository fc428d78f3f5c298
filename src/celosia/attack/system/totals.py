"""A cell with all of its totals: columns that can move together by the same while all else stays."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def find_totals_above(rows: sp.csr_array, by_column: sp.csc_array, column: int) -> NDArray[np.int64]:
    """Return a column with its totals, their totals, and so on: the one column of other sign of its relations.

    Where every relation has one total, these columns can move together by the same, and all else stays.

    Parameters
    ----------
    rows, by_column
        The relations, by rows and by columns.
    column
        Where to begin.
    """
    waiting, known = [column], {column}
    while waiting:
        part = waiting.pop()
        for entry in range(by_column.indptr[part], by_column.indptr[part + 1]):
            row = slice(rows.indptr[by_column.indices[entry]], rows.indptr[by_column.indices[entry] + 1])
            others = rows.indices[row][rows.data[row] * by_column.data[entry] < 0].tolist()
            if len(others) == 1 and others[0] not in known:
                known.add(others[0])
                waiting.append(others[0])
    return np.array(sorted(known), dtype=np.int64)
