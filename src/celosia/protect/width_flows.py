"""Attacks on widths in networks: maximum flows, and the two minimum cuts nearest to their ends.

A cell is an arc between two relations (`celosia.attack.parts`) that carries up to its width in either direction. Moving
a cell up by t sends t from its head back to its tail through other arcs, which is its certificate; where that falls
short of the level, the widths of the arcs that leave one side of a minimum cut sum to less than the level.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_NOTHING = 1e-11
"""Less room than this, in mean levels, is none."""


@njit(cache=True, nogil=True)
def pushed(
    cell: int,
    level: float,
    width: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
) -> tuple[float, NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return how far a cell moves, up to its level, the move, and the arcs of two minimum cuts if it falls short."""
    n_nodes = len(starts) - 1
    flow = np.zeros(len(tail))
    depth = np.full(n_nodes, -1, dtype=np.int32)
    queue = np.empty(n_nodes, dtype=np.int32)
    pointer = np.empty(n_nodes, dtype=np.int64)
    path = np.empty(n_nodes + 1, dtype=np.int32)
    source, sink = head[cell], tail[cell]
    total = level if source == sink else 0.0
    while total < level - _NOTHING:
        seen = _reached(source, sink, 1, cell, width, tail, head, flow, starts, arcs, depth, queue)
        if depth[sink] < 0:
            for k in range(seen):
                depth[queue[k]] = -1
            break
        pointer[:] = starts[:-1]
        amount = 1.0
        while amount > 0.0 and total < level - _NOTHING:
            amount = _sent(
                *(source, sink, cell, level - total, width, tail, head, flow, starts, arcs, depth, pointer, path)
            )
            total += amount
        for k in range(seen):
            depth[queue[k]] = -1
    none = np.empty(0, dtype=np.int64)
    near, far = none, none
    if total < level - _NOTHING:
        _reached(source, -1, 1, cell, width, tail, head, flow, starts, arcs, depth, queue)
        near = _crossing(depth, cell, tail, head)
        depth[:] = -1
        _reached(sink, -1, -1, cell, width, tail, head, flow, starts, arcs, depth, queue)
        far = _crossing(depth, cell, tail, head)
    else:
        total = level
    flow[cell] = total
    return total, flow, near, far


@njit(cache=True, nogil=True)
def _reached(
    start: int,
    end: int,
    sense: int,
    cell: int,
    width: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    flow: NDArray[np.float64],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    depth: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Set the depth of nodes that flow from the start can still reach, or reach it (-1); return how many there are."""
    queue[0] = start
    depth[start] = 0
    seen, place = 1, 0
    while place < seen:
        node = queue[place]
        place += 1
        if node == end:
            break
        for k in range(starts[node], starts[node + 1]):
            arc = arcs[k]
            if arc == cell:
                continue
            along = 1.0 if tail[arc] == node else -1.0
            other = head[arc] if along > 0 else tail[arc]
            if depth[other] < 0 and width[arc] - sense * along * flow[arc] > _NOTHING:
                depth[other] = depth[node] + 1
                queue[seen] = other
                seen += 1
    return seen


@njit(cache=True, nogil=True)
def _sent(
    source: int,
    sink: int,
    cell: int,
    wanted: float,
    width: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    flow: NDArray[np.float64],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    depth: NDArray[np.int32],
    pointer: NDArray[np.int64],
    path: NDArray[np.int32],
) -> float:
    """Send flow along one way through the layers (Dinic); return how much."""
    node, length = source, 0
    while node != sink:
        advanced = False
        while pointer[node] < starts[node + 1]:
            arc = arcs[pointer[node]]
            along = 1.0 if tail[arc] == node else -1.0
            other = head[arc] if along > 0 else tail[arc]
            if arc != cell and depth[other] == depth[node] + 1 and width[arc] - along * flow[arc] > _NOTHING:
                path[length] = arc
                length += 1
                node = other
                advanced = True
                break
            pointer[node] += 1
        if not advanced:
            if node == source:
                return 0.0
            length -= 1
            arc = path[length]
            node = tail[arc] if head[arc] == node else head[arc]
            pointer[node] += 1
    amount, node = wanted, source
    for k in range(length):
        along = 1.0 if tail[path[k]] == node else -1.0
        amount = min(amount, width[path[k]] - along * flow[path[k]])
        node = head[path[k]] if along > 0 else tail[path[k]]
    node = source
    for k in range(length):
        along = 1.0 if tail[path[k]] == node else -1.0
        flow[path[k]] += along * amount
        node = head[path[k]] if along > 0 else tail[path[k]]
    return amount


@njit(cache=True, nogil=True)
def _crossing(
    depth: NDArray[np.int32], cell: int, tail: NDArray[np.int32], head: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the arcs other than the cell between nodes that were reached and nodes that were not."""
    out = np.empty(len(tail), dtype=np.int64)
    n = 0
    for arc in range(len(tail)):
        if arc != cell and tail[arc] >= 0 and (depth[tail[arc]] >= 0) != (depth[head[arc]] >= 0):
            out[n] = arc
            n += 1
    return out[:n].copy()
