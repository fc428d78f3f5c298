"""The best result that has been audited so far: what a run returns that has no time left for a better one.

An audit at the end of a search may take longer than there is time for. So patterns are audited while the search goes
on, now and then, and the search leaves as much time for the last audit as the others took.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from celosia.solve import deadline
from celosia.solve.clock import Clock

if TYPE_CHECKING:
    from celosia.protection.result import Protection
    from celosia.protection.state.keeper import StateKeeper


@dataclass(frozen=True, slots=True)
class FallbackParameters:
    """When patterns are audited during a search.

    Parameters
    ----------
    first_seconds, first_share
        Seconds, or a share of the limit (0 to 1) if that is less, before the first audit: shorter searches do without.
    pause
        Time between two audits, as a multiple of what the last one took; 1 or more.
    last_factor, most_kept
        The last audit may take so many times what the others took (1 or more), but no more than this share of the limit
        is kept for it (0 to 1).
    without_pattern
        Share of the limit after which a search without any pattern has the one audited that hides everything (0 to 1);
        a large search does so at once.
    everything_share
        Share of the limit that this may take; 0 to 1.
    """

    first_seconds: float = 2.0
    first_share: float = 0.25
    pause: float = 10.0
    last_factor: float = 1.3
    most_kept: float = 0.5
    without_pattern: float = 0.2
    everything_share: float = 0.75

    def __post_init__(self) -> None:
        shares = (self.first_share, self.most_kept, self.without_pattern, self.everything_share)
        if not all(0 <= share <= 1 for share in shares) or self.first_seconds < 0:
            message = "shares of the limit must be between 0 and 1, seconds zero or more"
            raise ValueError(message)
        if min(self.pause, self.last_factor) < 1:
            message = "pause and last_factor must be 1 or more"
            raise ValueError(message)


@dataclass(eq=False)
class Fallback:
    """Keeps the cheapest result that has been audited.

    Parameters
    ----------
    clock
        Of the run.
    parameters
        When patterns are audited.
    keeper
        Writes what was audited to a file; None where that is not wanted.

    Attributes
    ----------
    best
        The result, None where there is none.
    """

    clock: Clock
    best: Protection | None = None
    parameters: FallbackParameters = FallbackParameters()
    keeper: StateKeeper | None = None
    _next: float = field(init=False)
    _limit: float = field(init=False)

    def __post_init__(self) -> None:
        self._limit = self.clock.seconds + self.clock.left
        self._next = min(self.parameters.first_seconds, self.parameters.first_share * self._limit)

    @property
    def due(self) -> bool:
        """Whether the best pattern of a search is worth an audit now."""
        return self.clock.seconds >= self._next and self.clock.left > 0

    def wants_everything_hidden(self, *, large: bool) -> bool:
        """Return whether a search without any pattern had better audit the one that hides everything.

        Parameters
        ----------
        large
            The search will take long to find a first one.
        """
        late = large or self.clock.seconds >= self.parameters.without_pattern * self._limit
        return math.isfinite(self._limit) and late and self.best is None and self.clock.left > 0

    def limit_of_everything(self) -> deadline.Until:
        """Return the last moment for that audit, from now on: the search needs its time, too."""
        end = self.clock.seconds + self.parameters.everything_share * self._limit
        return deadline.Until(lambda: end - self.clock.seconds)

    @contextmanager
    def measure_audit(self) -> Iterator[None]:
        """Measure an audit, so that the last one finds as much time, and the next one comes not too soon."""
        began = self.clock.seconds
        yield
        took = self.clock.seconds - began
        self._next = self.clock.seconds + self.parameters.pause * took
        self.clock.reserve(min(self.parameters.last_factor * took, self.parameters.most_kept * self._limit))

    def offer(self, found: Protection) -> None:
        """Keep a result that is safe, where it is the cheapest so far."""
        if found.safe and (self.best is None or found.cost < self.best.cost):
            self.best = found
            if self.keeper is not None:
                self.keeper.keep_result(found)
