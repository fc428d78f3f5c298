"""The time that one solve may take, over all the runs that it needs."""

from __future__ import annotations

import math
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

    @property
    def whole(self) -> Clock:
        """The clock itself; of a share of another that one."""
        return self

    def share(self, part: float) -> Clock:
        """Return the same clock with only a part of its limit: what comes afterwards needs its time, too."""
        return _Share(self, part)


class _Share(Clock):
    """A clock that leaves a part of another's limit."""

    def __init__(self, whole: Clock, part: float) -> None:
        self._whole, self._part = whole, part

    @property
    def whole(self) -> Clock:
        """The clock of which this is a share."""
        return self._whole

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._whole.seconds

    def restart(self) -> None:
        """Count from now on."""
        self._whole.restart()

    def stop(self) -> None:
        """Leave no time from now on, and of the whole none either."""
        self._whole.stop()

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        return self.left_with_grace(0.0, 0.0)

    def left_with_grace(self, seconds: float, share: float) -> float:
        """Return the seconds that remain if the limit were longer; see `Clock.left_with_grace`."""
        left = self._whole.left_with_grace(seconds, share)
        return left if math.isinf(left) else max(0.0, left - (1.0 - self._part) * (left + self.seconds))
