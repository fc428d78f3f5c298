"""Releases that mix ways of publishing, written down plainly as one program with whole numbers.

Columns: slacks up and down of every cell, whether it is a range, hidden, rounded, rounded up, how far a completion lies
from the truth; and for every requirement the tables f and g (Salazar 2002, Figure 6), as distances from the truth. It
shares nothing with the engine but the risk.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from celosia import Risk

FAR = 1e4
"""Completions lie no further from the truth."""

_ROOM = 400.0
"""Where an attacker knows no end, so much is room enough in tables of numbers up to a hundred."""

_UP, _DOWN, _OPEN, _HIDE, _ROUND, _RAISE, _COMPLETE = range(7)


@dataclass(frozen=True)
class Ways:
    """What may be published, and what it costs.

    Parameters
    ----------
    width
        By unit of width, ``(n,)``.
    fixed
        Of a range whatever its width, ``(n,)``.
    at_most
        So many cells are ranges, hidden or rounded at most.
    hide
        Of hiding a cell, infinite where that is not allowed, ``(n,)``.
    ranges
        Which cells may be ranges, ``(n,)``.
    rounds, base
        Which cells may be rounded, ``(n,)``, and to multiples of what.
    number, move
        What a rounded number costs, and a unit of its distance from the truth.
    least, most
        Widths that cells must have for every attacker, and may have.
    if_not_shown
        Lower, upper and sliding levels that cells must have for every attacker if they are not shown.
    """

    width: NDArray[np.float64]
    fixed: NDArray[np.float64]
    hide: NDArray[np.float64]
    ranges: NDArray[np.bool_]
    rounds: NDArray[np.bool_]
    at_most: int | None = None
    base: int = 1
    number: float = 0.0
    move: float = 0.0
    least: Mapping[int, float] = field(default_factory=dict)
    most: Mapping[int, float] = field(default_factory=dict)
    if_not_shown: Mapping[int, tuple[float, float, float]] = field(default_factory=dict)


def least_cost(risk: Risk, ways: Ways) -> float:
    """Return what the cheapest safe release costs, infinite where there is none, NaN where it takes too long."""
    return _Program(risk, ways).solved()


class _Program:
    def __init__(self, risk: Risk, ways: Ways) -> None:
        self.risk, self.ways, self.n = risk, ways, len(risk)
        self.truth = risk.table.values
        self.down = [np.minimum(self.truth - one.lower.floats, _ROOM) for one in risk.attackers]
        self.up = [np.minimum(one.upper.floats - self.truth, _ROOM) for one in risk.attackers]
        self.required = [
            (who, cell, levels, gated)
            for who in range(len(risk.attackers))
            for cell in range(self.n)
            for levels, gated in ((self._levels(cell), False), (ways.if_not_shown.get(cell, (0.0, 0.0, 0.0)), True))
            if any(levels)
        ]
        self.many = (7 + 2 * len(self.required)) * self.n
        self.rows: list[dict[int, float]] = []
        self.ends: list[tuple[float, float]] = []

    def _levels(self, cell: int) -> tuple[float, float, float]:
        own, least = self.risk.levels, self.ways.least.get(cell, 0.0)
        if not self.risk.sensitive[cell]:
            return 0.0, 0.0, least
        lower, upper, sliding = (float(level.fraction(cell)) for level in (own.lower, own.upper, own.sliding))
        return lower, upper, max(sliding, least)

    def _at(self, kind: int, cell: int) -> int:
        return kind * self.n + cell

    def _add(self, row: dict[int, float], lower: float, upper: float) -> None:
        self.rows.append(row)
        self.ends.append((lower, upper))

    def _cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return bounds and costs of all columns, having added the rows of every cell by itself."""
        ways, n = self.ways, self.n
        lower, upper, cost = np.zeros(self.many), np.full(self.many, np.inf), np.zeros(self.many)
        widest = np.max(self.up, axis=0), np.max(self.down, axis=0)
        rest = self.truth % ways.base
        allowed = np.isfinite(ways.hide)
        ends = [*(np.where(ways.ranges, far, 0.0) for far in widest), 1, allowed, ways.rounds, ways.rounds & (rest > 0)]
        prices = [ways.width, ways.width, ways.fixed, np.where(allowed, ways.hide, 0.0)]
        prices += [ways.number + ways.move * rest, ways.move * (ways.base - 2 * rest)]
        for kind, (end, price) in enumerate(zip(ends, prices, strict=True)):
            upper[kind * n : (kind + 1) * n], cost[kind * n : (kind + 1) * n] = end, price
        lower[_COMPLETE * n : 7 * n], upper[_COMPLETE * n : 7 * n] = -FAR, FAR
        for cell in range(n):
            at = [self._at(kind, cell) for kind in range(7)]
            self._add({at[_RAISE]: 1, at[_ROUND]: -1}, -np.inf, 0)
            self._add({at[_HIDE]: 1, at[_ROUND]: 1}, -np.inf, 1)
            self._add({at[_UP]: 1, at[_DOWN]: 1}, -np.inf, ways.most.get(cell, np.inf))
            for side, far in ((_UP, widest[0][cell]), (_DOWN, widest[1][cell])):
                self._add({at[side]: 1, at[_OPEN]: -far}, -np.inf, 0)
                self._add({at[side]: 1, at[_ROUND]: far}, -np.inf, far)
            self._add({at[_COMPLETE]: 1, at[_UP]: -1, at[_HIDE]: -FAR}, -np.inf, 0)
            self._add({at[_COMPLETE]: -1, at[_DOWN]: -1, at[_HIDE]: -FAR}, -np.inf, 0)
        return lower, upper, cost

    def _together(self) -> None:
        """Add that what is published adds up, and that there are not too many ranges."""
        rest = self.truth % self.ways.base
        for row in self.risk.table.relations.matrix.toarray():
            moved = {self._at(_RAISE, cell): float(row[cell] * self.ways.base) for cell in range(self.n)}
            moved |= {self._at(_ROUND, cell): float(-row[cell] * rest[cell]) for cell in range(self.n)}
            moved |= {self._at(_COMPLETE, cell): float(row[cell]) for cell in range(self.n)}
            self._add(moved, 0, 0)
        if self.ways.at_most is not None:
            changed = {self._at(kind, cell): 1.0 for kind in (_OPEN, _HIDE, _ROUND) for cell in range(self.n)}
            self._add(changed, -np.inf, self.ways.at_most)

    def _tables(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Add the two tables of every requirement, within what is published and what the attacker knows."""
        base, rest = self.ways.base, self.truth % self.ways.base
        for place, (who, target, (low, high, wide), gated) in enumerate(self.required):
            gates = [self._at(kind, target) for kind in (_OPEN, _HIDE, _ROUND)] if gated else []
            for side in range(2):
                first = (7 + 2 * place + side) * self.n
                lower[first : first + self.n], upper[first : first + self.n] = -self.down[who], self.up[who]
                if gated:
                    far, sign = (high, 1.0) if side == 0 else (low, -1.0)
                    self._add({first + target: sign, **dict.fromkeys(gates, -far)}, 0, np.inf)
                elif side == 0:
                    lower[first + target] = max(lower[first + target], high)
                else:
                    upper[first + target] = min(upper[first + target], -low)
                for row in self.risk.table.relations.matrix.toarray():
                    self._add({first + cell: float(row[cell]) for cell in np.flatnonzero(row).tolist()}, 0, 0)
                for cell in range(self.n):
                    at = [self._at(kind, cell) for kind in range(7)]
                    above = {at[_UP]: -1, at[_HIDE]: -self.up[who][cell], at[_RAISE]: -base}
                    below = {at[_DOWN]: -1, at[_HIDE]: -self.down[who][cell], at[_RAISE]: base}
                    self._add({first + cell: 1, at[_ROUND]: rest[cell] + 1 - base, **above}, -np.inf, 0)
                    self._add({first + cell: -1, at[_ROUND]: 1 - base - rest[cell], **below}, -np.inf, 0)
            both = {(7 + 2 * place) * self.n + target: 1.0, (8 + 2 * place) * self.n + target: -1.0}
            self._add({**both, **dict.fromkeys(gates, -wide)}, 0 if gated else wide, np.inf)

    def solved(self) -> float:
        """Return the least cost."""
        lower, upper, cost = self._cells()
        self._together()
        self._tables(lower, upper)
        if bool((lower > upper).any()):
            return np.inf
        whole = np.zeros(self.many)
        whole[_OPEN * self.n : _COMPLETE * self.n] = 1
        matrix = sp.lil_array((len(self.rows), self.many))
        for place, row in enumerate(self.rows):
            for column, value in row.items():
                matrix[place, column] = value
        found = milp(
            cost,
            constraints=LinearConstraint(matrix.tocsr(), *np.array(self.ends).T),
            bounds=Bounds(lower, upper),
            integrality=whole,
            options={"mip_rel_gap": 1e-7, "time_limit": 60},
        )
        return float(found.fun) if found.status == 0 else np.inf if found.status == 2 else np.nan


def mask(cells: Collection[int], n: int) -> NDArray[np.bool_]:
    """Return which of n cells are among some."""
    return np.isin(np.arange(n), list(cells))
