"""Costs as whole numbers of their smallest step, so that a bound can be rounded up to what a pattern can cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.table.fixed import shortest_decimals

_MOST_DECIMALS = 6
_EXACT = 2.0**52
_CLOSE = 1e-9
"""Two costs that are relatively closer than this are the same, where costs have no step."""

_NOISE = 1e-6
"""By how much of a step a solver's bound may be too high."""


@dataclass(frozen=True, slots=True)
class Step:
    """The step of which all costs are multiples.

    Parameters
    ----------
    size
        The step, 0 where there is none.
    """

    size: float

    @classmethod
    def of(cls, cost: NDArray[np.float64]) -> Step:
        """Return the largest step of which all costs are multiples."""
        positive = cost[cost > 0]
        decimals = shortest_decimals(positive) if len(positive) else None
        if decimals is None or decimals > _MOST_DECIMALS or positive.max() * 10.0**decimals * len(cost) >= _EXACT:
            return cls(0.0)
        return cls(math.gcd(*np.unique(np.rint(positive * 10**decimals).astype(np.int64)).tolist()) / 10**decimals)

    def raised(self, bound: float) -> float:
        """Return the lowest cost that is possible with this bound."""
        if not self.size or not math.isfinite(bound):
            return bound
        return math.ceil(bound / self.size - _NOISE) * self.size

    def below(self, cost: float) -> float:
        """Return the highest bound that leaves something cheaper than a cost: at more, the cost is optimal."""
        return cost - self.size + _NOISE * self.size if self.size else cost - _CLOSE * abs(cost)
