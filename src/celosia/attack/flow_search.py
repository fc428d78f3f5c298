"""The search for largest flows, compiled.

Flows are found by blocking flows (Dinic 1970) on the shortest ways, whose layers are searched from both ends: a flow
between two neighbours in a large network sees little of it. Ways of three arcs, the shortest there are in most tables,
are tried before their middle is searched.

A flow moves many cells, and pushes some of them as far as they go: their questions are answered by the same table.

What belongs together lies together, in few arrays: compiled code counts references to every array that it hands on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_PLACE = np.dtype(
    [("leaving", "i8"), ("entering", "i8"), ("to", "i4"), ("mate", "i4"), ("arc", "i4"), ("along", "i4")],
    align=True,
)
_ARC = np.dtype([("move", "i8"), ("place", "i4"), ("changed", "i4")], align=True)
_FIRST, _AHEAD, _BEHIND, _POINTER = range(4)  # the columns of `nodes`
_WAY, _STOPS, _SEEN = range(3)  # the rows of `lists`
_WIDE = 8  # layers of more nodes are not searched before the ways that lead through them are tried
_BIG = 1 << 40  # rooms from here on count as endless in sums, so that 64 bits hold them


class Graph(NamedTuple):
    """Networks as one graph, and the desk on which flows are sought; clean between two searches.

    Parameters
    ----------
    places
        Every arc has two places, one at each of its nodes: how much can leave and enter the node there, the node at
        the other end, the arc's place there, the arc, and 1 where leaving means going along the arc, -1 where against.
    nodes
        The first place of every node and where search stands, ``(n_nodes + 1, 4)``: its layer seen from the source and
        from the sink, -1 elsewhere, and the first place that may still lead on.
    arcs
        For every column the flow, its place at the tail, -1 where it is no arc, and whether it is listed as changed.
    lists
        Places and nodes of one way, and nodes seen from the source and from the sink, ``(4, n_nodes + 1)``.
    changed
        How many arcs have changed, and which.
    """

    places: NDArray[np.void]
    nodes: NDArray[np.int32]
    arcs: NDArray[np.void]
    lists: NDArray[np.int32]
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
        nodes = np.full((n_nodes + 1, 4), -1, dtype=np.int32)
        nodes[0, _FIRST], nodes[1:, _FIRST] = 0, np.cumsum(degree)
        places, arcs = np.zeros(int(degree.sum()), dtype=_PLACE), np.zeros(len(tail), dtype=_ARC)
        order = np.argsort(255 - magnitude(down + up), kind="stable")
        _lay(tail, head, down, up, order, places, nodes[:, _FIRST].copy(), arcs)
        empty = np.zeros((4, n_nodes + 1), dtype=np.int32)
        return cls(places, nodes, arcs, empty, np.zeros(len(tail) + 1, dtype=np.int64))

    def copy(self) -> Graph:
        """Return a copy to search in."""
        return Graph(*(part.copy() for part in self))


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
    places: NDArray[np.void],
    free: NDArray[np.int32],
    arcs: NDArray[np.void],
) -> None:
    """Lay every arc down at both its nodes, in some order, from the first free place on."""
    for column in order:
        arcs[column].place = -1
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
    places, nodes, n_nodes = graph.places, graph.nodes, len(graph.nodes) - 1
    total, endless = np.zeros((n_nodes, 2), dtype=np.int64), np.zeros((n_nodes, 2), dtype=np.int64)
    for node in range(n_nodes):
        for place in range(nodes[node, _FIRST], nodes[node + 1, _FIRST]):
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
    columns: NDArray[np.int64], upward: NDArray[np.bool_], wanted: NDArray[np.int64], graph: Graph
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Answer questions one by one, but for those that the flow of another has answered by the way.

    Return `reach` and `table` of every question, and `starts`, `columns` and `moves` of the tables. What a flow has
    changed is put back before the next.
    """
    arcs, changed = graph.arcs, graph.changed
    reach, table = np.zeros(len(columns), dtype=np.int64), np.full(len(columns), -1, dtype=np.int64)
    asked = np.full(2 * len(arcs), -1, dtype=np.int64)
    for question in range(len(columns)):
        asked[2 * columns[question] + upward[question]] = question
    starts, n_tables = np.zeros(len(columns) + 1, dtype=np.int64), 0
    size = 16 * len(columns) + 16
    out_columns, out_moves = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for question in range(len(columns)):
        if table[question] >= 0 or wanted[question] <= 0:
            continue
        cell = columns[question]
        got = _around(cell, upward[question], wanted[question], graph)
        reach[question] = got
        if got == 0:
            continue
        table[question] = n_tables
        place = starts[n_tables]
        if place + changed[0] + 1 > size:
            size = 2 * (place + changed[0] + 1)
            out_columns = np.append(out_columns, np.empty(size - len(out_columns), dtype=np.int64))
            out_moves = np.append(out_moves, np.empty(size - len(out_moves), dtype=np.int64))
        out_columns[place], out_moves[place] = cell, got if upward[question] else -got
        for k in range(1, changed[0] + 1):
            arc = changed[k]
            move = arcs[arc].move
            if move != 0:
                place += 1
                out_columns[place], out_moves[place] = arc, move
                other = asked[2 * arc + (move > 0)]
                if other >= 0 and table[other] < 0 and abs(move) >= wanted[other]:
                    table[other], reach[other] = n_tables, wanted[other]
        _take_back(graph.places, arcs, changed)
        n_tables += 1
        starts[n_tables] = place + 1
    end = starts[n_tables]
    return reach, table, starts[: n_tables + 1], out_columns[:end], out_moves[:end]


