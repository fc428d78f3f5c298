"""The model of the splitting method: costs, bounds and levels of ranges in the places of a product of trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.formulation import Prices
from celosia.tolerance import ENDLESS, SUM_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class SplittingModel:
    """Costs, bounds and levels of ranges in all places of a product table or in some; the unit is the mean level.

    Parameters
    ----------
    down_cost, up_cost
        What a unit of width below and above the truth costs, ``(n,)`` each.
    down, up
        The attacker's bounds, infinite where there is none, zero where a place is no range, ``(n,)`` each.
    targets
        The sensitive places, ``(q,)``.
    lower, upper, sliding
        Their levels: a sliding one, or separate ones where that is zero, ``(q,)`` each.
    """

    down_cost: NDArray[np.float64]
    up_cost: NDArray[np.float64]
    down: NDArray[np.float64]
    up: NDArray[np.float64]
    targets: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    sliding: NDArray[np.float64]

    def restrict(self, places: NDArray[np.int64], members: NDArray[np.int64] | None = None) -> SplittingModel:
        """Return the model of some places, and of some targets, which are among them; by default of all targets."""
        of = np.full(len(self.up), -1, dtype=np.int64)
        of[places] = np.arange(len(places))
        some = np.arange(len(self.targets)) if members is None else members
        return SplittingModel(
            self.down_cost[places],
            self.up_cost[places],
            self.down[places],
            self.up[places],
            of[self.targets[some]],
            self.lower[some],
            self.upper[some],
            self.sliding[some],
        )

    @property
    def aims(self) -> NDArray[np.float64]:
        """How far its two tables move every target, ``(2, q)``; only their difference counts if its level slides."""
        slides = self.sliding > 0
        return np.stack(
            [np.where(slides, self.sliding / 2, self.upper), -np.where(slides, self.sliding / 2, self.lower)]
        )

    def cost(self, down: NDArray[np.float64], up: NDArray[np.float64]) -> float:
        """Return what ranges cost."""
        return float(self.down_cost @ down + self.up_cost @ up)

    def weak_bound(self, down: NDArray[np.float64], up: NDArray[np.float64], worth: float) -> float:
        """Return the lower bound by weak duality from a combination of cuts: its coefficients and its right side."""
        left = self.down_cost - down, self.up_cost - up
        low = 0.0
        for reduced, bound in zip(left, (self.down, self.up), strict=True):
            negative = (reduced < 0) & (bound > 0)
            if bool(np.isinf(bound[negative]).any()):
                return -np.inf
            low += float(reduced[negative] @ bound[negative])
        below, above = (np.maximum(reduced[self.targets], 0.0) for reduced in left)
        slides = self.sliding > 0
        own = float(
            np.where(slides, np.minimum(below, above) * self.sliding, below * self.lower + above * self.upper).sum()
        )
        return worth + low + own - SUM_ROUNDING * (worth - low + own)


@dataclass(frozen=True, slots=True, eq=False)
class SplittingCuts:
    """A cut for every target: coefficients down and up, ``(n, q)`` each, and right sides, ``(q,)``; zero for no cut."""

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    right: NDArray[np.float64]


def model_of(
    problem: ProtectionProblem, prices: Prices, place: NDArray[np.int64], n: int
) -> tuple[SplittingModel, float]:
    """Return the model of a problem in the places of a product, and the mean level in counts."""
    requirements = problem.requirements
    levels = np.zeros((3, len(problem)))
    slides = requirements.sliding > requirements.up + requirements.down
    for level, own in zip(
        levels, (requirements.down, requirements.up, np.where(slides, requirements.sliding, 0)), strict=True
    ):
        np.maximum.at(level, requirements.columns, own)
    targets = np.flatnonzero(levels.any(axis=0))
    unit = float(np.maximum(levels[0] + levels[1], levels[2])[targets].mean())

    def spread(side: NDArray[np.float64], elsewhere: float) -> NDArray[np.float64]:
        out = np.full(n, elsewhere)
        out[place] = side
        return out

    price = unit / 10**problem.decimals
    down, up = (np.where(bound[0] >= ENDLESS, np.inf, bound[0] / unit) for bound in (problem.down, problem.up))
    return SplittingModel(
        spread(prices.down * price, 1.0),
        spread(prices.up * price, 1.0),
        spread(down, 0.0),
        spread(up, 0.0),
        place[targets],
        levels[0, targets] / unit,
        levels[1, targets] / unit,
        levels[2, targets] / unit,
    ), unit
