r"""Gains and losses in one sum: where others know more of a contribution than of its parts together.

Everybody knows everybody else's contributions within q percent, those to a sum as well as those to its parts. Where
the parts of every respondent have one sign, :math:`|x^r| = \sum_l |x_l^r|`, and who knows the parts so well knows no
less of the sum. A firm with costs of 110 and a loss of 100 has a turnover of 10: who knows that to within 5 knows more
than somebody whose errors in costs and loss may be 55 and 50. To judge by the parts alone would then call respondents
safe who are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.risk.respondents.contributions import numbers_of, single_contributions
from celosia.risk.respondents.joint import add_joint_cells
from celosia.risk.respondents.leaf_sums import leaf_sums
from celosia.risk.respondents.sums import leave_out_sums

if TYPE_CHECKING:
    from celosia.table.statistics import Contributions
    from celosia.table.table import Table


def have_opposite_signs(table: Table, kind: str) -> bool:
    """Return whether somebody's contributions to the parts of a sum have different signs.

    Sums are leaf cells that follow from other leaf cells: of variables that add up, and of linked tables, where they
    follow from joint cells. Totals are none: what somebody contributes to them is known by what he contributes to leaf
    cells alone.

    Parameters
    ----------
    table
        A table with single contributions.
    kind
        ``respondent`` or ``holding``: whose contributions are looked at.

    Raises
    ------
    DataError
        The contributions to some cells are not known.
    """
    said = single_contributions(table)
    if not _may_have_losses(said) or (len(table.variables) == 1 and not said.joint):
        return False
    split = leave_out_sums(add_joint_cells(table))
    parts, steps = single_contributions(split), leaf_sums(split, single_contributions(split))
    leaves = _leaves_of_variables(table, leaf_sums(table, said).leaf)
    sums = np.flatnonzero(leaves & ~steps.leaf[: len(table)])
    number = np.unique(numbers_of(parts, kind), return_inverse=True)[1]
    amounts = sp.csr_array((parts.amount, (parts.cell, number)), shape=(len(split), int(number.max(initial=-1)) + 1))
    weights = steps.parts_of(sums)
    together, apart = abs(weights @ amounts), abs(weights) @ abs(amounts)
    return not np.array_equal(together.sum(axis=1), apart.sum(axis=1))


def _may_have_losses(said: Contributions) -> bool:
    """Return whether some contribution is negative, one record's among several of a respondent as well."""
    return bool((said.amount < 0).any()) or any(bool((one.amount < 0).any()) for one in said.joint)


def _leaves_of_variables(table: Table, listed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the leaf cells of all variables: those with contributions, and sums of them under the same codes."""
    matrix = table.relations.matrix
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    first = matrix.indices[matrix.indptr[:-1][row]]
    elsewhere = (table.codes[matrix.indices] != table.codes[first]).any(axis=1)
    same = np.bincount(row, weights=elsewhere, minlength=matrix.shape[0]) == 0
    rows = np.flatnonzero(same & (table.relations.right == 0) & (np.diff(matrix.indptr) > 1))
    part = sp.csr_array(matrix[rows])
    terms = sp.csr_array((np.ones(part.nnz, dtype=np.int64), part.indices, part.indptr), shape=part.shape)
    found = listed.copy()
    while True:
        last = np.flatnonzero(terms @ (~found).astype(np.int64) == 1)
        if not len(last):
            return found
        found[sp.csr_array(terms[last]).indices] = True
