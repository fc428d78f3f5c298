"""The step of which all costs are multiples: a bound can be rounded up to the next cost that a pattern can have."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.table.fixed import shortest_decimals
from celosia.tolerance import COST_DECIMALS, EXACT_DOUBLE, SAME_COST, STEP_ROUNDING


@dataclass(frozen=True, slots=True)
class CostStep:
    """The step of which all costs are multiples.

    Parameters
    ----------
    size
        The step, 0 where there is none.
    """

    size: float

    @classmethod
    def of(cls, cost: NDArray[np.float64]) -> CostStep:
        """Return the largest step of which all costs are multiples."""
        positive = cost[cost > 0]
        decimals = shortest_decimals(positive) if len(positive) else None
        if decimals is None or decimals > COST_DECIMALS or positive.max() * 10.0**decimals * len(cost) >= EXACT_DOUBLE:
            return cls(0.0)
        return cls(math.gcd(*np.unique(np.rint(positive * 10**decimals).astype(np.int64)).tolist()) / 10**decimals)

    def raise_bound(self, bound: float) -> float:
        """Return the lowest cost that is not below a bound."""
        if not self.size or not math.isfinite(bound):
            return bound
        return math.ceil(bound / self.size - STEP_ROUNDING) * self.size

    def below(self, cost: float) -> float:
        """Return the highest bound that leaves something cheaper than a cost: at more, the cost is optimal."""
        return cost - self.size + STEP_ROUNDING * self.size if self.size else cost - SAME_COST * abs(cost)
