"""Attacks on networks: how far a cell can move is a maximum flow, and the flow is the proof.

A cell is an arc from one relation to another; a table that agrees with everything published is a circulation. To push
cell p up by f, f must flow back from its head to its tail through other cells (Cox 1980; Salazar 2003, section 2).
Everything is in whole numbers: the flow found is exact, and a flow that stops short comes with a cut that says why.

Flows are found by blocking flows (Dinic 1970) on the shortest ways, whose layers are searched from both ends: a flow
between two neighbours in a large network sees little of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from celosia.attack.parts import Parts, adjacency
from celosia.attack.questions import Answers, Questions
from celosia.attack.system import ENDLESS, System

_TOGETHER = (1 << 14, 1 << 17)  # at least and at most so many flows, whose witnesses are in memory at the same time


class Graph(NamedTuple):
    """The networks of a system as one graph, every arc in both directions.

    Direction 2a leads along arc a from tail to head, direction 2a + 1 back.

    Parameters
    ----------
    starts, out, to
        The directions that leave every node, compressed by rows, and where they lead.
    room
        How much fits through every direction, ``(2n,)``.
    """

    starts: NDArray[np.int64]
    out: NDArray[np.int32]
    to: NDArray[np.int32]
    room: NDArray[np.int64]


class _Desk(NamedTuple):
    """What the search for a flow writes on; clean between two searches.

    `ahead` and `behind` are the layers of nodes seen from the source and from the sink, -1 elsewhere, `seen_ahead` and
    `seen_behind` those nodes; a node's `pointer` stands at its first direction that may still lead on; `way` and
    `stops` are the directions and nodes of one way; `move` is the flow, `changed` the arcs that have some, `mark` says
    so, and `n_changed` holds how many.
    """

    ahead: NDArray[np.int32]
    behind: NDArray[np.int32]
    seen_ahead: NDArray[np.int32]
    seen_behind: NDArray[np.int32]
    pointer: NDArray[np.int64]
    way: NDArray[np.int32]
    stops: NDArray[np.int32]
    move: NDArray[np.int64]
    changed: NDArray[np.int64]
    mark: NDArray[np.bool_]
    n_changed: NDArray[np.int64]


def graph_of(system: System, parts: Parts) -> Graph:
    """Return the graph of all networks of a system."""
    n_nodes = system.matrix.shape[0] + len(parts)
    starts, arcs = adjacency(parts.tail, parts.head, n_nodes)
    node = np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(starts))
    tail, head = parts.tail[arcs], parts.head[arcs]
    leaves = tail == node
    room = np.empty(2 * len(system), dtype=np.int64)
    room[0::2], room[1::2] = system.up, system.down
    return Graph(starts, np.where(leaves, 2 * arcs, 2 * arcs + 1), np.where(leaves, head, tail), room)


def flow_answers(system: System, parts: Parts, questions: Questions, executor: Executor | None = None) -> Answers:
    """Return the answers to questions about cells of networks.

    Guarantee: `reach` is the maximum over the kept rows of the component, so nobody gets further; its witness is a
    flow in whole numbers, which `verified` checks against all rows.
    """
    found = list(flows(system, parts, questions, executor))
    answers = Answers.joined([answers for _, answers in found])
    return answers.take(np.argsort(np.concatenate([places for places, _ in found]), kind="stable"))


def flows(
    system: System, parts: Parts, questions: Questions, executor: Executor | None = None
) -> Iterator[tuple[NDArray[np.int64], Answers]]:
    """Yield the places of some questions and their answers, until all are answered: as many as memory holds well.

    Parameters
    ----------
    system, parts, questions
        What is asked.
    executor
        Takes the questions, where there is one; which of them go together does not depend on it.
    """
    graph = graph_of(system, parts)
    order = np.argsort(parts.component[questions.columns], kind="stable")
    size = int(np.clip(len(system) // 2, *_TOGETHER))
    shares = np.split(order, range(size, len(order), size))
    asked = [questions.take(places) for places in shares]
    ends = [(parts.tail[part.columns], parts.head[part.columns]) for part in asked]
    run = map if executor is None else executor.map
    yield from zip(shares, run(_answers, asked, ends, [graph] * len(shares)), strict=True)


def _answers(asked: Questions, ends: tuple[NDArray[np.int32], NDArray[np.int32]], graph: Graph) -> Answers:
    """Return the answers to questions whose arcs have these tails and heads."""
    tail, head = ends
    source, sink = np.where(asked.upward, head, tail), np.where(asked.upward, tail, head)
    own = graph._replace(room=graph.room.copy())
    reach, starts, columns, moves = _answer(asked.columns, asked.upward, asked.limits, source, sink, own, _desk(own))
    furthest, ones = np.ones(len(asked), dtype=bool), np.ones(len(asked), dtype=np.int64)
    return Answers(reach, ones, furthest, np.arange(len(asked)), starts, columns, moves)


def _desk(graph: Graph) -> _Desk:
    n_nodes, n_arcs = len(graph.starts) - 1, len(graph.room) // 2
    nowhere = np.full(n_nodes, -1, dtype=np.int32)
    empty = np.empty(n_nodes + 1, dtype=np.int32)
    return _Desk(
        ahead=nowhere,
        behind=nowhere.copy(),
        seen_ahead=empty,
        seen_behind=empty.copy(),
        pointer=np.zeros(n_nodes, dtype=np.int64),
        way=empty.copy(),
        stops=empty.copy(),
        move=np.zeros(n_arcs, dtype=np.int64),
        changed=np.empty(n_arcs, dtype=np.int64),
        mark=np.zeros(n_arcs, dtype=np.bool_),
        n_changed=np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _answer(
    columns: NDArray[np.int64],
    upward: NDArray[np.bool_],
    limits: NDArray[np.int64],
    sources: NDArray[np.int32],
    sinks: NDArray[np.int32],
    graph: Graph,
    desk: _Desk,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Answer the questions one by one; what a flow has changed is put back before the next."""
    reach = np.zeros(len(columns), dtype=np.int64)
    ends = np.zeros(len(columns) + 1, dtype=np.int64)
    size = 8 * len(columns) + 16
    out_columns, out_moves = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for question in range(len(columns)):
        cell = columns[question]
        up, down = graph.room[2 * cell], graph.room[2 * cell + 1]
        wanted = min(limits[question], up if upward[question] else down)
        graph.room[2 * cell] = graph.room[2 * cell + 1] = 0
        got = _flow(sources[question], sinks[question], wanted, graph, desk)
        graph.room[2 * cell], graph.room[2 * cell + 1] = up, down
        reach[question] = got
        place = ends[question]
        needed = place + desk.n_changed[0] + 1
        if needed > size:
            size = 2 * needed
            out_columns = np.append(out_columns, np.empty(size - len(out_columns), dtype=np.int64))
            out_moves = np.append(out_moves, np.empty(size - len(out_moves), dtype=np.int64))
        out_columns[place] = cell
        out_moves[place] = got if upward[question] else -got
        ends[question + 1] = _put_back(graph, desk, out_columns, out_moves, place + 1)
    return reach, ends, out_columns[: ends[-1]].copy(), out_moves[: ends[-1]].copy()


