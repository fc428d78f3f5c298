"""Widening: make safe points of what the relaxed master finds, by more slack where levels are missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.tolerance import CUT_SATISFIED, LEVEL_REACHED, LEVEL_REACHED_BY_CUTS, WITNESS_EXCEEDS

if TYPE_CHECKING:
    from celosia.protection.engine.modes.cutting_planes import ModeCuttingPlanes
    from celosia.protection.engine.modes.oracle import PointRequirements
    from celosia.protection.engine.modes.separation import Separation


class Widening:
    """Makes points whose whole numbers are fixed safe, and offers them as the incumbent.

    Parameters
    ----------
    cutting
        Has the relaxed master and the separator.
    requirements
        Accepts points, or adds requirements that they violate.
    """

    def __init__(self, cutting: ModeCuttingPlanes, requirements: PointRequirements) -> None:
        self._incumbent, self._cutting, self._requirements = cutting.incumbent, cutting, requirements
        self._relaxation, self._modes, self._parameters = cutting.relaxation, cutting.modes, cutting.parameters

    @property
    def _only_ranges(self) -> bool:
        """Whether nothing but widths is chosen."""
        return not len(self._modes.integers) and self._modes.only_widen

    def _satisfies_rows(self, v: NDArray[np.float64]) -> bool:
        """Return whether a point satisfies the rows of the program."""
        program = self._modes.program
        rows = program.rows @ v
        low, high = program.row_lower - CUT_SATISFIED, program.row_upper + CUT_SATISFIED
        return bool(((rows >= low) & (rows <= high)).all())

    def repair(self, v: NDArray[np.float64], found: Separation, new: int, exact: bool) -> None:  # noqa: FBT001  (a `Repair`)
        """Offer a point of the master, slightly wider: by its attackers' witnesses, or by what is missing to levels."""
        separator = self._relaxation.separator
        if separator.has_programs and self._only_ranges:
            self._offer_witnesses(v)
        elif exact or not new:
            least = found.least if exact else separator.separate(v).least
            self._offer_scaled(v, least, LEVEL_REACHED_BY_CUTS if exact and not new else LEVEL_REACHED)

    def _offer_scaled(self, v: NDArray[np.float64], least: float, missing: float) -> None:
        """Offer a point with its widths raised so that every level is reached, where bounds and rows allow that.

        As it is, a point is offered that misses levels by no more than a share.
        """
        if least <= 0:
            return
        modes = self._modes
        continuous = np.zeros(len(v), dtype=bool)
        continuous[np.concatenate([modes.up.indices, modes.down.indices])] = True
        continuous[modes.integers] = False
        more = 0.0 if least >= 1 - LEVEL_REACHED else 1.0 / least - 1.0
        for times in self._parameters.raisings if more else (1.0,):
            wider = np.where(continuous, v * (1.0 + times * more), v)
            wider = modes.tidy(np.minimum(wider, modes.program.upper))
            if not (modes.cost(wider) < self._incumbent.cost and self._satisfies_rows(wider)):
                break
            if self._relaxation.separator.separate(wider).safe:
                self._requirements.accept(wider)
                return
        if least >= 1 - missing:  # values that move protect no better the further they do
            self._requirements.accept(v)

    def _offer_witnesses(self, v: NDArray[np.float64]) -> None:
        """Offer a point whose slacks admit the last witnesses of all LPs, and are wide enough for all flows."""
        program, separator = self._modes.program, self._relaxation.separator
        least = separator.least_by_flows(v)
        if least <= 0:
            return
        bare = not separator.has_flows and not program.rows.shape[0]
        wide = separator.widen_to_witnesses(program.lower if bare else v / least)
        if wide is not None and bool((wide <= program.upper * (1 + 2 * WITNESS_EXCEEDS)).all()):
            wide = np.minimum(wide, program.upper)
            if self._satisfies_rows(wide):
                self._requirements.accept(wide)

    def offer_in_haste(self) -> None:
        """Where time is up without an incumbent, offer the last point made wide enough, or the one that opens all."""
        last = None if self._relaxation.last is None else self._relaxation.last.x
        for widening in self._parameters.hasty_widenings if self._only_ranges and last is not None else ():
            if self._incumbent.best is None and last is not None:
                separator = self._relaxation.separator
                least = separator.separate(last, widening=widening * self._cutting.widening).least
                if separator.has_programs:
                    self._offer_witnesses(last)
                else:
                    self._offer_scaled(last, least, LEVEL_REACHED)
        if self._incumbent.best is None and self._parameters.opens_everything:
            self._offer_widest()

    def _offer_widest(self) -> None:
        """Offer the point that opens everything: dear, but mostly safe."""
        program, integers = self._modes.program, self._modes.integers
        far = self._parameters.widest * float(self._relaxation.separator.sides.levels.max(initial=0.0))
        v = np.minimum(program.upper, far)
        v[integers] = program.upper[integers]
        self.suggest(v)

    def suggest(self, v: NDArray[np.float64]) -> None:
        """Make a point the incumbent where rows allow it, it is safe, and cheaper."""
        if self._satisfies_rows(v) and self._relaxation.separator.separate(v).safe:
            self._requirements.accept(v)
