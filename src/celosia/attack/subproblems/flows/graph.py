"""Networks as one graph, laid out for compiled searches.

What belongs together lies together, in few arrays: compiled code counts references to every array that it hands on.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import kernel

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
        tail, head = ends
        degree = np.bincount(tail[tail >= 0], minlength=n_nodes) + np.bincount(head[head >= 0], minlength=n_nodes)
        nodes, last = np.zeros(n_nodes, dtype=_NODE), np.cumsum(degree)
        nodes["first"], nodes["last"] = last - degree, last
        places, arcs = np.zeros(int(degree.sum()), dtype=_PLACE), np.zeros(len(tail), dtype=_ARC)
        order = np.argsort(255 - magnitude(down + up), kind="stable")
        _lay(tail, head, down, up, order, last - degree, places, arcs)
        lists, changed = np.zeros((4, n_nodes + 1), dtype=np.uint32), np.zeros(len(tail) + 1, dtype=np.int64)
        return cls(places, nodes, arcs, lists, changed)

    def copy(self) -> Graph:
        """Return a copy to search in."""
        return Graph(self.places.copy(), self.nodes.copy(), self.arcs.copy(), self.lists.copy(), self.changed.copy())


def magnitude(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the lengths of non-negative numbers in bits."""
    return np.asarray(np.frexp(numbers.astype(np.float64))[1], dtype=np.uint8)


@kernel()
def _lay(
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    down: NDArray[np.int64],
    up: NDArray[np.int64],
    order: NDArray[np.int64],
    free: NDArray[np.int64],
    places: Places,
    arcs: Arcs,
) -> None:
    """Lay every arc down at both its nodes, in some order, from the first free place on."""
    for column in order:
        if tail[column] < 0:
            continue
        here = free[tail[column]]
        free[tail[column]] += 1
        there = free[head[column]]
        free[head[column]] += 1
        arcs[column].place = here
        places[here].leaving, places[here].entering = up[column], down[column]
        places[there].leaving, places[there].entering = down[column], up[column]
        places[here].to, places[here].mate, places[here].arc, places[here].along = head[column], there, column, 1
        places[there].to, places[there].mate, places[there].arc, places[there].along = tail[column], here, column, -1


@kernel()
def bounds(
    columns: NDArray[np.int64], upward: NDArray[np.bool_], limits: NDArray[np.int64], graph: Graph
) -> NDArray[np.int64]:
    """Return what no flow gets beyond: the limit, the own room, and what the other arcs at either end let through."""
    places, nodes, n_nodes = graph.places, graph.nodes, len(graph.nodes)
    total, endless = np.zeros((n_nodes, 2), dtype=np.int64), np.zeros((n_nodes, 2), dtype=np.int64)
    for node in range(n_nodes):
        for place in range(nodes[node].first, nodes[node].last):
            for side, room in enumerate((places[place].leaving, places[place].entering)):
                total[node, side] += room if room < _BIG else 0
                endless[node, side] += room >= _BIG
    bound = np.empty(len(columns), dtype=np.int64)
    for question in range(len(columns)):
        place = graph.arcs[columns[question]].place
        if not upward[question]:
            place = places[place].mate
        other = places[place].mate
        best = min(limits[question], places[place].leaving)
        # what leaves through a place comes back by other places of the node it goes to, and enters its own node again
        back = (places[place].to, 0, places[other].leaving), (places[other].to, 1, places[place].entering)
        for node, side, own in back:
            if endless[node, side] == (own >= _BIG):
                best = min(best, total[node, side] - (own if own < _BIG else 0))
        bound[question] = best
    return bound
