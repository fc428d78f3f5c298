"""Columns of many records brought into whole numbers, compiled and without copies.

`celosia.table.fixed` does the same for the few numbers of a table.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def written_decimals(doubles: NDArray[np.float64], most: int) -> int | None:
    """Return how many decimals the doubles were written with, or None where it is more than `most`."""
    decimals = _written(doubles, most)
    return None if decimals > most else decimals


@njit(cache=True, nogil=True)
def _written(doubles: NDArray[np.float64], most: int) -> int:
    """Return the least d for which every double is nearest to a decimal of d places; `most` + 1: there is none."""
    decimals, scale = 0, 1.0
    for value in doubles:
        while np.rint(value * scale) / scale != value:
            decimals += 1
            scale *= 10.0
            if decimals > most:
                return decimals
    return decimals


@njit(cache=True, nogil=True)
def on_grid(doubles: NDArray[np.float64], decimals: int) -> NDArray[np.int64]:
    """Return the counts nearest to the doubles."""
    scale = 10.0**decimals
    counts = np.empty(len(doubles), dtype=np.int64)
    for k in range(len(doubles)):
        counts[k] = np.int64(np.rint(doubles[k] * scale))
    return counts


@njit(cache=True, nogil=True)
def pack(key: NDArray[np.int64], code: NDArray[np.int32], size: int) -> None:
    """Append a code of so many possible ones to every key."""
    for row in range(len(key)):
        key[row] = key[row] * size + code[row]


@njit(cache=True, nogil=True)
def number_dense(key: NDArray[np.int64], capacity: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the rank of every key among those that occur, and a row for each of them; keys are below `capacity`."""
    row_of = np.full(capacity, -1, dtype=np.int64)
    for row in range(len(key)):
        row_of[key[row]] = row
    rank = np.empty(capacity, dtype=np.int32)
    n = 0
    for k in range(capacity):
        if row_of[k] >= 0:
            rank[k] = n
            row_of[n] = row_of[k]
            n += 1
    number = np.empty(len(key), dtype=np.int32)
    for row in range(len(key)):
        number[row] = rank[key[row]]
    return number, row_of[:n].copy()
