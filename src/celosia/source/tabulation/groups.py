"""Rows that belong together, found by a hash of their name: the name itself is never seen here.

The keys have 96 bits (`celosia.source.records`), so two names fall together with a probability below 1e-13 at a hundred
million rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel

_ROWS_PER_BUCKET = 1 << 17  # a bucket and its hash table stay in the fast part of the memory


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Rows sorted into groups.

    Parameters
    ----------
    order
        Row numbers, group after group.
    starts
        Where each group begins in `order`, ``(n_groups + 1,)``.
    """

    order: NDArray[np.int32]
    starts: NDArray[np.int32]

    @classmethod
    def of_keys(cls, key: NDArray[np.uint64], second: NDArray[np.uint32]) -> Groups:
        """Return the groups of rows with equal keys, both parts; the first must be spread evenly over all its bits.

        The arrays are sorted in place: they are large, and nobody needs them afterwards.
        """
        bits = (len(key) // _ROWS_PER_BUCKET).bit_length()
        row = np.arange(len(key), dtype=np.int32)
        ends = _partition(key, second, row, bits)
        return cls(row, _group(key, second, row, ends))

    @classmethod
    def of_whole_numbers(cls, numbers: NDArray[np.int64]) -> Groups:
        """Return the groups of rows with equal numbers."""
        spread = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # odd, so one to one
        return cls.of_keys(spread, np.zeros(len(numbers), dtype=np.uint32))

    @classmethod
    def single(cls, n: int) -> Groups:
        """Return one group per row."""
        return cls(np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def numbers(self) -> NDArray[np.int32]:
        """Return the number of every row's group, ``(n_rows,)``."""
        numbers = np.empty(len(self.order), dtype=np.int32)
        numbers[self.order] = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))
        return numbers


@kernel()
def _partition(
    key: NDArray[np.uint64], second: NDArray[np.uint32], row: NDArray[np.int32], bits: int
) -> NDArray[np.int64]:
    """Sort the rows into buckets by the first bits of their keys, in place; return where each bucket ends.

    An American flag sort: every row in the wrong bucket is swapped into the next free place of its own.
    """
    if bits == 0:
        return np.full(1, len(key), dtype=np.int64)
    shift = np.uint64(64 - bits)
    ends = np.zeros(1 << bits, dtype=np.int64)
    for k in range(len(key)):
        ends[np.int64(key[k] >> shift)] += 1
    free = np.zeros(len(ends), dtype=np.int64)
    for bucket in range(1, len(ends)):
        ends[bucket] += ends[bucket - 1]
        free[bucket] = ends[bucket - 1]
    for bucket in range(len(ends)):
        while free[bucket] < ends[bucket]:
            k = free[bucket]
            home = np.int64(key[k] >> shift)
            if home == bucket:
                free[bucket] += 1
                continue
            other = free[home]
            free[home] += 1
            key[k], key[other] = key[other], key[k]
            second[k], second[other] = second[other], second[k]
            row[k], row[other] = row[other], row[k]
    return ends


@kernel()
def _group(
    key: NDArray[np.uint64], second: NDArray[np.uint32], row: NDArray[np.int32], ends: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Bring the rows of every bucket into the order of their groups; return where each group starts."""
    widest, begin = 0, 0
    for end in ends:
        widest = max(widest, end - begin)
        begin = end
    size = 16
    while size < 2 * widest:
        size *= 2
    table = np.empty(size, dtype=np.int32)
    group = np.empty(widest, dtype=np.int32)
    place = np.empty(widest, dtype=np.int32)
    copy = np.empty(widest, dtype=np.int32)
    starts = np.empty(len(key) + 1, dtype=np.int32)
    n_groups, begin = 0, 0
    for end in ends:
        found = _number(key[begin:end], second[begin:end], table, group, place)
        at = begin
        for g in range(found):
            starts[n_groups + g] = at
            count = place[g]
            place[g] = at
            at += count
        n_groups += found
        for k in range(end - begin):
            copy[k] = row[begin + k]
        for k in range(end - begin):
            row[place[group[k]]] = copy[k]
            place[group[k]] += 1
        begin = end
    starts[n_groups] = len(key)
    return starts[: n_groups + 1].copy()


@inner(inline=True)
def _number(
    key: NDArray[np.uint64],
    second: NDArray[np.uint32],
    table: NDArray[np.int32],
    group: NDArray[np.int32],
    count: NDArray[np.int32],
) -> int:
    """Return how many groups a bucket has, their numbers in `group` and their sizes in `count`.

    `table` is a hash table with open addressing; only as much of it as this bucket needs is used.
    """
    size = 16
    while size < 2 * len(key):
        size *= 2
    for k in range(size):
        table[k] = -1
    mask = np.uint64(size - 1)
    found = 0
    for k in range(len(key)):
        slot = key[k] & mask
        while True:
            first = table[slot]
            if first < 0:
                table[slot] = k
                group[k] = found
                count[found] = 1
                found += 1
                break
            if key[first] == key[k] and second[first] == second[k]:
                group[k] = group[first]
                count[group[k]] += 1
                break
            slot = (slot + np.uint64(1)) & mask
    return found