@njit(cache=True, nogil=True)
def _put_back(
    graph: Graph, desk: _Desk, out_columns: NDArray[np.int64], out_moves: NDArray[np.int64], place: int
) -> int:
    """Write the flow down from a place on and take it out of the graph; return where it ends."""
    for k in range(desk.n_changed[0]):
        arc = desk.changed[k]
        move = desk.move[arc]
        if move != 0:
            out_columns[place] = arc
            out_moves[place] = move
            place += 1
            graph.room[2 * arc] += move
            graph.room[2 * arc + 1] -= move
        desk.move[arc] = 0
        desk.mark[arc] = False
    desk.n_changed[0] = 0
    return place


@njit(cache=True, nogil=True)
def _flow(source: int, sink: int, wanted: int, graph: Graph, desk: _Desk) -> int:
    """Send as much as is wanted from source to sink, or as much as there is room for; return how much."""
    leaving, entering = 0, 0
    for k in range(graph.starts[source], graph.starts[source + 1]):
        leaving = min(ENDLESS, leaving + graph.room[graph.out[k]])
    for k in range(graph.starts[sink], graph.starts[sink + 1]):
        entering = min(ENDLESS, entering + graph.room[graph.out[k] ^ 1])
    wanted = min(wanted, leaving, entering)
    got = 0
    more = True
    while more and got < wanted:
        depth_ahead, depth_behind, n_ahead, n_behind = _layers(source, sink, graph, desk)
        more = depth_ahead >= 0
        if more:
            got += _blocking_flow(source, wanted - got, depth_ahead, depth_ahead + depth_behind, graph, desk)
        for k in range(n_ahead):
            desk.ahead[desk.seen_ahead[k]] = -1
        for k in range(n_behind):
            desk.behind[desk.seen_behind[k]] = -1
    return got


