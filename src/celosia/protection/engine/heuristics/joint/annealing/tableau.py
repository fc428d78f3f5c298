r"""The tableau of a pattern: moves of all classes in coordinates of which each moves one *generator* alone.

Generators are shown classes whose moves are independent and determine those of all other shown classes. Every other
coordinate is a move of the pattern: it leaves the shown classes where they are. The column of a generator says what
would be hidden without it; to exchange a generator for a hidden class is one step of Gauss and Jordan's elimination.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.tolerance import KERNEL_ZERO, TABLEAU_ZERO

_Table = Annotated[NDArray[np.float64], 2]


@inner()
def pivot(table: _Table, one: int, column: int) -> None:
    """Change coordinates so that a column moves a class by one, and no other column moves it."""
    row = table[one].copy()
    used = np.flatnonzero(row)
    for i in range(len(table)):
        factor = table[i, column] / row[column]
        if factor != 0.0:
            for k in used:
                left = table[i, k] - factor * row[k]
                table[i, k] = left if abs(left) > KERNEL_ZERO else 0.0
            table[i, column] = factor


@kernel()
def choose_generators(table: _Table, shown: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make the tableau of a pattern from kernel coordinates; return the generator of every column, -1 for a move of it.

    Parameters
    ----------
    table
        Kernel coordinates of all classes, which are changed, ``(n, d)``.
    shown
        The classes that are shown; those that come first become generators.
    """
    d = table.shape[1]
    generators = np.full(d, -1, dtype=np.int64)
    for one in shown:
        column, largest = -1, TABLEAU_ZERO
        for k in range(d):
            if generators[k] < 0 and abs(table[one, k]) > largest:
                column, largest = k, abs(table[one, k])
        if column >= 0:
            pivot(table, one, column)
            generators[column] = one
    return generators


@inner()
def mark_hidden(
    table: _Table, generators: NDArray[np.int64], cost: NDArray[np.float64], hidden: NDArray[np.bool_]
) -> float:
    """Mark the classes that moves of the pattern move; return what they cost."""
    total = 0.0
    for i in range(len(hidden)):
        hidden[i] = False
        for k in range(len(generators)):
            if generators[k] < 0 and abs(table[i, k]) > TABLEAU_ZERO:
                hidden[i] = True
                total += cost[i]
                break
    return total


@inner()
def price_generators(
    table: _Table, hidden: NDArray[np.bool_], cost: NDArray[np.float64], added: NDArray[np.float64]
) -> None:
    """Note for every generator what would be hidden in addition without it."""
    added[:] = 0.0
    for i in range(len(hidden)):
        if not hidden[i] and cost[i] > 0.0:
            for k in range(len(added)):
                if table[i, k] != 0.0:
                    added[k] += cost[i]
