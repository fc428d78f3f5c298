r"""What a point of any modes opens to attackers: rooms, and how far a cell moves by them as linear expressions.

For multipliers with :math:`d_p = \sum_{i \ne p} r_i d_i` (see `celosia.protection.engine.capacity`) cell p moves
up by at most

.. math:: \sum_{r_i > 0} r_i \min(\mathrm{UB}_i^k, \text{upper slack}_i(v)) +
          \sum_{r_i < 0} |r_i| \min(\mathrm{LB}_i^k, \text{lower slack}_i(v)),

and term by term both choices are valid: the smaller one at the point makes the expression. In a network a flow of one
level never needs more than that level of any cell, so rooms end there (thesis 3.28 with the smallest M).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.subproblems.requirements import SideRequirements

_WHOLE = 1e-9
"""A variable this close to 1 is 1."""

_FAR = 1e9
"""Rooms end here, in units: nobody needs more in doubles."""

_NOTHING = 1e-9
"""Flows are sent as far as this part of a level even where a cell cannot move at all."""

Ratios = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Columns, and how far the cell in question moves with each."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A linear expression of the variables, its columns increasing."""

    constant: float
    columns: NDArray[np.int64]
    values: NDArray[np.float64]

    def at(self, v: NDArray[np.float64]) -> float:
        """Return its value at a point."""
        return self.constant + float(self.values @ v[self.columns])

    def plus(self, other: Linear) -> Linear:
        """Return the sum of two."""
        return Linear(self.constant + other.constant, *_merged(self.columns, self.values, other.columns, other.values))


