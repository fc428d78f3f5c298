r"""Side patterns: all ways in which the split cells of one relation can take their sides.

In a relation :math:`\sum_i c_i d_i = r` let split cells stand on sides :math:`s_i` and the others at their start, and
let :math:`e_i` be what each cell moves from there. A side pattern :math:`p` leaves a *misfit*
:math:`D_p = |r - \sum_i c_i s_i(p)|`, which these moves make up for: :math:`\sum_i |c_i| |e_i| \ge D_p`. With a weight
:math:`\lambda_p \ge 0` for every pattern, which sum up to one, and the weight of the patterns in which a cell is up for
its side, that is a row of the relaxation, :math:`\sum_i |c_i| |e_i| \ge \sum_p D_p \lambda_p`. Without it the
relaxation stands between all sides, where nothing is out of balance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.adjustment.formulation import AdjustmentProblem


@dataclass(frozen=True, slots=True, eq=False)
class SidePatterns:
    """The side patterns of some relations, one after the other.

    Parameters
    ----------
    relation
        The relation of every pattern, ``(p,)``.
    misfit
        What it leaves, ``(p,)``.
    entry
        The relation and the split cell of every pair of them, ``(e, 2)``.
    upward
        In which patterns the cell of an entry is up, ``(e, p)``.
    others
        The misfit of the pattern without that cell, less what the cell itself moves on its side, ``(e, p)``.
    """

    relation: NDArray[np.int64]
    misfit: NDArray[np.float64]
    entry: NDArray[np.int64]
    upward: sp.csr_array
    others: sp.csr_array

    def __len__(self) -> int:
        return len(self.relation)


def count_split_cells(matrix: sp.csr_array, split: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many split cells every relation has."""
    pattern = sp.csr_array((np.ones(matrix.nnz, dtype=np.int64), matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.asarray(pattern @ split.astype(np.int64))


def enumerate_sides(
    problem: AdjustmentProblem, matrix: sp.csr_array, right: NDArray[np.float64], relations: NDArray[np.int64]
) -> SidePatterns:
    """Return the side patterns of some relations.

    Parameters
    ----------
    problem
        The problem.
    matrix, right
        Relations over moves, ``(m, n)`` and ``(m,)``; cells that are not split count from their start.
    relations
        Which of them, each with few split cells.
    """
    own: list[NDArray[np.int64]] = []
    misfits: list[NDArray[np.float64]] = []
    entries: list[tuple[int, int]] = []
    upward: list[NDArray[np.int64]] = []
    others: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    split, first = problem.split, 0
    for relation in relations.tolist():
        place = slice(matrix.indptr[relation], matrix.indptr[relation + 1])
        cells, factors = matrix.indices[place], matrix.data[place].astype(np.float64)
        cells, factors = cells[split[cells]], factors[split[cells]]
        number = 1 << len(cells)
        up = (np.arange(number)[:, None] >> np.arange(len(cells)) & 1).astype(bool)
        stands = factors * np.where(up, problem.up[cells], -problem.down[cells])
        left = right[relation] - stands.sum(axis=1)
        own.append(np.full(number, relation))
        misfits.append(np.abs(left))
        for k, cell in enumerate(cells.tolist()):
            entries.append((relation, cell))
            upward.append(first + np.flatnonzero(up[:, k]))
            others.append((first + np.arange(number), np.abs(left + stands[:, k]) - np.abs(stands[:, k])))
        first += number
    shape = (len(entries), first)
    return SidePatterns(
        np.concatenate([np.zeros(0, dtype=np.int64), *own]),
        np.concatenate([np.zeros(0), *misfits]),
        np.asarray(entries, dtype=np.int64).reshape(-1, 2),
        _stack(upward, [np.ones(len(patterns)) for patterns in upward], shape),
        _stack([patterns for patterns, _ in others], [values for _, values in others], shape),
    )


def _stack(columns: list[NDArray[np.int64]], values: list[NDArray[np.float64]], shape: tuple[int, int]) -> sp.csr_array:
    """Return rows with these columns and values."""
    ends = np.cumsum([0, *(len(column) for column in columns)])
    data = np.concatenate([np.zeros(0), *values]), np.concatenate([np.zeros(0, dtype=np.int64), *columns]), ends
    matrix = sp.csr_array(data, shape=shape)
    matrix.eliminate_zeros()
    return matrix
