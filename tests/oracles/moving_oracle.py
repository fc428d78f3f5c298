"""Rounded and moved tables the slow way: every table that adds up, the nearest first, attacked by SciPy.

It shares nothing with the package, not even an import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

Ends = tuple[Sequence[float], Sequence[float]]

_CLOSE = 1e-7


@dataclass(frozen=True)
class Case:
    """A table of whole numbers, what must be reached (lower, upper, sliding), and the bounds of every attacker."""

    rows: Sequence[Sequence[int]]
    values: Sequence[int]
    levels: Mapping[int, tuple[float, float, float]]
    attackers: Sequence[Ends]
    cost: Sequence[float]
    whole: bool = True
    frozen: frozenset[int] = field(default_factory=frozenset)


def roundings(case: Case, base: Sequence[int], extra: int) -> list[tuple[int, ...]]:
    """Return every rounding that adds up, the nearest first."""
    options = []
    for cell, (value, step) in enumerate(zip(case.values, base, strict=True)):
        floor = value // step * step
        top = floor if floor == value else floor + step
        own = [number for number in range(floor - extra * step, top + extra * step + 1, step) if number >= 0]
        options.append([value] if cell in case.frozen else own)
    return _sorted(case, options)


def moves(case: Case, options: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return every table that adds up out of these values by cell, the nearest first."""
    return _sorted(case, options)


def _sorted(case: Case, options: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    return sorted(additive(case, options), key=lambda table: distance(case, table))


def additive(case: Case, options: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Yield every choice that satisfies the relations."""
    right = [sum(c * v for c, v in zip(row, case.values, strict=True)) for row in case.rows]
    last = [max(k for k, c in enumerate(row) if c) for row in case.rows]
    due = {k: [r for r, end in enumerate(last) if end == k] for k in range(len(options))}

    def grown(begun: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        at = len(begun)
        if at == len(options):
            yield begun
            return
        for value in options[at]:
            table = (*begun, value)
            if all(sum(c * v for c, v in zip(case.rows[r], table, strict=False)) == right[r] for r in due[at]):
                yield from grown(table)

    yield from grown(())


def distance(case: Case, table: Sequence[int]) -> float:
    """Return how far a table is from the truth."""
    return sum(w * abs(v - a) for w, v, a in zip(case.cost, table, case.values, strict=True))


def safe(case: Case, lower: Sequence[float], upper: Sequence[float]) -> bool:
    """Return whether every level is reached when these bounds are published."""
    rows = np.array(case.rows, dtype=float)
    right = rows @ np.array(case.values, dtype=float)
    for low, high in case.attackers:
        bounds = Bounds(np.maximum(lower, low), np.minimum(upper, high))
        for cell, (down, up, sliding) in case.levels.items():
            ends = []
            for sign in (1.0, -1.0):
                c = np.zeros(len(case.values))
                c[cell] = sign
                found = milp(
                    c,
                    constraints=LinearConstraint(rows, right, right),
                    bounds=bounds,
                    integrality=np.full(len(c), int(case.whole)),
                )
                ends.append(np.inf if found.x is None else abs(found.x[cell] - case.values[cell]))
            if ends[0] < down - _CLOSE or ends[1] < up - _CLOSE or sum(ends) < sliding - _CLOSE:
                return False
    return True


def nearest_rounding(case: Case, base: Sequence[int], extra: int) -> tuple[int, ...] | None:
    """Return the nearest safe rounding, None where there is none."""
    for table in roundings(case, base, extra):
        reach = [0 if cell in case.frozen else step * (extra + 1) - 1 for cell, step in enumerate(base)]
        pairs = list(zip(table, reach, strict=True))
        if safe(case, [v - r for v, r in pairs], [v + r for v, r in pairs]):
            return table
    return None
