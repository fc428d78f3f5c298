r"""Upper and lower slacks at a point of the master, capped by each attacker's bounds, and how far they let a cell move.

For multipliers with :math:`d_p = \sum_{i \ne p} r_i d_i` (see `celosia.protection.engine.capacity`) cell p moves
up by at most

.. math:: \sum_{r_i > 0} r_i \min(\mathrm{UB}_i^k, \text{upper slack}_i(v)) +
          \sum_{r_i < 0} |r_i| \min(\mathrm{LB}_i^k, \text{lower slack}_i(v)),

and term by term both choices are valid: these are the :math:`\alpha^1, \alpha^2, \beta^1, \beta^2` of Salazar (2002),
(10) and (11). The smaller one at the point makes the expression. In a network a flow of one level never needs more than
that level of any cell, so capacities end there (thesis 3.28 with the smallest M).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.subproblems.requirements import SideRequirements
from celosia.tolerance import DOUBLE_ROUNDING, HIDDEN_FULLY, LARGEST_CAPACITY, LEAST_MOVE, SUM_ROUNDING

if TYPE_CHECKING:
    from celosia.protection.engine.modes.modes import Modes

Ratios = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Columns, and how far the target cell moves with each."""

UpDown = tuple[NDArray[np.float64], NDArray[np.float64]]
"""How far every column may move up, and how far down, ``(n,)`` each."""


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
        """Return the sum of two expressions."""
        return Linear(
            self.constant + other.constant, *_add_sparse(self.columns, self.values, other.columns, other.values)
        )

    def demand(self, level: float, binary: NDArray[np.bool_], step: float) -> Cut:
        """Return the cut that demands that it is at least a level, its coefficients rounded up to steps.

        Where no term is negative, a variable that is 0 or 1 need not count for more than all that is missing (Salazar
        2002, section 7).
        """
        right, total = self._reduce(level, binary)
        return _round_cut(self.columns, total, right, level * step, step)

    def demand_if(self, level: float, gates: NDArray[np.int64], binary: NDArray[np.bool_], step: float) -> Cut:
        """Return the cut that demands the same where one of some variables is 1, and nothing where all are 0.

        Guarantee: where the expression is never negative, and no two of the variables are 1, points of whole numbers
        that satisfy the demand satisfy the cut (Salazar 2002, section 7: a level :math:`l x`).
        """
        right, total = self._reduce(level, binary)
        if right > 0 and bool((total >= 0).all()):
            asked, rest = right, 0.0
        else:  # without a constant the side is zero, and no tiny number, by which solvers would scale the row
            asked, rest = (
                level,
                -self.constant - (SUM_ROUNDING * (level + abs(self.constant)) if self.constant else 0.0),
            )
        columns, values = _add_sparse(self.columns, total, np.sort(gates), np.full(len(gates), -asked))
        return _round_cut(columns, values, rest, level * step, step)

    def _reduce(self, level: float, binary: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
        """Return what is missing to a level, and coefficients of which binary ones are no larger."""
        right = level - self.constant - SUM_ROUNDING * (level + abs(self.constant))
        if right > 0 and bool((self.values >= 0).all()):
            return right, np.where(binary[self.columns], np.minimum(self.values, right), self.values)
        return right, self.values


def _round_cut(columns: NDArray[np.int64], values: NDArray[np.float64], right: float, least: float, step: float) -> Cut:
    """Return a cut whose coefficients are rounded up to steps; they are in parts of the largest, or of the least."""
    scale = max(float(np.abs(values).max(initial=0.0)), least)
    exact = values / (scale * step)
    rounded_up = np.ceil(exact * (1 + np.sign(exact) * DOUBLE_ROUNDING))
    raised = np.where(exact == np.rint(exact), exact, rounded_up) * step
    kept = raised != 0
    return Cut(columns[kept], raised[kept], right / scale)


@dataclass(frozen=True, eq=False)
class SlackBounds:
    """The largest slacks that modes allow, and the attackers' bounds, prepared for many points.

    Parameters
    ----------
    modes
        What may be published.
    sides
        The subproblems: one for every side of a requirement, with levels in units.
    up, down
        The attackers' bounds UB and LB in units, infinite where there is none, ``(k, n)`` each.
    """

    modes: Modes
    sides: SideRequirements
    up: NDArray[np.float64]
    down: NDArray[np.float64]

    @cached_property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Slacks by variables, first up and then down, for `_smallest`."""
        modes = self.modes
        by_variable = sp.csr_array(sp.vstack([modes.up, modes.down]))
        constants = np.concatenate([modes.up_constant, modes.down_constant])
        most = constants + by_variable.maximum(0) @ np.minimum(modes.program.upper, LARGEST_CAPACITY)
        starts, variables = by_variable.indptr.astype(np.int64), by_variable.indices.astype(np.int64)
        return starts, variables, by_variable.data, constants, most, modes.hiding, modes.opening

    @property
    def largest_slacks(self) -> NDArray[np.float64]:
        """The largest slack of every column by variables other than hiding, first up and then down, ``(2 n,)``."""
        return np.asarray(self.arrays[4])

    def largest_capacities(self, attacker: int) -> UpDown:
        """Return how far columns can move for an attacker whatever is published."""
        up, down = np.split(self.largest_slacks, 2)
        hides = self.modes.hiding >= 0
        return (
            np.where(hides, self.up[attacker], np.minimum(self.up[attacker], up)),
            np.where(hides, self.down[attacker], np.minimum(self.down[attacker], down)),
        )


@dataclass(frozen=True, eq=False)
class SlacksAt:
    """Upper and lower slack of every column at a point, and the capacities that they leave each attacker.

    Parameters
    ----------
    bounds
        The largest slacks, and the attackers' bounds.
    v
        The point.
    slack
        Slacks by published numbers, first up and then down, ``(2 n,)``.
    hidden
        By how much every column is hidden, ``(n,)``.
    opened
        By how much every column is opened by a variable of its own, infinite where it needs none, ``(n,)``.
    widening
        By how much all slacks are taken to be wider, ``(n,)``.
    """

    bounds: SlackBounds
    v: NDArray[np.float64]
    slack: NDArray[np.float64]
    hidden: NDArray[np.float64]
    opened: NDArray[np.float64]
    widening: NDArray[np.float64]
    _published: dict[int, UpDown] = field(default_factory=dict)

    @classmethod
    def of(cls, bounds: SlackBounds, v: NDArray[np.float64], widening: NDArray[np.float64]) -> SlacksAt:
        """Return the slacks at a point."""
        modes = bounds.modes
        opened = np.where(modes.opening >= 0, v[np.maximum(modes.opening, 0)], np.inf)
        return cls(bounds, v, np.concatenate(modes.slacks(v)), modes.hidden_shares(v), opened, widening)

    @cached_property
    def needs_opening(self) -> bool:
        """Whether some columns have no slack unless a variable opens them."""
        return bool(np.isfinite(self.opened).any())

    @cached_property
    def hides_some(self) -> bool:
        """Whether some columns are hidden."""
        return bool(self.hidden.any())

    @property
    def shared(self) -> bool:
        """Whether an attacker's capacities are the same in all subproblems, whatever their levels."""
        return not self.needs_opening and not self.hides_some

    def capacities(self, k: int) -> UpDown:
        """Return how far every column can move in a subproblem."""
        if self.shared:
            return self.published_capacities(int(self.bounds.sides.attackers[k]))
        up, down = self.capacities_of_many(np.array([k]), network=False)
        return up[0], down[0]

    def capacities_of_many(self, chosen: NDArray[np.int64], *, network: bool) -> UpDown:
        """Return how far columns can move in each of some subproblems, ``(k, n)``; in a network no further than levels.

        Where capacities are shared, those of networks are left to the flow to cut off.
        """
        attackers, level = self.bounds.sides.attackers[chosen], self.bounds.sides.levels[chosen][:, None]
        who, place = np.unique(attackers, return_inverse=True)
        published = [np.array(side) for side in zip(*map(self.published_capacities, who.tolist()), strict=True)]
        if self.shared:
            return published[0][place], published[1][place]
        found = []
        for slack, bound in zip(published, (self.bounds.up, self.bounds.down), strict=True):
            given = slack[place]
            if self.needs_opening and network:
                np.minimum(given, level * self.opened, out=given)
            if self.hides_some:
                far = np.minimum(bound[who], LARGEST_CAPACITY)[place]
                share = np.minimum(far, level)
                share *= self.hidden
                given += np.where(self.hidden >= 1.0 - HIDDEN_FULLY, far, share)
                np.minimum(given, far, out=given)
            if self.needs_opening:
                given += self.widening
            found.append(np.minimum(given, level, out=given) if network else given)
        return found[0], found[1]

    def published_capacities(self, attacker: int) -> UpDown:
        """Return an attacker's capacities by published numbers alone, hiding and opening left out."""
        if attacker not in self._published:
            up, down = np.split(self.slack, 2)
            widening = 0.0 if self.needs_opening else self.widening
            largest = self.bounds.largest_capacities(attacker)
            self._published[attacker] = (
                np.minimum(up + widening, np.minimum(largest[0], LARGEST_CAPACITY)),
                np.minimum(down + widening, np.minimum(largest[1], LARGEST_CAPACITY)),
            )
        return self._published[attacker]

    @cached_property
    def own(self) -> NDArray[np.float64]:
        """How far the target cell of every subproblem may move by what is published about itself, ``(s,)``."""
        sides, modes = self.bounds.sides, self.bounds.modes
        columns, upward, attackers = sides.columns, sides.upward, sides.attackers
        bound = np.where(upward, self.bounds.up[attackers, columns], self.bounds.down[attackers, columns])
        place = np.where(upward, columns, columns + len(self.hidden))
        opens = np.minimum(np.minimum(self.bounds.largest_slacks[place], bound), sides.levels)
        gates = modes.opening[columns] >= 0
        slack = self.slack[place]
        slack = np.where(gates, np.minimum(slack, opens * np.where(gates, self.opened[columns], 0.0)), slack)
        hides = np.where(modes.hiding[columns] >= 0, np.minimum(bound, sides.levels) * self.hidden[columns], 0.0)
        return np.minimum(bound, slack + hides)

    def targets(self, sides: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how far subproblems push their cell: to its level, or as far as is published about the cell itself."""
        levels = self.bounds.sides.levels[sides]
        return np.maximum(np.minimum(levels, self.own[sides]), levels * LEAST_MOVE)

    def own_expression(self, k: int) -> Linear:
        """Return how far the target cell moves by what is published about itself, as an expression."""
        column = self.bounds.sides.columns[k : k + 1]
        sign = 1.0 if self.bounds.sides.upward[k] else -1.0
        return self._sum_of_smaller(k, (column, np.array([sign])), np.inf)

    def expression(self, k: int, ratios: Ratios, *, network: bool) -> Linear:
        """Return how far the target cell moves at most, by ratios for its direction, as an expression."""
        return self._sum_of_smaller(k, ratios, float(self.bounds.sides.levels[k]) if network else np.inf)

    def _sum_of_smaller(self, k: int, ratios: Ratios, limit: float) -> Linear:
        """Return the sum of the smaller of slack and bound, times r, with the choices that are best at the point."""
        bounds, sides = self.bounds, self.bounds.sides
        attacker = int(sides.attackers[k])
        constant, touched, total = _smallest(
            *ratios,
            float(sides.levels[k]),
            limit,
            bounds.up[attacker],
            bounds.down[attacker],
            self.slack,
            self.hidden,
            self.v,
            *bounds.arrays,
        )
        columns = np.sort(touched)
        return Linear(constant, columns, total[columns])


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
def _add_sparse(
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
