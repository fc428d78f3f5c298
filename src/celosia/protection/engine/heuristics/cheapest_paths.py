"""Patterns of networks by cheapest paths: for one requirement after another the cells that lead its flow at least cost.

In a network a requirement is met by a flow from one end of its cell to the other (`engine.subproblems.flow`). Hidden
cells lead it at next to no cost, others at their price, more where they lead little of what is left to send: the price
is paid once, so a cell that leads half of it costs twice as much for each unit (slope scaling). The flow is found by
cheapest augmenting paths, and its cells are hidden from then on. That takes a path or two for each requirement, where
reverse delete from all cells finds hundreds of flows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import longer
from celosia.kernels import inner, kernel
from celosia.protection.engine.parameters import PARAMETERS, HeuristicParameters
from celosia.protection.engine.subproblems.flow import (
    Capacities,
    FlowProblem,
    FlowRequirements,
    Network,
    make_flow_problem,
)
from celosia.tolerance import FLOW_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.subproblems.requirements import SideRequirements


def construct_by_paths(
    separator: Separator,
    sides: SideRequirements,
    hidden: NDArray[np.bool_],
    usable: NDArray[np.bool_],
    prices: NDArray[np.float64],
    parameters: HeuristicParameters = PARAMETERS.heuristics,
) -> NDArray[np.bool_] | None:
    """Return a pattern of a network that hides more and meets requirements; None where a path is missing.

    Parameters
    ----------
    separator
        Knows the network and the attackers' bounds.
    sides
        The requirements, none of them sliding, in the order in which they are met.
    hidden
        Columns that are hidden already, ``(n,)``.
    usable
        Columns that may be hidden, ``(n,)``.
    prices
        What hiding each column seems to cost, ``(n,)``.
    parameters
        What hidden cells cost.
    """
    builder, network = separator.builder, separator.subproblems.networks[0].network
    if not len(sides):
        return hidden
    priced = np.maximum(prices, parameters.least_price)
    near = parameters.price_of_hidden * float(np.median(priced))
    pattern = hidden.copy()
    requirements = FlowRequirements(sides.columns, sides.attackers, sides.upward, sides.levels)
    capacities = Capacities(builder.up, builder.down, (usable | hidden).astype(np.float64))
    if bool((network.tail[sides.columns] < 0).any()):
        return None
    most = parameters.most_paths
    return pattern if _construct(requirements, capacities, network, priced, near, most, pattern) else None


@kernel()
def _construct(
    requirements: FlowRequirements,
    capacities: Capacities,
    network: Network,
    prices: NDArray[np.float64],
    near: float,
    most: int,
    pattern: NDArray[np.bool_],
) -> bool:
    """Hide the cells that lead the flow of every requirement; return whether each has one of at most so many paths."""
    n_nodes = len(network.starts) - 1
    flow, touched = np.zeros(len(network.tail)), np.empty(len(network.tail), dtype=np.int64)
    mark = np.zeros(len(network.tail), dtype=np.bool_)
    distance, arc_to = np.full(n_nodes, np.inf), np.full(n_nodes, -1, dtype=np.int64)
    for requirement in range(len(requirements.columns)):
        problem = make_flow_problem(requirement, requirements, capacities, network)
        if problem.source == problem.sink:
            continue
        total, n_touched, n_paths = 0.0, 0, 0
        enough = problem.level * (1.0 - FLOW_ZERO)
        while total < enough and n_paths < most:
            reached = _find_cheapest_path(problem, total, flow, prices, near, pattern, network, distance, arc_to)
            if not reached:
                break
            amount, n_touched = _send_along_path(problem, total, flow, touched, mark, n_touched, network, arc_to)
            total += amount
            n_paths += 1
        least = problem.level * FLOW_ZERO
        for k in range(n_touched):
            if abs(flow[touched[k]]) > least:
                pattern[touched[k]] = True
            flow[touched[k]], mark[touched[k]] = 0.0, False
        if total < enough:
            return False
    return True


@inner()
def _find_cheapest_path(  # noqa: C901  (one loop, compiled)
    problem: FlowProblem,
    total: float,
    flow: NDArray[np.float64],
    prices: NDArray[np.float64],
    near: float,
    pattern: NDArray[np.bool_],
    network: Network,
    distance: NDArray[np.float64],
    arc_to: NDArray[np.int64],
) -> bool:
    """Find the cheapest path with room left from source to sink, by the arc that leads to each of its nodes (Dijkstra).

    The arc is kept as ``2 * arc`` where it is passed from tail to head, ``2 * arc + 1`` where it is passed backwards.
    """
    least, wanted = problem.level * FLOW_ZERO, problem.level - total
    keys, nodes = np.empty(64), np.empty(64, dtype=np.int64)
    seen, n_seen = np.empty(len(distance), dtype=np.int64), 1
    keys[0], nodes[0], n_heap = 0.0, problem.source, 1
    seen[0] = problem.source
    distance[problem.source] = 0.0
    arc_to[problem.sink] = -1
    found = False
    while n_heap > 0 and not found:
        key, node = keys[0], nodes[0]
        n_heap -= 1
        _sink_last(keys, nodes, n_heap)
        if key > distance[node]:
            continue
        if node == problem.sink:
            found = True
            continue
        for place in range(network.starts[node], network.starts[node + 1]):
            arc = network.arcs[place]
            if arc == problem.cell:
                continue
            forward = network.tail[arc] == node
            other = network.head[arc] if forward else network.tail[arc]
            room = _measure_room(problem, arc, forward, flow)
            if room <= least:
                continue
            further = key + near
            if not pattern[arc] and abs(flow[arc]) <= least:
                further += prices[arc] * max(1.0, wanted / room)
            if further < distance[other]:
                if distance[other] == np.inf:
                    seen[n_seen] = other
                    n_seen += 1
                distance[other] = further
                arc_to[other] = 2 * arc + (0 if forward else 1)
                if n_heap == len(keys):
                    keys, nodes = longer(keys, 2 * n_heap), longer(nodes, 2 * n_heap)
                _float_up(keys, nodes, n_heap, further, other)
                n_heap += 1
    for k in range(n_seen):
        distance[seen[k]] = np.inf
    return found


@inner(inline=True)
def _measure_room(problem: FlowProblem, arc: int, forward: bool, flow: NDArray[np.float64]) -> float:  # noqa: FBT001
    """Return how much more can go through an arc."""
    if forward:
        return float(min(problem.up[arc], problem.level) * problem.share[arc] - flow[arc])
    return float(min(problem.down[arc], problem.level) * problem.share[arc] + flow[arc])


@inner()
def _send_along_path(
    problem: FlowProblem,
    total: float,
    flow: NDArray[np.float64],
    touched: NDArray[np.int64],
    mark: NDArray[np.bool_],
    n_touched: int,
    network: Network,
    arc_to: NDArray[np.int64],
) -> tuple[float, int]:
    """Send as much as the path that was found leads; return how much, and how many arcs have been touched."""
    amount = problem.level - total
    node = problem.sink
    while node != problem.source:
        arc, forward = arc_to[node] // 2, arc_to[node] % 2 == 0
        amount = min(amount, _measure_room(problem, arc, forward, flow))
        node = network.tail[arc] if forward else network.head[arc]
    node = problem.sink
    while node != problem.source:
        arc, forward = arc_to[node] // 2, arc_to[node] % 2 == 0
        if not mark[arc]:
            touched[n_touched], mark[arc] = arc, True
            n_touched += 1
        flow[arc] += amount if forward else -amount
        node = network.tail[arc] if forward else network.head[arc]
    return amount, n_touched


@inner()
def _float_up(keys: NDArray[np.float64], nodes: NDArray[np.int64], place: int, key: float, node: int) -> None:
    """Put a node on a heap, of which the least key comes first."""
    while place > 0 and keys[(place - 1) // 2] > key:
        keys[place], nodes[place] = keys[(place - 1) // 2], nodes[(place - 1) // 2]
        place = (place - 1) // 2
    keys[place], nodes[place] = key, node


@inner()
def _sink_last(keys: NDArray[np.float64], nodes: NDArray[np.int64], n: int) -> None:
    """Take the first node off a heap: the last one, at place n, moves to where it belongs."""
    key, node = keys[n], nodes[n]
    place = 0
    while 2 * place + 1 < n:
        child = 2 * place + 1
        if child + 1 < n and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place], nodes[place] = keys[child], nodes[child]
        place = child
    keys[place], nodes[place] = key, node
