"""What contributors know of every cell: their own contributions, summed upwards through the relations.

Single contributions are kept for leaf cells (`celosia.table.statistics.Contributions`). What a respondent contributes
to a total is the sum over its parts, so his contributions are a table of their own with the same relations: each cell
follows from the relation in which it is the last unknown.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.errors import DataError, SpecError, list_items, pluralise
from celosia.table.cell_names import CellName, find_cell
from celosia.table.statistics import Contributions
from celosia.table.table import Table

KINDS = ("respondent", "holding")
"""Who contributes: single respondents, or holdings of them."""


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


def own_contributions(
    table: Table, kind: str, members: Collection[int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what some contributors together know of every cell.

    Parameters
    ----------
    table
        A table with single contributions.
    kind
        ``respondent`` or ``holding``.
    members
        Their anonymous numbers.

    Returns
    -------
    own
        The sum of their contributions, in counts of the table's decimal, ``(n_cells,)``.
    alone
        No other respondent contributed anything but zero, ``(n_cells,)``: contributions of zero hide none.
    bounded
        No contribution can be negative, as far as the data show, ``(n_cells,)``: no contribution to a
        cell of the same variable is negative.

    Raises
    ------
    SpecError
        The table knows no single contributions, or not these contributors.
    DataError
        The contributions to some cells are not known.
    """
    said = single_contributions(table)
    number = numbers_of(said, kind)
    unknown = sorted(set(members) - set(np.unique(number).tolist()))
    if unknown:
        remedy = f"Numbers are those of celosia.contributors; there are {pluralise(len(np.unique(number)), kind)}."
        raise SpecError.one(f"{kind}s", f"hold numbers that nobody has: {list_items(unknown)}.", remedy)
    inside = np.isin(number, list(members))
    steps = leaf_sums(table, said)
    at_leaves = np.zeros((2, len(table)), dtype=np.int64)
    np.add.at(at_leaves[0], said.cell[inside], said.amount[inside])
    np.add.at(at_leaves[1], said.cell[~inside], (said.amount[~inside] != 0).astype(np.int64))
    negative = np.zeros(len(table.variables), dtype=bool)
    negative[table.variable[said.cell[said.amount < 0]]] = True
    own, others = (steps.sum_up(amount) for amount in at_leaves)
    return own, np.asarray(others == 0), ~negative[table.variable]


@takes(table=Table)
def contributors(table: Table, cell: CellName, kind: str = "respondent") -> tuple[int, ...]:
    """Return the anonymous numbers of a cell's contributors, the largest contribution first. Confidential.

    Parameters
    ----------
    table
        A table with single contributions, as from `celosia.tabulate`.
    cell
        A cell: its number, its label (``"C x North"``) or its codes.
    kind
        ``respondent`` or ``holding``.

    Raises
    ------
    SpecError
        The table knows no single contributions, or not this cell.
    """
    said = single_contributions(table)
    number = numbers_of(said, kind)
    weight = leaf_sums(table, said).parts(find_cell(table, cell))[said.cell]
    counted_in = np.flatnonzero(weight)
    who, place = np.unique(number[counted_in], return_inverse=True)
    amount = np.zeros(len(who), dtype=np.int64)
    np.add.at(amount, place, weight[counted_in] * said.amount[counted_in])
    return tuple(who[np.lexsort((who, -np.abs(amount)))].tolist())


def check_cell(table: Table, cell: int) -> None:
    """Refuse a cell that the table does not have."""
    if not 0 <= cell < len(table):
        raise SpecError.one("cell", f"there is no cell {cell}.", f"Cells are 0 to {len(table) - 1}; see Table.find.")


def single_contributions(table: Table) -> Contributions:
    """Return the single contributions of a table; SpecError where it does not know them."""
    if table.contributions is None:
        knows = "Attacker.external(table).with_knowledge(table, ...)"
        remedy = f"Tabulate with contributions=True, or say what he knows: {knows}."
        raise SpecError.one("contributions", "the table does not know single contributions.", remedy)
    return table.contributions


def numbers_of(said: Contributions, kind: str) -> NDArray[np.int64]:
    """Return the anonymous number behind every contribution, of respondents or of holdings, ``(m,)``."""
    if kind not in KINDS:
        raise SpecError.one("kind", f"must be {' or '.join(KINDS)}, not {kind!r}.")
    return said.respondent if kind == "respondent" else said.holding


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
