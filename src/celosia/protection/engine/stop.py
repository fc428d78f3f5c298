"""When a search ends: the gap is closed, or the time is up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from celosia.protection.engine.parameters import PARAMETERS
from celosia.solve.clock import Clock
from celosia.solve.deadline import Until

if TYPE_CHECKING:
    from celosia.protection.engine.incumbent import Incumbent, Scalar


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
