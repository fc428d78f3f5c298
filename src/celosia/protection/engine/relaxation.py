"""The linear relaxation of the master problem: solve it, raise the bound, fix by reduced costs, separate, add, again.

One for every method. How a point is separated is plugged in: for patterns by `engine.patterns.cutting_planes`, for any
modes of publication by `engine.modes.cutting_planes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from celosia.protection.engine.incumbent import Incumbent, Scalar
from celosia.protection.engine.master import CutPool, Master, Point
from celosia.tolerance import INTEGRAL, SUM_ROUNDING

if TYPE_CHECKING:
    from celosia.protection.engine.stop import Stop
    from celosia.solve.backend import Backend
    from celosia.solve.problem import LinearProgram

AnySeparator = TypeVar("AnySeparator")

Separate = Callable[[Point], int | None]
"""Adds cuts that a point violates to the master; returns how many, 0 where there are none, and the next round may find
some, None where nothing separates the point."""


@dataclass(frozen=True, slots=True)
class RoundRules:
    """When cuts leave the master, and when a run of cutting planes ends.

    Parameters
    ----------
    purge_every, patience
        Rounds after which cuts leave that have been slack in so many solutions in a row.
    least_rise, rounds_without_rise
        The run ends when the bound has risen by no more than this part of itself in so many rounds: it is tailing off.
        None where that does not matter.
    base
        What is added to the bound for that.
    until
        The run ends, too, when the clock shows so many seconds.
    """

    purge_every: int
    patience: int
    least_rise: float
    rounds_without_rise: int | None
    base: float = 0.0
    until: float = math.inf

    def is_tailing_off(self, bounds: list[float]) -> bool:
        """Return whether the bound has hardly risen in the last rounds."""
        rounds = self.rounds_without_rise
        if rounds is None or len(bounds) <= rounds:
            return False
        return bounds[-1] - bounds[-rounds] <= self.least_rise * (self.base + abs(bounds[-1]))


class Relaxation(Generic[AnySeparator]):
    """The relaxed master of one problem with its cut pool and its separator.

    Parameters
    ----------
    program
        The master without cuts.
    separator
        See below.
    incumbent
        Gets the bounds.
    stop
        When to end.
    backend
        Solves the master.
    most_steps
        Bounds of integer columns are narrowed where the gap is worth fewer steps of one than this, 1 or more.

    Attributes
    ----------
    pool
        All cuts that were found.
    separator
        Separates points by the requirements so far; another one after the oracle has added some.
    master
        The open linear program.
    last
        Its last solution, None before the first.
    """

    def __init__(
        self,
        program: LinearProgram,
        separator: AnySeparator,
        incumbent: Incumbent[Scalar],
        stop: Stop,
        backend: Backend,
        most_steps: int = 1,
    ) -> None:
        self.separator, self.pool = separator, CutPool()
        self.master = Master(program, backend, self.pool)
        self.last: Point | None = None
        self._program, self._incumbent, self._stop, self._most_steps = program, incumbent, stop, most_steps
        self._integers = np.zeros(0, np.int64) if program.integer is None else np.flatnonzero(program.integer)
        self._root = self._start = _point_without_cuts(program)

    @property
    def point(self) -> Point:
        """The last solution of the master; before the first, the cheapest point where there are no cuts."""
        return self._start if self.last is None else self.last

    def solve(self, steps: int = 0) -> Point | None:
        """Solve the master, take note of its bound, and fix by reduced costs; None where it has no point.

        Where columns are fixed for a while, that holds for a part of all points only, and nothing is concluded. With
        steps the master is solved nearly, by so many of them.
        """
        point, restricted = self.master.approach(steps) if steps else self.master.solve(), self.master.is_restricted
        if point is not None:
            self.last = point
            self.raise_bound(point.bound)
            if not restricted and point.bound >= self._root.bound:
                self._root = point
            self.fix_by_reduced_costs()
        elif not restricted:
            self._incumbent.conclude()
        return point

    def raise_bound(self, bound: float) -> None:
        """Take note of a bound of the master, unless fixed columns make it hold for a part of all points only."""
        if not self.master.is_restricted:
            self._incumbent.raise_bound(bound)

    def fix_by_reduced_costs(self) -> None:
        """Narrow the bounds of integer columns to values with which a point may be cheaper than the incumbent.

        The incumbent itself may be cut off by this: it is kept aside.
        """
        found, root, integers = self._incumbent, self._root, self._integers
        if found.best is None or not len(integers) or self.master.is_restricted:
            return
        gap = max(found.limit - root.bound, 0.0) + SUM_ROUNDING * abs(found.cost)
        priced = integers[np.abs(root.reduced[integers]) * self._most_steps > gap]
        steps = np.floor(gap / np.abs(root.reduced[priced]) + INTEGRAL)
        lower, upper, up = self.master.base.lower.copy(), self.master.base.upper.copy(), root.reduced[priced] > 0
        highest, lowest = lower[priced] + steps, upper[priced] - steps
        upper[priced[up]] = np.minimum(upper[priced], highest)[up]
        lower[priced[~up]] = np.maximum(lower[priced], lowest)[~up]
        self.master.tighten(lower, upper)

    def reset(self) -> None:
        """Open columns that were fixed because of what an incumbent costs that is none any more; forget the points."""
        self.last, self._root = None, self._start
        self.master.tighten(self._program.lower, self._program.upper)

    def cut(
        self, separate: Separate, rules: RoundRules, worth: float = 0.0, steps: Callable[[], int] = lambda: 0
    ) -> Point | None:
        """Solve the master and cut its point off until nothing separates it, or the bound tails off.

        Return the last point, None where none is cheaper than the incumbent.

        Parameters
        ----------
        separate
            Separates points.
        rules
            When cuts leave the master, and when the run ends.
        worth
            Points that are cheaper than the incumbent by less than this share of its cost are not worth the time.
        steps
            Returns by how many steps the next master is solved nearly, 0 where it is solved to the end.
        """
        bounds: list[float] = []
        while True:
            point, found = self.solve(steps()), self._incumbent
            if point is None or self._stop.reached:
                return None
            if found.base + point.bound >= found.cost - worth * abs(found.cost):
                return None
            bounds.append(point.bound)
            self._stop.check()
            new = separate(point)
            if new is None:
                return point
            if not new:
                continue
            if len(bounds) % rules.purge_every == 0:
                self.master.purge(rules.patience)
            if self._stop.clock.seconds > rules.until or rules.is_tailing_off(bounds):
                return point


def _point_without_cuts(program: LinearProgram) -> Point:
    """Return the cheapest point within bounds; its bound is minus infinity where something cheap has none."""
    ends = np.where(program.cost < 0, program.upper, program.lower)
    priced = program.cost != 0
    bound = float(program.cost[priced] @ ends[priced])
    return Point(np.where(np.isfinite(ends), ends, 0.0), bound, program.cost)
