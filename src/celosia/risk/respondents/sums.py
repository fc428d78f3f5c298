"""Variables that add up: what somebody contributes to a sum is the sum of what he contributes to its parts.

Where turnover is domestic and export, a respondent stands in three leaf cells, and his errors in the first are those in
the other two: to count them as three would take one thing for two, and call people safe who are not. So contributions
to leaf cells that are sums of other leaf cells, respondent by respondent, are left out; the cells follow by their
relations, as totals do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.risk.respondents.leaf_sums import LeafSums, leaf_sums
from celosia.table.statistics import Contributions

if TYPE_CHECKING:
    from celosia.table.table import Table

_DRAWN = 1 << 40  # amounts below this: that they satisfy a relation by accident does not happen


def leaves_are_independent(table: Table, steps: LeafSums) -> bool:
    """Return whether leaf cells can move independently: no relation ties them but through totals of their own.

    Any amounts in leaf cells then make a table. Random ones do, or some relation is about leaf cells alone.
    """
    drawn = np.zeros(len(table), dtype=np.int64)
    leaves = np.flatnonzero(steps.leaf)
    drawn[leaves] = np.random.default_rng(0).integers(1, _DRAWN, len(leaves))
    return not bool((table.relations.matrix @ steps.sum_up(drawn)).any())


def leave_out_sums(table: Table) -> Table:
    """Return the table without contributions to leaf cells that are sums of other leaf cells.

    Guarantee: what is left out follows from what is kept by relations of the table, in every respondent's contributions
    as in the cells. Whoever is to be protected in a sum is to be protected in its parts.

    Raises
    ------
    DataError
        The contributions to some cells are not known.
    """
    said = table.contributions
    if said is None or len(table.variables) == 1:
        return table
    leaf = leaf_sums(table, said).leaf
    rows, sums = _find_sums(table, leaf)
    if not len(rows):
        return table
    matrix = sp.csr_array(table.relations.matrix[rows])
    who, place = np.unique(said.respondent, return_inverse=True)
    amounts = sp.csr_array((said.amount, (said.cell, place)), shape=(len(table), len(who)))
    missed = sp.csr_array(matrix @ amounts)
    missed.eliminate_zeros()
    holds = np.diff(missed.indptr) == 0  # respondent by respondent, not in the cells alone
    matrix, sums = sp.csr_array(matrix[np.flatnonzero(holds)]), sums[holds]
    kept = ~np.isin(said.cell, sums)
    waived = None if said.waived is None else _hand_down_claims(said, place, matrix, sums, len(who))[kept]
    parts = (said.cell[kept], said.respondent[kept], said.holding[kept], said.amount[kept])
    return replace(table, contributions=Contributions(*parts, said.origin, waived))


def _find_sums(table: Table, leaf: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the relations in which a leaf cell is the sum of other leaf cells, and that cell of each."""
    matrix = table.relations.matrix
    apart = sp.csr_array(matrix != 0).astype(np.int64) @ (~leaf).astype(np.int64)
    rows = np.flatnonzero((apart == 0) & (table.relations.right == 0) & (np.diff(matrix.indptr) > 1))
    part = sp.csr_array(matrix[rows])
    row, numbers = np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.data
    many = [np.bincount(row, weights=numbers == sign, minlength=len(rows)) for sign in (1, -1)]
    simple = many[0] + many[1] == np.diff(part.indptr)  # all coefficients are 1 or -1
    sums = np.full(len(rows), -1, dtype=np.int64)
    for sign, alone in ((-1, many[1] == 1), (1, many[0] == 1)):
        entry = np.flatnonzero((numbers == sign) & (alone & simple)[row])
        sums[row[entry]] = part.indices[entry]
    return rows[sums >= 0], sums[sums >= 0]


def _hand_down_claims(
    said: Contributions, place: NDArray[np.int64], matrix: sp.csr_array, sums: NDArray[np.int64], n: int
) -> NDArray[np.bool_]:
    """Return which contributions are waived when whoever is protected in a sum is protected in its parts, ``(m,)``."""
    assert said.waived is not None  # noqa: S101  (asked before)
    waived, shape = said.waived.copy(), (matrix.shape[1], n)
    part_of = sp.csr_array(matrix != 0).astype(np.int64)
    while True:
        open_ = np.flatnonzero(~waived)
        claims = sp.csr_array((np.ones(len(open_), dtype=np.int64), (said.cell[open_], place[open_])), shape=shape)
        handed = sp.csr_array(part_of.T @ claims[sums]).tocsr()
        more = waived & np.asarray(handed[said.cell, place] > 0).ravel()
        if not more.any():
            return waived
        waived &= ~more
