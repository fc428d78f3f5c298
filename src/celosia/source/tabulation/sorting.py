"""Stable sorting of many whole numbers by their digits: few of them are ever compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel

_BITS = 11  # as many bins as the fast part of the memory holds
_BINS = 1 << _BITS
_DIGITS = 6
_MOVES = 8  # more than so many times the number of keys: they share their first digits, and all digits are looked at


@kernel()
def sort_stably(key: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the sorted keys, and where each of them stood; equal keys keep their order.

    Keys are brought into order by their first two digits, bin by bin, and then moved past those few that share these.
    Where they are many, a radix sort from the last digit to the first does all of it.
    """
    n, largest = len(key), np.uint64(0)
    for k in range(n):
        largest = max(largest, key[k])
    bits = 2 * _BITS
    while bits < 64 and (largest >> np.uint64(bits)) > 0:  # noqa: PLR2004  (the bits of a key)
        bits += 1
    low = np.uint64(bits - 2 * _BITS)
    others, places = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int32)
    keys, order = key.copy(), np.arange(n, dtype=np.int32)
    ends = np.zeros(_BINS + 1, dtype=np.int64)
    _scatter(keys, order, others, places, 0, n, low + np.uint64(_BITS), ends)
    bins = np.zeros(_BINS + 1, dtype=np.int64)
    begin = 0
    for bucket in range(_BINS):
        if ends[bucket] > begin:
            _scatter(others, places, keys, order, begin, ends[bucket], low, bins)
        begin = ends[bucket]
    if not _insert_all(keys, order):
        for k in range(n):
            keys[k], order[k] = key[k], k
        for digit in range(0, _DIGITS, 2):
            _scatter(keys, order, others, places, 0, n, np.uint64(digit * _BITS), ends)
            _scatter(others, places, keys, order, 0, n, np.uint64((digit + 1) * _BITS), ends)
    return keys, order


@inner()
def _scatter(
    keys: NDArray[np.uint64],
    order: NDArray[np.int32],
    into: NDArray[np.uint64],
    places: NDArray[np.int32],
    begin: int,
    end: int,
    shift: np.uint64,
    ends: NDArray[np.int64],
) -> None:
    """Bring keys and their places into the order of one digit; `ends` tells then where each bin ends."""
    mask = np.uint64(_BINS - 1)
    for place in range(len(ends)):
        ends[place] = 0
    for k in range(begin, end):
        ends[np.int64((keys[k] >> shift) & mask)] += 1
    at = begin
    for place in range(len(ends)):
        many = ends[place]
        ends[place] = at
        at += many
    for k in range(begin, end):
        home = np.int64((keys[k] >> shift) & mask)
        into[ends[home]] = keys[k]
        places[ends[home]] = order[k]
        ends[home] += 1


@inner()
def _insert_all(keys: NDArray[np.uint64], order: NDArray[np.int32]) -> bool:
    """Move every key past the larger ones before it; return whether that took few moves, else it is not done."""
    moves, most = 0, _MOVES * len(keys) + 64
    for k in range(1, len(keys)):
        word, place = keys[k], k
        if keys[k - 1] <= word:
            continue
        row = order[k]
        while place > 0 and keys[place - 1] > word:
            keys[place], order[place] = keys[place - 1], order[place - 1]
            place -= 1
            moves += 1
        keys[place], order[place] = word, row
        if moves > most:
            return False
    return True
