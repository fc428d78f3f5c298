"""Networks as one graph, laid out for compiled searches.

What belongs together lies together, in few arrays: compiled code counts references to every array that it hands on.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.decomposition import sort_by_node

_PLACE = np.dtype(
    [("leaving", "i8"), ("entering", "i8"), ("to", "u4"), ("mate", "u4"), ("arc", "u4"), ("along", "i4")], align=True
)
_NODE = np.dtype([("first", "u4"), ("last", "u4"), ("pointer", "u4"), ("layer", "i4")], align=True)
_ARC = np.dtype([("move", "i8"), ("place", "u4"), ("changed", "u4")], align=True)
Places = Annotated[NDArray[np.void], _PLACE]
Nodes = Annotated[NDArray[np.void], _NODE]
Arcs = Annotated[NDArray[np.void], _ARC]
_BIG = 1 << 40  # rooms from here on count as endless in sums, so that 64 bits hold them


class Graph(NamedTuple):
    """Networks as one graph, and the desk on which flows are sought; clean between two searches.

    Parameters
    ----------
    places
        Every arc has two places, one at each of its nodes: how much can leave and enter the node there, the node at
        the other end, the arc's place there, the arc, and 1 where leaving means going along the arc, -1 where against.
    nodes
        Where the places of every node begin and end, the first that may still lead on, and the node's layer: 1, 2 and
        so on from the source, -1, -2 and so on from the sink, 0 elsewhere.
    arcs
        For every column the flow, its place at the tail, and whether it is listed as changed.
    lists
        Places and nodes of one way, and nodes seen from the source and from the sink, ``(4, n_nodes + 1)``.
    changed
        How many arcs have changed, and which.
    """

    places: Places
    nodes: Nodes
    arcs: Arcs
    lists: Annotated[NDArray[np.uint32], 2]
    changed: NDArray[np.int64]

    @classmethod
    def of_arcs(
        cls,
        ends: tuple[NDArray[np.int32], NDArray[np.int32]],
        down: NDArray[np.int64],
        up: NDArray[np.int64],
        n_nodes: int,
    ) -> Graph:
        """Return the graph of arcs from tails to heads, -1 for none. Every node has its widest arcs first."""
        order = np.argsort(255 - magnitude(down + up), kind="stable")
        places, nodes, arcs = _lay(ends, down, up, order, n_nodes)
        lists, changed = np.zeros((4, n_nodes + 1), dtype=np.uint32), np.zeros(len(arcs) + 1, dtype=np.int64)
        return cls(places, nodes, arcs, lists, changed)

    def copy(self) -> Graph:
        """Return a copy to search in."""
        return Graph(self.places.copy(), self.nodes.copy(), self.arcs.copy(), self.lists.copy(), self.changed.copy())


def magnitude(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the lengths of non-negative numbers in bits."""
    return np.asarray(np.frexp(numbers.astype(np.float64))[1], dtype=np.uint8)


def _lay(
    ends: tuple[NDArray[np.int32], NDArray[np.int32]],
    down: NDArray[np.int64],
    up: NDArray[np.int64],
    order: NDArray[np.int64],
    n_nodes: int,
) -> tuple[Places, Nodes, Arcs]:
    """Return places, nodes and arcs: every arc is laid down at both its nodes, in some order."""
    tail, head = ends
    laid = order[tail[order] >= 0]
    starts, sorted_ends = sort_by_node(np.stack([tail[laid], head[laid]], axis=1).ravel(), n_nodes)
    place = np.empty(len(sorted_ends), dtype=np.int64)
    place[sorted_ends] = np.arange(len(sorted_ends))
    here, there = place[::2], place[1::2]
    nodes, arcs, places = (
        np.zeros(many, dtype=kind) for many, kind in ((n_nodes, _NODE), (len(tail), _ARC), (len(place), _PLACE))
    )
    nodes["first"], nodes["last"] = starts[:-1], starts[1:]
    arcs["place"][laid] = here
    for own, other, out, back, to, along in ((here, there, up, down, head, 1), (there, here, down, up, tail, -1)):
        places["leaving"][own], places["entering"][own] = out[laid], back[laid]
        places["to"][own], places["mate"][own], places["arc"][own], places["along"][own] = to[laid], other, laid, along
    return places, nodes, arcs


def bounds(
    columns: NDArray[np.int64], upward: NDArray[np.bool_], limits: NDArray[np.int64], graph: Graph
) -> NDArray[np.int64]:
    """Return what no flow gets beyond: the limit, the own room, and what the other arcs at either end let through."""
    places = graph.places
    place = graph.arcs["place"][columns]
    place = np.where(upward, place, places["mate"][place])
    other = places["mate"][place]
    best = np.minimum(limits, places["leaving"][place])
    # what leaves through a place comes back by other places of the node it goes to, and enters its own node again
    for side, node, own in (("leaving", places["to"][place], other), ("entering", places["to"][other], place)):
        finite, endless = np.where(places[side] < _BIG, places[side], 0), places[side] >= _BIG
        through = _sum_at_nodes(finite, graph.nodes)[node] - finite[own]
        closed = _sum_at_nodes(endless, graph.nodes)[node] == endless[own]
        best = np.where(closed, np.minimum(best, through), best)
    return np.asarray(best)


def _sum_at_nodes(numbers: NDArray[Any], nodes: Nodes) -> NDArray[np.int64]:
    """Return the sum over the places of every node."""
    sums = np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)])
    return np.asarray(sums[nodes["last"]] - sums[nodes["first"]])
