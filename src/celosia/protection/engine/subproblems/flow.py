"""Attackers' subproblems as maximum flows in networks, and the two minimum cuts nearest to source and sink.

As in `celosia.attack.subproblems.flows`, a cell is an arc between two relations, and pushing it up means a flow back
from its head to its tail. Here cells may be hidden by a fraction, which scales their capacities; no subproblem needs
more than the level, so capacities are capped at it. The relations on the source's side of a minimum cut, and those on
the sink's side, are multipliers of a capacity cut (`celosia.protection.engine.capacity`).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import longer, plain
from celosia.kernels import inner, kernel
from celosia.tolerance import FLOW_ZERO


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


class Capacities(NamedTuple):
    """Capacities of arcs: how far attackers can move cells.

    Parameters
    ----------
    up, down
        Every attacker's bounds U and L, infinite where there is no end, ``(k, n)``.
    share
        By how much every cell is hidden, ``(n,)``.
    """

    up: Annotated[NDArray[np.float64], 2]
    down: Annotated[NDArray[np.float64], 2]
    share: NDArray[np.float64]


class FlowRequirements(NamedTuple):
    """One-sided requirements about arcs: see `engine.subproblems.requirements.SideRequirements`, ``(q,)`` each."""

    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    upward: NDArray[np.bool_]
    levels: NDArray[np.float64]

    def take(self, places: NDArray[np.int64]) -> FlowRequirements:
        """Return some of the requirements."""
        return FlowRequirements(self.columns[places], self.attackers[places], self.upward[places], self.levels[places])


class Workspace(NamedTuple):
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


class FlowProblem(NamedTuple):
    """One maximum-flow problem: source, sink, the cell that is pushed, its level, and one attacker's capacities."""

    source: int
    sink: int
    cell: int
    level: float
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    share: NDArray[np.float64]


def measure_flows(requirements: FlowRequirements, capacities: Capacities, network: Network) -> NDArray[np.float64]:
    """Return how far every required cell moves, as a part of its level."""
    got, _, _ = _send_flows(requirements, capacities, np.empty(0), network, False)  # noqa: FBT003
    return got


