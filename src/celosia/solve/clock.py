"""The time that one solve may take, over all the runs that it needs."""

from __future__ import annotations

import time


class Clock:
    """Measures a solve against its limit.

    Parameters
    ----------
    limit
        Wall-clock seconds, None for no limit.
    """

    def __init__(self, limit: float | None) -> None:
        self._began = time.perf_counter()
        self._limit = float("inf") if limit is None else limit

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    def restart(self) -> None:
        """Count from now on; a clock that was stopped stays so."""
        self._began = time.perf_counter()

    def stop(self) -> None:
        """Leave no time from now on."""
        self._limit = min(self._limit, self.seconds)

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        return max(0.0, self._limit - self.seconds)

    def left_with_grace(self, seconds: float, share: float) -> float:
        """Return the seconds that remain if the limit were longer by so many seconds and by this share of itself.

        Never negative. A clock that was stopped counts as one whose limit was then.
        """
        return max(0.0, self._limit * (1 + share) + seconds - self.seconds)
