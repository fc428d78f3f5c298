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


def test_an_extended_clock_goes_on_after_the_limit_but_not_to_the_last_moment() -> None:
    clock = Clock(0.0)
    assert (clock.left, clock.stopped) == (0.0, False)
    assert 0.0 < clock.extend(0.5).left < clock.left_at_most
    limit = Clock(100.0)
    assert limit.left < limit.extend(0.5).left < limit.left_at_most < 1.1 * 100.0 + 2.0
    assert math.isinf(Clock(None).extend(0.5).left)
    assert math.isinf(Clock(None).left_at_most)


def test_it_ends_with_the_other_one_if_that_is_stopped_meanwhile() -> None:
    clock = Clock(None)
    longer = clock.extend(0.5)
    clock.stop()
    assert clock.stopped
    assert longer.stopped
    assert longer.left == 0.0
    again = clock.extend(0.5)
    assert not again.stopped
    assert 0.0 < again.left < clock.left_at_most < 2.0


def test_what_is_reserved_is_not_left_but_for_what_may_be_late() -> None:
    clock = Clock(100.0)
    clock.reserve(30.0)
    late = Clock(100.0).left_at_most - 100.0
    assert 69.0 < clock.left - late < 70.0
    assert clock.left_at_most > 100.0
    clock.reserve(1.0)
    assert clock.left > 99.0


def test_a_clock_without_a_limit_reserves_nothing() -> None:
    clock = Clock(None)
    clock.reserve(30.0)
    assert math.isinf(clock.left)


def test_a_second_stop_is_not_waited_for_any_longer_than_the_first() -> None:
    clock = Clock(None)
    clock.stop()
    first = clock.left_at_most
    clock.stop()
    assert clock.left_at_most <= first
