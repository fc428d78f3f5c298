"""When a search ends, because the gap is closed or the time is up, and whose turn it is until then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


@dataclass(slots=True, eq=False)
class Effort:
    """One way of closing the gap, and what its turns have brought.

    Parameters
    ----------
    run
        Works for so many seconds, or fewer.
    measure
        Returns a number that falls as the gap closes.
    seconds
        What its turns have taken.
    recent_seconds, recent_gain
        What they have taken and brought, earlier ones counting less.
    """

    run: Callable[[float], None]
    measure: Callable[[], float]
    seconds: float = 0.0
    recent_seconds: float = 0.0
    recent_gain: float = 0.0

    @property
    def rate(self) -> float:
        """What a second brings, infinite before the first turn."""
        return self.recent_gain / self.recent_seconds if self.recent_seconds > 0 else np.inf


class Turns:
    """Divides the time of a search by marginal gains: the turn is that of the effort which closes the gap fastest.

    Parameters
    ----------
    stop
        When to end.
    efforts
        Ways of closing the gap, in the order of their first turns.
    share, least_share, memory
        See `celosia.protection.engine.parameters.EngineParameters`: `turn_share`, `least_turns`, `turn_memory`.
    """

    def __init__(self, stop: Stop, efforts: Sequence[Effort], share: float, least_share: float, memory: float) -> None:
        self._stop, self._efforts = stop, efforts
        self._share, self._least_share, self._memory = share, least_share, memory

    def run(self) -> None:
        """Take turns until the gap is closed, or time is up."""
        while not self._stop.reached:
            self._stop.check()
            self._take(self._choose())

    def _choose(self) -> Effort:
        """Return whose turn it is: of one that has had less than its least share, or of the best."""
        total = sum(effort.seconds for effort in self._efforts)
        waiting = [effort for effort in self._efforts if effort.seconds <= self._least_share * total]
        return max(waiting or self._efforts, key=lambda effort: effort.rate)

    def _take(self, effort: Effort) -> None:
        clock, before = self._stop.clock, effort.measure()
        begin = clock.seconds
        effort.run(self._share * self._stop.left)
        took, gain = max(clock.seconds - begin, SHORTEST_TURN), max(before - effort.measure(), 0.0)
        effort.seconds += took
        effort.recent_seconds = self._memory * effort.recent_seconds + took
        effort.recent_gain = self._memory * effort.recent_gain + gain
