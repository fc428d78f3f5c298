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
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Somebody has ended it, such as by Ctrl-C."""
        return self._stopped

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    def restart(self) -> None:
        """Count from now on; a clock that was stopped stays so."""
        self._began = time.perf_counter()

    def stop(self) -> None:
        """Leave no time from now on."""
        self._limit, self._stopped = min(self._limit, self.seconds), True

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

    def extended(self, seconds: float, share: float) -> Clock:
        """Return the same clock with a limit that is longer by so many seconds and by a share of itself.

        It is for what must be done before anything can be shown; whoever stops the clock while it is used does not
        want to wait for that.
        """
        return _Extended(self, seconds, share)


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
    def stopped(self) -> bool:
        """Somebody has ended the whole."""
        return self._whole.stopped

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        return self.left_with_grace(0.0, 0.0)

    def left_with_grace(self, seconds: float, share: float) -> float:
        """Return the seconds that remain if the limit were longer; see `Clock.left_with_grace`."""
        left = self._whole.left_with_grace(seconds, share)
        return left if math.isinf(left) else max(0.0, left - (1.0 - self._part) * (left + self.seconds))


class _Extended(Clock):
    """A clock that goes on after another, unless that is stopped meanwhile."""

    def __init__(self, whole: Clock, seconds: float, share: float) -> None:
        super().__init__(None)
        self._whole, self._seconds, self._share = whole, seconds, share
        self._before = whole.stopped

    @property
    def stopped(self) -> bool:
        """Somebody has ended it, or the other one since it began."""
        return self._stopped or (self._whole.stopped and not self._before)

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        return 0.0 if self.stopped else self._whole.left_with_grace(self._seconds, self._share)
