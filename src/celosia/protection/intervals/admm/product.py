r"""Tables that are products of hierarchies, recognised by their relations, and the projection on their moves.

In such a table every dimension is a tree, every combination of nodes is a cell, and every parent is the sum of its
children, in every dimension, whatever the others are. Combinations to which nobody contributes may be missing: they are
cells that do not move. The moves :math:`\ker M` are then the tensor product of the
dimensions' own, so that the orthogonal projection on them is a projection along every axis in turn. Along one axis
it takes away :math:`M'(MM')^{-1}M x`, and :math:`MM'` is a tree again, which is eliminated from the leaves to the
root: a few operations per cell, for any depth of hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.table.product.trees import find_trees

Arrays = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    Annotated[NDArray[np.float64], 2],
]
"""The trees for compiled code: sizes, starts, parents, slots of parents among the relations, pivots, and space."""

_CHUNK = 1024
"""So many numbers of a line are projected together: lines of all nodes of a dimension then fit into a cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A product of trees.

    Parameters
    ----------
    parents
        For every dimension the parent of every node, -1 for the root; parents come before their children.
    place
        Where every cell of the table lies in the product, nodes of the last dimension running fastest, ``(n,)``.
    """

    parents: tuple[NDArray[np.int64], ...]
    place: NDArray[np.int64]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes every dimension has."""
        return tuple(len(parent) for parent in self.parents)

    def __len__(self) -> int:
        return int(np.prod(self.sizes))

    def leaves(self) -> NDArray[np.bool_]:
        """Return which places are leaves in every dimension, ``(n,)``."""
        out = np.ones(1, dtype=bool)
        for parent in self.parents:
            leaf = np.ones(len(parent), dtype=bool)
            leaf[parent[parent >= 0]] = False
            out = np.logical_and.outer(out, leaf).ravel()
        return out

    def arrays(self) -> Arrays:
        """Return the trees for compiled code."""
        sizes = np.array(self.sizes, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        slots, pivots = [], []
        for parent in self.parents:
            children = np.bincount(parent[parent >= 0], minlength=len(parent))
            slot = np.where(children > 0, np.cumsum(children > 0) - 1, -1)
            pivot = 1.0 + children.astype(np.float64)
            for node in range(len(parent) - 1, 0, -1):
                if children[node]:
                    pivot[parent[node]] -= 1.0 / pivot[node]
            slots.append(slot)
            pivots.append(1.0 / pivot)
        return (
            sizes,
            starts,
            np.concatenate(self.parents),
            np.concatenate(slots),
            np.concatenate(pivots),
            np.empty((max(1, *(int(slot.max()) + 1 for slot in slots)), _CHUNK)),
        )


def product_of(matrix: sp.csr_array) -> Product | None:
    """Return the product of trees whose relations these are, None where there is none.

    Guarantee: the rows of the matrix are, up to their order and signs, exactly the relations of the product without the
    cells that are missing.
    """
    trees = find_trees(matrix)
    if trees is None:
        return None
    sizes = [len(parents) for parents in trees.parents]
    if not sizes or int(np.prod(sizes)) < matrix.shape[1]:
        return None
    place = np.ravel_multi_index(tuple(trees.codes.T), sizes)
    product = Product(trees.parents, place.astype(np.int64))
    return product if len(np.unique(place)) == len(place) and _same(matrix, product) else None


def relations_of(parents: Sequence[NDArray[np.int64]]) -> sp.csr_array:
    """Return the relations of a product of trees over its places: parents minus the sums of their children."""
    sizes = [len(parent) for parent in parents]
    blocks = []
    for axis, parent in enumerate(parents):
        inner = np.unique(parent[1:])
        node = np.arange(1, len(parent))
        row = np.concatenate([np.arange(len(inner)), np.searchsorted(inner, parent[1:])])
        line = sp.csr_array(
            (np.concatenate([np.ones(len(inner)), -np.ones(len(node))]), (row, np.concatenate([inner, node]))),
            shape=(len(inner), len(parent)),
        )
        before, after = sp.eye_array(int(np.prod(sizes[:axis]))), sp.eye_array(int(np.prod(sizes[axis + 1 :])))
        blocks.append(sp.kron(sp.kron(before, line), after, format="csr"))
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _same(matrix: sp.csr_array, product: Product) -> bool:
    """Return whether two sets of relations are the same but for order and signs of rows."""
    expected = sp.csr_array(relations_of(product.parents)[:, product.place])
    expected = sp.csr_array(expected[np.flatnonzero(np.diff(expected.indptr))])
    if expected.shape != matrix.shape or expected.nnz != matrix.nnz:
        return False
    keys = np.random.default_rng(0).integers(1, 2**40, size=matrix.shape[1])
    seen, wanted = (np.sort(np.abs(np.rint(rows @ keys)).astype(np.int64)) for rows in (matrix, expected))
    every, other = (np.sort(abs(rows) @ keys) for rows in (matrix, expected))
    return bool(np.array_equal(seen, wanted) and np.array_equal(every, other))


@kernel(fastmath=True)
def project(x: NDArray[np.float64], trees: Arrays, together: int) -> None:
    """Project tables on the moves of a product, in place: ``(n * together,)``, tables running fastest."""
    sizes, starts, parent, slot, pivot, space = trees
    inner, outer = together, len(x) // together
    for axis in range(len(sizes) - 1, -1, -1):
        size, base = sizes[axis], starts[axis]
        outer //= size
        tree = (parent[base : base + size], slot[base : base + size], pivot[base : base + size])
        for block in range(outer):
            for first in range(0, inner, space.shape[1]):
                place = block * size * inner + first
                lines = x[place : place + (size - 1) * inner + min(space.shape[1], inner - first)]
                _project_lines(lines, inner, tree, space)
        inner *= size


@inner(fastmath=True)
def _project_lines(  # noqa: C901, PLR0912  (as _walk)
    x: NDArray[np.float64],
    stride: int,
    tree: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    space: NDArray[np.float64],
) -> None:
    """Project lines of all nodes of one dimension, one node every `stride` numbers, in place."""
    parent, slot, pivot = tree
    size = len(parent)
    width = len(x) - (size - 1) * stride
    for node in range(size):
        if slot[node] >= 0:
            own, row = x[node * stride : node * stride + width], space[slot[node], :width]
            for k in range(width):
                row[k] = -own[k]
    for node in range(1, size):
        own, over = x[node * stride : node * stride + width], space[slot[parent[node]], :width]
        for k in range(width):
            over[k] += own[k]
    for node in range(size - 1, 0, -1):
        if slot[node] >= 0:
            row, over, share = space[slot[node], :width], space[slot[parent[node]], :width], pivot[node]
            for k in range(width):
                over[k] += share * row[k]
    for node in range(size):
        if slot[node] >= 0:
            row, share = space[slot[node], :width], pivot[node]
            if node == 0:
                for k in range(width):
                    row[k] *= share
            else:
                over = space[slot[parent[node]], :width]
                for k in range(width):
                    row[k] = share * (row[k] + over[k])
    for node in range(size):
        own = x[node * stride : node * stride + width]
        if slot[node] >= 0:
            row = space[slot[node], :width]
            for k in range(width):
                own[k] += row[k]
        if node > 0:
            over = space[slot[parent[node]], :width]
            for k in range(width):
                own[k] -= over[k]


@kernel()
def gather(x: NDArray[np.float64], trees: Arrays, together: int) -> None:
    """Add to every place what lies above it in any dimension, in place; tables as in `project`.

    At a leaf that is the product with the move that changes this leaf by one and all that lies above it.
    """
    sizes, starts, parent, _, _, _ = trees
    inner, outer = together, len(x) // together
    for axis in range(len(sizes) - 1, -1, -1):
        size, base = sizes[axis], starts[axis]
        outer //= size
        for block in range(outer):
            offset = block * size * inner
            for node in range(1, size):
                over = offset + parent[base + node] * inner
                for k in range(inner):
                    x[offset + node * inner + k] += x[over + k]
        inner *= size
