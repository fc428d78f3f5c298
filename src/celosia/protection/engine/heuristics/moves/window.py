"""A move within a window of a product table: a joint program among the codes near a cell, where no move of few serves.

The window has the leaves of every dimension that are nearest to the cell, and all nodes above them: a sub-table, whose
moves move nothing else. It is widened until the program has a solution, or is too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES, JointMoveParameters
from celosia.protection.engine.heuristics.moves.joint_program import JointMove, JointTask, find_joint_move

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.solve.backend import Backend


def find_window_move(
    problem: ProtectionProblem,
    wanted: JointTask,
    hidden: NDArray[np.bool_],
    backend: Backend,
    left: Callable[[], float],
    parameters: JointMoveParameters = JOINT_MOVES,
) -> JointMove | None:
    """Return a move of few dear cells that takes a column to its level, None where none is found.

    Parameters
    ----------
    problem
        The problem, with its product structure.
    wanted
        The column, how far it must move, and the bounds that the move keeps.
    hidden
        Which columns are hidden in any case, ``(n,)``.
    backend, left, parameters
        Solves programs; returns the seconds that are left; how.
    """
    column = int(wanted.columns[0])
    median = float(np.median(problem.cost[problem.cost > 0])) if bool((problem.cost > 0).any()) else 1.0
    for columns in _list_windows(problem, column, wanted.room, parameters):
        if left() <= 0:
            return None
        part = problem.part(columns, np.zeros(0, dtype=np.int64))
        task = JointTask(wanted.box, wanted.room[columns], np.searchsorted(columns, wanted.columns), wanted.levels)
        price, kept = part.cost / median, hidden[columns]
        found = find_joint_move(
            part, task, price, kept, np.ones(1), parameters.window_price, backend, left(), parameters
        )
        if found is not None:
            return replace(found, columns=columns[found.columns], served=wanted.columns)
    return None


def _list_windows(
    problem: ProtectionProblem, column: int, room: NDArray[np.int64], parameters: JointMoveParameters
) -> Iterator[NDArray[np.int64]]:
    """Yield the columns of wider and wider windows around a column, increasing."""
    product = problem.product
    assert product is not None  # noqa: S101  (callers ask for it)
    orders = [_order_leaves(problem, column, axis, room) for axis in range(len(product.holding))]
    before = 0
    for n_leaves in parameters.window_leaves:
        inside = np.ones(len(problem), dtype=bool)
        for axis, (holding, order) in enumerate(zip(product.holding, orders, strict=True)):
            near = np.zeros(holding.shape[0], dtype=bool)
            near[sp.csc_array(holding[:, order[:n_leaves]]).indices] = True
            inside &= near[product.codes[:, axis]]
        columns = np.flatnonzero(inside)
        if len(columns) > parameters.most_columns:
            return
        if len(columns) > before:
            before = len(columns)
            yield columns


def _order_leaves(problem: ProtectionProblem, column: int, axis: int, room: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the leaves of a dimension: those below a column's node first, then the nearest, those with room first."""
    product = problem.product
    assert product is not None  # noqa: S101  (callers ask for it)
    holding = sp.csr_array(product.holding[axis], dtype=np.int64)
    node, n_leaves = int(product.codes[column, axis]), holding.shape[1]
    own = np.zeros(n_leaves, dtype=np.int64)
    own[holding.indices[holding.indptr[node] : holding.indptr[node + 1]]] = 1
    above = (holding @ own == own.sum()).astype(np.int64)  # the nodes that hold all of it
    distance = holding.sum(axis=0) - above @ holding
    distance[own > 0] = -1
    others = np.delete(product.codes, axis, axis=1)
    line = np.flatnonzero((others == others[column]).all(axis=1))
    most = np.zeros(holding.shape[0], dtype=np.int64)
    most[product.codes[line, axis]] = room[line]
    sizes = np.diff(holding.indptr)
    leaf_room = np.zeros(n_leaves, dtype=np.int64)
    single = np.flatnonzero(sizes == 1)
    leaf_room[holding.indices[holding.indptr[single]]] = most[single]
    return np.lexsort((-leaf_room, leaf_room == 0, distance))
