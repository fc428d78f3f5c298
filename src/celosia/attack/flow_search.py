"""The search for largest flows, compiled.

Flows are found by blocking flows (Dinic 1970) on the shortest ways, whose layers are searched from both ends, no
further than to the first arc that joins them: a flow between two neighbours in a large network sees little of it.

A flow moves many cells, and pushes some of them as far as they go: their questions are answered by the same table.

What belongs together lies together, in few arrays: compiled code counts references to every array that it hands on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_PLACE = np.dtype(
    [("leaving", "i8"), ("entering", "i8"), ("to", "u4"), ("mate", "u4"), ("arc", "u4"), ("along", "i4")], align=True
)
_NODE = np.dtype([("first", "u4"), ("last", "u4"), ("pointer", "u4"), ("layer", "i4")], align=True)
_ARC = np.dtype([("move", "i8"), ("place", "u4"), ("changed", "u4")], align=True)
_WAY, _STOPS, _SEEN = range(3)  # the rows of `lists`
_NEXT_TO_SINK = -2
_NEVER = np.iinfo(np.int64).max  # no move is as far
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

    places: NDArray[np.void]
    nodes: NDArray[np.void]
    arcs: NDArray[np.void]
    lists: NDArray[np.uint32]
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


@njit(cache=True, nogil=True)
def _lay(
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    down: NDArray[np.int64],
    up: NDArray[np.int64],
    order: NDArray[np.int64],
    free: NDArray[np.int64],
    places: NDArray[np.void],
    arcs: NDArray[np.void],
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def answer(
    columns: NDArray[np.int64],
    upward: NDArray[np.bool_],
    wanted: NDArray[np.int64],
    pieces: NDArray[np.int64],
    graph: Graph,
    out_columns: NDArray[np.int64],
    out_moves: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Answer questions one by one, but for those that the flow of another in the same piece has answered by the way.

    Return `reach` and `table` of every question, and `starts`, `columns` and `moves` of the tables, in the given arrays
    where these are long enough. What a flow has changed is put back before the next.
    """
    places, arcs, changed = graph.places, graph.arcs, graph.changed
    reach, table = np.zeros(len(columns), dtype=np.int64), np.full(len(columns), -1, dtype=np.int64)
    asked = np.empty(2 * len(arcs), dtype=np.int32)
    enough = np.full(2 * len(arcs), _NEVER, dtype=np.int64)
    starts, n_tables = np.zeros(len(columns) + 1, dtype=np.int64), 0
    for piece in range(len(pieces) - 1):
        _ask(columns, upward, wanted, pieces[piece], pieces[piece + 1], asked, enough)
        for question in range(pieces[piece], pieces[piece + 1]):
            if table[question] >= 0 or wanted[question] <= 0:
                continue
            cell = columns[question]
            enough[2 * cell + upward[question]] = _NEVER
            reach[question] = _around(cell, upward[question], wanted[question], graph)
            if reach[question] == 0:
                continue
            place = starts[n_tables]
            if place + changed[0] + 1 > len(out_columns):
                more = np.empty(place + changed[0] + 1, dtype=np.int64)
                out_columns, out_moves = np.append(out_columns, more), np.append(out_moves, more)
            table[question] = n_tables
            out_columns[place], out_moves[place] = cell, reach[question] if upward[question] else -reach[question]
            for k in range(1, changed[0] + 1):
                arc = changed[k]
                move = arcs[arc].move
                arcs[arc].move, arcs[arc].changed = 0, 0
                if move != 0:
                    _move(places, arcs[arc].place, -move)
                    place += 1
                    out_columns[place], out_moves[place] = arc, move
                    side = 2 * arc + (move > 0)
                    if abs(move) >= enough[side]:
                        table[asked[side]], reach[asked[side]] = n_tables, enough[side]
                        enough[side] = _NEVER
            changed[0] = 0
            n_tables += 1
            starts[n_tables] = place + 1
    end = starts[n_tables]
    return reach, table, starts[: n_tables + 1], out_columns[:end], out_moves[:end]


@njit(cache=True, nogil=True)
def _ask(
    columns: NDArray[np.int64],
    upward: NDArray[np.bool_],
    wanted: NDArray[np.int64],
    first: int,
    last: int,
    asked: NDArray[np.int32],
    enough: NDArray[np.int64],
) -> None:
    """Enter by cell and direction which question asks about it, and how far is enough to answer that."""
    for question in range(first, last):
        if wanted[question] > 0:
            side = 2 * columns[question] + upward[question]
            asked[side], enough[side] = question, wanted[question]


@njit(cache=True, nogil=True, inline="always")
def _move(places: NDArray[np.void], place: int, amount: int) -> None:
    """Let an amount leave through a place."""
    mate = places[place].mate
    places[place].leaving -= amount
    places[place].entering += amount
    places[mate].leaving += amount
    places[mate].entering -= amount


@njit(cache=True, nogil=True)
def _around(cell: int, upward: bool, wanted: int, graph: Graph) -> int:  # noqa: FBT001
    """Send flow from a cell's head to its tail, or from tail to head, not through the cell itself; return how much."""
    places = graph.places
    here = graph.arcs[cell].place
    there = places[here].mate
    up, down = places[here].leaving, places[here].entering
    places[here].leaving = places[here].entering = places[there].leaving = places[there].entering = 0
    source, sink = places[here].to, places[there].to
    if not upward:
        source, sink = sink, source
    got = _flow(source, sink, wanted, places, graph.nodes, graph.arcs, graph.lists, graph.changed)
    places[here].leaving, places[here].entering = up, down
    places[there].leaving, places[there].entering = down, up
    return got


