"""Patterns of a search's points: rounded up and cleaned up where cells form networks, else built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.cuts.capacity import Cut
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.heuristics.neighbourhood import Improver
from celosia.protection.engine.heuristics.reverse_delete import Cleaner
from celosia.protection.engine.master import Point
from celosia.protection.engine.problem import Task
from celosia.protection.engine.relaxation import HIDDEN, MOST_BUILT, Relaxed
from celosia.protection.engine.subproblems.support import Hidden
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock

_RESTARTS, _FEW_RESTARTS = 3, 2
"""So many clean-ups in a row that come to nothing end the drawing, at the root and later."""
_SPREAD = 0.3
_SMALL = 40
"""Parts of a pattern up to this size are cleaned up in no time, even where they are no networks."""
_DEAR = 0.1
"""A cell whose reduced cost is more than this part of the bound is not in a good pattern."""
_FIRST_BUILDS, _FEW_BUILDS = 25, 4
"""So many patterns in a row that are no better end the building, at the root and later."""
_SHARE_OF_BUILDING = 0.2
"""Of the time that is left goes into building."""


class Rounded(Relaxed):
    """A search that makes patterns of its points.

    Parameters
    ----------
    task, backend, clock, rows
        As for `celosia.protection.engine.relaxation.Relaxed`.
    seed
        From which restarts draw.
    """

    def __init__(self, task: Task, backend: Backend, clock: Clock, rows: Sequence[Cut], seed: int) -> None:
        super().__init__(task, backend, clock, rows)
        self._cleaner = Cleaner(self.separator, self.pool, self._late)
        self._random = np.random.default_rng(seed)
        self._built_until = np.inf

    def ask(self, task: Task, before: NDArray[np.int64]) -> Separator:
        """Ask for more from now on, and clean up accordingly; see `Relaxed`."""
        more = super().ask(task, before)
        self._cleaner = Cleaner(self.separator, self.pool, self._late)
        return more

    def _late(self) -> bool:
        """Return whether patterns must do as they are: time is up, or that which goes into building them."""
        return self._left <= 0 or (self.pattern is not None and self.clock.seconds > self._built_until)

    def _round(self) -> None:
        """Make patterns of the point: where cells form networks by cleaning up, else by building."""
        if self._good_enough:
            return
        start = self._point.x > HIDDEN
        if self._cleans_quickly(start):
            self._clean_up(start)
            if self.pattern is None and not self.separator.is_network:
                self._build(_FEW_BUILDS, self._left * _SHARE_OF_BUILDING)
        else:
            self._build(_FIRST_BUILDS, self._left * _SHARE_OF_BUILDING)

    def _cleans_quickly(self, pattern: NDArray[np.bool_]) -> bool:
        """Return whether what a pattern hides falls into networks and small parts, or is too much to build anew."""
        if self.separator.is_network:
            return True
        workshop = self.separator.workshop
        parts = Hidden.of(workshop.task, np.flatnonzero(workshop.wide(pattern))).parts
        sizes = np.diff(parts.starts)[~parts.network]
        return int(sizes.max(initial=0)) <= _SMALL or len(self._candidates()) > MOST_BUILT

    def _clean_up(self, start: NDArray[np.bool_]) -> None:
        """Clean up what the point hides, with its own weights first, then with weights drawn around them."""
        weight = self.task.cost * (1.0 - self._point.x)
        if self._offer(start, weight) is None:
            if self.pattern is not None:
                self._offer(self.pattern, weight)
            elif self.separator.is_network:
                self._clean_everything(weight)
        self._draw(weight, start, _RESTARTS)

    def _clean_everything(self, weight: NDArray[np.float64]) -> None:
        """Make a pattern of a network: one that is not safe when everything is hidden is never."""
        self._offer(np.ones(len(self.task), dtype=bool), weight)
        if self.pattern is None and not self.rows and not self.refuted:
            self.impossible = True

    def _draw(self, weight: NDArray[np.float64], start: NDArray[np.bool_], most: int) -> None:
        """Clean up with weights drawn around some, until that has come to nothing so many times in a row."""
        idle = 0
        while idle < most and not self._good_enough:
            self._check_time()
            before = self.cost
            noisy = weight * np.exp(_SPREAD * self._random.standard_normal(len(weight)))
            self._offer(start if not self.separator.is_network else self._master.upper > 0, noisy)
            idle = 0 if self.cost < before else idle + 1

    def _candidates(self) -> NDArray[np.int64]:
        """Return the columns that a good pattern may hide: not those whose reduced cost is too high."""
        return np.flatnonzero(
            self.task.forced | ((self._point.reduced < _DEAR * max(self._point.bound, 0.0)) & (self._master.upper > 0))
        )

    def _build(self, most: int, seconds: float) -> None:
        """Build patterns around the point for a while, as long as they get better."""
        columns = self._candidates()
        if len(columns) > MOST_BUILT:
            return
        self._built_until, idle = self.clock.seconds + seconds, 0
        patterns = self._built(columns)
        while True:
            before, cleaner = self.cost, self._cleaner
            found = next(patterns)
            if found is not None:
                self._used(found, self.task.cost)
            idle = 0 if self.cost < before else idle + 1
            if self._good_enough or idle >= most or self._late():
                break
            if self._cleaner is not cleaner:  # more is asked for since
                patterns = self._built(columns)
        self._built_until = np.inf

    def _built(self, columns: NDArray[np.int64]) -> Iterator[NDArray[np.bool_] | None]:
        """Return patterns of some columns without end, each None where nothing came of it."""
        wide, n = self.separator.workshop.wide, len(self.task)
        point = Point(wide(self._point.x), self._point.bound, wide(self._point.reduced))
        among = np.concatenate([columns, np.arange(n, len(point.x))])
        improver = Improver.of(self._cleaner, point, among, self.separator.backend, self._random)
        start = None if self.pattern is None else wide(self.pattern)
        return (None if found is None else found[:n] for found in improver.patterns(start))

    def _repair(self, x: NDArray[np.float64]) -> None:
        """Make a pattern of a solution of the master, where that is quick."""
        together = np.maximum(x, self._point.x) > HIDDEN
        if self._cleans_quickly(together):
            weight = self.task.cost * (1.0 - x)
            self._offer(together, weight)
            self._draw(self.task.cost * (1.0 - self._point.x), together, _FEW_RESTARTS)
        else:
            self._build(_FEW_BUILDS, self._left * _SHARE_OF_BUILDING)

    def _offer(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Clean a pattern, and keep it where it is the best so far; return it, None where it is not safe."""
        cleaned = self._cleaner.cleaned(pattern, weight)
        if cleaned is None:
            return None
        used = self._used(cleaned, weight)
        return self._used(self._cleaner.settled(pattern), weight) if used is None else used

    def _used(self, pattern: NDArray[np.bool_], _weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Return a pattern if it was kept, or is no better than the best; None where it is not allowed."""
        return pattern if self._keep(pattern) else None

    def _keep(self, pattern: NDArray[np.bool_]) -> bool:
        """Keep a safe pattern where it is the best so far; return whether it is allowed."""
        if not self.allows(pattern):
            return False
        if self.improve(pattern):
            self._fix()
        return True
