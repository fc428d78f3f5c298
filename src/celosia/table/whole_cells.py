"""Which cells hold whole numbers, as the public knows: a matter of each variable, and not of the table.

Turnover beside the number of firms does not make an attacker forget that firms are whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.table.table import Table


def whole_cells(table: Table, integer: bool | None = None) -> NDArray[np.bool_]:  # noqa: FBT001  (as users say it)
    """Return which cells are known to be whole numbers, ``(n_cells,)``.

    Parameters
    ----------
    table
        The table.
    integer
        True for all cells, False for none, None for those of variables that count.
    """
    return table.is_count if integer is None else np.full(len(table), integer)


def simplify_integer(table: Table, integer: bool | None) -> bool | None:  # noqa: FBT001
    """Return the same answer in one way only: True where it means all cells, False for none, None for some."""
    whole = whole_cells(table, integer)
    return bool(whole.all()) if bool(whole.all()) or not bool(whole.any()) else None


def find_broken_cells(table: Table, whole: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the cells that should be whole numbers and are not."""
    return np.flatnonzero(whole & np.asarray(table.amounts.counts % 10**table.decimals != 0, dtype=bool))
