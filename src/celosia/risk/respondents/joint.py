r"""Linked tables as respondents see them: a contribution that stands in several leaf cells is one unknown.

Records that lie together in every one of the linked tables make a *joint cell*. Nobody publishes it, but every leaf
cell is the sum of its joint cells, and a contribution stands in one of them. So with joint cells as leaf cells, hidden
in any case, what respondents can conclude from linked tables is what they can conclude from one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.risk.respondents.contributions import leaf_sums
from celosia.risk.respondents.sums import leave_out_sums, leaves_are_independent
from celosia.table.fixed import Fixed
from celosia.table.statistics import Contributions, JointContributions
from celosia.table.table import Table

if TYPE_CHECKING:
    from celosia.table.relations import Relations


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
