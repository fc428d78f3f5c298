"""What kernels do with arrays, written out: numpy's own ways take longer to compile than most kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner

plain: Callable[[int], int] = np.int64  # type: ignore[assignment]
"""Returns a number that is as good as any other: for a literal functions would be compiled once more."""


@inner()
def longer(numbers: NDArray[Any], n: int) -> NDArray[Any]:
    """Return an array with room for so many numbers, the given ones first; what follows is not set."""
    out = np.empty(n, dtype=numbers.dtype)
    for k in range(len(numbers)):
        out[k] = numbers[k]
    return out


@inner()
def take(numbers: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    """Return the numbers at some places."""
    out = np.empty(len(places), dtype=numbers.dtype)
    for k in range(len(places)):
        out[k] = numbers[places[k]]
    return out


@inner()
def argsort(keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of keys from the smallest to the largest; equal ones keep their order (merge sort)."""
    n = len(keys)
    order, other = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for k in range(n):
        order[k] = k
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle, end = min(begin + width, n), min(begin + 2 * width, n)
            i, j = begin, middle
            for k in range(begin, end):
                if i < middle and (j >= end or not keys[order[j]] < keys[order[i]]):
                    other[k] = order[i]
                    i += 1
                else:
                    other[k] = order[j]
                    j += 1
        order, other = other, order
        width *= 2
    return order
