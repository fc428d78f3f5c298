"""A share of a clock leaves time for what comes afterwards."""

from __future__ import annotations

import math

from celosia.solve.clock import Clock


def test_a_share_has_less_time_and_the_same_seconds() -> None:
    clock = Clock(1000.0)
    share = clock.share(0.8)
    assert 700.0 < share.left < 800.0 < clock.left
    assert share.whole is clock
    assert 0 <= share.seconds <= clock.seconds


def test_a_share_of_no_limit_has_none() -> None:
    assert math.isinf(Clock(None).share(0.5).left)


def test_stopping_one_stops_the_other() -> None:
    clock = Clock(None)
    share = clock.share(0.5)
    share.stop()
    assert clock.left == share.left == 0.0
    other = Clock(1000.0)
    part = other.share(0.5)
    other.stop()
    assert part.left == 0.0


def test_an_extended_clock_goes_on_after_the_limit() -> None:
    clock = Clock(0.0)
    assert (clock.left, clock.stopped) == (0.0, False)
    assert 900.0 < clock.extended(1000.0, 1.0).left <= 1000.0
    assert 1900.0 < Clock(500.0).extended(1000.0, 1.0).left <= 2000.0
    assert math.isinf(Clock(None).extended(10.0, 1.0).left)


def test_it_ends_with_the_other_one_if_that_is_stopped_meanwhile() -> None:
    clock = Clock(None)
    longer = clock.extended(10.0, 1.0)
    clock.stop()
    assert clock.stopped
    assert longer.stopped
    assert longer.left == 0.0
    again = clock.extended(1000.0, 1.0)
    assert not again.stopped
    assert 900.0 < again.left < 1001.0
