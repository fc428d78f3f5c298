"""The time that one solve may take, over all the runs that it needs."""

from __future__ import annotations

import math
import time

LATE_SECONDS, LATE_SHARE = 1.0, 0.08
"""Seconds, and a share of the limit, after which nothing is waited for that should have ended at the limit."""

AFTER_STOP = 1.5
"""Seconds that work may take to end once the clock was stopped."""

_SLOWER = 2.0
"""Where other programs take the processor, these are seconds of work, but no more than so many times as many."""


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
        self._last = self._limit * (1 + LATE_SHARE) + LATE_SECONDS
        self._reserved = 0.0
        self._stopped = False
        self._stopped_at = 0.0, 0.0

    @property
    def stopped(self) -> bool:
        """It was stopped, such as by Ctrl-C."""
        return self._stopped

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    def stop(self) -> None:
        """Leave no time from now on, and little for what must be done all the same."""
        if not self._stopped:
            self._stopped_at = self.seconds, time.process_time()
        self._limit, self._stopped = min(self._limit, self.seconds), True

    @property
    def _since_stop(self) -> float:
        """Seconds since the clock was stopped, as far as there was a processor to work with."""
        seconds, worked = self.seconds - self._stopped_at[0], time.process_time() - self._stopped_at[1]
        return max(seconds / _SLOWER, min(seconds, worked))

    def reserve(self, seconds: float) -> None:
        """Keep seconds of the limit for what comes at the end, which may be late."""
        self._reserved = max(0.0, seconds - (self._last - self._limit)) if math.isfinite(self._limit) else 0.0

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        return self.left_with_grace(0.0)

    @property
    def left_at_most(self) -> float:
        """Seconds until the last moment, when nothing is waited for any more; never negative.

        It is a little later than the limit: what was found by then is audited.
        """
        left = self._last - self.seconds
        return max(0.0, min(left, AFTER_STOP - self._since_stop) if self._stopped else left)

    def left_with_grace(self, part: float) -> float:
        """Return the seconds that remain if the limit were so far on the way to the last moment.

        Never negative. A clock that was stopped counts as one whose limit was then.
        """
        if self._stopped:
            return max(0.0, min(part * AFTER_STOP - self._since_stop, self.left_at_most))
        end = self._limit + part * (self._last - self._limit) if math.isfinite(self._limit) else self._limit
        return max(0.0, end - self._reserved - self.seconds)

    @property
    def whole(self) -> Clock:
        """The clock itself; of a share of another that one."""
        return self

    def share(self, part: float) -> Clock:
        """Return the same clock with only a part of its limit: what comes afterwards needs its time, too."""
        return _Share(self, part)

    def share_of_rest(self, part: float) -> Clock:
        """Return the same clock with only a part of the seconds that remain."""
        left, seconds = self.left, self.seconds
        return self.share((seconds + part * left) / (seconds + left) if math.isfinite(left) else 1.0)

    def extend(self, part: float) -> Clock:
        """Return the same clock with a limit that is so far on the way to the last moment.

        It is for what must be done before anything can be shown; whoever stops the clock while it is used does not
        want to wait for that.
        """
        return _Extended(self, part)


class _Share(Clock):
    """A clock that leaves a part of another's limit."""

    def __init__(self, whole: Clock, part: float) -> None:
        self._whole, self._part = whole, part

    @property
    def whole(self) -> Clock:
        """The clock of which this is a share."""
        return self._whole

    def reserve(self, seconds: float) -> None:
        """Keep seconds of the whole for what comes at the end."""
        self._whole.reserve(seconds)

    @property
    def left_at_most(self) -> float:
        """Seconds until the last moment of the whole."""
        return self._whole.left_at_most

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._whole.seconds

    def stop(self) -> None:
        """Leave no time from now on, and of the whole none either."""
        self._whole.stop()

    @property
    def stopped(self) -> bool:
        """The whole was stopped."""
        return self._whole.stopped

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        return self.left_with_grace(0.0)

    def left_with_grace(self, part: float) -> float:
        """Return the seconds that remain if the limit were longer; see `Clock.left_with_grace`."""
        left = self._whole.left_with_grace(part)
        return left if math.isinf(left) else max(0.0, left - (1.0 - self._part) * (left + self.seconds))


class _Extended(Clock):
    """A clock that goes on after another, unless that is stopped meanwhile."""

    def __init__(self, whole: Clock, part: float) -> None:
        super().__init__(None)
        self._whole, self._part = whole, part
        self._before = whole.stopped

    @property
    def stopped(self) -> bool:
        """It was stopped, or the other one since it began."""
        return self._stopped or (self._whole.stopped and not self._before)

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        return 0.0 if self.stopped else self._whole.left_with_grace(self._part)

    @property
    def left_at_most(self) -> float:
        """Seconds until the last moment of the other."""
        return self._whole.left_at_most


class PartOfClock(Clock):
    """Some of the time of another clock, and none when that is stopped before its end."""

    def __init__(self, whole: Clock, limit: float | None) -> None:
        super().__init__(limit)
        self._whole, self._before = whole, whole.stopped

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        if self._whole.stopped and not self._before:
            self.stop()
        return super().left

    def take_everything(self) -> None:
        """Take all that is left of the other clock: nothing needs to come afterwards."""
        if not self.stopped:
            self._limit, self._last = (self.seconds + left for left in (self._whole.left, self._whole.left_at_most))
