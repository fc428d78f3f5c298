"""The search for largest flows, compiled.

Flows are found by blocking flows (Dinic 1970) on the shortest ways, whose layers are searched from both ends, no
further than to the first arc that joins them: a flow between two neighbours in a large network sees little of it.

A flow moves many cells, and pushes some of them as far as they go: their questions are answered by the same table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import longer, plain
from celosia.attack.subproblems.flows.graph import Graph
from celosia.kernels import inner, kernel

_WAY, _STOPS, _SEEN = range(3)  # the rows of `lists`
_NEXT_TO_SINK = -2
_NEVER = np.iinfo(np.int64).max  # no move is as far


@kernel()
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
    question_of = np.empty(2 * len(arcs), dtype=np.int32)
    enough = np.full(2 * len(arcs), _NEVER, dtype=np.int64)
    starts, n_tables = np.zeros(len(columns) + 1, dtype=np.int64), 0
    for piece in range(len(pieces) - 1):
        _ask(columns, upward, wanted, pieces[piece], pieces[piece + 1], question_of, enough)
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
                size = len(out_columns) + place + changed[0] + 1
                out_columns, out_moves = longer(out_columns, size), longer(out_moves, size)
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
                        table[question_of[side]], reach[question_of[side]] = n_tables, enough[side]
                        enough[side] = _NEVER
            changed[0] = 0
            n_tables += 1
            starts[n_tables] = place + 1
    end = starts[n_tables]
    return reach, table, starts[: n_tables + 1], out_columns[:end], out_moves[:end]


@inner()
def _ask(
    columns: NDArray[np.int64],
    upward: NDArray[np.bool_],
    wanted: NDArray[np.int64],
    first: int,
    last: int,
    question_of: NDArray[np.int32],
    enough: NDArray[np.int64],
) -> None:
    """Enter by cell and direction which question asks about it, and how far is enough to answer that."""
    for question in range(first, last):
        if wanted[question] > 0:
            side = 2 * columns[question] + upward[question]
            question_of[side], enough[side] = question, wanted[question]


@inner(inline=True)
def _move(places: NDArray[np.void], place: int, amount: int) -> None:
    """Let an amount leave through a place."""
    mate = places[place].mate
    places[place].leaving -= amount
    places[place].entering += amount
    places[mate].leaving += amount
    places[mate].entering -= amount


@inner(inline=True)
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


@inner(inline=True)
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


@inner()
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
    n_ahead, n_behind, first_ahead, first_behind = plain(1), plain(1), plain(0), plain(0)
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


@inner()
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


@inner()
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


@inner(inline=True)
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
