"""Diving: fix whole numbers of the relaxed master one part after another, cutting in between, down to a safe point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.tolerance import GAP_CLOSED, INTEGRAL

if TYPE_CHECKING:
    from celosia.protection.engine.heuristics.widening import Widening
    from celosia.protection.engine.master import Point
    from celosia.protection.engine.modes.cutting_planes import ModeCuttingPlanes


class Diving:
    """Finds safe points with whole numbers: those of fractional points of the master, rounded, and completed.

    Parameters
    ----------
    cutting
        Cuts points of the master off.
    widening
        Makes points safe whose whole numbers are fixed.
    """

    def __init__(self, cutting: ModeCuttingPlanes, widening: Widening) -> None:
        self._cutting, self._widening, self._modes = cutting, widening, cutting.modes
        self._incumbent, self._stop, self._parameters = cutting.incumbent, cutting.stop, cutting.parameters

    def complete(self, v: NDArray[np.float64], worth: float = 0.0) -> None:
        """Offer the cheapest safe point with the whole numbers of another, where there is one that is worth it."""
        master, integers = self._cutting.relaxation.master, self._modes.integers
        try:
            master.fix(integers, np.rint(v[integers]))
            self._cutting.cut(self._widening.repair, worth)
        finally:
            master.release()

    def round_hiding(self, point: Point) -> None:
        """Hide the columns that a fractional point hides by more than a share, and what pays then, in a large table."""
        hiding, integers = self._modes.hiding, self._modes.integers
        if len(hiding) < self._parameters.hiding_columns or not bool((hiding >= 0).any()):
            return
        self._hide_dear_ranges()
        for share in self._parameters.hiding_shares:
            v, before = point.x.copy(), self._incumbent.cost
            v[integers] = np.where(v[integers] >= share, np.ceil(v[integers]), 0.0)
            self.complete(v, self._parameters.completed)
            if self._incumbent.cost < before:
                self._hide_dear_ranges()

    def _hide_dear_ranges(self) -> None:
        """Hide columns of the incumbent whose ranges cost no less, and complete it again as long as that is cheaper."""
        modes, cost = self._modes, self._modes.program.cost
        hides = np.flatnonzero(modes.hiding >= 0)
        continuous = np.ones(len(cost), dtype=bool)
        continuous[modes.integers] = False
        while self._incumbent.best is not None and not self._stop.reached:
            before, v = self._incumbent.cost, self._incumbent.best.copy()
            width = np.asarray((abs(modes.up) + abs(modes.down)) @ np.where(continuous, cost * v, 0.0))
            dear = hides[width[hides] >= cost[modes.hiding[hides]]]
            if bool((v[modes.hiding[dear]] >= 1.0).all()):
                return
            v[modes.hiding[dear]] = 1.0
            self.complete(v, self._parameters.completed)
            if not self._incumbent.cost < before * (1 - GAP_CLOSED):
                return

    def dive(self, point: Point) -> None:
        """Fix whole numbers, the surest first, and cut again, until all are fixed and the point is safe."""
        master, integers = self._cutting.relaxation.master, self._modes.integers
        at: Point | None = point
        try:
            while at is not None:
                open_ = integers[master.lower[integers] < master.upper[integers]]
                if not len(open_):
                    self._cutting.cut(self._widening.repair)
                    return
                master.fix(*self._choose_to_fix(open_, at.x[open_]))
                at = self._cutting.cut()
        finally:
            master.release()

    def _choose_to_fix(
        self, columns: NDArray[np.int64], x: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return columns to fix, and their values: all far enough up, else some of the largest fractions."""
        down = np.floor(x + INTEGRAL)
        part = x - down
        fractional = np.flatnonzero(part > INTEGRAL)
        if not len(fractional):
            return columns, down
        chosen = np.flatnonzero(part >= self._parameters.dived)
        if not len(chosen):
            many = max(1, len(fractional) // self._parameters.dived_parts)
            chosen = fractional[np.argsort(-part[fractional], kind="stable")[:many]]
        return columns[chosen], down[chosen] + 1.0
