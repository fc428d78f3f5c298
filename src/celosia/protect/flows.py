"""Maximum flows in networks whose cells are partly hidden, and the two minimum cuts nearest to their ends.

As in `celosia.attack.networks`, a cell is an arc between two relations, and pushing it up means a flow back from its
head to its tail. Here cells may be hidden by a fraction, which scales their rooms; nobody needs more room than the
level, so rooms are capped at it. The relations on the source's side of a minimum cut, and those on the sink's side, are
multipliers of a capacity cut (`celosia.protect.cuts`).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

NOTHING = 1e-11
"""Less than this part of a level is no room."""

Workspace = tuple[
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.bool_],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
]
"""See `workspace`."""


@njit(cache=True, nogil=True)
def minimum_cuts(
    columns: NDArray[np.int64],
    attackers: NDArray[np.int64],
    upward: NDArray[np.bool_],
    levels: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return how far every question gets, as a part of its level, and the sides of its minimum cuts.

    A question that reaches its level has no cut. Otherwise two lists of nodes follow: the side of the source, and that
    of the sink; ``ends[2 q + 1]`` and ``ends[2 q + 2]`` say where in `nodes` they end.
    """
    work = workspace(len(tail), len(starts) - 1)
    flow, depth, queue = work[0], work[3], work[4]
    got = np.zeros(len(columns))
    ends = np.zeros(2 * len(columns) + 1, dtype=np.int64)
    nodes = np.empty(16 * len(columns) + len(starts), dtype=np.int64)
    n_out = 0
    for question in range(len(columns)):
        cell, level, who = columns[question], levels[question], attackers[question]
        source, sink = (head[cell], tail[cell]) if upward[question] else (tail[cell], head[cell])
        got[question], n_touched = pushed(
            source, sink, cell, level, up[who], down[who], share, tail, head, starts, arcs, work
        )
        for side in range(2):
            if got[question] < 1.0 - NOTHING:
                start = source if side == 0 else sink
                seen = _side(
                    start,
                    side == 0,
                    cell,
                    level,
                    up[who],
                    down[who],
                    share,
                    tail,
                    head,
                    flow,
                    starts,
                    arcs,
                    depth,
                    queue,
                )
                if n_out + seen > len(nodes):
                    nodes = np.append(nodes, np.empty(len(nodes) + seen, dtype=np.int64))
                for k in range(seen):
                    nodes[n_out] = queue[k]
                    n_out += 1
                    depth[queue[k]] = -1
            ends[2 * question + side + 1] = n_out
        clear(work, n_touched)
    return got, ends, nodes[:n_out].copy()


