"""Ruin and recreate (Schrimpf et al. 2000) of joint patterns, accepted as simulated annealing does.

Several generators are left out at once, so that the pattern hides more and has as many more moves. Then groups of
classes that move in proportion are shown again, the dearest first, as long as every target reaches its level. Only what
is hidden meanwhile is looked at; the tableau changes when the new pattern is accepted.
"""

# ruff: noqa: NPY002  (compiled functions have this generator)

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.engine.heuristics.joint.annealing.reach import RequiredLevels, meet_levels
from celosia.protection.engine.heuristics.joint.annealing.tableau import mark_hidden, pivot, price_generators
from celosia.tolerance import KERNEL_ZERO, TABLEAU_ZERO

_Table = Annotated[NDArray[np.float64], 2]


class RuinEffort(NamedTuple):
    """What steers ruin and recreate.

    Parameters
    ----------
    temperature
        Mean cost by which a pattern may get dearer, in every step, ``(m,)``.
    seed
        Of the random numbers.
    weights
        Two random weights of every column, by which proportional rows are told, ``(d, 2)``.
    most_left_out, another
        Generators that one step leaves out, at most; and the chance that after each of them there is another.
    contest
        Generators that are drawn for each of them: the one without which least is hidden in addition is left out.
    spread
        Standard deviation of the logarithm of costs by which groups are shown again.
    most_accepted
        Steps that change the pattern after which to return: rounding errors add up.
    """

    temperature: NDArray[np.float64]
    seed: int
    weights: Annotated[NDArray[np.float64], 2]
    most_left_out: int
    another: float
    contest: int
    spread: float
    most_accepted: int


