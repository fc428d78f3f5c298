"""The best result that has been audited so far: what a call returns that has no time left for a better one.

An audit at the end of a search may take longer than there is time for. So patterns are audited while the search goes
on, now and then, and the search leaves as much time for the last audit as the others took.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from celosia.protection.result import Protection
from celosia.solve import deadline
from celosia.solve.clock import Clock

_EARLY, _EARLY_SHARE = 2.0, 0.25
"""Seconds, or a share of the limit, before the first audit: shorter searches do without."""

_RARELY = 10.0
"""Between two audits there is so many times the time that the last one took."""

_LONGER = 1.3
"""The last audit may take so many times what the others took."""

_AT_MOST = 0.5
"""No more than this share of the limit is kept for the last audit."""

_NOTHING_YET = 0.2
"""After this share of the limit a search without any pattern has the dearest one audited, a large one at once."""

_ANYTHING = 0.75
"""That takes no more than this share of the limit."""


@dataclass(eq=False)
class Fallback:
    """Keeps the cheapest result that has been audited.

    Parameters
    ----------
    clock
        Of the call.

    Attributes
    ----------
    best
        The result, None where there is none.
    """

    clock: Clock
    best: Protection | None = None
    _next: float = field(init=False)
    _limit: float = field(init=False)

    def __post_init__(self) -> None:
        self._limit = self.clock.seconds + self.clock.left
        self._next = min(_EARLY, _EARLY_SHARE * self._limit)

    @property
    def due(self) -> bool:
        """Whether the best pattern of a search is worth an audit now."""
        return self.clock.seconds >= self._next and self.clock.left > 0

    def needs_anything(self, *, large: bool) -> bool:
        """Return whether a search that knows no pattern had better show that the dearest one is safe.

        Parameters
        ----------
        large
            The search will take long to find a first one.
        """
        late = large or self.clock.seconds >= _NOTHING_YET * self._limit
        return math.isfinite(self._limit) and late and self.best is None and self.clock.left > 0

    def part(self) -> deadline.Until:
        """Return the last moment for that, from now on: the search needs its time, too."""
        end = self.clock.seconds + _ANYTHING * self._limit
        return deadline.Until(lambda: end - self.clock.seconds)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure an audit, so that the last one finds as much time, and the next one comes not too soon."""
        began = self.clock.seconds
        yield
        took = self.clock.seconds - began
        self._next = self.clock.seconds + _RARELY * took
        self.clock.reserve(min(_LONGER * took, _AT_MOST * self._limit))

    def offer(self, found: Protection) -> None:
        """Keep a result that is safe, where it is the cheapest so far."""
        if found.safe and (self.best is None or found.cost < self.best.cost):
            self.best = found
