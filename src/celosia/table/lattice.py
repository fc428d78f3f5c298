"""The cells of a table that exist, and which leaf cells lie in which of them.

Only cells with data take memory: the leaf cells that occur, and every cell that holds one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.table.dimension import Dimension

_PACKED_LIMIT = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Existing cells in order of their codes.

    Parameters
    ----------
    codes
        The node of every cell in every dimension, ``(n_cells, n_dimensions)``, sorted, the grand total first.
    sizes
        The number of nodes of every dimension.
    keys
        How cells are found again: see `_Keys`.
    """

    codes: NDArray[np.int32]
    sizes: tuple[int, ...]
    keys: _Keys

    @classmethod
    def of_codes(cls, codes: NDArray[np.int32], sizes: Sequence[int]) -> Lattice:
        """Return the lattice of exactly these cells; repeated ones count once."""
        keys, _ = _Keys.of(codes, sizes)
        return cls(keys.codes(codes), tuple(sizes), keys)

    @classmethod
    def above(cls, leaf_codes: NDArray[np.int32], dimensions: Sequence[Dimension]) -> tuple[Lattice, list[LatticeStep]]:
        """Return the cells that hold at least one of the given leaf cells, and the steps that lead to them.

        Parameters
        ----------
        leaf_codes
            The leaf *numbers* of the leaf cells, ``(n_leaf_cells, n_dimensions)``, without repetition.
        dimensions
            The dimensions, in the order of the columns.

        Returns
        -------
        lattice
            The cells, with *nodes* as codes.
        steps
            One per dimension: summing along all of them in turn brings leaf cells' figures to all cells.
        """
        sizes = [len(dimension) for dimension in dimensions]
        codes = np.column_stack([dimension.leaves[leaf_codes[:, axis]] for axis, dimension in enumerate(dimensions)])
        codes = codes.reshape(len(leaf_codes), len(dimensions)).astype(np.int32)
        steps = []
        leaf = leaf_codes.copy()
        for axis, dimension in enumerate(dimensions):
            starts, nodes = dimension.holders
            number = leaf[:, axis]
            repeats = starts[number + 1] - starts[number]
            source = np.repeat(np.arange(len(codes), dtype=np.int64), repeats)
            offset = np.arange(len(source)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
            raised = codes[source]
            raised[:, axis] = nodes[starts[number][source] + offset]
            keys, target = _Keys.of(raised, sizes)
            steps.append(
                LatticeStep(
                    np.concatenate([[0], np.cumsum(repeats)]).astype(np.int64), target.astype(np.int32), len(keys)
                )
            )
            first = np.empty(len(keys), dtype=np.int64)
            first[target[::-1]] = np.arange(len(target))[::-1]
            codes = raised[first]
            leaf = leaf[source[first]]
        return cls(codes, tuple(sizes), keys), steps

    def __len__(self) -> int:
        return len(self.codes)

    def find(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the places of these cells, -1 where a cell does not exist, ``(n,)``."""
        return self.keys.find(codes)


@dataclass(frozen=True, slots=True, eq=False)
class LatticeStep:
    """Which cells of the next stage hold each cell of this one, compressed by rows.

    Parameters
    ----------
    starts
        ``(n_from + 1,)``.
    holders
        Cells of the next stage.
    size
        The number of cells of the next stage.
    """

    starts: NDArray[np.int64]
    holders: NDArray[np.int32]
    size: int

    def sum(self, figures: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over what each cell of the next stage holds."""
        ones = np.ones(len(self.holders), dtype=figures.dtype)
        holding = sp.csc_array((ones, self.holders, self.starts), shape=(self.size, len(self.starts) - 1))
        return np.asarray(holding @ figures)


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """Codes packed into as few sorted integers as 64 bits allow.

    Dimensions are packed from the left; when the next one would overflow, what is packed so far is numbered by its
    rank, and packing goes on from there. So any number of dimensions of any size is found again with a binary search
    per group, usually a single one.
    """

    groups: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    sorted: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, codes: NDArray[np.int32], sizes: Sequence[int]) -> tuple[_Keys, NDArray[np.int64]]:
        """Return the keys of these cells, and the rank of each row among them."""
        groups: list[tuple[int, int]] = []
        tables: list[NDArray[np.int64]] = []
        rank = np.zeros(len(codes), dtype=np.int64)
        axis, known = 0, 1
        while axis < len(sizes) or not groups:
            start, capacity = axis, known
            while axis < len(sizes) and (axis == start or capacity * sizes[axis] < _PACKED_LIMIT):
                capacity *= sizes[axis]
                axis += 1
            unique, rank = np.unique(_pack(rank, codes, sizes, start, axis), return_inverse=True)
            groups.append((start, axis))
            tables.append(unique)
            known = len(unique)
        return cls(tuple(groups), tuple(sizes), tuple(tables)), rank

    def __len__(self) -> int:
        return len(self.sorted[-1])

    def find(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        rank = np.zeros(len(codes), dtype=np.int64)
        found = np.ones(len(codes), dtype=bool)
        for (start, end), table in zip(self.groups, self.sorted, strict=True):
            packed = _pack(rank, codes, self.sizes, start, end)
            rank = np.minimum(np.searchsorted(table, packed), len(table) - 1)
            found &= table[rank] == packed
        return np.where(found, rank, -1)

    def codes(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return one row of `codes` per key, in order."""
        out = np.empty((len(self), codes.shape[1]), dtype=np.int32)
        out[self.find(codes)] = codes
        return out


def _pack(
    rank: NDArray[np.int64], codes: NDArray[np.int32], sizes: Sequence[int], start: int, end: int
) -> NDArray[np.int64]:
    packed = rank.copy()
    for axis in range(start, end):
        packed = packed * sizes[axis] + codes[:, axis]
    return packed
