r"""Kernel coordinates: every cell as a whole-number combination of a few others, whatever the relations allow.

A move satisfies :math:`M d = 0`, so it lies in the kernel of the relations: :math:`d = N z` with :math:`M N = 0` and as
many coordinates z as there are degrees of freedom. Totals are replaced by their parts, as deep as that goes, which
leaves the relations among leaves; those are eliminated in whole numbers (`null_space.elimination`). What comes out is
checked: M N is zero, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.redundancy import find_totals
from celosia.protection.engine.null_space.elimination import distinct_rows, eliminate
from celosia.solve import deadline
from celosia.tolerance import LARGEST_COORDINATE


@dataclass(frozen=True, slots=True, eq=False)
class KernelCoordinates:
    """Moves of the cells as combinations of coordinates.

    Parameters
    ----------
    combinations
        N: what every cell is in coordinates, whole numbers, ``(n, d)``.
    cells
        The cell that each coordinate moves alone among these, ``(d,)``: mostly its row of N is a unit vector, or the
        negative of one.
    """

    combinations: sp.csr_array
    cells: NDArray[np.int64]

    @property
    def own(self) -> NDArray[np.int64]:
        """By how much each coordinate moves its own cell, ``(d,)``."""
        return np.asarray(self.combinations[self.cells].diagonal()).reshape(len(self.cells))

    @property
    def degrees_of_freedom(self) -> int:
        """How many coordinates there are."""
        return len(self.cells)

    def move_all(self, cells: NDArray[np.int64]) -> bool:
        """Return whether each of some cells can move; one that cannot follows from the relations alone."""
        return bool((np.diff(self.combinations.indptr)[cells] > 0).all())


def find_coordinates(matrix: sp.csr_array, most_entries: int) -> KernelCoordinates | None:
    """Return coordinates of the kernel of some relations; None where whole numbers of moderate size do not do.

    Parameters
    ----------
    matrix
        The relations, ``(m, n)``.
    most_entries
        Relations among leaves are eliminated in a dense array; where it would have more entries than this there is no
        answer.

    Guarantee: what is returned satisfies M N = 0 in whole numbers.
    """
    whole = sp.csr_array(matrix, dtype=np.int64)
    parts, leaves = _define_totals(whole)
    in_leaves = _substitute(parts, leaves)
    remaining = distinct_rows(sp.csr_array(whole @ in_leaves))
    if remaining.shape[0] * remaining.shape[1] > most_entries:
        return None
    solved = eliminate(remaining)
    if solved is None:
        return None
    combinations, free = solved
    found = sp.csr_array(in_leaves @ combinations)
    found.eliminate_zeros()
    found.sort_indices()
    residual = sp.csr_array(whole @ found)
    if bool(np.any(np.abs(found.data) > LARGEST_COORDINATE)) or bool(residual.data.any()):
        return None
    return KernelCoordinates(found, leaves[free])


def _define_totals(matrix: sp.csr_array) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return the parts of every total by its shortest definition, ``(n, n)``, and the cells without one: the leaves.

    Where definitions go round in circles, one of their totals becomes a leaf.
    """
    n = matrix.shape[1]
    totals, sizes = find_totals(matrix.indptr, matrix.indices, matrix.data), np.diff(matrix.indptr)
    rows = np.flatnonzero(totals >= 0)
    rows = rows[np.argsort(sizes[rows], kind="stable")]
    cells, first = np.unique(totals[rows], return_index=True)
    defining = rows[first]
    lengths = np.zeros(n, dtype=np.int64)
    lengths[cells] = sizes[defining]
    chosen = sp.csr_array(matrix[defining])
    entries = sp.coo_array(chosen)
    total_of_entry = cells[entries.row]
    others = entries.col != total_of_entry
    own = np.zeros(len(cells), dtype=np.int64)
    own[entries.row[~others]] = entries.data[~others]
    values = -entries.data[others] * own[entries.row[others]]  # the total's coefficient is one or minus one
    parts = sp.csr_array((values, (total_of_entry[others], entries.col[others])), shape=(n, n))
    is_leaf = _break_circles(parts, lengths)
    kept = ~is_leaf[total_of_entry[others]]
    entry = (values[kept], (total_of_entry[others][kept], entries.col[others][kept]))
    return sp.csr_array(entry, shape=(n, n)), np.flatnonzero(is_leaf)


def _break_circles(parts: sp.csr_array, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which cells are leaves: those without a definition, of length 0, and the longest of each circle."""
    uses = sp.csr_array(abs(parts) > 0, dtype=np.int64)
    is_leaf, unknown = lengths == 0, lengths > 0
    while bool(unknown.any()):
        deadline.check()
        ready = unknown & (uses @ unknown.astype(np.int64) == 0)
        if not bool(ready.any()):
            ready = np.zeros(len(unknown), dtype=bool)
            ready[int(np.argmax(np.where(unknown, lengths, -1)))] = True
            is_leaf |= ready
        unknown &= ~ready
    return np.asarray(is_leaf)


def _substitute(parts: sp.csr_array, leaves: NDArray[np.int64]) -> sp.csr_array:
    """Return every cell as a combination of leaves, ``(n, leaves)``: parts are replaced by their own parts."""
    n, k = parts.shape[0], len(leaves)
    identity = sp.csr_array((np.ones(k, dtype=np.int64), (leaves, np.arange(k))), shape=(n, k))
    found, deeper = identity, sp.csr_array(parts @ identity)
    while deeper.nnz:
        deadline.check()
        found = found + deeper
        deeper = sp.csr_array(parts @ deeper)
        deeper.eliminate_zeros()
    return sp.csr_array(found)
