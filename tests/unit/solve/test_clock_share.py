"""A share of a clock leaves time for what comes afterwards."""

from __future__ import annotations

import math

from celosia.solve.clock import Clock


def test_a_share_has_less_time_and_the_same_seconds() -> None:
    clock = Clock(100.0)
    share = clock.share(0.8)
    assert 79.0 < share.left < 80.0 < clock.left
    assert share.whole is clock
    assert 0 <= share.seconds < 1.0


def test_a_share_of_no_limit_has_none() -> None:
    assert math.isinf(Clock(None).share(0.5).left)


def test_stopping_one_stops_the_other() -> None:
    clock = Clock(None)
    share = clock.share(0.5)
    share.stop()
    assert clock.left == share.left == 0.0
    other = Clock(100.0)
    part = other.share(0.5)
    other.stop()
    assert part.left == 0.0
