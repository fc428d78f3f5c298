r"""Linked tables as respondents see them: a contribution that stands in several leaf cells is one unknown.

Records that lie together in every one of the linked tables make a *joint cell*. Nobody publishes it, but every leaf
cell is the sum of its joint cells, and a contribution stands in one of them. So with joint cells as leaf cells, hidden
in any case, what respondents can conclude from linked tables is what they can conclude from one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.risk.respondents.leaf_sums import leaf_sums
from celosia.risk.respondents.sums import leave_out_sums, leaves_are_independent
from celosia.table.fixed import Fixed
from celosia.table.statistics import Contributions, JointContributions

if TYPE_CHECKING:
    from celosia.table.relations import Relations
    from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class JointCells:
    """Which joint cells add up to which leaf cells of linked tables. Joint cells have numbers beyond the table's cells.

    Parameters
    ----------
    n_cells, n_joint
        How many cells the table has, and how many joint cells there are.
    sums
        The leaf cells that are sums of joint cells, increasing, ``(k,)``.
    row, parts
        A joint cell, and the place of a leaf cell among `sums` that it is a part of, ``(m,)`` each.
    """

    n_cells: int
    n_joint: int
    sums: NDArray[np.int64]
    row: NDArray[np.int64]
    parts: NDArray[np.int64]

    def add_up(self, counts: NDArray[np.object_]) -> NDArray[np.object_]:
        """Return what is given for every joint cell, ``(n_joint,)``, summed by leaf cell, ``(k,)``."""
        out = np.zeros(len(self.sums), dtype=object)
        np.add.at(out, self.row, counts[self.parts - self.n_cells])
        return out


def joint_cells_of(table: Table) -> JointCells | None:
    """Return which joint cells add up to which leaf cells; None where leaf cells are independent."""
    joint, n = add_joint_cells(table), len(table)
    if joint is table:
        return None
    matrix = sp.csr_array(joint.relations.matrix[table.relations.matrix.shape[0] :])
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    own = matrix.indices < n  # one of every row: the leaf cell
    order = np.argsort(matrix.indices[own])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    sums, parts = matrix.indices[own][order].astype(np.int64), matrix.indices[~own].astype(np.int64)
    return JointCells(n, len(joint) - n, sums, place[row[~own]], parts)


def add_joint_cells(table: Table) -> Table:
    """Return linked tables with their joint cells after all others; the same table where leaf cells are independent.

    Guarantee: cells that were there have the same numbers, values and relations. Whoever is to be protected in one leaf
    cell is to be protected in its joint cells. Where joint cells are not known, the table stays as it is.
    """
    said = table.contributions
    if said is None or not said.joint:
        return table
    simple = leave_out_sums(table)
    if simple.contributions is not None and leaves_are_independent(simple, leaf_sums(simple, simple.contributions)):
        return table
    end, parts, rows, entries = len(table), [], [], []
    values: list[NDArray[np.int64]] = [table.amounts.counts]
    for one in said.joint:
        own = np.zeros(len(one.cells), dtype=np.int64)
        np.add.at(own, one.joint, one.amount)
        values.append(own)
        for cells in one.cells.T:
            rows.append(cells)
            entries.append(end + np.arange(len(own)))
        parts.append((end + one.joint, one.respondent, one.holding, one.amount))
        end += len(own)
    cell, respondent, holding, amount = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    waived = None if said.waived is None else _waived(said, len(table))
    told = Contributions(cell, respondent, holding, amount, said.origin, waived)
    codes = [np.max(table.codes[one.cells], axis=1) for one in said.joint]
    variable = [table.variable[one.cells[:, 0]] for one in said.joint]
    return replace(
        table,
        codes=np.concatenate([table.codes, *codes]).astype(np.int32),
        variable=np.concatenate([table.variable, *variable]).astype(np.int32),
        amounts=Fixed(np.concatenate(values), table.decimals),
        relations=_add_relations(table.relations, rows, entries, end),
        statistics=None,
        contributions=told,
        extras={},
        links=None,
    )


def _add_relations(
    relations: Relations, rows: list[NDArray[np.int64]], entries: list[NDArray[np.int64]], n: int
) -> Relations:
    """Return the relations with one for every leaf cell of every table: it is the sum of its joint cells."""
    old = relations.matrix
    matrices = [sp.csr_array((old.data, old.indices, old.indptr), shape=(old.shape[0], n))]
    for cells, columns in zip(rows, entries, strict=True):
        sums, row = np.unique(cells, return_inverse=True)
        data = np.concatenate([np.full(len(sums), -1), np.ones(len(columns))]).astype(np.int64)
        place = (np.concatenate([np.arange(len(sums)), row]), np.concatenate([sums, columns]))
        matrices.append(sp.csr_array((data, place), shape=(len(sums), n)))
    matrix = sp.csr_array(sp.vstack(matrices))
    zeros = np.zeros(matrix.shape[0] - len(relations.right), dtype=np.int64)
    return replace(relations, matrix=matrix, right=np.concatenate([relations.right, zeros]))


def _waived(said: Contributions, n: int) -> NDArray[np.bool_]:
    """Return which joint contributions are not to be protected: those that are in none of their leaf cells."""
    open_ = np.flatnonzero(~(np.zeros(len(said.cell), dtype=bool) if said.waived is None else said.waived))
    claimed = np.unique(said.respondent[open_] * n + said.cell[open_])
    return np.concatenate([_none_claimed(one, claimed, n) for one in said.joint])


def _none_claimed(one: JointContributions, claimed: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    keys = one.respondent[:, None] * n + one.cells[one.joint]
    return np.asarray(~np.isin(keys, claimed).any(axis=1))