@njit(cache=True, nogil=True)
def workspace(n_arcs: int, n_nodes: int) -> Workspace:
    """Return the arrays that a flow needs: flows, touched arcs and their marks; depths, queue, pointers and path."""
    return (
        np.zeros(n_arcs),
        np.empty(n_arcs, dtype=np.int64),
        np.zeros(n_arcs, dtype=np.bool_),
        np.full(n_nodes, -1, dtype=np.int32),
        np.empty(n_nodes, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.int64),
        np.empty(n_nodes, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def clear(work: Workspace, n_touched: int) -> None:
    """Take a flow back."""
    flow, touched, mark = work[0], work[1], work[2]
    for k in range(n_touched):
        flow[touched[k]] = 0.0
        mark[touched[k]] = False


@njit(cache=True, nogil=True)
def pushed(
    source: int,
    sink: int,
    cell: int,
    level: float,
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    work: Workspace,
) -> tuple[float, int]:
    """Send a flow of up to one level from source to sink; return how much, and how many arcs it touched."""
    flow, touched, mark, depth, queue, pointer, path = work
    total = 1.0 if source == sink else 0.0
    n_touched = 0
    while total < 1.0 - NOTHING:
        seen = _layers(source, sink, cell, level, up, down, share, tail, head, flow, starts, arcs, depth, queue)
        amount = 1.0 if depth[sink] >= 0 else 0.0
        for k in range(seen):
            pointer[queue[k]] = starts[queue[k]]
        found = 0.0
        while amount > 0.0 and total < 1.0 - NOTHING:
            amount, n_touched = _augment(
                *(source, sink, cell, level, 1.0 - total, up, down, share, tail, head, flow, starts, arcs),
                *(depth, pointer, path, touched, mark, n_touched),
            )
            total += amount
            found += amount
        for k in range(seen):
            depth[queue[k]] = -1
        if found <= 0.0:
            break
    return total, n_touched


@njit(cache=True, nogil=True, inline="always")
def _room(
    arc: int,
    forward: bool,  # noqa: FBT001
    level: float,
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    flow: NDArray[np.float64],
) -> float:
    """Return how much more can go through an arc, as a part of the level."""
    if forward:
        return float(min(up[arc] / level, 1.0) * share[arc] - flow[arc])
    return float(min(down[arc] / level, 1.0) * share[arc] + flow[arc])


@njit(cache=True, nogil=True)
def _layers(
    source: int,
    sink: int,
    cell: int,
    level: float,
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    flow: NDArray[np.float64],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    depth: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Set the depth of nodes, their distance from the source, up to the sink; return how many were seen."""
    queue[0] = source
    depth[source] = 0
    seen, place = 1, 0
    while place < seen:
        node = queue[place]
        place += 1
        if node == sink:
            break
        for k in range(starts[node], starts[node + 1]):
            arc = arcs[k]
            if arc == cell:
                continue
            forward = tail[arc] == node
            other = head[arc] if forward else tail[arc]
            if depth[other] < 0 and _room(arc, forward, level, up, down, share, flow) > NOTHING:
                depth[other] = depth[node] + 1
                queue[seen] = other
                seen += 1
    return seen


@njit(cache=True, nogil=True)
def _augment(
    source: int,
    sink: int,
    cell: int,
    level: float,
    wanted: float,
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    flow: NDArray[np.float64],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    depth: NDArray[np.int32],
    pointer: NDArray[np.int64],
    path: NDArray[np.int32],
    touched: NDArray[np.int64],
    mark: NDArray[np.bool_],
    n_touched: int,
) -> tuple[float, int]:
    """Send flow along one way through the layers (Dinic); return how much, and how many arcs have been touched."""
    node = source
    length = 0
    while node != sink:
        advanced = False
        while pointer[node] < starts[node + 1]:
            arc = arcs[pointer[node]]
            forward = tail[arc] == node
            other = head[arc] if forward else tail[arc]
            if (
                arc != cell
                and depth[other] == depth[node] + 1
                and _room(arc, forward, level, up, down, share, flow) > NOTHING
            ):
                path[length] = arc
                length += 1
                node = other
                advanced = True
                break
            pointer[node] += 1
        if not advanced:
            if node == source:
                return 0.0, n_touched
            length -= 1
            arc = path[length]
            node = tail[arc] if head[arc] == node else head[arc]
            pointer[node] += 1
    amount = wanted
    node = source
    for k in range(length):
        forward = tail[path[k]] == node
        amount = min(amount, _room(path[k], forward, level, up, down, share, flow))
        node = head[path[k]] if forward else tail[path[k]]
    node = source
    for k in range(length):
        arc = path[k]
        forward = tail[arc] == node
        flow[arc] += amount if forward else -amount
        node = head[arc] if forward else tail[arc]
        if not mark[arc]:
            mark[arc] = True
            touched[n_touched] = arc
            n_touched += 1
    return amount, n_touched


@njit(cache=True, nogil=True)
def _side(
    start: int,
    from_source: bool,  # noqa: FBT001
    cell: int,
    level: float,
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    flow: NDArray[np.float64],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    depth: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Collect the nodes that the source still reaches, or those that still reach the sink; return how many."""
    queue[0] = start
    depth[start] = 0
    seen, place = 1, 0
    while place < seen:
        node = queue[place]
        place += 1
        for k in range(starts[node], starts[node + 1]):
            arc = arcs[k]
            if arc == cell:
                continue
            leaves = tail[arc] == node
            other = head[arc] if leaves else tail[arc]
            forward = leaves if from_source else not leaves
            if depth[other] < 0 and _room(arc, forward, level, up, down, share, flow) > NOTHING:
                depth[other] = 0
                queue[seen] = other
                seen += 1
    return seen
