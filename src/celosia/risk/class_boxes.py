"""Classes of all cells together: leaves have classes of their own, and the class of a total is the sum of these.

Classes that were drawn cell by cell would be intersected over the relations: a total lies in its class and in the sum
of the classes of its parts. Where leaves alone are drawn, and totals have the sums of their ends, every table whose
leaves lie in their classes has all its cells in theirs, so that relations narrow nothing (docs/mathematics.md,
*Concealed levels*).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.risk.classes import WIDEST_SHARE, Classes
from celosia.risk.risk import LevelShares
from celosia.table.relations import Relations

_SHORT = 2.0**62
"""Sums below this are exact in 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassBoxes:
    """The classes of all cells, in units of the table's last decimal, exact; the value alone where there is none.

    Parameters
    ----------
    below, least, most
        Above which number the class of every cell lies, its least value and its greatest, ``(n_cells,)`` each.
    known
        Which cells have a class that a reader of the ranges of sensitive cells knows, ``(n_cells,)``.
    """

    below: NDArray[np.object_]
    least: NDArray[np.object_]
    most: NDArray[np.object_]
    known: NDArray[np.bool_]


def draw_boxes(
    relations: Relations,
    values: NDArray[np.int64],
    concealed: NDArray[np.bool_],
    shares: LevelShares,
    start: Callable[[int], float],
) -> ClassBoxes:
    """Return the classes of cells whose levels are concealed, and of those whose classes follow from them.

    Guarantee: every class holds the value; it is as wide as the share of its greatest value asks for; and all leaves
    can be anywhere in theirs at a time, with totals in their own.

    Parameters
    ----------
    relations
        The relations of the table.
    values
        The true values in units, ``(n_cells,)``.
    concealed
        Which cells are concealed, ``(n_cells,)``; none of them is negative.
    shares
        Which part of the value the width of each must be.
    start
        Draws where the classes of a leaf begin.
    """
    leaves = find_leaves(relations, values, concealed, shares)
    in_leaves, width = leaves.sums, leaves.width
    below, least, most = (values.astype(object) for _ in range(3))
    drawn = (width > 0) & ((values > 0) | concealed)
    for leaf in np.flatnonzero(drawn).tolist():
        classes = Classes(0.0, 0.0, float(width[leaf]), start(leaf))
        low, most[leaf] = classes.find(int(values[leaf]))
        below[leaf], least[leaf] = low, low + 1 if low else 0
    below, least, most = (sum_exactly(in_leaves, ends) for ends in (below, least, most))
    complete = in_leaves @ (leaves.is_leaf & ~drawn & (values != 0)).astype(np.int64) == 0
    return ClassBoxes(below, least, most, _follow(relations, values, concealed) & complete)


@dataclass(frozen=True, slots=True, eq=False)
class ClassLeaves:
    """The leaves whose classes are drawn.

    Parameters
    ----------
    is_leaf
        Which cells are no sums of others, ``(n_cells,)``.
    sums
        All cells as sums of leaves, ``(n_cells, n_cells)``.
    width
        Which part of its value the class of a leaf is wide, zero where it has none, ``(n_cells,)``: the largest share
        among those of the concealed cells that it is a part of.
    """

    is_leaf: NDArray[np.bool_]
    sums: sp.csr_array
    width: NDArray[np.float64]


def find_leaves(
    relations: Relations, values: NDArray[np.int64], concealed: NDArray[np.bool_], shares: LevelShares
) -> ClassLeaves:
    """Return the leaves whose classes are drawn; a concealed total of which a part is negative is one of them.

    Parameters
    ----------
    relations, values, concealed, shares
        As in `draw_boxes`.
    """
    parts, is_leaf = _find_parts(relations)
    is_leaf |= concealed & (_express(parts, is_leaf) @ (values < 0).astype(np.int64) > 0)
    sums = _express(parts, is_leaf)
    own = sums[np.flatnonzero(concealed)]
    width = np.zeros(len(values))
    np.maximum.at(width, own.indices, np.repeat(shares.width[concealed], np.diff(own.indptr)))
    return ClassLeaves(is_leaf, sums, np.minimum(width, WIDEST_SHARE))


