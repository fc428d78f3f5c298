"""Maximum flows in networks whose cells are partly hidden, and the two minimum cuts nearest to their ends.

As in `celosia.attack.subproblems.network`, a cell is an arc between two relations, and pushing it up means a flow back
from its head to its tail. Here cells may be hidden by a fraction, which scales their rooms; nobody needs more room than
the level, so rooms are capped at it. The relations on the source's side of a minimum cut, and those on the sink's side,
are multipliers of a capacity cut (`celosia.protection.engine.capacity`).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import longer, plain
from celosia.kernels import inner, kernel

NOTHING = 1e-11
"""Less than this part of a level is no room."""


class Network(NamedTuple):
    """Cells as arcs between relations.

    Parameters
    ----------
    tail, head
        The ends of every arc, -1 for cells that are none, ``(n,)``.
    starts, arcs
        The arcs at every node, compressed by rows.
    """

    tail: NDArray[np.int32]
    head: NDArray[np.int32]
    starts: NDArray[np.int64]
    arcs: NDArray[np.int32]


class Rooms(NamedTuple):
    """How far cells can move.

    Parameters
    ----------
    up, down
        Every attacker's rooms, infinite where there is no end, ``(k, n)``.
    share
        By how much every cell is hidden, ``(n,)``.
    """

    up: Annotated[NDArray[np.float64], 2]
    down: Annotated[NDArray[np.float64], 2]
    share: NDArray[np.float64]


class Asked(NamedTuple):
    """One-sided requirements about arcs: see `engine.subproblems.requirements.SideRequirements`, ``(q,)`` each."""

    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    upward: NDArray[np.bool_]
    levels: NDArray[np.float64]


class Desk(NamedTuple):
    """What the search for a flow writes on; clean between two searches.

    `flow` is the flow through every arc, `touched` the arcs that have had some, `mark` says so; `depth` is a node's
    distance from the source, -1 where none is known, `queue` the nodes that have one; a node's `pointer` stands at its
    first arc that may still lead on, and `path` holds the arcs of one way.
    """

    flow: NDArray[np.float64]
    touched: NDArray[np.int64]
    mark: NDArray[np.bool_]
    depth: NDArray[np.int32]
    queue: NDArray[np.int32]
    pointer: NDArray[np.int64]
    path: NDArray[np.int32]


class Push(NamedTuple):
    """One question at work: from where to where, of which cell, how far, and one attacker's rooms."""

    source: int
    sink: int
    cell: int
    level: float
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    share: NDArray[np.float64]


def furthest(asked: Asked, rooms: Rooms, network: Network) -> NDArray[np.float64]:
    """Return how far every question gets, as a part of its level."""
    got, _, _ = _pushes(asked, rooms, np.empty(0), network, False)  # noqa: FBT003
    return got


