"""Flipping: search around the incumbent, one whole number of 0 or 1 at a time, the most promising first.

With the whole numbers of the incumbent fixed, the master is a linear program, and its reduced costs say for each of
them how much would be gained at most, were it the other one: no more, by weak duality, because the master is a
relaxation. So few are worth trying, and most of these end after a few cuts, which show that they are dearer. The first
that is cheaper is the next incumbent (*1-opt*), until none is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from celosia.protection.engine.heuristics.diving import Diving
    from celosia.protection.engine.modes.cutting_planes import ModeCuttingPlanes


class Flipping:
    """Searches around the incumbent.

    Parameters
    ----------
    cutting
        Has the relaxed master.
    diving
        Completes points whose whole numbers are fixed.
    """

    def __init__(self, cutting: ModeCuttingPlanes, diving: Diving) -> None:
        self._incumbent, self._stop, self._relaxation = cutting.incumbent, cutting.stop, cutting.relaxation
        self._diving, self._modes, self._parameters = diving, cutting.modes, cutting.parameters
        program, integers = cutting.modes.program, cutting.modes.integers
        self._integers, self._binary = integers, (program.lower[integers] >= 0) & (program.upper[integers] <= 1)

    def run(self) -> None:
        """Flip until nothing is gained, in a share of the time that is left.

        In large tables only, and not where cells form no networks: there completing one point may take minutes.
        """
        small = len(self._modes.hiding) < self._parameters.hiding_columns
        if small or self._relaxation.separator.has_programs:
            return
        left = self._stop.left
        late = 0.0 if math.isinf(left) else (1.0 - self._parameters.flipping_share) * left
        best = None
        while self._incumbent.best is not best and not self._stop.reached:
            best = self._incumbent.best
            if best is not None:
                self._flip_one(best, late)

    def _flip_one(self, best: NDArray[np.float64], late: float) -> None:
        """Flip one after the other until one makes a better incumbent, or so many seconds are left."""
        for variable in self._promising(best):
            if self._stop.left <= late:
                return
            v = best.copy()
            v[variable] = 1.0 - np.rint(v[variable])
            self._diving.complete(v, self._parameters.flipping_gain)
            if self._incumbent.best is not best:
                return

    def _promising(self, best: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the variables that may gain something, if they are flipped, those that may gain most first."""
        self._relaxation.fix_by_reduced_costs()
        master, integers = self._relaxation.master, self._integers
        now = np.rint(best[integers])
        try:
            master.fix(integers, now)
            point = self._relaxation.solve()
        finally:
            master.release()
        if point is None:
            return integers[:0]
        known = self._incumbent.cost - (self._incumbent.base + point.bound)  # next to nothing, where cuts are many
        gain = known + np.where(now > 0, point.reduced[integers], -point.reduced[integers])
        other = 1.0 - now
        possible = self._binary & (other >= master.lower[integers]) & (other <= master.upper[integers])
        worth = possible & (gain > self._parameters.flipping_gain * abs(self._incumbent.cost))
        order = np.argsort(-gain, kind="stable")
        return integers[order[worth[order]]]
