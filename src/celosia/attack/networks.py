"""Attacks on networks: how far a cell can move is a maximum flow, and the flow is the proof.

A cell is an arc from one relation to another; a table that agrees with everything published is a circulation. To push
cell p up by f, f must flow back from its head to its tail through other cells (Cox 1980; Salazar 2003, section 2).
Everything is in whole numbers: the flow found is exact, and a flow that stops short comes with a cut that says why.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from celosia.attack.parts import Parts, adjacency
from celosia.attack.questions import Answers, Questions
from celosia.attack.system import System


def flow_answers(system: System, parts: Parts, questions: Questions) -> Answers:
    """Return the answers to questions about cells of networks.

    Guarantee: `reach` is the maximum over the kept rows of the component, so nobody gets further; its witness is a
    flow in whole numbers, which `verified` checks against all rows.
    """
    n_nodes = system.matrix.shape[0] + len(parts)
    starts, arcs = adjacency(parts.tail, parts.head, n_nodes)
    order = np.argsort(parts.component[questions.columns], kind="stable")
    asked = questions.take(order)
    reach, ends, columns, moves = _answer(
        asked.columns, asked.upward, asked.limits, parts.tail, parts.head, system.up, system.down, starts, arcs
    )
    furthest = np.ones(len(asked), dtype=bool)
    ones = np.ones(len(asked), dtype=np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Answers(reach[place], ones, furthest, place, ends, columns, moves)


@njit(cache=True, nogil=True)
def _answer(
    columns: NDArray[np.int64],
    upward: NDArray[np.bool_],
    limits: NDArray[np.int64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Answer the questions one by one; what a flow has changed is put back before the next."""
    n_nodes = len(starts) - 1
    move = np.zeros(len(tail), dtype=np.int64)
    changed = np.empty(len(tail), dtype=np.int64)
    mark = np.zeros(len(tail), dtype=np.bool_)
    via = np.full(n_nodes, -1, dtype=np.int32)
    queue = np.empty(n_nodes, dtype=np.int32)
    reach = np.zeros(len(columns), dtype=np.int64)
    ends = np.zeros(len(columns) + 1, dtype=np.int64)
    room = 4 * len(columns) + 16
    out_columns = np.empty(room, dtype=np.int64)
    out_moves = np.empty(room, dtype=np.int64)
    n_out = 0
    for question in range(len(columns)):
        cell = columns[question]
        own = up[cell] if upward[question] else down[cell]
        wanted = min(limits[question], own)
        source, sink = (head[cell], tail[cell]) if upward[question] else (tail[cell], head[cell])
        n_changed = 0
        got = 0
        while got < wanted and source != sink:
            seen = _search(source, sink, cell, tail, head, up, down, move, starts, arcs, via, queue)
            if via[sink] < 0:
                for k in range(seen):
                    via[queue[k]] = -1
                break
            amount = _push(source, sink, wanted - got, tail, head, up, down, move, via, changed, mark, n_changed)
            n_changed = amount[1]
            got += amount[0]
            for k in range(seen):
                via[queue[k]] = -1
        if source == sink:
            got = wanted
        reach[question] = got
        if n_out + n_changed + 1 > room:
            room = 2 * (n_out + n_changed + 1)
            out_columns = np.append(out_columns, np.empty(room - len(out_columns), dtype=np.int64))
            out_moves = np.append(out_moves, np.empty(room - len(out_moves), dtype=np.int64))
        out_columns[n_out] = cell
        out_moves[n_out] = got if upward[question] else -got
        n_out += 1
        for k in range(n_changed):
            arc = changed[k]
            if move[arc] != 0:
                out_columns[n_out] = arc
                out_moves[n_out] = move[arc]
                n_out += 1
            move[arc] = 0
            mark[arc] = False
        ends[question + 1] = n_out
    return reach, ends, out_columns[:n_out].copy(), out_moves[:n_out].copy()


@njit(cache=True, nogil=True)
def _search(
    source: int,
    sink: int,
    cell: int,
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    move: NDArray[np.int64],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    via: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Find a shortest way from source to sink through arcs with room; `via` holds the arc by which a node was reached.

    Return how many nodes were seen; they stand in `queue`. The source is marked by the cell itself.
    """
    queue[0] = source
    via[source] = cell
    seen, place = 1, 0
    while place < seen:
        node = queue[place]
        place += 1
        for k in range(starts[node], starts[node + 1]):
            arc = arcs[k]
            if arc == cell:
                continue
            if tail[arc] == node:
                other, room = head[arc], up[arc] - move[arc]
            else:
                other, room = tail[arc], down[arc] + move[arc]
            if room > 0 and via[other] < 0:
                via[other] = arc
                queue[seen] = other
                seen += 1
                if other == sink:
                    return seen
    return seen


@njit(cache=True, nogil=True)
def _push(
    source: int,
    sink: int,
    wanted: int,
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    move: NDArray[np.int64],
    via: NDArray[np.int32],
    changed: NDArray[np.int64],
    mark: NDArray[np.bool_],
    n_changed: int,
) -> tuple[int, int]:
    """Send as much as fits along the way that was found; return how much, and how many arcs have changed so far."""
    amount = wanted
    node = sink
    while node != source:
        arc = via[node]
        if head[arc] == node:
            amount = min(amount, up[arc] - move[arc])
            node = tail[arc]
        else:
            amount = min(amount, down[arc] + move[arc])
            node = head[arc]
    node = sink
    while node != source:
        arc = via[node]
        if not mark[arc]:
            mark[arc] = True
            changed[n_changed] = arc
            n_changed += 1
        if head[arc] == node:
            move[arc] += amount
            node = tail[arc]
        else:
            move[arc] -= amount
            node = head[arc]
    return amount, n_changed
