"""One question about a component with whole numbers, and how it is set in an open model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.fractions import Whole
from celosia.solve.backend import Model
from celosia.solve.problem import float_bounds
from celosia.tolerance import ENDLESS

_BEYOND = 1_000_000  # how far past the limit a whole table is looked for: tables may jump over it

Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Lower and upper ones of moves, ``(n,)`` each, at or beyond `ENDLESS` in size where there is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question how far an attacker can move a cell up (sign 1) or down (-1); a move by the limit answers it."""

    target: int
    sign: int
    limit: int

    def reach(self, moves: Whole) -> int:
        """Return how far a table moves the cell."""
        return self.sign * int(moves[self.target])

    @property
    def far(self) -> int:
        """The furthest move for which a table is searched: tables in whole numbers may jump over the limit."""
        return ENDLESS if self.limit >= ENDLESS else min(ENDLESS, self.limit + _BEYOND)

    def within(self, bounds: Bounds, least: int, most: int) -> Bounds:
        """Return bounds with the cell's own between two distances."""
        lower, upper = bounds[0].copy(), bounds[1].copy()
        ends = (least, most) if self.sign > 0 else (-most, -least)
        lower[self.target], upper[self.target] = ends
        return lower, upper

    def set_question(self, model: Model, bounds: Bounds) -> None:
        """Give a model the objective of this question and bounds of the cell."""
        target = np.array([self.target])
        model.change_bounds(target, float_bounds(bounds[0][target]), float_bounds(bounds[1][target]))
        model.change_costs(target, np.array([-float(self.sign)]))

    def unset_question(self, model: Model, bounds: Bounds) -> None:
        """Take objective and bounds of this question out of a model."""
        target = np.array([self.target])
        model.change_bounds(target, float_bounds(bounds[0][target]), float_bounds(bounds[1][target]))
        model.change_costs(target, np.zeros(1))
