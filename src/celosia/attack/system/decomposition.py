"""The decomposition of a system: cells that follow at once, connected components, and which of them are networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import kernel

if TYPE_CHECKING:
    from celosia.attack.system.system import System

_ENDS = 2  # of an arc


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The components of a system, each with its columns and rows together.

    Parameters
    ----------
    component
        The component of every column, -1 for a cell that follows from others at once, ``(n,)``.
    columns, starts
        The columns, component after component, and where each begins.
    network
        Which components are networks.
    tail, head
        For the columns of networks the nodes between which the cell is an arc, ``(n,)``; nodes are rows of the
        system, and one ground node per component, numbered after the rows.
    peeled
        How the peeled cells follow: the row that gave each, -1 for the others, ``(n,)``.
    """

    component: NDArray[np.int32]
    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    network: NDArray[np.bool_]
    tail: NDArray[np.int32]
    head: NDArray[np.int32]
    peeled: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def members(self, component: int) -> NDArray[np.int64]:
        """Return the columns of a component."""
        return self.columns[self.starts[component] : self.starts[component + 1]]


def decompose(system: System) -> Parts:
    """Return the components of a system.

    Guarantee: components share no relation, so each can be attacked by itself; a component that is called a network
    has been checked to be one as far as its kept rows go. Rows that are dropped because the others imply them are
    checked on every witness (`celosia.attack.subproblems.flows.network`).
    """
    columns = sp.csc_array(system.matrix)
    peeled, component, n_components = _split(system.matrix, columns)
    order = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[order], np.arange(n_components + 1))
    network, tail, head = _networks(columns, component, n_components, system.implied)
    return Parts(component, order[starts[0] :], (starts - starts[0]).astype(np.int64), network, tail, head, peeled)


def is_network(matrix: sp.csr_array) -> bool:
    """Return whether all components of relations are networks, no relation left out.

    Then those of every part of their columns are, too: whatever cells are hidden, flows answer all questions.
    """
    m, n = matrix.shape
    if int(np.bincount(matrix.indices, minlength=n).max(initial=0)) > _ENDS:
        return False
    columns = sp.csc_array(matrix)
    _, component, n_components = _split(matrix, columns)
    network, _, _ = _networks(columns, component, n_components, np.zeros(m, dtype=bool))
    return bool(network.all())


