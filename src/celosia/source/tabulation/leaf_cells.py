"""The leaf cell of every record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import kernel
from celosia.source.tabulation.groups import Groups
from celosia.tolerance import LARGEST_COUNT

_DENSE_LEAVES = 1 << 24  # up to here every possible leaf cell has a place of its own while they are numbered


def leaf_cells(codes: Sequence[NDArray[np.int32]], sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the leaf cell of every record, and the leaf numbers of every leaf cell that occurs, in order."""
    key = np.zeros(len(codes[0]), dtype=np.int64)
    capacity = 1
    for code, size in zip(codes, sizes, strict=True):
        if capacity * size >= LARGEST_COUNT:
            key = Groups.of_whole_numbers(key).numbers().astype(np.int64)
            capacity = len(key)
        key *= size
        key += code
        capacity *= size
    if capacity <= _DENSE_LEAVES:
        leaf, row = _number_dense(key, capacity)
    else:
        groups = Groups.of_whole_numbers(key)
        first = groups.order[groups.starts[:-1]].astype(np.int64)
        order = np.argsort(key[first])
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        leaf, row = rank[groups.numbers()], first[order]
    return leaf, np.column_stack([code[row] for code in codes]).astype(np.int32)


@kernel()
def _number_dense(key: NDArray[np.int64], capacity: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
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
    return number, row_of[:n]
