"""Product structure: every relation of a table sums along one dimension, and is the same for all codes of the others.

The moves that such relations allow are tensor products of one move a dimension, so they need not be searched for by
linear programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.table.product.trees import find_trees

if TYPE_CHECKING:
    from celosia.table.table import Table

_MOST_PACKED = 2**62
_LARGEST_BARE = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class ProductStructure:
    """The nodes of every dimension as sets of leaves, and the codes of some cells.

    Parameters
    ----------
    codes
        The node of every cell in every dimension, ``(n, d)``; the last dimension are the variables.
    holding
        For every dimension which node holds which leaf, sparse ``(nodes, leaves)``.
    """

    codes: NDArray[np.int64]
    holding: tuple[sp.csc_array, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of every dimension."""
        return tuple(int(one.shape[0]) for one in self.holding)

    @property
    def strides(self) -> NDArray[np.int64]:
        """By how much the key of a cell grows with its code in every dimension, ``(d,)``."""
        return np.concatenate([np.cumprod(self.sizes[:0:-1], dtype=np.int64)[::-1], [1]]).astype(np.int64)

    @property
    def keys(self) -> NDArray[np.int64]:
        """A number that tells every cell from all others, ``(n,)``."""
        return np.asarray(self.codes @ self.strides)

    def take(self, cells: NDArray[np.int64]) -> ProductStructure:
        """Return the structure of some of the cells."""
        return ProductStructure(self.codes[cells], self.holding)


def may_be_product(table: Table) -> bool:
    """Return whether a table may have product structure, at a glance: linked tables and small bare problems have none.

    Bare problems of a few thousand cells are rather searched in kernel coordinates than as a product.
    """
    return table.links is None and (bool(table.axes) or len(table) > _LARGEST_BARE)


def may_have_more_dimensions(table: Table, n_dimensions: int) -> bool:
    """Return whether a table may be a product of more dimensions, at a glance: of bare problems nobody knows."""
    return not may_be_product(table) or len(table.axes) > n_dimensions


def find_product_structure(table: Table) -> ProductStructure | None:
    """Return the product structure of a table, None where it has none: linked or extended tables, most bare problems.

    It is read off the relations, so it holds however the table was made.
    """
    matrix = table.relations.matrix
    if not may_be_product(table) or not matrix.shape[0] or bool(table.relations.right.any()):
        return None
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    total = matrix.data == -1
    if bool((np.abs(matrix.data) != 1).any()) or bool((np.bincount(row[total], minlength=matrix.shape[0]) != 1).any()):
        return None
    sizes, dimensions = [len(axis.labels) for axis in table.axes], table.codes.astype(np.int64)
    if not table.axes:
        trees = find_trees(matrix)
        if trees is None:
            return None
        sizes, dimensions = [len(parents) for parents in trees.parents], trees.codes
    codes = np.column_stack([dimensions, table.variable.astype(np.int64)])
    parent, child = codes[matrix.indices[total]][row[~total]], codes[matrix.indices[~total]]
    differs = parent != child
    if bool((differs.sum(axis=1) != 1).any()) or bool(differs[:, -1].any()):
        return None
    holding = []
    for axis, size in enumerate(sizes):
        own = differs[:, axis]
        holding.append(_find_leaves(size, parent[own, axis], child[own, axis]))
    holding.append(sp.csc_array(sp.eye_array(len(table.variables), dtype=np.int32)))
    found = ProductStructure(codes, tuple(holding))
    packed = float(np.prod(np.array(found.sizes, dtype=np.float64)))
    if packed >= _MOST_PACKED or len(np.unique(found.keys)) < len(codes):
        return None
    return found


def _find_leaves(size: int, parent: NDArray[np.int64], child: NDArray[np.int64]) -> sp.csc_array:
    """Return which node of a dimension holds which leaf, itself included: those that are no sum are leaves."""
    below = sp.csr_array((np.ones(len(parent), dtype=np.int32), (parent, child)), shape=(size, size))
    below.data[:] = 1
    leaves = np.setdiff1d(np.arange(size), parent)
    ones = np.ones(len(leaves), dtype=np.int32)
    own = sp.csr_array((ones, (leaves, np.arange(len(leaves)))), shape=(size, len(leaves)))
    held = own
    while True:
        more = sp.csr_array(below @ held + own)
        more.data = np.minimum(more.data, 1)
        if more.nnz == held.nnz:
            break
        held = more
    columns = sp.csc_array(held)
    columns.sort_indices()
    return columns
