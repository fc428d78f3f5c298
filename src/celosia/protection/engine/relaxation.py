"""The relaxation of a search: its master is solved, its point attacked and cut off, cells are fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.cuts.capacity import Cut, Workshop
from celosia.protection.engine.cuts.initial import bridgeless_cuts
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.cuts.zero_half import zero_half_cuts
from celosia.protection.engine.incumbent import Standing, refusals
from celosia.protection.engine.master import Master, Point, Pool
from celosia.protection.engine.problem import Task
from celosia.protection.engine.requirements import Sides, sides_of
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram

HIDDEN = 1e-6
"""A cell that a point hides by less is shown."""

_ONE = 1.001
_PURGE_EVERY = 5
_LITTLE = 1e-4
"""When the bound has risen by less than this part of itself ..."""
_LONG = 6
"""... in so many rounds, cutting at the root ends."""
_SHARE_OF_CUTTING = 0.1
"""Of the time that is left goes into cutting off one point after the other, once there is a pattern."""


MOST_BUILT = 4000
"""Patterns are not built from more columns than this."""
_SHARE_OF_PRESSING, _PRESSING = 0.1, 0.5
"""Of the time, or so many seconds, goes into finding out which questions need not be asked."""
_SHARE_WITHOUT_PATTERN = 0.25
"""Before there is one: it comes with what cutting leaves."""
GRACE = 0.5
"""A first pattern that hides less than everything may be so late, on the way from the limit to the last moment."""


class TimeUpError(Exception):
    """The time of a search is up."""


class Relaxed(Standing):
    """A search that knows its relaxation, and when to stop.

    Parameters
    ----------
    task
        The task, one component of the problem.
    backend
        Solves the masters and the attackers' programs.
    clock
        When to stop.
    rows
        Further rows of the master, such as a greatest number of hidden cells.
    """

    def __init__(self, task: Task, backend: Backend, clock: Clock, rows: Sequence[Cut]) -> None:
        super().__init__(task, rows)
        self.clock = clock
        self.pool = Pool()
        self.separator = self._pressing(Separator(Workshop.of(task), sides_of(task.goals), backend))
        self._master = Master(_program(task), backend, self.pool)
        self._gap = 0.0
        self._until = np.inf
        self._point = self._no_point

    def _pressing(self, everything: Separator) -> Separator:
        """Return the same with those questions only that forced cells do not answer by themselves."""
        until = self.clock.seconds + max(_SHARE_OF_PRESSING * self.clock.left, _PRESSING)
        return everything.pressing(lambda: self.clock.seconds > until)

    def ask(self, task: Task, before: NDArray[np.int64]) -> Separator:
        """Ask for more from now on; return what asks that alone. Cells that are forced since cost what they did.

        Parameters
        ----------
        task
            What is asked for: columns more, if any, come last, and are forced.
        before
            Which goal of the task so far every goal was, -1 for new ones, ``(q,)``.
        """
        everything = Separator(Workshop.of(task), sides_of(task.goals), self.separator.backend)
        was = before[everything.sides.goals]
        more = self._pressing(replace(everything, sides=everything.sides.take(was < 0)))
        asked = np.isin(_kinds(everything.sides, was), _kinds(self.separator.sides, self.separator.sides.goals))
        asked |= np.isin(_kinds(everything.sides, everything.sides.goals), _kinds(more.sides, more.sides.goals))
        self.task = replace(self.task, forced=task.forced[: len(self.task)])
        self.separator = replace(everything, sides=everything.sides.take(asked))
        return more

    @property
    def _no_point(self) -> Point:
        """What is known without any cut."""
        return Point(self.task.forced.astype(np.float64), 0.0, np.where(self.task.forced, 0.0, self.task.cost))

    @property
    def _good_enough(self) -> bool:
        return (
            self.done
            or self.exhausted
            or (self.pattern is not None and self.cost - self.bound <= self._gap * self.cost)
        )

    @property
    def _one_step_left(self) -> bool:
        """Whether nothing lies between the bound and the cost: a tree tells at once which of the two it is."""
        return self.cost - self.bound <= self.step.size * _ONE

    def _check_time(self) -> None:
        self._insure()
        if self._left <= 0:
            raise TimeUpError

    def _insure(self) -> None:
        """Have what is known so far audited, where that is due."""

    @property
    def _left(self) -> float:
        """Seconds that remain; without any pattern the clock is not yet up, and other searches wait."""
        if self.pattern is None:
            return self.clock.left_with_grace(GRACE)
        return min(self.clock.left, self._until - self.clock.seconds)

    def _cut_off_root(self, *, deep: bool, halves: bool = False) -> None:
        """Cut until nothing is found, or the bound hardly rises for the time that it takes.

        Parameters
        ----------
        deep
            Solve attackers' programs where flows find nothing.
        halves
            Add zero-half cuts as well.
        """
        share = _SHARE_OF_CUTTING
        if self.pattern is None:  # cleaning up needs a point that is nearly safe, building does not
            share = _SHARE_WITHOUT_PATTERN if len(self.task) <= MOST_BUILT else 1.0
        until = self.clock.seconds + share * self._left
        history: list[float] = []
        while not self._good_enough:
            self._check_time()
            point = self._master.solve()
            if point is None:
                self.conclude()
                return
            self._point = point
            self.raise_bound(point.bound)
            history.append(point.bound)
            self._fix()
            added = self._add(point.x, whole=False, deep=deep)
            if halves and not self._good_enough:
                added += self._master.add(zero_half_cuts(*self._master.inside, point.x))
            if not added:
                return
            if len(history) % _PURGE_EVERY == 0:
                self._master.purge()
            if self.clock.seconds > until or _hardly_rises(history, self.base):
                return

    def _add(self, x: NDArray[np.float64], *, whole: bool, deep: bool = True) -> int:
        """Add cuts that a point violates; return how many."""
        returned = self._master.recall(x)
        bridges = self._master.add(bridgeless_cuts(self.separator.workshop, x))
        if returned + bridges and not whole:
            return returned + bridges
        cuts = (
            self._against(x, self._check_time)
            if whole
            else self.separator.attack(x, deep=deep, check=self._check_time).cuts
        )
        return returned + bridges + self._master.add(cuts)

    def _against(self, x: NDArray[np.float64], check: Callable[[], None] = lambda: None) -> list[Cut]:
        """Return cuts against a pattern, none where it is safe.

        Where doubles find that a goal is missed, and no cut, the pattern itself is one: hiding less is no safer.
        """
        return self._attacked(self.separator, x, check)

    def _attacked(self, separator: Separator, x: NDArray[np.float64], check: Callable[[], None]) -> list[Cut]:
        """Return cuts against a pattern by some questions."""
        found = separator.attack(x, whole=True, check=check)
        if not found.cuts and len(found.open):
            task, pattern = separator.task, separator.workshop.wide(x) > HIDDEN
            return refusals(task, pattern, task.goals.columns[found.open])
        return found.cuts

    def _fix(self) -> None:
        """Show cells whose hiding would cost more than the best pattern, and hide those whose showing would.

        The best pattern itself may be cut off by this: it is kept aside.
        """
        if self.pattern is None:
            return
        room = self.step.below(self.cost - self.base) - self._point.bound
        open_ = self._master.lower < self._master.upper
        shown = np.flatnonzero(open_ & (self._point.reduced > room))
        hidden = np.flatnonzero(open_ & (-self._point.reduced > room))
        if len(shown):
            self._master.fix(shown, 0.0)
        if len(hidden):
            self._master.fix(hidden, 1.0)


def _kinds(sides: Sides, goals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what tells the questions of some goals from each other, as a number."""
    return np.asarray(goals * 4 + sides.upward * 2 + sides.sliding)


def _hardly_rises(history: list[float], base: float) -> bool:
    return len(history) > _LONG and history[-1] - history[-_LONG] <= _LITTLE * (base + abs(history[-1]))


def _program(task: Task) -> LinearProgram:
    """Return what is known without cuts: cells are shown or hidden, and forced ones are hidden at no further cost."""
    nothing, n = np.zeros(0), len(task)
    cost = np.where(task.forced, 0.0, task.cost)
    lower, upper = task.forced.astype(np.float64), np.ones(n)
    return LinearProgram(sp.csr_array((0, n)), nothing, nothing, lower, upper, cost, integer=np.ones(n, dtype=bool))
