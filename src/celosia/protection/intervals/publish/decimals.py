"""The decimals on which ranges end, and how ends are rounded outward to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.method import Intervals
from celosia.tolerance import END_ON_GRID, END_ON_GRID_SHARE, ENDLESS, SEARCHED_END_ON_GRID_SHARE


@dataclass(frozen=True, slots=True, eq=False)
class EndGrid:
    """The decimals in which ends are counted (`fine`) and published, and which columns have whole ends anyway."""

    problem: ProtectionProblem
    fine: int
    published: int
    counts: NDArray[np.bool_]

    @property
    def step(self) -> NDArray[np.int64]:
        """The grid in fine counts, ``(n,)``."""
        coarse, fine = np.int64(10**self.fine), np.int64(10 ** (self.fine - self.published))
        return np.where(self.counts, coarse, fine)

    @property
    def factor(self) -> int:
        """Fine counts in one count of the problem."""
        return int(10 ** (self.fine - self.problem.decimals))

    def bound(self, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the widest bound of any attacker, ``(k, n)``, in fine counts, ``(n,)``."""
        widest = bounds.max(axis=0)
        return np.where(widest >= ENDLESS // self.factor, ENDLESS, widest * self.factor)

    def round_up(
        self, slack: NDArray[np.float64], bound: NDArray[np.int64], near: float = END_ON_GRID_SHARE
    ) -> NDArray[np.int64]:
        """Return slacks in fine counts, rounded up unless they exceed a count by a tolerance, and within a bound.

        The tolerance is no more than a count: of large numbers it would be more than what is missing.
        """
        counts = np.minimum(slack * self.factor, float(ENDLESS))
        rounded = np.ceil(counts - (END_ON_GRID + np.minimum(near * counts, 1.0))).astype(np.int64)
        return np.minimum(rounded, bound).clip(0)

    def add(self, ends: NDArray[np.int64], more: NDArray[np.float64], bound: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return slacks in fine counts, longer by slacks in counts of the problem, rounded up, within a bound."""
        longer = np.ceil(np.minimum(more * self.factor, float(ENDLESS)) - END_ON_GRID).astype(np.int64).clip(0)
        return np.asarray(np.maximum(ends, np.minimum(ends + longer, bound)))

    def contains(self, slack: NDArray[np.float64]) -> bool:
        """Return whether slacks lie on the published decimals; those of counts are rounded to them anyway."""
        counts = slack[~self.counts] * self.factor / 10 ** (self.fine - self.published)
        return bool(np.all(np.abs(counts - np.rint(counts)) <= END_ON_GRID + SEARCHED_END_ON_GRID_SHARE * counts))


def round_outward(count: int, decimals: int, method: Intervals, *, up: bool) -> int:
    """Return an end rounded outward to the significant digits or the base of a method, in the same counts."""
    if method.base is not None:
        base = Fraction(str(method.base)) * 10**decimals
    else:
        size = max(0, len(str(abs(count))) - (method.digits or 1)) if count else 0
        base = Fraction(10**size)
    steps = count / base
    rounded: Fraction = (math.ceil(steps) if up else math.floor(steps)) * base
    return math.ceil(rounded) if up else math.floor(rounded)
