"""The decimals on which ranges end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.tolerance import ENDLESS

NEAR = 1e-5
"""A slack that exceeds a point of the grid by no more, in its units, ends there; the audit has the last word."""

NEAR_SHARE = 1e-9
"""The same relative to the slack."""

SEARCHED = 5e-7
"""The same for slacks that a search proposes: it reaches levels to no more than this part."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The decimals in which ends are counted (`fine`) and published, and which columns have whole ends anyway."""

    task: ProtectionProblem
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
        """How many fine counts a count of the task is."""
        return int(10 ** (self.fine - self.task.decimals))

    def room(self, rooms: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the widest room of any attacker in fine counts."""
        widest = rooms.max(axis=0)
        return np.where(widest >= ENDLESS // self.factor, ENDLESS, widest * self.factor)

    def outward(
        self, slack: NDArray[np.float64], room: NDArray[np.int64], near: float = NEAR_SHARE
    ) -> NDArray[np.int64]:
        """Return slacks in fine counts, rounded up unless they exceed a count by next to nothing."""
        counts = slack * self.factor
        return np.minimum(np.ceil(counts - (NEAR + near * counts)), room).astype(np.int64).clip(0)

    def exact(self, slack: NDArray[np.float64]) -> bool:
        """Return whether slacks lie on the published decimals; those of counts will."""
        counts = slack[~self.counts] * self.factor / 10 ** (self.fine - self.published)
        return bool(np.all(np.abs(counts - np.rint(counts)) <= NEAR + SEARCHED * counts))
