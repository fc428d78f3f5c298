"""What an attacker can conclude, worked out by hand in fractions: an oracle for tables of a few cells.

It shares nothing with `celosia.attack`: relations are lists of numbers, the unknown cells are eliminated in fractions,
and the ends come from a textbook simplex method (Bland's rule, whole numbers, no rounding), from all vertices, or from
all whole tables, one by one. The slower ones judge the faster one in ``test_audit.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import ceil, floor, gcd, lcm

End = Fraction | None
"""An end of an interval, None where there is none."""


@dataclass(frozen=True)
class Situation:
    """All that one attacker knows: relations, and bounds that hold the true values.

    Parameters
    ----------
    rows
        The coefficients of every relation; what they sum to is what the true values sum to.
    truth
        The true values.
    lower, upper
        What release and attacker know about every cell together.
    """

    rows: Sequence[Sequence[int]]
    truth: Sequence[Fraction]
    lower: Sequence[End]
    upper: Sequence[End]

    def __post_init__(self) -> None:
        for value, low, high in zip(self.truth, self.lower, self.upper, strict=True):
            assert low is None or low <= value
            assert high is None or value <= high


@dataclass(frozen=True)
class Solved:
    """The unknown cells in terms of as few of them as possible: ``y_i = truth_i + sum_j factor_ij t_j``."""

    free: list[int]
    factors: list[list[Fraction]]


def solved(case: Situation) -> Solved:
    """Return the relations solved by Gauss and Jordan for all cells that are not known already."""
    n = len(case.truth)
    unknown = [i for i in range(n) if case.lower[i] is None or case.lower[i] != case.upper[i]]
    rows = [[Fraction(row[i]) for i in unknown] for row in case.rows]
    led: list[int] = []
    for column in range(len(unknown)):
        place = next((k for k in range(len(led), len(rows)) if rows[k][column]), None)
        if place is None:
            continue
        rows[len(led)], rows[place] = rows[place], rows[len(led)]
        head = rows[len(led)]
        if head[column] != 1:
            head[:] = [entry / head[column] for entry in head]
        filled = [(i, own) for i, own in enumerate(head) if own]
        for k, row in enumerate(rows):
            if k != len(led) and row[column]:
                factor = row[column]
                for i, own in filled:
                    row[i] -= factor * own
        led.append(column)
    free = [column for column in range(len(unknown)) if column not in led]
    factors = [[Fraction(0)] * len(free) for _ in range(n)]
    for j, column in enumerate(free):
        factors[unknown[column]][j] = Fraction(1)
        for k, leader in enumerate(led):
            factors[unknown[leader]][j] = -rows[k][column]
    return Solved([unknown[column] for column in free], factors)


def ends(case: Situation) -> list[tuple[End, End]]:
    """Return the ends of every cell's interval, by the simplex method in whole numbers."""
    found = solved(case)
    tableau = _Tableau.of(case, found.factors, range(len(case.truth)))
    out: list[tuple[End, End]] = []
    for cell, value in enumerate(case.truth):
        up, down = tableau.maximum(cell, 1), tableau.maximum(cell, -1)
        out.append((None if down is None else value - down, None if up is None else value + up))
    return out


def furthest(case: Situation, cell: int) -> End:
    """Return how far above its true value a cell can be."""
    return _Tableau.of(case, solved(case).factors, [cell]).maximum(cell, 1)


