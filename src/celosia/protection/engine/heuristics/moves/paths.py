"""Paths of a dimension: its shortest moves through a node, from leaf to leaf or from a leaf up to the total.

A node is a set of leaves. Raising leaf c and lowering leaf b moves exactly the nodes that hold one of them but not the
other; raising c alone moves all that hold it. In a tree these are the paths from leaf to leaf through their lowest
common node, and to the root; with several hierarchies over the same leaves they satisfy all their sums as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import longer
from celosia.kernels import kernel

if TYPE_CHECKING:
    import scipy.sparse as sp

    from celosia.protection.engine.parameters import MoveParameters
    from celosia.table.product.structure import ProductStructure


class Paths(NamedTuple):
    """The paths of all nodes of all dimensions, each node in its own with sign +1.

    Parameters
    ----------
    nodes
        Where the nodes of every dimension begin, ``(d + 1,)``.
    starts
        Where the paths of every node begin, ``(nodes + 1,)``.
    entries
        Where the other nodes of every path begin, ``(paths + 1,)``.
    shifts
        By how much the key of a cell changes when its code becomes that node.
    signs
        Whether it moves with the node (1) or against it (-1).
    """

    nodes: NDArray[np.int64]
    starts: NDArray[np.int64]
    entries: NDArray[np.int64]
    shifts: NDArray[np.int64]
    signs: NDArray[np.int64]


def find_paths(product: ProductStructure, weight: NDArray[np.float64], parameters: MoveParameters, wide: int) -> Paths:
    """Return the paths of the dimensions of a product: the shortest, and of these the ones with most room.

    Parameters
    ----------
    product
        The dimensions, and the codes of the cells that may move.
    weight
        How much room every cell has, ``(n,)``: paths to leaves with more come first.
    parameters
        How many paths there are.
    wide
        So many times as many.
    """
    nodes, starts = [0], [np.zeros(1, dtype=np.int64)]
    entries, shifts, signs = [np.zeros(1, dtype=np.int64)], [], []
    for axis, (holding, stride) in enumerate(zip(product.holding, product.strides.tolist(), strict=True)):
        room = np.zeros(holding.shape[0])
        np.add.at(room, product.codes[:, axis], weight)
        used = np.bincount(product.codes[:, axis], minlength=holding.shape[0]) > 0
        owners, ups, downs, counts = _choose_leaves(holding, room, used, parameters, wide)
        begin, node, sign = list_path_nodes(
            holding.indptr.astype(np.int64), holding.indices.astype(np.int64), owners, ups, downs
        )
        first = starts[-1][-1]
        starts.append(first + np.cumsum(counts))
        own = np.repeat(owners, np.diff(begin))
        entries.append(entries[-1][-1] + begin[1:])
        shifts.append((node - own) * stride)
        signs.append(sign)
        nodes.append(nodes[-1] + holding.shape[0])
    return Paths(
        np.array(nodes, dtype=np.int64),
        np.concatenate(starts),
        np.concatenate(entries),
        np.concatenate(shifts),
        np.concatenate(signs),
    )


def _choose_leaves(
    holding: sp.csc_array,
    room: NDArray[np.float64],
    used: NDArray[np.bool_],
    parameters: MoveParameters,
    wide: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the node, the leaf that rises and the one that falls (-1 for none) of every path, and paths by node."""
    n_nodes, n_leaves = holding.shape
    held = holding.toarray() > 0
    leaf_node = holding.indices[holding.indptr[:-1]] if n_leaves else np.zeros(0, dtype=np.int64)
    size = held.sum(axis=1)
    for leaf in range(n_leaves):
        own = holding.indices[holding.indptr[leaf] : holding.indptr[leaf + 1]]
        leaf_node[leaf] = own[np.argmin(size[own])]
    weight, exists = room[leaf_node], used[leaf_node]
    single = held.astype(np.float32)
    common = np.rint(single.T @ single).astype(np.int64)
    group = _parents(held, size, leaf_node)
    by_room = np.argsort(-weight, kind="stable")
    rank = np.zeros(n_leaves, dtype=np.int64)
    seen: dict[int, int] = {}
    for leaf in by_room.tolist():
        rank[leaf] = seen.get(int(group[leaf]), 0)
        seen[int(group[leaf])] = int(rank[leaf]) + 1
    owners, ups, downs = [], [], []
    counts = np.zeros(n_nodes, dtype=np.int64)
    for node in np.flatnonzero(used).tolist():
        inside = by_room[held[node][by_room] & exists[by_room]]
        is_leaf = size[node] == 1
        falls = parameters.falling_leaves if is_leaf else parameters.falling_leaves_of_groups
        for up in inside[: parameters.rising_leaves * wide].tolist():
            others = np.flatnonzero(~held[node] & exists & (common[up] > 0))
            distance = common[up, up] + common[others, others] - 2 * common[up, others]
            order = np.lexsort((-weight[others], rank[others], distance))
            chosen = [-1, *others[order[: falls * wide]].tolist()]
            owners += [node] * len(chosen)
            ups += [up] * len(chosen)
            downs += chosen
            counts[node] += len(chosen)
    return np.array(owners, dtype=np.int64), np.array(ups, dtype=np.int64), np.array(downs, dtype=np.int64), counts


def _parents(held: NDArray[np.bool_], size: NDArray[np.int64], leaf_node: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the smallest node above every leaf, -1 where there is none."""
    group = np.full(held.shape[1], -1, dtype=np.int64)
    for leaf, own in enumerate(leaf_node.tolist()):
        above = np.flatnonzero(held[:, leaf])
        above = above[above != own]
        if len(above):
            group[leaf] = above[np.argmin(size[above])]
    return group


@kernel()
def list_path_nodes(
    starts: NDArray[np.int64],
    holders: NDArray[np.int64],
    owners: NDArray[np.int64],
    ups: NDArray[np.int64],
    downs: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes of every path but its own, with signs: those that hold one of its leaves but not the other."""
    n = len(owners)
    begin = np.zeros(n + 1, dtype=np.int64)
    nodes, signs = np.empty(4 * n + 16, dtype=np.int64), np.empty(4 * n + 16, dtype=np.int64)
    count = 0
    for path in range(n):
        i, end_i = starts[ups[path]], starts[ups[path] + 1]
        j, end_j = 0, 0
        if downs[path] >= 0:
            j, end_j = starts[downs[path]], starts[downs[path] + 1]
        if count + (end_i - i) + (end_j - j) > len(nodes):
            room = 2 * (count + (end_i - i) + (end_j - j))
            nodes, signs = longer(nodes, room), longer(signs, room)
        while i < end_i or j < end_j:
            rises = j >= end_j or (i < end_i and holders[i] <= holders[j])
            falls = i >= end_i or (j < end_j and holders[j] <= holders[i])
            node = holders[i] if rises else holders[j]
            if rises != falls and node != owners[path]:
                nodes[count], signs[count] = node, 1 if rises else -1
                count += 1
            i += rises
            j += falls
        begin[path + 1] = count
    return begin, nodes[:count].copy(), signs[:count].copy()
