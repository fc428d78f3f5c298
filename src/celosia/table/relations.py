"""The linear relations of a table: ``M a = b``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.table.dimension import Dimension
from celosia.table.lattice import Lattice

csgraph = OnFirstUse("scipy.sparse.csgraph")


_MOST = 2**31
"""From this number of terms, cells or relations on, longer numbers are needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """Relations ``M a = b`` between the cells of a table.

    Parameters
    ----------
    matrix
        M, ``(n_relations, n_cells)``: whole coefficients, -1 for a total and +1 for its parts.
    right
        b, ``(n_relations,)``, counted in the last decimal of the table.
    """

    matrix: sp.csr_array
    right: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Use numbers of 32 bits wherever they do: kernels are compiled for these."""
        indices, starts = self.matrix.indices, self.matrix.indptr
        if (indices.dtype, starts.dtype) != (np.int32, np.int32) and max(self.matrix.nnz, *self.matrix.shape) < _MOST:
            short = self.matrix.data, indices.astype(np.int32), starts.astype(np.int32)
            object.__setattr__(self, "matrix", sp.csr_array(short, shape=self.matrix.shape))

    @classmethod
    def none(cls, n_cells: int) -> Relations:
        """Return no relations at all."""
        return cls(sp.csr_array((0, n_cells), dtype=np.int64), np.zeros(0, dtype=np.int64))

    @classmethod
    def of_terms(
        cls, row: NDArray[np.int64], cell: NDArray[np.int64], coefficient: NDArray[np.int64], *, shape: tuple[int, int]
    ) -> Relations:
        """Return homogeneous relations from their single terms."""
        matrix = sp.csr_array((coefficient.astype(np.int64), (row, cell)), shape=shape)
        matrix.sort_indices()
        return cls(matrix, np.zeros(shape[0], dtype=np.int64))

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def residuals(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return ``M a - b``, ``(n_relations,)``."""
        return np.asarray(self.matrix @ counts - self.right)

    def terms(self, relation: int) -> list[tuple[int, int]]:
        """Return one relation as (cell, coefficient) pairs."""
        start, end = self.matrix.indptr[relation], self.matrix.indptr[relation + 1]
        return list(zip(self.matrix.indices[start:end].tolist(), self.matrix.data[start:end].tolist(), strict=True))

    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Return how many connected parts the cells fall into, and the part of each cell, ``(n_cells,)``."""
        numbers, part = np.unique(label_components(self.matrix)[1], return_inverse=True)
        return len(numbers), part.astype(np.int32)


def label_components(matrix: sp.csr_array) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the connected component of every row and of every column of a matrix, ``(m,)`` and ``(n,)``.

    Rows and columns are connected where the matrix has an entry.
    """
    ones = sp.csr_array((np.ones(matrix.nnz, dtype=np.int8), matrix.indices, matrix.indptr), shape=matrix.shape)
    graph = sp.block_array([[None, ones], [ones.T, None]], format="csr")
    _, labels = csgraph.connected_components(graph, directed=False)
    return labels[: matrix.shape[0]], labels[matrix.shape[0] :]


def sums_of(dimensions: Sequence[Dimension], lattice: Lattice) -> Relations:
    """Return the relations of a table that its dimensions imply.

    For every dimension, every parent and every code of the others: the parent's cell is the sum of its children's
    cells, as far as they exist.
    """
    rows: list[NDArray[np.int64]] = []
    cells: list[NDArray[np.int64]] = []
    coefficients: list[NDArray[np.int64]] = []
    n_rows = 0
    for axis, dimension in enumerate(dimensions):
        part, said, raised = _sums_above(dimension, axis, lattice)
        named, row = np.unique(said * len(lattice) + lattice.find(raised), return_inverse=True)
        rows += [n_rows + np.arange(len(named)), n_rows + row]
        cells += [named % len(lattice), part]
        coefficients += [np.full(len(named), -1), np.ones(len(part), dtype=np.int64)]
        n_rows += len(named)
    if not n_rows:
        return Relations.none(len(lattice))
    return Relations.of_terms(
        np.concatenate(rows), np.concatenate(cells), np.concatenate(coefficients), shape=(n_rows, len(lattice))
    )


def missing_totals(dimensions: Sequence[Dimension], lattice: Lattice) -> NDArray[np.int32]:
    """Return the codes of cells that sum existing ones and do not exist themselves, ``(n_missing, n_dimensions)``."""
    known = lattice
    while True:
        raised = [_sums_above(dimension, axis, known)[2] for axis, dimension in enumerate(dimensions)]
        found = [codes[known.find(codes) < 0] for codes in raised]
        if not any(len(codes) for codes in found):
            break
        known = Lattice.of_codes(np.concatenate([known.codes, *found]), known.sizes)
    return known.codes[lattice.find(known.codes) < 0]


def _sums_above(
    dimension: Dimension, axis: int, lattice: Lattice
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return every cell once for each sum along an axis that it is part of: the cell, the sum, the total's codes."""
    child, relation, parents = _memberships(dimension)
    starts = np.searchsorted(child, np.arange(len(dimension) + 1))
    node = lattice.codes[:, axis]
    repeats = starts[node + 1] - starts[node]
    part = np.repeat(np.arange(len(lattice), dtype=np.int64), repeats)
    offset = np.arange(len(part)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    said = relation[starts[node][part] + offset]
    raised = lattice.codes[part]
    raised[:, axis] = parents[said]
    return part, said, raised


def _memberships(dimension: Dimension) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return which node is a child in which sum, sorted by node, and the parent of every sum."""
    nothing = np.zeros(0, dtype=np.int32)
    child = np.concatenate([nothing, *(children for _, children in dimension.sums)]).astype(np.int64)
    sizes = [len(children) for _, children in dimension.sums]
    relation = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    order = np.argsort(child, kind="stable")
    parents = np.array([parent for parent, _ in dimension.sums], dtype=np.int32)
    return child[order], relation[order], parents
