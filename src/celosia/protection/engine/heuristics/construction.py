r"""Construction of patterns requirement by requirement: the cheapest moves to each level, guided by the master's point.

The cells that a move uses are hidden; so for every requirement in turn

.. math:: \min \sum_i c_i (d_i^+ + d_i^-) \quad\text{s.t.}\quad M (d^+ - d^-) = 0,\; d_p = \pm\text{level},

within the attacker's bounds, where cells that are hidden already cost nothing (Fischetti and Salazar 2000, section 5).
Solving once more with costs divided by how far each cell moved comes closer to a cost per cell (slope scaling).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.parameters import PARAMETERS, HeuristicParameters
from celosia.protection.engine.subproblems.reroute import open_shortest_moves
from celosia.solve.backend import Backend, Method, Model
from celosia.tolerance import MOVE_ZERO, UNBOUNDED

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.subproblems.requirements import SideRequirements


class ConstructedPattern(NamedTuple):
    """A pattern, and witnesses of the requirements in it, ``(s, n)``."""

    pattern: NDArray[np.bool_]
    witnesses: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Construction:
    """Constructs patterns from some columns of a problem.

    Parameters
    ----------
    builder
        Knows the attackers' bounds.
    sides
        The requirements, none of them sliding.
    columns
        The columns that may be hidden, increasing.
    model
        The open program: a column up and a column down for each.
    parameters
        How prices are made.
    """

    builder: CutBuilder
    sides: SideRequirements
    columns: NDArray[np.int64]
    model: Model
    parameters: HeuristicParameters = PARAMETERS.heuristics

    @classmethod
    def of(
        cls,
        builder: CutBuilder,
        sides: SideRequirements,
        columns: NDArray[np.int64],
        backend: Backend,
        parameters: HeuristicParameters = PARAMETERS.heuristics,
    ) -> Construction:
        """Return the construction from some columns."""
        return cls(builder, sides, columns, open_shortest_moves(builder, columns, backend), parameters)

    def construct(
        self,
        hidden: NDArray[np.bool_],
        cost: NDArray[np.float64],
        order: NDArray[np.int64],
        late: Callable[[], bool],
        *,
        quickly: bool = False,
    ) -> ConstructedPattern | None:
        """Return a pattern that hides at least `hidden` and satisfies all requirements, None where one cannot be.

        Parameters
        ----------
        hidden
            Columns of the problem that are hidden already, ``(n,)``.
        cost
            What hiding each column seems to cost, ``(n,)``.
        order
            The order of the requirements.
        late
            Tells when to give up.
        quickly
            Take the first move that is found, without slope scaling.
        """
        own = hidden[self.columns].copy()
        prices = np.maximum(cost[self.columns], self.parameters.least_price)
        cheap = self.parameters.price_of_hidden * float(np.median(prices))
        moves: list[NDArray[np.float64]] = []
        witnesses = np.zeros((len(self.sides), len(hidden)))
        for k in order.tolist():
            if late():
                return None
            bounds = self._bounds(k)
            known = next((move for move in moves if self._is_witness(move, k, bounds, own)), None)
            if known is not None:
                witnesses[k, self.columns] = self._scale(known, k) * self.sides.levels[k]
                continue
            move = self._find_cheapest(k, bounds, np.where(own, cheap, prices), "afresh")
            if move is None:
                return None
            other = None
            if not quickly:
                steep = np.where(own, cheap, prices / np.maximum(np.abs(move), self.parameters.least_move))
                other = self._find_cheapest(k, bounds, steep, "auto")
            used = [np.abs(one) > MOVE_ZERO for one in (move, other) if one is not None]
            best = min(range(len(used)), key=lambda place: float(prices[used[place] & ~own].sum()))
            own |= used[best]
            best_move = move if best == 0 or other is None else other
            moves.append(best_move * self.sides.levels[k])
            witnesses[k, self.columns] = moves[-1]
        pattern = hidden.copy()
        pattern[self.columns[own]] = True
        return ConstructedPattern(pattern, witnesses)

    def _bounds(self, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the bounds L and U of the attacker of a requirement, in parts of its level."""
        who, level = int(self.sides.attackers[k]), float(self.sides.levels[k])
        bounds = (self.builder.down[who][self.columns] / level, self.builder.up[who][self.columns] / level)
        return np.minimum(bounds[0], UNBOUNDED), np.minimum(bounds[1], UNBOUNDED)

    def _is_witness(
        self,
        move: NDArray[np.float64],
        k: int,
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
        own: NDArray[np.bool_],
    ) -> bool:
        """Return whether a known move, scaled to a requirement's level and direction, is a witness of it."""
        target = int(np.searchsorted(self.columns, self.sides.columns[k]))
        level = float(self.sides.levels[k])
        if abs(move[target]) < MOVE_ZERO * level:
            return False
        scaled = self._scale(move, k)
        return bool(np.all((scaled <= bounds[1]) & (-scaled <= bounds[0]) & (own | (np.abs(scaled) <= MOVE_ZERO))))

    def _scale(self, move: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Return a move scaled to a requirement's level, in parts of it."""
        target = int(np.searchsorted(self.columns, self.sides.columns[k]))
        return np.asarray(move / move[target] * (1.0 if self.sides.upward[k] else -1.0))

    def _find_cheapest(
        self,
        k: int,
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
        prices: NDArray[np.float64],
        method: Method,
    ) -> NDArray[np.float64] | None:
        """Return the cheapest move that reaches a level, in parts of it; None where there is none."""
        target = int(np.searchsorted(self.columns, self.sides.columns[k]))
        n = len(self.columns)
        everyone = np.arange(2 * n)
        if method == "afresh":
            down, up = bounds
            lower, upper = np.zeros(2 * n), np.concatenate([up, down])
            upward = bool(self.sides.upward[k])
            upper[[target, n + target]] = 1.0 * upward, 1.0 * (not upward)
            lower[[target, n + target]] = upper[[target, n + target]]
            self.model.change_bounds(everyone, lower, upper)
        self.model.change_costs(everyone, np.concatenate([prices, prices]))
        found = self.model.solve(method=method, duals=False)
        return None if found.x is None else found.x[:n] - found.x[n:]