@dataclass(frozen=True, eq=False)
class Doors:
    """What modes can open at most, prepared for many points.

    Parameters
    ----------
    modes
        What may be published.
    sides
        The questions, with levels in units.
    up, down
        The attackers' rooms in units, infinite where there is no end, ``(k, n)`` each.
    """

    modes: Modes
    sides: SideRequirements
    up: NDArray[np.float64]
    down: NDArray[np.float64]

    @cached_property
    def tables(self) -> tuple[NDArray[Any], ...]:
        """Slacks by variables, up and then down, for `_smallest`."""
        modes = self.modes
        by_variable = sp.csr_array(sp.vstack([modes.up, modes.down]))
        constants = np.concatenate([modes.up_constant, modes.down_constant])
        most = constants + by_variable.maximum(0) @ np.minimum(modes.program.upper, _FAR)
        starts, variables = by_variable.indptr.astype(np.int64), by_variable.indices.astype(np.int64)
        return starts, variables, by_variable.data, constants, most, modes.hiding, modes.opening

    def widest(self, who: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how far columns can move for an attacker whatever is published, up and down, ``(n,)`` each."""
        up, down = np.split(self.tables[4], 2)
        hides = self.modes.hiding >= 0
        return (
            np.where(hides, self.up[who], np.minimum(self.up[who], up)),
            np.where(hides, self.down[who], np.minimum(self.down[who], down)),
        )


@dataclass(frozen=True, eq=False)
class Opening:
    """A point, and what it opens.

    Parameters
    ----------
    doors
        What can be opened at all.
    v
        The point.
    slack
        How far published numbers leave every column, up and then down, ``(2 n,)``.
    hidden
        By how much every column is hidden, ``(n,)``.
    opened
        By how much every column is opened by a variable of its own, infinite where it needs none, ``(n,)``.
    wider
        By how much all slacks are taken to be wider, ``(n,)``.
    """

    doors: Doors
    v: NDArray[np.float64]
    slack: NDArray[np.float64]
    hidden: NDArray[np.float64]
    opened: NDArray[np.float64]
    wider: NDArray[np.float64]
    _plain: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(default_factory=dict)

    @classmethod
    def of(cls, doors: Doors, v: NDArray[np.float64], wider: NDArray[np.float64]) -> Opening:
        """Return what a point opens."""
        modes = doors.modes
        opened = np.where(modes.opening >= 0, v[np.maximum(modes.opening, 0)], np.inf)
        return cls(doors, v, np.concatenate(modes.slacks(v)), modes.hidden(v), opened, wider)

    @cached_property
    def gated(self) -> bool:
        """Whether some columns must be opened by a variable."""
        return bool(np.isfinite(self.opened).any())

    @cached_property
    def covered(self) -> bool:
        """Whether some columns are hidden."""
        return bool(self.hidden.any())

    @property
    def shared(self) -> bool:
        """Whether an attacker's rooms are the same for all questions, whatever their levels."""
        return not self.gated and not self.covered

    def rooms(self, k: int, *, network: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how far every column can move for a question, up and down; in a network no further than its level.

        Where rooms are shared, those of networks are left to the flow to cut off.
        """
        sides, who = self.doors.sides, int(self.doors.sides.attackers[k])
        plain = self.plain(who)
        if self.shared:
            return plain
        level, limit = float(sides.levels[k]), float(sides.levels[k]) if network else np.inf
        found = []
        for slack, room in zip(plain, (self.doors.up[who], self.doors.down[who]), strict=True):
            given = np.minimum(slack, _times(limit, self.opened)) if self.gated else slack
            if self.covered:
                far = np.minimum(room, _FAR)
                share = np.where(self.hidden >= 1.0 - _WHOLE, far, np.minimum(far, level) * self.hidden)
                given = np.minimum(given + share, far)
            found.append(np.minimum(given + self.wider if self.gated else given, limit))
        return found[0], found[1]

    def plain(self, who: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return an attacker's rooms up and down by what is published, hiding and gates left out."""
        if who not in self._plain:
            up, down = np.split(self.slack, 2)
            wider = 0.0 if self.gated else self.wider
            widest = self.doors.widest(who)
            self._plain[who] = (
                np.minimum(up + wider, np.minimum(widest[0], _FAR)),
                np.minimum(down + wider, np.minimum(widest[1], _FAR)),
            )
        return self._plain[who]

    @cached_property
    def own(self) -> NDArray[np.float64]:
        """How far the cell of every question may move by what is published about itself, ``(s,)``."""
        sides, modes = self.doors.sides, self.doors.modes
        columns, upward, who = sides.columns, sides.upward, sides.attackers
        room = np.where(upward, self.doors.up[who, columns], self.doors.down[who, columns])
        place = np.where(upward, columns, columns + len(self.hidden))
        most = self.doors.tables[4]
        opens = np.minimum(np.minimum(most[place], room), sides.levels)
        gates = modes.opening[columns] >= 0
        slack = self.slack[place]
        slack = np.where(gates, np.minimum(slack, opens * np.where(gates, self.opened[columns], 0.0)), slack)
        hides = np.where(modes.hiding[columns] >= 0, np.minimum(room, sides.levels) * self.hidden[columns], 0.0)
        return np.minimum(room, slack + hides)

    def wanted(self, sides: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how far cells need be pushed: no further than their level and what is published about themselves."""
        levels = self.doors.sides.levels[sides]
        return np.maximum(np.minimum(levels, self.own[sides]), levels * _NOTHING)

    def own_expression(self, k: int) -> Linear:
        """Return the same as an expression."""
        column = self.doors.sides.columns[k : k + 1]
        sign = 1.0 if self.doors.sides.upward[k] else -1.0
        return self._summed(k, (column, np.array([sign])), np.inf)

    def expression(self, k: int, ratios: Ratios, *, network: bool) -> Linear:
        """Return how far the cell in question moves at most, by ratios for its direction."""
        return self._summed(k, ratios, float(self.doors.sides.levels[k]) if network else np.inf)

    def _summed(self, k: int, ratios: Ratios, limit: float) -> Linear:
        """Return the sum of the smaller of slack and room, times r, with the choices that are best at the point."""
        doors, sides = self.doors, self.doors.sides
        who = int(sides.attackers[k])
        constant, touched, total = _smallest(
            *ratios,
            float(sides.levels[k]),
            limit,
            doors.up[who],
            doors.down[who],
            self.slack,
            self.hidden,
            self.v,
            *doors.tables,
        )
        columns = np.sort(touched)
        return Linear(constant, columns, total[columns])


def _times(limit: float, opened: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the limit times how far columns are opened; no limit where there is none."""
    return np.full(len(opened), np.inf) if np.isinf(limit) else limit * opened


@kernel()
def _smallest(
    columns: NDArray[np.int64],
    r: NDArray[np.float64],
    level: float,
    limit: float,
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    slack: NDArray[np.float64],
    hidden: NDArray[np.float64],
    v: NDArray[np.float64],
    starts: NDArray[np.int64],
    variables: NDArray[np.int64],
    data: NDArray[np.float64],
    constants: NDArray[np.float64],
    most: NDArray[np.float64],
    hiding: NDArray[np.int64],
    opening: NDArray[np.int64],
) -> tuple[float, NDArray[np.int64], NDArray[np.float64]]:
    """Return the sum over columns of r times the smaller of slack and room, as a linear expression of the variables.

    That is a constant, the variables that occur, and what each variable counts for, ``(len(v),)``.

    A column that is hidden opens its room, and one that a variable opens no more than its largest slack; neither need
    count for more than the level, because no other term is negative.
    """
    total = np.zeros(len(v), dtype=np.float64)
    seen = np.zeros(len(v), dtype=np.bool_)
    touched = np.empty(len(v), dtype=np.int64)
    count, constant, n = 0, 0.0, len(hidden)
    for k in range(len(columns)):
        column, size = columns[k], abs(r[k])
        if size == 0.0:
            continue
        side = column if r[k] > 0 else n + column
        room = min(up[column] if r[k] > 0 else down[column], limit)
        by_room, by_slack = size * room, size * slack[side]
        hides = min(by_room, level) if hiding[column] >= 0 else 0.0
        opens = min(size * min(most[side], room), level)
        gated = opening[column] >= 0 and opens * v[opening[column]] < by_slack
        if gated:
            by_slack = opens * v[opening[column]]
        if by_room <= by_slack + hides * hidden[column]:
            constant += by_room
            continue
        if gated:
            count = _put(total, seen, touched, count, opening[column], opens)
        else:
            constant += size * constants[side]
            for place in range(starts[side], starts[side + 1]):
                count = _put(total, seen, touched, count, variables[place], size * data[place])
        if hiding[column] >= 0:
            count = _put(total, seen, touched, count, hiding[column], hides)
    return constant, touched[:count], total


@inner(inline=True)
def _put(
    total: NDArray[np.float64],
    seen: NDArray[np.bool_],
    touched: NDArray[np.int64],
    count: int,
    variable: int,
    value: float,
) -> int:
    """Add a term; return how many variables have one."""
    if not seen[variable]:
        seen[variable] = True
        touched[count] = variable
        count += 1
    total[variable] += value
    return count


@kernel()
def _merged(
    columns: NDArray[np.int64], values: NDArray[np.float64], more: NDArray[np.int64], terms: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the sum of two sparse vectors whose columns increase."""
    most = len(columns) + len(more)
    out, total = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.float64)
    i, j, count = 0, 0, 0
    while i < len(columns) or j < len(more):
        first = j == len(more) or (i < len(columns) and columns[i] <= more[j])
        second = i == len(columns) or (j < len(more) and more[j] <= columns[i])
        out[count] = columns[i] if first else more[j]
        total[count] = (values[i] if first else 0.0) + (terms[j] if second else 0.0)
        i += 1 if first else 0
        j += 1 if second else 0
        count += 1
    return out[:count], total[:count]