def _split(rows: sp.csr_array, columns: sp.csc_array) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Return what `_peel` finds, the component of every column, -1 for those that were peeled, and their number."""
    peeled = _peel(rows.indptr, rows.indices, columns.indptr, columns.indices, rows.shape[1])
    return peeled, *_components(rows.indptr, rows.indices, columns.indptr, columns.indices, peeled < 0)


def decompose_into_networks(system: System, redundant: Callable[[], NDArray[np.bool_]]) -> tuple[System, Parts]:
    """Return a system and its parts; where these are not all networks, without the relations that the others imply.

    Parameters
    ----------
    system
        A system that leaves no relation out.
    redundant
        Returns which relations of the table the others imply; called only where that is needed.
    """
    parts = decompose(system)
    if parts.network.all():
        return system, parts
    system = replace(system, implied=redundant()[system.relations])
    return system, decompose(system)


@kernel()
def _peel(
    row_starts: NDArray[np.int32],
    row_columns: NDArray[np.int32],
    column_starts: NDArray[np.int32],
    column_rows: NDArray[np.int32],
    n: int,
) -> NDArray[np.int32]:
    """Return for every column the row in which it was the only one left, -1 if it never was."""
    m = len(row_starts) - 1
    left = np.empty(m, dtype=np.int64)
    waiting = np.empty(m, dtype=np.int64)
    n_waiting = 0
    for row in range(m):
        left[row] = row_starts[row + 1] - row_starts[row]
        if left[row] == 1:
            waiting[n_waiting] = row
            n_waiting += 1
    peeled = np.full(n, -1, dtype=np.int32)
    while n_waiting:
        n_waiting -= 1
        row = waiting[n_waiting]
        if left[row] != 1:
            continue
        for place in range(row_starts[row], row_starts[row + 1]):
            column = row_columns[place]
            if peeled[column] < 0:
                peeled[column] = row
                for entry in range(column_starts[column], column_starts[column + 1]):
                    other = column_rows[entry]
                    left[other] -= 1
                    if left[other] == 1:
                        waiting[n_waiting] = other
                        n_waiting += 1
                break
    return peeled


@kernel()
def _components(
    row_starts: NDArray[np.int32],
    row_columns: NDArray[np.int32],
    column_starts: NDArray[np.int32],
    column_rows: NDArray[np.int32],
    free: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], int]:
    """Return the component of every free column, -1 for the others, and how many there are.

    Components are numbered in the order of their first rows, then cells that stand in no relation.
    """
    component = np.full(len(free), -1, dtype=np.int32)
    reached = np.zeros(len(row_starts) - 1, dtype=np.bool_)
    waiting = np.empty(len(reached), dtype=np.int64)
    n_components = 0
    for root in range(len(reached)):
        if reached[root]:
            continue
        waiting[0], n_waiting, size = root, 1, 0
        reached[root] = True
        while n_waiting:
            n_waiting -= 1
            row = waiting[n_waiting]
            for place in range(row_starts[row], row_starts[row + 1]):
                column = row_columns[place]
                if free[column] and component[column] < 0:
                    component[column] = n_components
                    size += 1
                    for entry in range(column_starts[column], column_starts[column + 1]):
                        other = column_rows[entry]
                        if not reached[other]:
                            reached[other] = True
                            waiting[n_waiting] = other
                            n_waiting += 1
        n_components += size > 0
    for column in range(len(free)):
        if free[column] and component[column] < 0:
            component[column] = n_components
            n_components += 1
    return component, n_components


def _networks(
    columns: sp.csc_array, component: NDArray[np.int32], n_components: int, implied: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int32]]:
    """Return which components are networks, and the ends of every column's arc.

    Rows that the others may well imply are left out. What remains is a network if every column has at most two entries
    of size one, whose signs can be made opposite by turning rows.
    """
    network, first, second, sign, flip = _ends(columns, ~implied, component, n_components)
    starts, ties = adjacency(first, second, len(implied))
    turn = _turns(starts, ties, first, second, flip, component, network)
    tail, head = np.full(len(first), -1, dtype=np.int32), np.full(len(first), -1, dtype=np.int32)
    arcs = np.flatnonzero(np.append(network, False)[component])  # the last stands for none
    other = np.where(second[arcs] >= 0, second[arcs], len(implied) + component[arcs])
    leaves = sign[arcs] * turn[first[arcs]] > 0  # a positive entry in the turned row takes from it
    tail[arcs] = np.where(leaves, first[arcs], other)
    head[arcs] = np.where(leaves, other, first[arcs])
    return network, tail, head


def _ends(
    columns: sp.csc_array, kept: NDArray[np.bool_], component: NDArray[np.int32], n_components: int
) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int32], NDArray[np.int8], NDArray[np.int8]]:
    """Return which components may be networks, and every column's one or two rows.

    `sign` is the entry in the first row; `flip` is 1 where the two rows need the same turn, -1 where opposite ones.
    """
    n = len(component)
    column = np.repeat(np.arange(n), np.diff(columns.indptr))
    used = kept[columns.indices] & (component[column] >= 0)
    column, row, value = column[used], columns.indices[used], columns.data[used]
    found = np.bincount(column, minlength=n)
    place = np.cumsum(found) - found  # of the first entry
    first, second = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    sign, flip = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int8)
    some, two = np.flatnonzero(found > 0), np.flatnonzero(found == _ENDS)
    first[some], sign[some] = row[place[some]], np.sign(value[place[some]])
    second[two], flip[two] = row[place[two] + 1], -sign[two] * np.sign(value[place[two] + 1])
    no_arc = (component >= 0) & ((found == 0) | (found > _ENDS))
    no_arc[column[np.abs(value) != 1]] = True
    second[no_arc] = -1  # what is no arc turns no row
    network = np.ones(n_components, dtype=bool)
    network[component[no_arc]] = False
    return network, first, second, sign, flip


@kernel()
def _turns(
    starts: NDArray[np.int64],
    ties: NDArray[np.int32],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    flip: NDArray[np.int8],
    component: NDArray[np.int32],
    network: NDArray[np.bool_],
) -> NDArray[np.int8]:
    """Return how to turn every row so that both entries of a column are opposite; where that fails, no network.

    Parameters
    ----------
    starts, ties
        The columns that tie two rows together, at each of the two (`adjacency`).
    first, second
        The rows in which each column has its entries.
    flip
        Whether its entries are opposite as they stand, 1, or must be made so by turning one row, -1.
    component, network
        The component of each column, and which components may be networks: written to.
    """
    m = len(starts) - 1
    turn = np.zeros(m, dtype=np.int8)
    waiting = np.empty(m, dtype=np.int64)
    for root in range(m):
        if turn[root] != 0:
            continue
        turn[root] = 1
        waiting[0] = root
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            row = waiting[n_waiting]
            for place in range(starts[row], starts[row + 1]):
                column = ties[place]
                other = second[column] if first[column] == row else first[column]
                wanted = turn[row] * flip[column]
                if turn[other] == 0:
                    turn[other] = wanted
                    waiting[n_waiting] = other
                    n_waiting += 1
                elif turn[other] != wanted:
                    network[component[column]] = False
    return turn


def adjacency(
    tail: NDArray[np.int32], head: NDArray[np.int32], n_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the arcs at every node, compressed by rows; arcs without two ends are left out."""
    arcs = np.flatnonzero((tail >= 0) & (head >= 0))
    starts, order = sort_by_node(np.stack([tail[arcs], head[arcs]], axis=1).ravel(), n_nodes)
    return starts, np.repeat(arcs, 2)[order].astype(np.int32)


def sort_by_node(nodes: NDArray[np.int32], n_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where every node begins when ends of arcs are sorted by their nodes, and which ends these are."""
    ends = np.arange(len(nodes), dtype=np.int32)
    sorted_ends = sp.csr_array((np.ones(len(nodes), dtype=np.int8), (nodes, ends)), shape=(n_nodes, len(nodes)))
    return sorted_ends.indptr.astype(np.int64), sorted_ends.indices
