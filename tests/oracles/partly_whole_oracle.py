"""What an attacker can conclude who knows of some cells that they are whole numbers: an oracle for a few cells.

Relations are solved in fractions for cells that are not whole first, so that whole cells depend on whole ones only.
These are gone through one by one; for each choice the ends of the others follow by the elimination of Fourier and
Motzkin. No simplex method, no branching, no rounding, and nothing of `celosia.attack`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor, gcd, lcm

from tests.oracles.attack_oracle import End, Situation, ends

_MOST_TABLES = 80
_MOST_FREE = 2  # cells beside whole ones that are left open by these

Limit = tuple[tuple[int, ...], int]
"""Coefficients of the open cells, and what they sum to at most, times what makes whole numbers of all."""


def partly_whole_ends(case: Situation, whole: frozenset[int]) -> list[tuple[End, End]] | None:
    """Return the ends of every cell's interval over all tables whose whole cells are whole; None where too many are."""
    n, loose = len(case.truth), ends(case)
    unknown = [i for i in range(n) if case.lower[i] is None or case.lower[i] != case.upper[i]]
    order = [*(i for i in unknown if i not in whole), *(i for i in unknown if i in whole)]
    leaders = _solved(case, order)
    free = [i for i in order if i not in leaders]
    steps, open_ = [i for i in free if i in whole], [i for i in free if i not in whole]
    ranges, size = [], 1
    for cell in steps:
        low, high = loose[cell]
        if low is None or high is None:
            return None
        ranges.append(range(ceil(low - case.truth[cell]), floor(high - case.truth[cell]) + 1))
        size *= len(ranges[-1])
    if size > _MOST_TABLES or len(open_) > _MOST_FREE:
        return None
    found: list[list[tuple[End, End]]] = []
    for moves in product(*ranges):
        table = _ends_of(case, whole, leaders, dict(zip(steps, map(Fraction, moves), strict=True)), open_)
        if table is not None:
            found.append(table)
    return [(_least([own[i][0] for own in found]), _most([own[i][1] for own in found])) for i in range(n)]


def _least(lows: Sequence[End]) -> End:
    given = [low for low in lows if low is not None]
    return min(given) if len(given) == len(lows) else None


def _most(highs: Sequence[End]) -> End:
    given = [high for high in highs if high is not None]
    return max(given) if len(given) == len(highs) else None


def _solved(case: Situation, order: Sequence[int]) -> dict[int, dict[int, Fraction]]:
    """Return the cells that follow from others, each with its factors; of two cells the earlier one follows."""
    rows = [{i: Fraction(row[i]) for i in order if row[i]} for row in case.rows]
    leaders: dict[int, dict[int, Fraction]] = {}
    for cell in order:
        row = next((row for row in rows if cell in row), None)
        if row is None:
            continue
        rows.remove(row)
        own = {i: -factor / row[cell] for i, factor in row.items() if i != cell}
        for other in [*rows, *leaders.values()]:
            factor = other.pop(cell, Fraction(0))
            for i, share in own.items():
                total = other.get(i, Fraction(0)) + factor * share
                other[i] = total
                if not total:
                    del other[i]
        leaders[cell] = own
    return leaders


def _ends_of(
    case: Situation,
    whole: frozenset[int],
    leaders: dict[int, dict[int, Fraction]],
    moves: dict[int, Fraction],
    open_: Sequence[int],
) -> list[tuple[End, End]] | None:
    """Return the ends of all cells where some whole cells have moved; None where no table is like that."""
    lines: list[tuple[tuple[Fraction, ...], Fraction]] = []
    for i, value in enumerate(case.truth):
        factors = leaders[i] if i in leaders else {i: Fraction(1)} if i in moves or i in open_ else {}
        moved = value + sum((factor * moves.get(j, Fraction(0)) for j, factor in factors.items()), Fraction(0))
        line = tuple(factors.get(j, Fraction(0)) for j in open_)
        assert i not in whole or not any(line)
        if i in whole and moved.denominator != 1:
            return None
        lines.append((line, moved))
    limits: list[Limit] = []
    for (line, moved), low, high in zip(lines, case.lower, case.upper, strict=True):
        if high is not None:
            limits.append(_limit(line, high - moved))
        if low is not None:
            limits.append(_limit([-factor for factor in line], moved - low))
    limits = list(dict.fromkeys(limits))
    out: list[tuple[End, End]] = []
    for line, moved in lines:
        interval = _reach(limits, line)
        if interval is None:
            return None
        low, high = interval
        out.append((None if low is None else moved + low, None if high is None else moved + high))
    return out


def _reach(limits: Sequence[Limit], line: Sequence[Fraction]) -> tuple[End, End] | None:
    """Return the least and the most of a sum within limits, None where nothing lies within them."""
    size = len(line)
    both: list[Limit] = [((*own, 0), room) for own, room in limits]
    both += [
        _limit([*(-entry for entry in line), Fraction(1)], Fraction(0)),
        _limit([*line, Fraction(-1)], Fraction(0)),
    ]
    for place in range(size):
        both = list(dict.fromkeys(_without(both, place)))
    lows, highs = [], []
    for own, room in both:
        factor = own[size]
        if factor > 0:
            highs.append(Fraction(room, factor))
        elif factor < 0:
            lows.append(Fraction(room, factor))
        elif room < 0:
            return None
    low, high = (max(lows) if lows else None), (min(highs) if highs else None)
    return None if low is not None and high is not None and low > high else (low, high)


def _limit(line: Sequence[Fraction], room: Fraction) -> Limit:
    """Return a limit in the smallest whole numbers."""
    unit = lcm(room.denominator, *(entry.denominator for entry in line))
    whole = [entry.numerator * (unit // entry.denominator) for entry in (*line, room)]
    common = gcd(*whole) or 1
    return tuple(entry // common for entry in whole[:-1]), whole[-1] // common


def _without(limits: Sequence[Limit], place: int) -> Iterator[Limit]:
    """Yield limits in which one cell does not stand any more, that leave open what these leave open."""
    above = [(own, room) for own, room in limits if own[place] > 0]
    below = [(own, room) for own, room in limits if own[place] < 0]
    yield from ((own, room) for own, room in limits if not own[place])
    for (one, room), (other, left) in product(above, below):
        a, b = -other[place], one[place]
        yield tuple(a * x + b * y for x, y in zip(one, other, strict=True)), a * room + b * left