@njit(cache=True, nogil=True)
def _flow(
    source: int,
    sink: int,
    wanted: int,
    places: NDArray[np.void],
    nodes: NDArray[np.void],
    arcs: NDArray[np.void],
    lists: NDArray[np.uint32],
    changed: NDArray[np.int64],
) -> int:
    """Send as much as is wanted from source to sink, or as much as there is room for; return how much."""
    got, met = 0, True
    while met and got < wanted:
        met, ahead, behind, n_ahead, n_behind = _layers(source, sink, places, nodes, lists)
        if met:
            got += _blocking_flow(source, wanted - got, ahead, behind, places, nodes, arcs, lists, changed)
        for k in range(n_ahead):
            nodes[lists[_SEEN, k]].layer = 0
        for k in range(n_behind):
            nodes[lists[_SEEN + 1, k]].layer = 0
    return got


@njit(cache=True, nogil=True)
def _layers(
    source: int, sink: int, places: NDArray[np.void], nodes: NDArray[np.void], lists: NDArray[np.uint32]
) -> tuple[bool, int, int, int, int]:
    """Find how far nodes are from the source and from the sink, layer by layer, until an arc joins the two.

    Return whether one does, the numbers of complete layers on both sides, and how many nodes each side has seen. Every
    shortest way goes through all layers of the source, over one arc, and through all layers of the sink.
    """
    nodes[source].layer, nodes[sink].layer = 1, -1
    nodes[source].pointer, nodes[sink].pointer = nodes[source].first, nodes[sink].first
    lists[_SEEN, 0], lists[_SEEN + 1, 0] = source, sink
    n_ahead, n_behind, first_ahead, first_behind = 1, 1, 0, 0
    ahead, behind = 1, 1
    while first_ahead < n_ahead and first_behind < n_behind:
        if n_ahead - first_ahead <= n_behind - first_behind:
            end = n_ahead
            n_ahead, met = _next_layer(first_ahead, end, ahead + 1, 0, places, nodes, lists)
            if met:
                return True, ahead, behind, n_ahead, n_behind
            first_ahead, ahead = end, ahead + 1
        else:
            end = n_behind
            n_behind, met = _next_layer(first_behind, end, -behind - 1, 1, places, nodes, lists)
            if met:
                return True, ahead, behind, n_ahead, n_behind
            first_behind, behind = end, behind + 1
    return False, ahead, behind, n_ahead, n_behind


@njit(cache=True, nogil=True)
def _next_layer(
    first: int,
    end: int,
    layer: int,
    turn: int,
    places: NDArray[np.void],
    nodes: NDArray[np.void],
    lists: NDArray[np.uint32],
) -> tuple[int, bool]:
    """Add the next layer, with `turn` = 1 backwards, as long as no arc leads to the other side.

    Return how many nodes are seen now, and whether one does. A node next to the sink has its pointer there at once.
    """
    n_seen = end
    for k in range(first, end):
        node = lists[_SEEN + turn, k]
        for place in range(nodes[node].first, nodes[node].last):
            room = places[place].entering if turn else places[place].leaving
            if room > 0:
                other = places[place].to
                seen = nodes[other].layer
                if seen == 0:
                    nodes[other].layer = layer
                    nodes[other].pointer = places[place].mate if layer == _NEXT_TO_SINK else nodes[other].first
                    lists[_SEEN + turn, n_seen] = other
                    n_seen += 1
                elif (seen < 0) == (layer > 0):
                    return n_seen, True
    return n_seen, False


@njit(cache=True, nogil=True)
def _blocking_flow(
    source: int,
    wanted: int,
    ahead: int,
    behind: int,
    places: NDArray[np.void],
    nodes: NDArray[np.void],
    arcs: NDArray[np.void],
    lists: NDArray[np.uint32],
    changed: NDArray[np.int64],
) -> int:
    """Send flow along ways through all layers until none is left, or as much as is wanted; return how much."""
    lists[_STOPS, 0] = source
    depth, got, length = 0, 0, ahead + behind - 1
    while True:
        if depth == length:
            amount, depth = _send(wanted - got, length, places, arcs, lists, changed)
            got += amount
            if got >= wanted:
                return got
        node = lists[_STOPS, depth]
        layer = depth + 2 if depth + 1 < ahead else depth - length
        found = False
        for place in range(nodes[node].pointer, nodes[node].last):
            if nodes[places[place].to].layer == layer and places[place].leaving > 0:
                found = True
                nodes[node].pointer = place
                lists[_WAY, depth] = place
                depth += 1
                lists[_STOPS, depth] = places[place].to
                break
        if not found:
            if depth == 0:
                return got
            nodes[node].layer = 0
            depth -= 1
            nodes[lists[_STOPS, depth]].pointer += 1


@njit(cache=True, nogil=True, inline="always")
def _send(
    wanted: int,
    length: int,
    places: NDArray[np.void],
    arcs: NDArray[np.void],
    lists: NDArray[np.uint32],
    changed: NDArray[np.int64],
) -> tuple[int, int]:
    """Send along the way as much as fits; return how much, and where the way is now shut first."""
    amount, shut = wanted, 0
    for k in range(length):
        amount = min(amount, places[lists[_WAY, k]].leaving)
    for k in range(length - 1, -1, -1):
        place = lists[_WAY, k]
        arc = places[place].arc
        _move(places, place, amount)
        arcs[arc].move += amount * places[place].along
        if not arcs[arc].changed:
            arcs[arc].changed = 1
            changed[0] += 1
            changed[changed[0]] = arc
        if places[place].leaving == 0:
            shut = k
    return amount, shut