@njit(cache=True, nogil=True)
def _take_back(places: NDArray[np.void], arcs: NDArray[np.void], changed: NDArray[np.int64]) -> None:
    """Take the flow out of the graph."""
    for k in range(1, changed[0] + 1):
        arc = changed[k]
        _move(places, arcs[arc].place, -arcs[arc].move)
        arcs[arc].move, arcs[arc].changed = 0, 0
    changed[0] = 0


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
    nodes: NDArray[np.int32],
    arcs: NDArray[np.void],
    lists: NDArray[np.int32],
    changed: NDArray[np.int64],
) -> int:
    """Send as much as is wanted from source to sink, or as much as there is room for; return how much."""
    got, length = 0, 1
    while length >= 0 and got < wanted:
        depth_ahead, depth_behind, n_ahead, n_behind = _layers(source, sink, length + 2, places, nodes, lists)
        length = depth_ahead + depth_behind
        if length >= 0:
            got += _blocking_flow(source, wanted - got, depth_ahead, length, places, nodes, arcs, lists, changed)
        for k in range(n_ahead):
            nodes[lists[_SEEN, k], _AHEAD] = -1
        for k in range(n_behind):
            nodes[lists[_SEEN + 1, k], _BEHIND] = -1
    return got


@njit(cache=True, nogil=True)
def _layers(
    source: int,
    sink: int,
    guess: int,
    places: NDArray[np.void],
    nodes: NDArray[np.int32],
    lists: NDArray[np.int32],
) -> tuple[int, int, int, int]:
    """Find how far nodes are from the source and from the sink, layer by layer, until the two meet.

    Return the numbers of layers on both sides, -1 where there is no way, and how many nodes each side has seen. Layers
    are complete: every shortest way consists of nodes ahead of the source up to the meeting layer, and nodes behind
    which lies the sink from there on. Where the meeting layer is wide and ways may well have the length that is guessed
    it is left out, and there may turn out to be no way of that length.
    """
    nodes[source, _AHEAD], nodes[sink, _BEHIND] = 0, 0
    nodes[source, _POINTER], nodes[sink, _POINTER] = nodes[source, _FIRST], nodes[sink, _FIRST]
    lists[_SEEN, 0], lists[_SEEN + 1, 0] = source, sink
    n_ahead, n_behind, first_ahead, first_behind = 1, 1, 0, 0
    depth_ahead, depth_behind = 0, 0
    met = False
    while not met:
        wide_ahead, wide_behind = n_ahead - first_ahead, n_behind - first_behind
        if depth_ahead + depth_behind + 1 == guess and min(wide_ahead, wide_behind) > _WIDE:
            return depth_ahead + 1, depth_behind, n_ahead, n_behind
        if wide_ahead <= wide_behind:
            end, depth_ahead = n_ahead, depth_ahead + 1
            n_ahead, met = _next_layer(first_ahead, end, depth_ahead, 0, places, nodes, lists)
            first_ahead = end
            stuck = n_ahead == end
        else:
            end, depth_behind = n_behind, depth_behind + 1
            n_behind, met = _next_layer(first_behind, end, depth_behind, 1, places, nodes, lists)
            first_behind = end
            stuck = n_behind == end
        if stuck:
            return -1, -1, n_ahead, n_behind
    return depth_ahead, depth_behind, n_ahead, n_behind


@njit(cache=True, nogil=True)
def _next_layer(
    first: int,
    end: int,
    depth: int,
    turn: int,
    places: NDArray[np.void],
    nodes: NDArray[np.int32],
    lists: NDArray[np.int32],
) -> tuple[int, bool]:
    """Add the next layer, with `turn` = 1 backwards; return how many nodes are seen now, and whether the sides met."""
    n_seen, met = end, False
    for k in range(first, end):
        node = lists[_SEEN + turn, k]
        for place in range(nodes[node, _FIRST], nodes[node + 1, _FIRST]):
            other = places[place].to
            room = places[place].entering if turn else places[place].leaving
            if room > 0 and nodes[other, _AHEAD + turn] < 0:
                nodes[other, _AHEAD + turn] = depth
                nodes[other, _POINTER] = nodes[other, _FIRST]
                lists[_SEEN + turn, n_seen] = other
                n_seen += 1
                met |= nodes[other, _BEHIND - turn] >= 0
    return n_seen, met


@njit(cache=True, nogil=True)
def _blocking_flow(
    source: int,
    wanted: int,
    depth_ahead: int,
    length: int,
    places: NDArray[np.void],
    nodes: NDArray[np.int32],
    arcs: NDArray[np.void],
    lists: NDArray[np.int32],
    changed: NDArray[np.int64],
) -> int:
    """Send flow along ways of some length until none is left, or as much as is wanted; return how much."""
    lists[_STOPS, 0] = source
    depth, got = 0, 0
    while True:
        if depth == length:
            amount, depth = _send(wanted - got, length, places, arcs, lists, changed)
            got += amount
            if got >= wanted:
                return got
        node = lists[_STOPS, depth]
        # the first place, from the pointer on, that leads to the next layer
        layer, number = (_AHEAD, depth + 1) if depth + 1 < depth_ahead else (_BEHIND, length - depth - 1)
        place, end = nodes[node, _POINTER], nodes[node + 1, _FIRST]
        while place < end and (nodes[places[place].to, layer] != number or places[place].leaving == 0):
            place += 1
        nodes[node, _POINTER] = place
        if place < end:
            lists[_WAY, depth] = place
            depth += 1
            lists[_STOPS, depth] = places[place].to
        elif depth == 0:
            return got
        else:
            depth -= 1
            nodes[lists[_STOPS, depth], _POINTER] += 1


@njit(cache=True, nogil=True, inline="always")
def _send(
    wanted: int,
    length: int,
    places: NDArray[np.void],
    arcs: NDArray[np.void],
    lists: NDArray[np.int32],
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