@dataclass
class _Tableau:
    """Rows ``A t <= b`` with ``b >= 0``, free variables split in two, and an objective row per cell that moves below.

    All entries are whole and share the denominator `scale` (Edmonds' way of pivoting: the division comes out even).
    Columns are those of the variables that are not in the basis; the others' would be those of the identity.
    """

    entries: list[list[int]]
    basis: list[int]
    outside: list[int]
    scale: int
    goals: dict[int, tuple[int, int]]
    """The objective row of each cell that moves, and its denominator."""

    @classmethod
    def of(cls, case: Situation, factors: Sequence[Sequence[Fraction]], asked: Iterable[int]) -> _Tableau:
        entries: list[list[int]] = []
        wholes = [_whole(line) for line in factors]
        for (whole, unit), low, high, value in zip(wholes, case.lower, case.upper, case.truth, strict=True):
            if any(whole):
                for side, end in ((1, high), (-1, low)):
                    if end is not None:
                        room = side * (end - value) * unit
                        line = [side * room.denominator * entry for entry in whole]
                        entries.append([*line, *(-entry for entry in line), room.numerator])
        n_limits, goals = len(entries), {}
        for cell in asked:
            whole, unit = wholes[cell]
            if any(whole):
                goals[cell] = len(entries), unit
                entries.append([*(-entry for entry in whole), *whole, 0])
        first = 2 * len(factors[0]) if factors else 0
        return cls(entries, list(range(first, first + n_limits)), list(range(first)), 1, goals)

    def maximum(self, cell: int, sign: int) -> End:
        """Return how far a cell can move up (1) or down (-1)."""
        if cell not in self.goals:
            return Fraction(0)
        goal, unit = self.goals[cell]
        while True:
            costs = self.entries[goal]
            columns = [j for j in range(len(self.outside)) if sign * costs[j] < 0]
            if not columns:
                return Fraction(sign * costs[-1], self.scale * unit)
            if not self._improved(min(columns, key=self.outside.__getitem__)):
                return None

    def _improved(self, column: int) -> bool:
        rows = [k for k in range(len(self.basis)) if self.entries[k][column] > 0]
        if not rows:
            return False
        pivot = rows[0]
        for k in rows[1:]:  # the smallest ratio of its last entry to that in the column
            one, other = self.entries[k], self.entries[pivot]
            less = one[-1] * other[column] - other[-1] * one[column]
            if less < 0 or (not less and self.basis[k] < self.basis[pivot]):
                pivot = k
        head, scale = self.entries[pivot], self.scale
        own = head[column]
        for k, row in enumerate(self.entries):
            if k != pivot:
                factor = row[column]
                if factor:
                    row[:] = [(a * own - factor * b) // scale for a, b in zip(row, head, strict=True)]
                    row[column] = -factor
                elif own != scale:
                    row[:] = [a * own // scale for a in row]
        head[column], self.scale = scale, own
        self.basis[pivot], self.outside[column] = self.outside[column], self.basis[pivot]
        return True


def _whole(line: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return numbers times their common denominator, and that."""
    unit = lcm(1, *(entry.denominator for entry in line))
    return [entry.numerator * (unit // entry.denominator) for entry in line], unit


def ends_by_vertices(case: Situation) -> list[tuple[End, End]]:
    """Return the ends of every cell's interval from all vertices; all unknown cells must be bounded on both sides."""
    factors = solved(case).factors
    size = len(factors[0])
    limits: list[tuple[list[Fraction], Fraction]] = []
    for i, line in enumerate(factors):
        if any(line):
            low, high = case.lower[i], case.upper[i]
            assert low is not None
            assert high is not None
            limits.append((line, high - case.truth[i]))
            limits.append(([-entry for entry in line], case.truth[i] - low))
    corners = [
        corner
        for chosen in combinations(limits, size)
        if (corner := _crossing(chosen)) is not None
        and all(sum(a * t for a, t in zip(line, corner, strict=True)) <= room for line, room in limits)
    ]
    out: list[tuple[End, End]] = []
    for line, value in zip(factors, case.truth, strict=True):
        reached = [value + sum(a * t for a, t in zip(line, corner, strict=True)) for corner in corners]
        out.append((min(reached), max(reached)))
    return out


def _crossing(chosen: Sequence[tuple[list[Fraction], Fraction]]) -> list[Fraction] | None:
    """Return the one point at which some limits are all reached, None where there is not exactly one."""
    rows = [[*line, room] for line, room in chosen]
    for column in range(len(rows)):
        place = next((k for k in range(column, len(rows)) if rows[k][column]), None)
        if place is None:
            return None
        rows[column], rows[place] = rows[place], rows[column]
        head = [entry / rows[column][column] for entry in rows[column]]
        rows[column] = head
        for k, row in enumerate(rows):
            if k != column and row[column]:
                factor = row[column]
                rows[k] = [entry - factor * own for entry, own in zip(row, head, strict=True)]
    return [row[-1] for row in rows]


def whole_ends(case: Situation, most: int = 2_000) -> list[tuple[End, End]] | None:
    """Return the ends of every cell's interval over all tables of whole numbers, one by one.

    None where they would be too many; an end that does not exist for decimals does not exist for whole numbers either,
    because a way without an end can be gone in steps that are whole.
    """
    assert all(value.denominator == 1 for value in case.truth)
    loose = ends(case)
    found = solved(case)
    ranges = []
    size = 1
    for cell in found.free:
        low, high = loose[cell]
        if low is None or high is None:
            return None
        ranges.append(range(ceil(low - case.truth[cell]), floor(high - case.truth[cell]) + 1))
        size *= len(ranges[-1])
    if size > most:
        return None
    tables = list(_whole_tables(case, found.factors, ranges))
    return [(Fraction(min(column)), Fraction(max(column))) for column in zip(*tables, strict=True)]


def _whole_tables(
    case: Situation, factors: Sequence[Sequence[Fraction]], ranges: Sequence[range]
) -> Iterator[list[int]]:
    lines, units = zip(*map(_whole, factors), strict=True)
    known = [int(value) for value in case.truth]
    lowest = [None if low is None else ceil(low) for low in case.lower]
    highest = [None if high is None else floor(high) for high in case.upper]
    for steps in product(*ranges):
        table = []
        for value, line, unit, low, high in zip(known, lines, units, lowest, highest, strict=True):
            move, rest = divmod(sum(a * t for a, t in zip(line, steps, strict=True)), unit)
            reached = value + move
            if rest or (low is not None and reached < low) or (high is not None and reached > high):
                break
            table.append(reached)
        else:
            yield table


def meets(truth: Fraction, interval: tuple[End, End], levels: tuple[Fraction, Fraction, Fraction]) -> bool:
    """Return whether an interval meets a lower, an upper and a sliding protection level."""
    (low, high), (lower, upper, sliding) = interval, levels
    wide = low is None or high is None or high - low >= sliding
    return (low is None or truth - low >= lower) and (high is None or high - truth >= upper) and wide


def inside(narrow: tuple[End, End], wide: tuple[End, End]) -> bool:
    """Return whether one interval lies within another."""
    (a, b), (low, high) = narrow, wide
    return (low is None or (a is not None and low <= a)) and (high is None or (b is not None and b <= high))


def reduced(row: Sequence[int]) -> list[int]:
    """Return a relation without common factors."""
    common = gcd(*row)
    return [entry // common for entry in row] if common > 1 else list(row)
