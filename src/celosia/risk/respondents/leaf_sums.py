"""How all cells of a table follow from those whose contributions are listed, by its relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import DataError, pluralise

if TYPE_CHECKING:
    from celosia.table.statistics import Contributions
    from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class LeafSums:
    """How cells follow from leaf cells, one step after the other.

    Parameters
    ----------
    leaf
        The cells whose contributions are listed, and those that have none, ``(n_cells,)``.
    cells, signs, matrices
        For every step the cells that follow, and for each its relation and its coefficient there.
    """

    leaf: NDArray[np.bool_]
    cells: list[NDArray[np.int64]]
    signs: list[NDArray[np.int64]]
    matrices: list[sp.csr_array]

    def sum_up(self, at_leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an amount for every cell from those of the leaf cells, ``(n_cells,)``."""
        amount = at_leaves.copy()
        for cells, signs, matrix in zip(self.cells, self.signs, self.matrices, strict=True):
            amount[cells] = -signs * (matrix @ amount)  # the cell itself still stands at zero
        return amount

    def parts(self, cell: int) -> NDArray[np.int64]:
        """Return how often each leaf cell is counted in a cell, ``(n_cells,)``."""
        weight = np.zeros(len(self.leaf), dtype=np.int64)
        weight[cell] = 1
        for cells, signs, matrix in reversed(list(zip(self.cells, self.signs, self.matrices, strict=True))):
            passed = weight[cells]
            weight = weight - np.asarray(matrix.T @ (signs * passed))  # takes the cell itself away, too
        return weight

    def parts_of(self, some: NDArray[np.int64]) -> sp.csr_array:
        """Return how often each leaf cell is counted in each of some cells, ``(len(some), n_cells)``; see `parts`."""
        ones = np.ones(len(some), dtype=np.int64)
        weight = sp.csr_array((ones, (np.arange(len(some)), some)), shape=(len(some), len(self.leaf)))
        for cells, signs, matrix in reversed(list(zip(self.cells, self.signs, self.matrices, strict=True))):
            passed = sp.csr_array(weight.tocsc()[:, cells])
            weight = sp.csr_array(weight - passed @ sp.csr_array(matrix * signs[:, None]))
            weight.eliminate_zeros()
        return weight


def leaf_sums(table: Table, said: Contributions) -> LeafSums:
    """Return how all cells follow from those with contributions.

    A zero that nothing leads to is a cell without contributors.
    """
    matrix = table.relations.matrix
    leaf = np.zeros(len(table), dtype=bool)
    leaf[said.cell] = True
    known = leaf.copy()
    steps = LeafSums(leaf, [], [], [])
    terms = sp.csr_array((np.ones(matrix.nnz, dtype=np.int64), matrix.indices, matrix.indptr), shape=matrix.shape)
    while not known.all():
        last = np.flatnonzero(terms @ (~known).astype(np.int64) == 1)
        part = sp.csr_array(matrix[last])
        row = np.repeat(np.arange(len(last)), np.diff(part.indptr))
        entry = np.flatnonzero(~known[part.indices] & (np.abs(part.data) == 1))
        cells, first = np.unique(part.indices[entry], return_index=True)
        empty = ~known & (table.amounts.counts == 0)
        if not len(cells) and bool(empty.any()):
            leaf |= empty
            known |= empty
            continue
        if not len(cells):
            missing = np.flatnonzero(~known)
            message = (
                f"the contributions to {pluralise(len(missing), 'cell')} are not known, "
                f"the first being {table.label(int(missing[0]))}."
            )
            raise DataError.one("contributions", message, "Tabulate all tables in one call, with contributions=True.")
        steps.cells.append(cells.astype(np.int64))
        steps.signs.append(part.data[entry[first]])
        steps.matrices.append(sp.csr_array(part[row[entry[first]]]))
        known[cells] = True
    return steps
