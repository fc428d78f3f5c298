"""Whole numbers in arrays that never overflow: 64 bits where these surely suffice, Python's integers elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[Any]
"""Whole numbers: an array of 64-bit integers, or of Python's."""

LARGEST = 2**62
"""No 64-bit integer here is this large."""


def largest(numbers: Whole) -> int:
    """Return the largest absolute value, zero of nothing."""
    return max(int(numbers.max()), -int(numbers.min())) if len(numbers) else 0


def compact(numbers: Whole) -> Whole:
    """Return the same numbers in 64 bits, if they fit."""
    if numbers.dtype == object and largest(numbers) < LARGEST:
        return numbers.astype(np.int64)
    return numbers


def times(one: Whole, other: Whole | int) -> Whole:
    """Return products."""
    factors = np.asarray([other], dtype=object) if isinstance(other, int) else other
    if largest(one) * largest(factors) < LARGEST:
        one, factors = compact(one), compact(factors)
        return np.asarray(one * factors)
    return np.asarray(one.astype(object) * factors.astype(object))


def plus(one: Whole, other: Whole) -> Whole:
    """Return sums."""
    if largest(one) + largest(other) < LARGEST:
        return np.asarray(compact(one) + compact(other))
    return np.asarray(one.astype(object) + other.astype(object))


def minus(one: Whole, other: Whole) -> Whole:
    """Return differences."""
    return plus(one, -other)


def remainders(numbers: Whole, divisor: int) -> Whole:
    """Return what is left when numbers are divided."""
    return np.asarray((numbers.astype(object) if divisor >= LARGEST else numbers) % divisor)


def sums(numbers: Whole, starts: NDArray[np.int64]) -> Whole:
    """Return the sums of consecutive parts: part k begins at ``starts[k]`` and ends where the next begins."""
    wide = largest(numbers) * max(1, len(numbers)) >= LARGEST
    running = np.cumsum(numbers.astype(object) if wide else compact(numbers))
    running = np.concatenate([np.zeros(1, dtype=running.dtype), running])
    return np.asarray(running[starts[1:]] - running[starts[:-1]])


def starts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where parts of some sizes begin, and at last where they end."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def within(starts: NDArray[np.int64], parts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of all entries of some parts, and the number of the part among them that each belongs to."""
    sizes = starts[parts + 1] - starts[parts]
    own = starts_of(sizes)
    number = np.repeat(np.arange(len(parts)), sizes)
    return np.arange(own[-1]) + (starts[parts] - own[:-1])[number], number
