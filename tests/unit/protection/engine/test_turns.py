"""Turns go to whatever closes the gap fastest; nothing is given up for good."""

from __future__ import annotations

import contextlib
import math

from celosia.protection.engine.stop import Effort, TimeUpError, Turns


class Watch:
    """A clock that moves when somebody works."""

    def __init__(self, limit: float) -> None:
        self.seconds, self.limit = 0.0, limit


class WatchedStop:
    """Ends when a gap is closed, or the watch says so."""

    def __init__(self, watch: Watch) -> None:
        self.clock, self.gap = watch, 100.0

    @property
    def reached(self) -> bool:
        return self.gap <= 0

    @property
    def left(self) -> float:
        return self.clock.limit - self.clock.seconds

    def check(self) -> None:
        if self.left <= 0:
            raise TimeUpError


def take_turns(rates: list[float], limit: float = 100.0, least: float = 0.1) -> tuple[list[float], WatchedStop]:
    """Return the seconds of efforts that close the gap by so much a second."""
    stop = WatchedStop(Watch(limit))

    def effort(rate: float) -> Effort:
        def run(seconds: float) -> None:
            stop.clock.seconds += max(seconds, 0.01)
            stop.gap -= rate * seconds

        return Effort(run, lambda: stop.gap)

    efforts = [effort(rate) for rate in rates]
    turns = Turns(stop, 0.1, least, 0.1)  # type: ignore[arg-type]
    with contextlib.suppress(TimeUpError):
        turns.run(efforts)
    return [one.seconds for one in efforts], stop


def test_most_time_goes_to_what_closes_the_gap_fastest() -> None:
    (slow, fast, idle), _ = take_turns([0.01, 0.1, 0.0])
    assert fast > 0.6 * (slow + fast + idle)


def test_what_brings_nothing_gets_its_least_share() -> None:
    (idle, fast), _ = take_turns([0.0, 0.1])
    assert 0.05 * (idle + fast) < idle < 0.25 * (idle + fast)


def test_turns_end_when_the_gap_is_closed() -> None:
    _, stop = take_turns([5.0, 1.0])
    assert stop.reached
    assert stop.left > 0


def test_what_an_effort_brought_before_the_turns_counts_and_fades() -> None:
    stop = WatchedStop(Watch(1000.0))
    jumps, steady = Effort(lambda _: None, lambda: stop.gap), Effort(lambda _: None, lambda: stop.gap)
    turns = Turns(stop, 0.1, 0.1, 0.1)  # type: ignore[arg-type]
    with turns.count(jumps):
        stop.clock.seconds, stop.gap = 10.0, 50.0
        turns.note()
    with turns.count(steady):
        stop.clock.seconds, stop.gap = 20.0, 40.0
    assert jumps.rate > steady.rate > 0  # what the other has brought is not counted
    at_first = jumps.rate
    with turns.count(jumps):
        stop.clock.seconds += 2.0
    assert steady.rate < jumps.rate < at_first  # a short turn without gain says little
    with turns.count(jumps):
        stop.clock.seconds += 20.0
    assert jumps.rate < steady.rate


def test_a_first_point_is_no_gain_that_tells_what_comes_next() -> None:
    stop = WatchedStop(Watch(100.0))
    stop.gap = math.inf
    turns, effort = Turns(stop, 0.1, 0.1, 0.1), Effort(lambda _: None, lambda: stop.gap)  # type: ignore[arg-type]
    with turns.count(effort):
        stop.clock.seconds, stop.gap = 1.0, 50.0
    assert effort.rate == 0.0


def test_an_effort_is_worth_a_first_turn_whatever_others_bring() -> None:
    assert math.isinf(Effort(lambda _: None, lambda: 1.0).rate)
    (fast, other), _ = take_turns([1.0, 0.5], least=0.0)
    assert fast > other > 0