@kernel()
def ruin_and_recreate(
    table: _Table,
    generators: NDArray[np.int64],
    cost: NDArray[np.float64],
    levels: RequiredLevels,
    effort: RuinEffort,
    refusals: NDArray[np.int64],
    best: NDArray[np.bool_],
    last: NDArray[np.bool_],
) -> tuple[float, int]:
    """Leave generators out and show groups again; return what the cheapest pattern costs, and how many steps were made.

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
    np.random.seed(effort.seed)
    n, d = table.shape
    sensitive = np.zeros(n, dtype=np.bool_)
    for one in levels.columns:
        sensitive[one] = True
    added = np.zeros(d)
    now = mark_hidden(table, generators, cost, last)
    price_generators(table, last, cost, added)
    least = now
    best[:] = last
    witnesses = np.zeros((len(levels.columns), n))
    free, moving = np.flatnonzero(generators < 0), np.flatnonzero(last)
    known = witnesses[:, moving]
    if not meet_levels(_cut_out(table, moving, free), moving, known, levels, refusals):
        return least, 0
    _note(witnesses, moving, known)
    accepted = steps = 0
    while steps < len(effort.temperature) and accepted < effort.most_accepted:
        limit = now - effort.temperature[steps] * np.log(max(np.random.random(), 1e-300))
        steps += 1
        hidden, left_out = last.copy(), generators < 0
        _ruin(table, cost, effort, added.copy(), hidden, left_out)
        columns, classes = np.flatnonzero(left_out), np.flatnonzero(hidden)
        moves = _cut_out(table, classes, columns)
        known = witnesses[:, classes]
        shown, classes, known = _recreate(moves, classes, known, cost, sensitive, levels, effort, refusals, limit)
        hidden[:] = False
        for i in classes:
            hidden[i] = True
        if not len(classes) or np.array_equal(hidden, last):
            continue
        _note(witnesses, classes, known)
        generators[left_out] = -1
        for one in shown:
            free = np.flatnonzero(generators < 0)
            place = int(free[np.argmax(np.abs(table[one][free]))])
            pivot(table, one, place)
            generators[place] = one
        now = mark_hidden(table, generators, cost, last)
        price_generators(table, last, cost, added)
        accepted += 1
        if now < least:
            least = now
            best[:] = last
    return least, steps


@inner()
def _ruin(
    table: _Table,
    cost: NDArray[np.float64],
    effort: RuinEffort,
    added: NDArray[np.float64],
    hidden: NDArray[np.bool_],
    left_out: NDArray[np.bool_],
) -> None:
    """Mark generators that are left out, and what is hidden then; what others would add is noted meanwhile."""
    for count in range(effort.most_left_out):
        if count and np.random.random() >= effort.another:
            return
        column = _draw(left_out, added, effort.contest)
        if column < 0:
            continue
        left_out[column] = True
        for i in range(len(table)):
            if not hidden[i] and abs(table[i, column]) > TABLEAU_ZERO:
                hidden[i] = True
                for k in range(len(added)):
                    added[k] -= cost[i] if table[i, k] != 0.0 else 0.0


@inner()
def _draw(left_out: NDArray[np.bool_], added: NDArray[np.float64], contest: int) -> int:
    """Return the one of some generators, drawn at random, without which least is hidden in addition; -1 for none."""
    column = -1
    for _ in range(contest):
        k = np.random.randint(len(added))
        if not left_out[k] and (column < 0 or added[k] < added[column]):
            column = k
    return column


@inner()
def _cut_out(table: _Table, classes: NDArray[np.int64], columns: NDArray[np.int64]) -> _Table:
    """Return some rows and columns."""
    part = np.empty((len(classes), len(columns)))
    for i in range(len(classes)):
        for k in range(len(columns)):
            part[i, k] = table[classes[i], columns[k]]
    return part


@inner()
def _note(witnesses: _Table, classes: NDArray[np.int64], known: _Table) -> None:
    """Note witnesses that move no other classes."""
    witnesses[:] = 0.0
    for t in range(len(witnesses)):
        for i in range(len(classes)):
            witnesses[t, classes[i]] = known[t, i]


@inner()
def _recreate(  # noqa: C901  (one loop, compiled)
    moves: _Table,
    classes: NDArray[np.int64],
    witnesses: _Table,
    cost: NDArray[np.float64],
    sensitive: NDArray[np.bool_],
    levels: RequiredLevels,
    effort: RuinEffort,
    refusals: NDArray[np.int64],
    limit: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], _Table]:
    """Show groups as long as every target reaches its level.

    Return a class of each group, the classes that are still hidden, none where they would cost the limit or more, and
    witnesses. A group that was refused once is not asked for again: with fewer moves it is refused as well.
    """
    locked = sensitive[classes]
    shown, count = np.empty(moves.shape[1], dtype=np.int64), 0
    while True:
        order, starts = _group(moves, effort.weights)
        groups = len(starts) - 1
        price, stays = np.zeros(groups), 0.0
        for g in range(groups):
            total, may_show = 0.0, moves.shape[1] > 1
            for i in order[starts[g] : starts[g + 1]]:
                total += cost[classes[i]]
                may_show = may_show and not locked[i]
            stays += 0.0 if may_show else total
            price[g] = total if may_show else -1.0
        rank = price * np.exp(effort.spread * np.random.standard_normal(groups))
        fewer = moves[:0]
        for g in np.argsort(-rank):
            if stays >= limit:
                return shown[:0], classes[:0], witnesses
            if price[g] < 0.0:
                break
            one = order[starts[g]]
            place = int(np.argmax(np.abs(moves[one])))
            fewer = _without(moves, one, place)
            led_round = _lead_round(witnesses, moves, one, place)
            if meet_levels(fewer, classes, led_round, levels, refusals):
                witnesses = led_round
                shown[count] = classes[one]
                count += 1
                break
            fewer = moves[:0]
            stays += price[g]
            for i in order[starts[g] : starts[g + 1]]:
                locked[i] = True
        if not len(fewer):
            break
        kept = np.zeros(len(fewer), dtype=np.bool_)
        for i in range(len(fewer)):
            for k in range(fewer.shape[1]):
                kept[i] = kept[i] or abs(fewer[i, k]) > TABLEAU_ZERO
        moves, classes, locked, witnesses = fewer[kept], classes[kept], locked[kept], witnesses[:, kept]
    if cost[classes].sum() >= limit:
        return shown[:0], classes[:0], witnesses
    return shown[:count], classes, witnesses


@inner()
def _group(moves: _Table, weights: _Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows ordered by the group to which they belong, and where groups start.

    Rows of a group are proportional: their angles to two random directions are equal.
    """
    m, d = moves.shape
    angles = np.empty(m)
    for i in range(m):
        one = other = 0.0
        for k in range(d):
            one += moves[i, k] * weights[k, 0]
            other += moves[i, k] * weights[k, 1]
        angle = np.arctan2(one, other)
        angle += np.pi if angle < 0 else 0.0
        angles[i] = angle if angle < np.pi - KERNEL_ZERO else 0.0
    order = np.argsort(angles)
    starts, count = np.zeros(m + 1, dtype=np.int64), 0
    for at in range(1, m + 1):
        if at == m or angles[order[at]] - angles[order[at - 1]] > KERNEL_ZERO:
            count += 1
            starts[count] = at
    return order, starts[: count + 1]


@inner()
def _lead_round(witnesses: _Table, moves: _Table, one: int, place: int) -> _Table:
    """Return witnesses changed by a column so that they do not move a class."""
    changed = np.empty_like(witnesses)
    for t in range(len(witnesses)):
        factor = witnesses[t, one] / moves[one, place]
        for i in range(len(moves)):
            left = witnesses[t, i] - factor * moves[i, place]
            changed[t, i] = left if abs(left) > KERNEL_ZERO else 0.0
    return changed


@inner()
def _without(moves: _Table, one: int, place: int) -> _Table:
    """Return moves that do not move a class, in one column less, ``(m, d - 1)``."""
    m, d = moves.shape
    factors, kept = moves[one] / moves[one, place], np.empty(d - 1, dtype=np.int64)
    for k in range(d - 1):
        kept[k] = k if k < place else k + 1
    fewer = np.empty((m, d - 1))
    for i in range(m):
        moved = moves[i, place]
        for at in range(d - 1):
            left = moves[i, kept[at]] - factors[kept[at]] * moved
            fewer[i, at] = left if abs(left) > KERNEL_ZERO else 0.0
    return fewer