@njit(cache=True, nogil=True)
def _layers(source: int, sink: int, graph: Graph, desk: _Desk) -> tuple[int, int, int, int]:
    """Find how far nodes are from the source and from the sink, layer by layer, until the two meet.

    Return the numbers of layers on both sides, -1 where there is no way, and how many nodes each side has seen. Layers
    are complete: every shortest way consists of nodes `ahead` of the source up to the meeting layer, and nodes `behind`
    which lies the sink from there on.
    """
    desk.ahead[source], desk.behind[sink] = 0, 0
    desk.pointer[source], desk.pointer[sink] = graph.starts[source], graph.starts[sink]
    desk.seen_ahead[0], desk.seen_behind[0] = source, sink
    n_ahead, n_behind, first_ahead, first_behind = 1, 1, 0, 0
    depth_ahead, depth_behind = 0, 0
    met = False
    while not met:
        if n_ahead - first_ahead <= n_behind - first_behind:
            end, depth_ahead = n_ahead, depth_ahead + 1
            n_ahead, met = _next_layer(
                first_ahead, end, depth_ahead, 0, graph, desk.ahead, desk.behind, desk.seen_ahead, desk.pointer
            )
            first_ahead = end
            stuck = n_ahead == end
        else:
            end, depth_behind = n_behind, depth_behind + 1
            n_behind, met = _next_layer(
                first_behind, end, depth_behind, 1, graph, desk.behind, desk.ahead, desk.seen_behind, desk.pointer
            )
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
    graph: Graph,
    layer: NDArray[np.int32],
    other_layer: NDArray[np.int32],
    seen: NDArray[np.int32],
    pointer: NDArray[np.int64],
) -> tuple[int, bool]:
    """Add the next layer, with `turn` = 1 backwards; return how many nodes are seen now, and whether the sides met."""
    n_seen, met = end, False
    for place in range(first, end):
        node = seen[place]
        for k in range(graph.starts[node], graph.starts[node + 1]):
            other = graph.to[k]
            if layer[other] < 0 and graph.room[graph.out[k] ^ turn] > 0:
                layer[other] = depth
                seen[n_seen] = other
                n_seen += 1
                pointer[other] = graph.starts[other]
                met = met or other_layer[other] >= 0
    return n_seen, met


@njit(cache=True, nogil=True)
def _blocking_flow(source: int, wanted: int, depth_ahead: int, length: int, graph: Graph, desk: _Desk) -> int:
    """Send flow along ways of some length until none is left, or as much as is wanted; return how much."""
    desk.stops[0] = source
    depth, got = 0, 0
    while True:
        if depth == length:
            amount, depth = _send(wanted - got, length, graph, desk)
            got += amount
            if got >= wanted:
                return got
        node = desk.stops[depth]
        k = _leading_on(node, depth + 1, depth_ahead, length, graph, desk)
        desk.pointer[node] = k
        if k < graph.starts[node + 1]:
            desk.way[depth] = graph.out[k]
            depth += 1
            desk.stops[depth] = graph.to[k]
        elif depth == 0:
            return got
        else:
            depth -= 1
            desk.pointer[desk.stops[depth]] += 1


@njit(cache=True, nogil=True)
def _leading_on(node: int, depth: int, depth_ahead: int, length: int, graph: Graph, desk: _Desk) -> int:
    """Return the first direction, from the pointer on, that leads to the next layer, the end where none does."""
    for k in range(desk.pointer[node], graph.starts[node + 1]):
        if graph.room[graph.out[k]] > 0:
            other = graph.to[k]
            fits = desk.ahead[other] == depth if depth < depth_ahead else desk.behind[other] == length - depth
            if fits:
                return k
    return int(graph.starts[node + 1])


@njit(cache=True, nogil=True)
def _send(wanted: int, length: int, graph: Graph, desk: _Desk) -> tuple[int, int]:
    """Send along the way as much as fits; return how much, and where the way is now shut first."""
    amount, shut = wanted, 0
    for k in range(length):
        amount = min(amount, graph.room[desk.way[k]])
    for k in range(length - 1, -1, -1):
        direction = desk.way[k]
        graph.room[direction] -= amount
        graph.room[direction ^ 1] += amount
        arc = direction >> 1
        desk.move[arc] += amount if direction & 1 == 0 else -amount
        if not desk.mark[arc]:
            desk.mark[arc] = True
            desk.changed[desk.n_changed[0]] = arc
            desk.n_changed[0] += 1
        if graph.room[direction] == 0:
            shut = k
    return amount, shut
