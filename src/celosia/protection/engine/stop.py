"""When a search ends, because the gap is closed or the time is up, and whose turn it is until then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from celosia.protection.engine.parameters import PARAMETERS
from celosia.solve.clock import Clock
from celosia.solve.deadline import Until

if TYPE_CHECKING:
    from celosia.protection.engine.incumbent import Incumbent, Scalar


SHORTEST_TURN = 1e-3
"""Seconds that a turn counts for at least: clocks are not finer."""


class TimeUpError(Exception):
    """The time of a search is up."""


class Stop:
    """Tells a search when to end.

    Parameters
    ----------
    incumbent
        What has been found.
    clock
        The clock of the whole run.
    audit_if_due
        Is called whenever the time is looked at: the best pattern so far may be audited then.
    grace
        See `celosia.protection.engine.parameters.EngineParameters`.
    """

    def __init__(
        self,
        incumbent: Incumbent[Scalar],
        clock: Clock,
        audit_if_due: Callable[[], None] = lambda: None,
        grace: float = PARAMETERS.grace,
    ) -> None:
        self.clock = clock
        self._incumbent, self._audit_if_due, self._grace = incumbent, audit_if_due, grace
        self._gap, self._end = 0.0, np.inf

    def begin(self, gap: float, seconds: float) -> None:
        """Let the search end at a relative gap, or after so many seconds from now."""
        self._gap, self._end = gap, self.clock.seconds + seconds

    @property
    def reached(self) -> bool:
        """Whether the search may end: the gap is closed, or nothing is left to search."""
        found = self._incumbent
        return found.done or found.exhausted or (found.best is not None and self.is_reached_at(found.cost))

    def is_reached_at(self, cost: float) -> bool:
        """Return whether a safe point of some cost would close the gap."""
        return self._incumbent.is_closed_at(cost, self._gap)

    @property
    def left(self) -> float:
        """Seconds that remain; before a first pattern is known the search gets its grace, and others wait for it."""
        if self._incumbent.best is None:
            return self.clock.left_with_grace(self._grace)
        return min(self.clock.left, self._end - self.clock.seconds)

    @property
    def deadline(self) -> Until:
        """The last moment, which moves when a first pattern is found."""
        return Until(lambda: self.left)

    def check(self) -> None:
        """Raise TimeUpError where the time is up; what is known so far is audited before, where that is due."""
        self._audit_if_due()
        if self.left <= 0:
            raise TimeUpError


class Effort:
    """One way of closing the gap, and what a second of it brings.

    Parameters
    ----------
    run
        Works for so many seconds, or fewer.
    measure
        Returns a number that falls as the gap closes.

    Attributes
    ----------
    seconds
        What its turns have taken.
    """

    def __init__(self, run: Callable[[float], None], measure: Callable[[], float]) -> None:
        self.run, self._measure = run, measure
        self.seconds = 0.0
        self._least, self._since = np.inf, 0.0
        self._recent_seconds = self._recent_gain = 0.0

    @property
    def rate(self) -> float:
        """What a second brings, earlier seconds counting less; infinite before the first."""
        return self._recent_gain / self._recent_seconds if self._recent_seconds > 0 else np.inf

    def begin(self, now: float) -> None:
        """Count from now on; what others have brought is not counted."""
        self._least, self._since = min(self._least, self._measure()), now

    def note(self, now: float, half_life: float) -> None:
        """Count what the time since the last note has brought; what was so many seconds of work ago counts half.

        A first point after none is no gain that tells what comes next.
        """
        took, reached = now - self._since, self._measure()
        faded = 0.5 ** (took / half_life)
        self._recent_seconds = faded * self._recent_seconds + took
        self._recent_gain = faded * self._recent_gain + (self._least - reached if reached < self._least < np.inf else 0)
        self._least, self._since = min(self._least, reached), now

    def end(self, now: float, half_life: float) -> None:
        """Count what is left to count, and no less than the shortest turn."""
        self.note(now, half_life)
        self._recent_seconds = max(self._recent_seconds, SHORTEST_TURN)


class Turns:
    """Divides the time of a search by marginal gains: the turn is that of the effort which closes the gap fastest.

    Gains are counted at the moment at which they are made, and fade with the work that brings no more of them. The
    bound rises by a little all the time, while a better pattern comes after seconds without any and gains as much as
    a hundred rounds of cuts, so the last turn alone would say little.

    Parameters
    ----------
    stop
        When to end.
    share, least_share, memory
        See `celosia.protection.engine.parameters.EngineParameters`: `turn_share`, `least_turns`, `turn_memory`.
    """

    def __init__(self, stop: Stop, share: float, least_share: float, memory: float) -> None:
        self._stop = stop
        self._share, self._least_share, self._memory = share, least_share, memory
        self._current: Effort | None = None

    def run(self, efforts: Sequence[Effort]) -> None:
        """Let efforts take turns until the gap is closed, or time is up; equal ones in the order given."""
        while not self._stop.reached:
            self._stop.check()
            self._take(self._choose(efforts))

    def note(self) -> None:
        """Count a better point or bound for whatever works now."""
        if self._current is not None:
            self._current.note(self._stop.clock.seconds, self._half_life)

    @contextmanager
    def count(self, effort: Effort) -> Iterator[None]:
        """Count what happens meanwhile as the work of an effort."""
        self._current = effort
        effort.begin(self._stop.clock.seconds)
        try:
            yield
        finally:
            self._current = None
            effort.end(self._stop.clock.seconds, self._half_life)

    @property
    def _half_life(self) -> float:
        return max(self._memory * self._stop.clock.seconds, SHORTEST_TURN)

    def _choose(self, efforts: Sequence[Effort]) -> Effort:
        """Return whose turn it is: of one that has had less than its least share, or of the best."""
        total = sum(effort.seconds for effort in efforts)
        waiting = [effort for effort in efforts if effort.seconds <= self._least_share * total]
        return max(waiting or efforts, key=lambda effort: effort.rate)

    def _take(self, effort: Effort) -> None:
        clock = self._stop.clock
        begin = clock.seconds
        with self.count(effort):
            effort.run(self._share * self._stop.left)
        effort.seconds += max(clock.seconds - begin, SHORTEST_TURN)