def minimum_cuts(
    asked: Asked, rooms: Rooms, network: Network, creep: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return how far every question gets, as a part of its level, and the sides of its minimum cuts.

    A question that reaches its level has no cut. For another two lists of nodes follow: the side of the source, and
    that of the sink; ``ends[2 q + 1]`` and ``ends[2 q + 2]`` say where in `nodes` they end. Where it does not get there
    even if every cell is hidden by at least `creep`, those are the cuts: such with few other cells.
    """
    wider = np.maximum(rooms.share, creep) if creep > 0.0 else np.empty(0)
    got, ends, nodes = _pushes(asked, rooms, wider, network, True)  # noqa: FBT003
    return got, ends, nodes[: ends[-1]].copy()


@kernel()
def _pushes(
    asked: Asked,
    rooms: Rooms,
    wider: NDArray[np.float64],
    network: Network,
    sides: bool,  # noqa: FBT001
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Send a flow for every question; with `sides` once more with wider shares, if there are any, for the cuts."""
    n_questions = len(asked.columns)
    desk = desk_of(network)
    got = np.zeros(n_questions, dtype=np.float64)
    ends = np.zeros(2 * n_questions + 1, dtype=np.int64)
    nodes = np.empty(16 * n_questions + len(network.starts), dtype=np.int64)
    n_out = 0
    wide = Rooms(rooms.up, rooms.down, wider)
    for question in range(n_questions):
        push = push_of(question, asked, rooms, network)
        total, n_touched = pushed(push, 0.0, plain(0), network, desk)
        got[question] = total / push.level
        short = sides and got[question] < 1.0 - NOTHING
        if short and len(wider) > 0:
            push = push_of(question, asked, wide, network)
            total, n_touched = pushed(push, total, n_touched, network, desk)
            if total >= push.level * (1.0 - NOTHING):
                clear(desk, n_touched)
                push = push_of(question, asked, rooms, network)
                total, n_touched = pushed(push, 0.0, plain(0), network, desk)
        for side in range(2):
            if short:
                seen = _side(side == 0, push, network, desk)
                if n_out + seen > len(nodes):
                    nodes = longer(nodes, 2 * len(nodes) + seen)
                for k in range(seen):
                    nodes[n_out] = desk.queue[k]
                    n_out += 1
                    desk.depth[desk.queue[k]] = -1
            ends[2 * question + side + 1] = n_out
        clear(desk, n_touched)
    return got, ends, nodes


def crossings(
    asked: Asked, rooms: Rooms, network: Network, ends: NDArray[np.int64], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the cells that cross each side of `minimum_cuts`, but for the cell in question, and their rooms.

    What a side's relations sum to are the arcs that lead out of it, minus those that lead into it; so these rooms are
    those of a `celosia.protection.engine.capacity.Reach`, if the network holds all cells of its relations that can
    move at all. Side s of question q is number 2 q + s: ``starts[2 q + s]`` says where it begins in what is returned.
    The last array says which rooms are those up.
    """
    starts, cells, values, upward = _crossings(asked, rooms, network, ends, nodes)
    n_out = starts[-1]
    return starts, cells[:n_out].copy(), values[:n_out].copy(), upward[:n_out].copy()


@kernel()
def _crossings(
    asked: Asked, rooms: Rooms, network: Network, ends: NDArray[np.int64], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return what `crossings` does, with room to spare."""
    inside = np.zeros(len(network.starts) - 1, dtype=np.bool_)
    starts = np.zeros(len(ends), dtype=np.int64)
    cells = np.empty(16 * len(ends), dtype=np.int64)
    values = np.empty(16 * len(ends), dtype=np.float64)
    upward = np.empty(16 * len(ends), dtype=np.bool_)
    n_out = 0
    for number in range(len(ends) - 1):
        begin, end = ends[number], ends[number + 1]
        if begin < end:
            question = number // 2
            cell, who = asked.columns[question], asked.attackers[question]
            for k in range(begin, end):
                inside[nodes[k]] = True
            # The cell leads into the source's side when it is pushed up, and it moves as all that leads out of it.
            outward = asked.upward[question] == (number % 2 == 0)
            for k in range(begin, end):
                node = nodes[k]
                for place in range(network.starts[node], network.starts[node + 1]):
                    arc = network.arcs[place]
                    leaves = network.tail[arc] == node
                    if arc != cell and not inside[network.head[arc] if leaves else network.tail[arc]]:
                        up = (leaves == outward) == asked.upward[question]
                        room = rooms.up[who, arc] if up else rooms.down[who, arc]
                        if room > 0.0:
                            if n_out == len(cells):
                                cells = longer(cells, 2 * n_out)
                                values = longer(values, 2 * n_out)
                                upward = longer(upward, 2 * n_out)
                            cells[n_out], values[n_out], upward[n_out] = arc, room, up
                            n_out += 1
            for k in range(begin, end):
                inside[nodes[k]] = False
        starts[number + 1] = n_out
    return starts, cells, values, upward


@inner()
def desk_of(network: Network) -> Desk:
    """Return a desk for a network."""
    n_arcs, n_nodes = len(network.tail), len(network.starts) - 1
    return Desk(
        np.zeros(n_arcs, dtype=np.float64),
        np.empty(n_arcs, dtype=np.int64),
        np.zeros(n_arcs, dtype=np.bool_),
        np.full(n_nodes, -1, dtype=np.int32),
        np.empty(n_nodes, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.int64),
        np.empty(n_nodes, dtype=np.int32),
    )


@inner()
def clear(desk: Desk, n_touched: int) -> None:
    """Take a flow back."""
    for k in range(n_touched):
        desk.flow[desk.touched[k]] = 0.0
        desk.mark[desk.touched[k]] = False


@inner()
def push_of(question: int, asked: Asked, rooms: Rooms, network: Network) -> Push:
    """Return a question at work."""
    cell, who = asked.columns[question], asked.attackers[question]
    tail, head = network.tail[cell], network.head[cell]
    source, sink = (head, tail) if asked.upward[question] else (tail, head)
    return Push(source, sink, cell, asked.levels[question], rooms.up[who], rooms.down[who], rooms.share)


@inner()
def pushed(push: Push, total: float, n_touched: int, network: Network, desk: Desk) -> tuple[float, int]:
    """Add to a flow from source to sink up to the level; return how much there is, and how many arcs it touches."""
    enough = push.level * (1.0 - NOTHING)
    if push.source == push.sink:
        return push.level, n_touched
    while total < enough:
        seen = _layers(push, network, desk)
        amount = 1.0 if desk.depth[push.sink] >= 0 else 0.0
        for k in range(seen):
            desk.pointer[desk.queue[k]] = network.starts[desk.queue[k]]
        found = 0.0
        while amount > 0.0 and total < enough:
            amount, n_touched = _augment(push, push.level - total, network, desk, n_touched)
            total += amount
            found += amount
        for k in range(seen):
            desk.depth[desk.queue[k]] = -1
        if found <= 0.0:
            break
    return total, n_touched


@inner(inline=True)
def _room(arc: int, forward: bool, push: Push, flow: NDArray[np.float64]) -> float:  # noqa: FBT001
    """Return how much more can go through an arc."""
    if forward:
        return float(min(push.up[arc], push.level) * push.share[arc] - flow[arc])
    return float(min(push.down[arc], push.level) * push.share[arc] + flow[arc])


@inner()
def _layers(push: Push, network: Network, desk: Desk) -> int:
    """Set the depth of nodes, their distance from the source, up to the sink; return how many were seen."""
    depth, queue = desk.depth, desk.queue
    least = push.level * NOTHING
    queue[0] = push.source
    depth[push.source] = 0
    seen, place = 1, 0
    while place < seen:
        node = queue[place]
        place += 1
        for k in range(network.starts[node], network.starts[node + 1]):
            arc = network.arcs[k]
            forward = network.tail[arc] == node
            other = network.head[arc] if forward else network.tail[arc]
            if depth[other] < 0 and arc != push.cell and _room(arc, forward, push, desk.flow) > least:
                depth[other] = depth[node] + 1
                queue[seen] = other
                seen += 1
                if other == push.sink:
                    return seen
    return seen


@inner()
def _augment(push: Push, wanted: float, network: Network, desk: Desk, n_touched: int) -> tuple[float, int]:
    """Send flow along one way through the layers (Dinic); return how much, and how many arcs have been touched."""
    depth, pointer, path, flow = desk.depth, desk.pointer, desk.path, desk.flow
    least = push.level * NOTHING
    node = push.source
    length = 0
    while node != push.sink:
        advanced = False
        while pointer[node] < network.starts[node + 1]:
            arc = network.arcs[pointer[node]]
            forward = network.tail[arc] == node
            other = network.head[arc] if forward else network.tail[arc]
            if depth[other] == depth[node] + 1 and arc != push.cell and _room(arc, forward, push, flow) > least:
                path[length] = arc
                length += 1
                node = other
                advanced = True
                break
            pointer[node] += 1
        if not advanced:
            if node == push.source:
                return 0.0, n_touched
            length -= 1
            arc = path[length]
            node = network.tail[arc] if network.head[arc] == node else network.head[arc]
            pointer[node] += 1
    amount = wanted
    node = push.source
    for k in range(length):
        forward = network.tail[path[k]] == node
        amount = min(amount, _room(path[k], forward, push, flow))
        node = network.head[path[k]] if forward else network.tail[path[k]]
    node = push.source
    for k in range(length):
        arc = path[k]
        forward = network.tail[arc] == node
        flow[arc] += amount if forward else -amount
        node = network.head[arc] if forward else network.tail[arc]
        if not desk.mark[arc]:
            desk.mark[arc] = True
            desk.touched[n_touched] = arc
            n_touched += 1
    return amount, n_touched


@inner()
def _side(from_source: bool, push: Push, network: Network, desk: Desk) -> int:  # noqa: FBT001
    """Collect the nodes that the source still reaches, or those that still reach the sink; return how many."""
    depth, queue = desk.depth, desk.queue
    least = push.level * NOTHING
    queue[0] = push.source if from_source else push.sink
    depth[queue[0]] = 0
    seen, place = 1, 0
    while place < seen:
        node = queue[place]
        place += 1
        for k in range(network.starts[node], network.starts[node + 1]):
            arc = network.arcs[k]
            leaves = network.tail[arc] == node
            other = network.head[arc] if leaves else network.tail[arc]
            forward = leaves if from_source else not leaves
            if depth[other] < 0 and arc != push.cell and _room(arc, forward, push, desk.flow) > least:
                depth[other] = 0
                queue[seen] = other
                seen += 1
    return seen
