"""Cutting planes for any modes of publication: capacity cuts with slacks ever closer to the point's, and rounding.

Without whole numbers that is the whole search (`celosia.protection.engine.modes.search` has the rest). Points
count as safe when every level is reached in doubles; what is published is audited afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.cuts.mixed_rounding import mixed_rounding_cuts
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.parameters import SEARCH, ModeSearchParameters
from celosia.protection.engine.modes.separation import CapacitySeparator, Separation
from celosia.protection.engine.relaxation import Relaxation, RoundRules
from celosia.tolerance import LEVEL_REACHED

if TYPE_CHECKING:
    from celosia.protection.engine.incumbent import Incumbent
    from celosia.protection.engine.master import Point
    from celosia.protection.engine.stop import Stop

Repair = Callable[[NDArray[np.float64], Separation, int, bool], None]
"""Makes safe points of one whose whole numbers are fixed: the point, its separation, how many of the cuts that it
violates are new, and whether slacks were taken as they are."""


@dataclass(eq=False)
class ModeCuttingPlanes:
    """Cuts points of the relaxed master of modes off.

    Parameters
    ----------
    modes
        What may be published.
    incumbent, stop
        What has been found, and when to end.
    relaxation
        Has the master.
    touch
        Is called when there are new cuts.
    parameters
        How much effort cutting planes are worth.
    """

    modes: Modes
    incumbent: Incumbent[np.float64]
    stop: Stop
    relaxation: Relaxation[CapacitySeparator]
    touch: Callable[[], None] = lambda: None
    parameters: ModeSearchParameters = SEARCH

    @cached_property
    def _width_costs(self) -> NDArray[np.float64]:
        """What a unit of width of every column costs, ``(n,)``."""
        return np.asarray((abs(self.modes.up) + abs(self.modes.down)) @ self.modes.program.cost)

    @cached_property
    def stages(self) -> tuple[float, ...]:
        """How much wider slacks are taken, stage by stage."""
        costs, parameters = self._width_costs[self._width_costs > 0], self.parameters
        low, high = np.quantile(costs, [0.1, 0.9]) if len(costs) else (1.0, 1.0)
        uneven = high > parameters.uneven_costs * low and not len(self.modes.integers)
        return parameters.widenings_of_uneven_costs if uneven else parameters.widenings

    @cached_property
    def widening(self) -> NDArray[np.float64]:
        """How much of the extra width every column gets: less where width is dear, ``(n,)``."""
        costs = self._width_costs
        usual = np.median(costs[costs > 0]) if bool((costs > 0).any()) else 1.0
        if len(self.modes.integers):
            return np.ones(len(costs))
        return np.asarray(usual / np.maximum(costs, usual))

    def cut(self, repair: Repair | None = None, worth: float = 0.0) -> Point | None:
        """Cut until every level is reached; return the last point, None where none is cheaper than the incumbent.

        Parameters
        ----------
        repair
            Makes safe points of what the master finds, where all whole numbers are fixed; None where they are not, and
            cutting ends when the bound hardly rises.
        worth
            Points that are cheaper than the incumbent by less than this share of its cost are not worth the time.
        """
        p = self.parameters
        rules = RoundRules(p.purge_rounds, p.patience, p.stall, p.stall_rounds if repair is None else None)
        return self.relaxation.cut(_StagedRounds(self, repair).separate, rules, worth)

    def cut_by_rounding(self, point: Point) -> Point | None:
        """Cut a fractional point by mixed-integer rounding, and by capacity cuts again, as long as the bound rises.

        Return the last point, None where none is cheaper than the incumbent.
        """
        at: Point | None = point
        for _ in range(self.parameters.rounding_rounds):
            if at is None:
                break
            self.stop.check()
            master, before = self.relaxation.master, at.bound
            if not master.add(mixed_rounding_cuts(*master.inside, at.x, self.modes.program, self.parameters.rounding)):
                break
            at = self.cut()
            if at is not None and at.bound - before <= self.parameters.stall * abs(at.bound):
                break
        return at


@dataclass(slots=True, eq=False)
class _StagedRounds:
    """One run of cutting planes; see `ModeCuttingPlanes.cut`. Slacks are taken wider in the first rounds."""

    cutting: ModeCuttingPlanes
    repair: Repair | None
    stage: int = 0

    @property
    def _is_last(self) -> bool:
        return self.stage == len(self.cutting.stages) - 1

    def separate(self, point: Point) -> int | None:
        """Add cuts of the pool that a point violates, else new ones; the next stage follows where these are few."""
        relaxation = self.cutting.relaxation
        if relaxation.master.recall(point.x):
            return 0
        new = self._add_violated_cuts(point.x)
        if not new and (self._is_last or (self.repair is not None and self.cutting.stop.reached)):
            return None
        if new <= self.cutting.parameters.tail * len(relaxation.separator.sides) and not self._is_last:
            self.stage += 1
        return new

    def _add_violated_cuts(self, v: NDArray[np.float64]) -> int:
        """Add the cuts that a point violates, and have it repaired; return how many are new."""
        cutting, exact = self.cutting, self._is_last
        relaxation, parameters = cutting.relaxation, cutting.parameters
        separator = relaxation.separator
        missing = LEVEL_REACHED if exact and self.repair is not None else parameters.postponed
        widening = cutting.stages[self.stage] * cutting.widening
        early = not exact and not len(cutting.modes.integers)
        found = separator.separate(v, widening=widening, missing=missing, effort="little" if early else "enough")
        new = relaxation.master.add(found.cuts)
        if not new and not found.complete and not early:
            found = separator.separate(v, widening=widening, missing=missing)
            new = relaxation.master.add(found.cuts)
        if new:
            self.cutting.touch()
        if self.repair is not None:
            self.repair(v, found, new, exact)
        if relaxation.separator is not separator:  # the oracle has added requirements
            return self._add_violated_cuts(v)
        return 0 if self.cutting.stop.reached else new
