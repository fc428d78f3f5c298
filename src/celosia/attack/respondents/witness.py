"""Tables in which cells have moved: what proves that a target is safe from a coalition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.fractions import Whole
from celosia.tolerance import ENDLESS


@dataclass(frozen=True, eq=False)
class WitnessMoves:
    """A table that satisfies every relation, as moves of some columns of a system.

    Parameters
    ----------
    columns
        Which move, increasing, ``(k,)``.
    moves
        How far, times `denominator`, ``(k,)``.
    denominator
        In which fraction of a count.
    """

    columns: NDArray[np.int64]
    moves: Whole
    denominator: int

    def of(self, column: int) -> int:
        """Return how far a column moves, times the denominator."""
        return self._by_column.get(column, 0)

    def inside(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> bool:
        """Return whether all columns, those that do not move too, lie between bounds, ``(n,)`` each."""
        low, high = lower[self.columns], upper[self.columns]
        below = (high >= ENDLESS) | (-(-self.moves // self.denominator) <= high)
        above = (low <= -ENDLESS) | (self.moves // self.denominator >= low)
        forced = int(np.count_nonzero((lower > 0) | (upper < 0)))
        here = int(np.count_nonzero((low > 0) | (high < 0)))
        return bool(np.all(below & above)) and forced == here

    @cached_property
    def largest(self) -> int:
        """The size of the largest move, times the denominator."""
        return max(int(self.moves.max(initial=0)), -int(self.moves.min(initial=0)))

    @cached_property
    def _by_column(self) -> dict[int, int]:
        return dict(zip(self.columns.tolist(), self.moves.tolist(), strict=True))