def _find_parts(relations: Relations) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    """Return of which cells every total is the sum, ``(n, n)``, by its shortest relation, and which cells are leaves.

    Where totals are parts of each other in a circle all of these are leaves.
    """
    matrix = relations.matrix
    m, n = matrix.shape
    row, sizes = np.repeat(np.arange(m), np.diff(matrix.indptr)), np.diff(matrix.indptr)
    negative = matrix.data < 0
    plain = (np.bincount(row[negative], minlength=m) == 1) & (np.asarray(relations.right) == 0)
    plain &= np.bincount(row[np.abs(matrix.data) != 1], minlength=m) == 0
    total = np.full(m, -1, dtype=np.int64)
    total[row[negative]] = matrix.indices[negative]
    rows = np.flatnonzero(plain)
    rows = rows[np.argsort(sizes[rows], kind="stable")]
    totals, first = np.unique(total[rows], return_index=True)
    chosen = sp.coo_array(matrix[rows[first]])
    taken = chosen.data > 0
    entries = np.ones(int(taken.sum()), dtype=np.int64), (totals[chosen.row[taken]], chosen.col[taken])
    parts = sp.csr_array(entries, shape=(n, n))
    is_leaf = np.ones(n, dtype=bool)
    is_leaf[totals] = False
    done = is_leaf.copy()
    while True:
        ready = ~done & (parts @ (~done).astype(np.int64) == 0)
        if not bool(ready.any()):
            break
        done |= ready
    return parts, is_leaf | ~done


def _express(parts: sp.csr_array, is_leaf: NDArray[np.bool_]) -> sp.csr_array:
    """Return all cells as sums of leaves, ``(n, n)``."""
    keep, expand = (_select(side) for side in (is_leaf, ~is_leaf))
    found, deeper = keep, sp.csr_array(expand @ parts @ keep)
    while deeper.nnz:
        found = sp.csr_array(found + deeper)
        deeper = sp.csr_array(expand @ parts @ deeper)
        deeper.eliminate_zeros()
    return found


def _select(cells: NDArray[np.bool_]) -> sp.csr_array:
    """Return the diagonal matrix that keeps some cells, ``(n, n)``."""
    places = np.flatnonzero(cells)
    return sp.csr_array((np.ones(len(places), dtype=np.int64), (places, places)), shape=(len(cells), len(cells)))


def _follow(relations: Relations, values: NDArray[np.int64], concealed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the cells whose class follows from others, because it is the only one in a relation that is not known."""
    open_ = sp.csr_array(abs(relations.matrix) > 0, dtype=np.int64)
    known = concealed.copy()
    unknown = ~concealed & (values != 0)
    while True:
        last = np.flatnonzero((open_ @ unknown.astype(np.int64) == 1) & (open_ @ known.astype(np.int64) > 0))
        new = unknown & (open_[last].sum(axis=0) > 0) if len(last) else np.zeros(len(known), dtype=bool)
        if not bool(new.any()):
            return known
        known |= new
        unknown &= ~new


def sum_exactly(matrix: sp.csr_array, ends: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return the product of a matrix of whole numbers with whole numbers of any length, ``(m,)``."""
    largest = abs(matrix) @ np.abs(ends.astype(np.float64))
    if not len(largest) or float(largest.max()) < _SHORT:
        return np.asarray(matrix @ ends.astype(np.int64)).astype(object)
    terms, starts = matrix.data.astype(object) * ends[matrix.indices], matrix.indptr.tolist()
    return np.array([sum(terms[a:b].tolist()) for a, b in itertools.pairwise(starts)], dtype=object)
