"""Exchanges of a generator for a group of hidden classes, accepted as simulated annealing does.

Without one generator the pattern hides more, and has one more move. Then a group of classes that move in proportion can
be shown, if every target still reaches its level: a group that costs more than what was added makes a cheaper pattern.
Each exchange takes a fraction of a millisecond.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.engine.heuristics.joint.annealing.reach import RequiredLevels, meet_levels
from celosia.protection.engine.heuristics.joint.annealing.tableau import mark_hidden, pivot, price_generators
from celosia.tolerance import KERNEL_ZERO

_Table = Annotated[NDArray[np.float64], 2]
_GROUPS = 3
"""Groups that are tried for one generator, the dearest first."""


class ExchangeEffort(NamedTuple):
    """What steers the exchanges.

    Parameters
    ----------
    temperature
        Mean cost by which a pattern may get dearer, in every exchange, ``(m,)``.
    chances
        Random numbers, 0 to 1, ``(m, 2)``.
    weights
        Two random weights of every column, by which proportional rows are told, ``(d, 2)``.
    most_added
        A generator without which more than this part of the cost would be hidden in addition is not tried.
    moves
        Moves of the pattern that there should be: generators are left out until there are as many.
    most_accepted
        Exchanges after which to return: rounding errors add up.
    """

    temperature: NDArray[np.float64]
    chances: Annotated[NDArray[np.float64], 2]
    weights: Annotated[NDArray[np.float64], 2]
    most_added: float
    moves: int
    most_accepted: int


@kernel()
def exchange_generators(
    table: _Table,
    generators: NDArray[np.int64],
    cost: NDArray[np.float64],
    levels: RequiredLevels,
    effort: ExchangeEffort,
    refusals: NDArray[np.int64],
    best: NDArray[np.bool_],
    last: NDArray[np.bool_],
) -> tuple[float, int]:
    """Exchange generators; return what the cheapest pattern costs, and how many exchanges were tried.

    Parameters
    ----------
    table, generators
        The tableau of a pattern (`tableau.choose_generators`), which is changed.
    cost
        What hiding every class costs, ``(n,)``.
    levels, effort
        What must move, and how far to go.
    refusals
        How often every target made a group stay hidden, counted on, ``(t,)``.
    best, last
        The cheapest and the last pattern, which are filled in, ``(n,)`` each.
    """
    n, d = table.shape
    sensitive = np.zeros(n, dtype=np.bool_)
    for one in levels.columns:
        sensitive[one] = True
    added = np.zeros(d)
    now = mark_hidden(table, generators, cost, last)
    price_generators(table, last, cost, added)
    while np.count_nonzero(generators < 0) < min(effort.moves, d):
        generators[_cheapest(generators, added)] = -1
        now = mark_hidden(table, generators, cost, last)
        price_generators(table, last, cost, added)
    least = now
    best[:] = last
    accepted = tried = 0
    while tried < len(effort.temperature) and accepted < effort.most_accepted:
        tolerated = -effort.temperature[tried] * np.log(max(effort.chances[tried, 1], 1e-300))
        column = _draw(generators, added, tolerated + effort.most_added * now, effort.chances[tried, 0])
        tried += 1
        if column < 0:
            continue
        columns = np.append(np.flatnonzero(generators < 0), column)
        for one in _find_groups(table, columns, last, cost, sensitive, effort.weights, added[column] - tolerated):
            if one < 0:
                break
            place = columns[np.argmax(np.abs(table[one][columns]))]
            if meet_levels(_without(table, columns, one, place), levels, refusals):
                generators[column], generators[place] = -1, one
                pivot(table, one, place)
                now = mark_hidden(table, generators, cost, last)
                price_generators(table, last, cost, added)
                accepted += 1
                if now < least:
                    least = now
                    best[:] = last
                break
    return least, tried


@inner()
def _cheapest(generators: NDArray[np.int64], added: NDArray[np.float64]) -> int:
    """Return the column of the generator without which least is hidden in addition."""
    column = -1
    for k in range(len(generators)):
        if generators[k] >= 0 and (column < 0 or added[k] < added[column]):
            column = k
    return column


@inner()
def _draw(generators: NDArray[np.int64], added: NDArray[np.float64], most: float, chance: float) -> int:
    """Return the column of a generator without which not too much is hidden in addition, -1 where there is none."""
    count = 0
    for k in range(len(generators)):
        count += generators[k] >= 0 and added[k] <= most
    left = int(chance * count)
    for k in range(len(generators)):
        if generators[k] >= 0 and added[k] <= most:
            if left == 0:
                return k
            left -= 1
    return -1


@inner()
def _find_groups(
    table: _Table,
    columns: NDArray[np.int64],
    hidden: NDArray[np.bool_],
    cost: NDArray[np.float64],
    sensitive: NDArray[np.bool_],
    weights: _Table,
    least: float,
) -> NDArray[np.int64]:
    """Return a class of each of the dearest groups of hidden classes that cost enough, none of them sensitive.

    Classes of a group move in proportion in these columns: their angles to two random directions are equal.
    """
    classes = np.flatnonzero(hidden)
    angles = np.empty(len(classes))
    for at in range(len(classes)):
        one = other = 0.0
        for k in columns:
            one += table[classes[at], k] * weights[k, 0]
            other += table[classes[at], k] * weights[k, 1]
        angle = np.arctan2(one, other)
        angle += np.pi if angle < 0 else 0.0
        angles[at] = angle if angle < np.pi - KERNEL_ZERO else 0.0
    order = np.argsort(angles)
    costs, found = np.full(_GROUPS, least), np.full(_GROUPS, -1, dtype=np.int64)
    start = 0
    while start < len(order):
        end, total, may_show = start, 0.0, True
        while end < len(order) and angles[order[end]] - angles[order[start]] <= KERNEL_ZERO:
            total += cost[classes[order[end]]]
            may_show = may_show and not sensitive[classes[order[end]]]
            end += 1
        if may_show and total >= costs[-1] and total > 0.0:
            at = _GROUPS - 1
            while at > 0 and (found[at - 1] < 0 or total > costs[at - 1]):
                costs[at], found[at] = costs[at - 1], found[at - 1]
                at -= 1
            costs[at], found[at] = total, classes[order[start]]
        start = end
    return found


@inner()
def _without(table: _Table, columns: NDArray[np.int64], one: int, place: int) -> _Table:
    """Return moves of some columns that do not move a class, in one column less, ``(n, columns - 1)``."""
    moves = np.empty((len(table), len(columns) - 1))
    at = 0
    for k in columns:
        if k != place:
            factor = table[one, k] / table[one, place]
            for i in range(len(table)):
                left = table[i, k] - factor * table[i, place]
                moves[i, at] = left if abs(left) > KERNEL_ZERO else 0.0
            at += 1
    return moves