def find_minimum_cuts(
    requirements: FlowRequirements, capacities: Capacities, network: Network, creep: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return how far every required cell moves, as a part of its level, and the sides of its minimum cuts.

    A requirement that is met has no cut. For another two lists of nodes follow: the side of the source, and
    that of the sink; ``ends[2 q + 1]`` and ``ends[2 q + 2]`` say where in `nodes` they end. Where it does not get there
    even if every cell is hidden by at least `creep`, those are the cuts: such with few other cells.
    """
    wider = np.maximum(capacities.share, creep) if creep > 0.0 else np.empty(0)
    got, ends, nodes = _send_flows(requirements, capacities, wider, network, True)  # noqa: FBT003
    return got, ends, nodes[: ends[-1]].copy()


@kernel()
def _send_flows(
    requirements: FlowRequirements,
    capacities: Capacities,
    wider: NDArray[np.float64],
    network: Network,
    with_cuts: bool,  # noqa: FBT001
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Send a flow for every requirement; for the cuts once more with wider shares, if there are any."""
    n_requirements = len(requirements.columns)
    workspace = make_workspace(network)
    got = np.zeros(n_requirements, dtype=np.float64)
    ends = np.zeros(2 * n_requirements + 1, dtype=np.int64)
    nodes = np.empty(16 * n_requirements + len(network.starts), dtype=np.int64)
    n_out = 0
    wide = Capacities(capacities.up, capacities.down, wider)
    for requirement in range(n_requirements):
        problem = make_flow_problem(requirement, requirements, capacities, network)
        total, n_touched = send_flow(problem, 0.0, plain(0), network, workspace)
        got[requirement] = total / problem.level
        short = with_cuts and got[requirement] < 1.0 - FLOW_ZERO
        if short and len(wider) > 0:
            problem = make_flow_problem(requirement, requirements, wide, network)
            total, n_touched = send_flow(problem, total, n_touched, network, workspace)
            if total >= problem.level * (1.0 - FLOW_ZERO):
                clear(workspace, n_touched)
                problem = make_flow_problem(requirement, requirements, capacities, network)
                total, n_touched = send_flow(problem, 0.0, plain(0), network, workspace)
        for side in range(2):
            if short:
                seen = _side(side == 0, problem, network, workspace)
                if n_out + seen > len(nodes):
                    nodes = longer(nodes, 2 * len(nodes) + seen)
                for k in range(seen):
                    nodes[n_out] = workspace.queue[k]
                    n_out += 1
                    workspace.depth[workspace.queue[k]] = -1
            ends[2 * requirement + side + 1] = n_out
        clear(workspace, n_touched)
    return got, ends, nodes


def find_crossings(
    requirements: FlowRequirements,
    capacities: Capacities,
    network: Network,
    ends: NDArray[np.int64],
    nodes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the cells that cross each side of `find_minimum_cuts`, but for the required cell, and their capacities.

    What a side's relations sum to are the arcs that lead out of it, minus those that lead into it; so these capacities
    are those of a `celosia.protection.engine.capacity.Reach`, if the network holds all cells of its relations that can
    move at all. Side s of requirement q is number 2 q + s: ``starts[2 q + s]`` says where it begins in what is
    returned. The last array says which capacities are those up.
    """
    starts, cells, values, upward = _crossings(requirements, capacities, network, ends, nodes)
    n_out = starts[-1]
    return starts, cells[:n_out].copy(), values[:n_out].copy(), upward[:n_out].copy()


@kernel()
def _crossings(
    requirements: FlowRequirements,
    capacities: Capacities,
    network: Network,
    ends: NDArray[np.int64],
    nodes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return what `find_crossings` does, in arrays that may be longer."""
    inside = np.zeros(len(network.starts) - 1, dtype=np.bool_)
    starts = np.zeros(len(ends), dtype=np.int64)
    cells = np.empty(16 * len(ends), dtype=np.int64)
    values = np.empty(16 * len(ends), dtype=np.float64)
    upward = np.empty(16 * len(ends), dtype=np.bool_)
    n_out = 0
    for number in range(len(ends) - 1):
        begin, end = ends[number], ends[number + 1]
        if begin < end:
            requirement = number // 2
            cell, who = requirements.columns[requirement], requirements.attackers[requirement]
            for k in range(begin, end):
                inside[nodes[k]] = True
            # The cell leads into the source's side when it is pushed up, and it moves as all that leads out of it.
            outward = requirements.upward[requirement] == (number % 2 == 0)
            for node in _choose_smaller(nodes[begin:end], inside, network):
                home = inside[node]
                for place in range(network.starts[node], network.starts[node + 1]):
                    arc = network.arcs[place]
                    begins = network.tail[arc] == node
                    if arc != cell and inside[network.head[arc] if begins else network.tail[arc]] != home:
                        leaves = begins == home
                        up = (leaves == outward) == requirements.upward[requirement]
                        capacity = capacities.up[who, arc] if up else capacities.down[who, arc]
                        if capacity > 0.0:
                            if n_out == len(cells):
                                cells = longer(cells, 2 * n_out)
                                values = longer(values, 2 * n_out)
                                upward = longer(upward, 2 * n_out)
                            cells[n_out], values[n_out], upward[n_out] = arc, capacity, up
                            n_out += 1
            for k in range(begin, end):
                inside[nodes[k]] = False
        starts[number + 1] = n_out
    return starts, cells, values, upward


@inner()
def _choose_smaller(side: NDArray[np.int64], inside: NDArray[np.bool_], network: Network) -> NDArray[np.int64]:
    """Return a side, or the nodes outside of it where they have fewer arcs: the same cells cross both."""
    n_ends = 0
    for node in side:
        n_ends += network.starts[node + 1] - network.starts[node]
    return side if 2 * n_ends <= len(network.arcs) else np.flatnonzero(~inside)


@inner()
def make_workspace(network: Network) -> Workspace:
    """Return a workspace for a network."""
    n_arcs, n_nodes = len(network.tail), len(network.starts) - 1
    return Workspace(
        np.zeros(n_arcs, dtype=np.float64),
        np.empty(n_arcs, dtype=np.int64),
        np.zeros(n_arcs, dtype=np.bool_),
        np.full(n_nodes, -1, dtype=np.int32),
        np.empty(n_nodes, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.int64),
        np.empty(n_nodes, dtype=np.int32),
    )


@inner()
def clear(workspace: Workspace, n_touched: int) -> None:
    """Remove a flow."""
    for k in range(n_touched):
        workspace.flow[workspace.touched[k]] = 0.0
        workspace.mark[workspace.touched[k]] = False


@inner()
def make_flow_problem(
    requirement: int, requirements: FlowRequirements, capacities: Capacities, network: Network
) -> FlowProblem:
    """Return the maximum-flow problem of a requirement."""
    cell, who = requirements.columns[requirement], requirements.attackers[requirement]
    tail, head = network.tail[cell], network.head[cell]
    source, sink = (head, tail) if requirements.upward[requirement] else (tail, head)
    return FlowProblem(
        source, sink, cell, requirements.levels[requirement], capacities.up[who], capacities.down[who], capacities.share
    )


@inner()
def send_flow(
    problem: FlowProblem, total: float, n_touched: int, network: Network, workspace: Workspace
) -> tuple[float, int]:
    """Add to a flow from source to sink up to the level; return how much there is, and how many arcs it touches."""
    enough = problem.level * (1.0 - FLOW_ZERO)
    if problem.source == problem.sink:
        return problem.level, n_touched
    while total < enough:
        seen = _layers(problem, network, workspace)
        amount = 1.0 if workspace.depth[problem.sink] >= 0 else 0.0
        for k in range(seen):
            workspace.pointer[workspace.queue[k]] = network.starts[workspace.queue[k]]
        found = 0.0
        while amount > 0.0 and total < enough:
            amount, n_touched = _augment(problem, problem.level - total, network, workspace, n_touched)
            total += amount
            found += amount
        for k in range(seen):
            workspace.depth[workspace.queue[k]] = -1
        if found <= 0.0:
            break
    return total, n_touched


@inner(inline=True)
def _residual(arc: int, forward: bool, problem: FlowProblem, flow: NDArray[np.float64]) -> float:  # noqa: FBT001
    """Return how much more can go through an arc."""
    if forward:
        return float(min(problem.up[arc], problem.level) * problem.share[arc] - flow[arc])
    return float(min(problem.down[arc], problem.level) * problem.share[arc] + flow[arc])


@inner()
def _layers(problem: FlowProblem, network: Network, workspace: Workspace) -> int:
    """Set the depth of nodes, their distance from the source, up to the sink; return how many were seen."""
    depth, queue = workspace.depth, workspace.queue
    least = problem.level * FLOW_ZERO
    queue[0] = problem.source
    depth[problem.source] = 0
    seen, place = 1, 0
    while place < seen:
        node = queue[place]
        place += 1
        for k in range(network.starts[node], network.starts[node + 1]):
            arc = network.arcs[k]
            forward = network.tail[arc] == node
            other = network.head[arc] if forward else network.tail[arc]
            if depth[other] < 0 and arc != problem.cell and _residual(arc, forward, problem, workspace.flow) > least:
                depth[other] = depth[node] + 1
                queue[seen] = other
                seen += 1
                if other == problem.sink:
                    return seen
    return seen


@inner()
def _augment(
    problem: FlowProblem, wanted: float, network: Network, workspace: Workspace, n_touched: int
) -> tuple[float, int]:
    """Send flow along one way through the layers (Dinic); return how much, and how many arcs have been touched."""
    depth, pointer, path, flow = workspace.depth, workspace.pointer, workspace.path, workspace.flow
    least = problem.level * FLOW_ZERO
    node = problem.source
    length = 0
    while node != problem.sink:
        advanced = False
        while pointer[node] < network.starts[node + 1]:
            arc = network.arcs[pointer[node]]
            forward = network.tail[arc] == node
            other = network.head[arc] if forward else network.tail[arc]
            if (
                depth[other] == depth[node] + 1
                and arc != problem.cell
                and _residual(arc, forward, problem, flow) > least
            ):
                path[length] = arc
                length += 1
                node = other
                advanced = True
                break
            pointer[node] += 1
        if not advanced:
            if node == problem.source:
                return 0.0, n_touched
            length -= 1
            arc = path[length]
            node = network.tail[arc] if network.head[arc] == node else network.head[arc]
            pointer[node] += 1
    amount = wanted
    node = problem.source
    for k in range(length):
        forward = network.tail[path[k]] == node
        amount = min(amount, _residual(path[k], forward, problem, flow))
        node = network.head[path[k]] if forward else network.tail[path[k]]
    node = problem.source
    for k in range(length):
        arc = path[k]
        forward = network.tail[arc] == node
        flow[arc] += amount if forward else -amount
        node = network.head[arc] if forward else network.tail[arc]
        if not workspace.mark[arc]:
            workspace.mark[arc] = True
            workspace.touched[n_touched] = arc
            n_touched += 1
    return amount, n_touched


@inner()
def _side(from_source: bool, problem: FlowProblem, network: Network, workspace: Workspace) -> int:  # noqa: FBT001
    """Collect the nodes that the source still reaches, or those that still reach the sink; return how many."""
    depth, queue = workspace.depth, workspace.queue
    least = problem.level * FLOW_ZERO
    queue[0] = problem.source if from_source else problem.sink
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
            if depth[other] < 0 and arc != problem.cell and _residual(arc, forward, problem, workspace.flow) > least:
                depth[other] = 0
                queue[seen] = other
                seen += 1
    return seen
