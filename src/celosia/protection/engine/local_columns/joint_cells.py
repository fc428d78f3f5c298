r"""Columns of joint cells, in which respondents of linked tables know contributions.

With :math:`z_j` for joint cells and :math:`y_l` for leaf cells there is a row for every leaf cell,

.. math:: \sum_{j \in l} z_j - y_l + s_l = 0.

Coalitions know that leaf cells are such sums: for them :math:`s_l = 0`, and joint cells move as far as they may
believe. All other attackers know nothing of joint cells: for them :math:`z = 0`, and :math:`s_l` moves as its leaf cell
does, so that the row says nothing. Like all columns of requirements' own
(`celosia.protection.engine.local_columns.corners`) these are in no pattern and cost nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.tolerance import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.risk.corner import Corner
    from celosia.risk.respondents.joint import JointCells


def add_joint_columns(problem: ProtectionProblem, corners: Sequence[Corner], joint: JointCells) -> ProtectionProblem:
    """Return a problem with columns for joint cells, and then for leaf cells of linked tables, and their rows.

    Parameters
    ----------
    problem
        Without them; its last attackers are those of the corners.
    corners
        What respondents must not exclude, of joint cells.
    joint
        Which joint cells add up to which leaf cells.
    """
    more, known = joint.n_joint + len(joint.sums), problem.cells
    column = np.where(np.isin(joint.sums, known), np.searchsorted(known, joint.sums), -1)
    rows = _rows(problem, joint, column)
    nothing = sp.csr_array((problem.matrix.shape[0], more), dtype=np.int64)
    matrix = sp.csr_array(sp.vstack([sp.hstack([problem.matrix, nothing]), rows]))
    matrix.sort_indices()
    return replace(
        problem,
        cells=np.concatenate([known, joint.n_cells + np.arange(more)]),
        matrix=matrix,
        implied=np.concatenate([problem.implied, np.zeros(rows.shape[0], dtype=bool)]),
        up=_bounds(problem, problem.up, corners, column, 1),
        down=_bounds(problem, problem.down, corners, column, -1),
        cost=np.concatenate([problem.cost, np.zeros(more)]),
        forced=np.concatenate([problem.forced, np.ones(more, dtype=bool)]),
        whole=np.concatenate([problem.whole, np.zeros(more, dtype=bool)]),
        product=None,
        n_local=more,
    )


def _rows(problem: ProtectionProblem, joint: JointCells, column: NDArray[np.int64]) -> sp.csr_array:
    """Return what relates joint cells to leaf cells; those that everybody knows have no column."""
    n, k = len(problem), len(joint.sums)
    every, open_ = np.arange(k), np.flatnonzero(column >= 0)
    rows = np.concatenate([joint.row, open_, every])
    columns = np.concatenate([n + joint.parts - joint.n_cells, column[open_], n + joint.n_joint + every])
    numbers = np.concatenate([np.ones(len(joint.row)), -np.ones(len(open_)), np.ones(k)]).astype(np.int64)
    return sp.csr_array((numbers, (rows, columns)), shape=(k, n + joint.n_joint + k))


def _bounds(
    problem: ProtectionProblem,
    known: NDArray[np.int64],
    corners: Sequence[Corner],
    column: NDArray[np.int64],
    sign: int,
) -> NDArray[np.int64]:
    """Return bounds of one side with those of joint cells, and of what leaf cells differ from their sums."""
    others = len(known) - len(corners)
    beside = np.where(column >= 0, known[:, column], 0)
    beside[others:] = 0
    reach = [_counts(problem, corner, corner.reach_of_joint_cells(sign)) for corner in corners]
    parts = np.concatenate([np.zeros((others, reach[0].size), dtype=np.int64), np.stack(reach)])
    return np.ascontiguousarray(np.concatenate([known, parts, beside], axis=1))


def _counts(problem: ProtectionProblem, corner: Corner, counts: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return counts of a corner in the decimal of the problem, which is as fine."""
    scaled = counts * 10 ** (problem.decimals - corner.decimals)
    return np.array([min(count, ENDLESS) for count in scaled.tolist()], dtype=np.int64)
