"""Where time is up before a search has found ranges, cells move with all their totals: no linear program is needed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia import Intervals, PPercent, Risk, assess, audit, tabulate
from celosia.protection.intervals.parameters import INTERVALS
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.publish.publication import RangePublisher
from celosia.protection.intervals.search import RangeSearches
from celosia.protection.intervals.widen import widen_ranges
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")


@pytest.fixture(scope="module")
def risk() -> Risk:
    random, n = np.random.default_rng(3), 200
    records = pl.DataFrame(
        {
            "industry": random.choice(list("abcd"), n),
            "region": random.choice(list("nsew"), n),
            "size": random.choice(list("sml"), n),
            "turnover": random.lognormal(5, 2, n).round(0),
        }
    )
    return assess(tabulate(records, by=["industry", "region", "size"], value="turnover"), PPercent(10))


class LateClock(Clock):
    """A clock on which time is up, even with grace."""

    def left_with_grace(self, part: float) -> float:
        del part
        return 0.0


def searches_with(risk: Risk, clock: Clock, method: Intervals) -> RangeSearches[RangeProblem]:
    run = Run(clock, 0.0, backends()[0], 0, integer=False)
    ranges = RangeProblem(risk, method.require_widths(risk), method, False)  # noqa: FBT003
    return RangeSearches(ranges, RangePublisher(ranges, run), run)


def count_programs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    asked: list[int] = []
    widen = widen_ranges

    def counting(*args: object) -> object:
        asked.append(1)
        return widen(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("celosia.protection.intervals.search.widen_ranges", counting)
    return asked


def test_no_program_is_solved_where_time_is_up_and_the_ranges_are_safe(
    risk: Risk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, late = count_programs(monkeypatch), searches_with(risk, LateClock(1.0), Intervals(secret=1))
    slacks = late.widen_one_by_one()
    assert not asked
    assert audit(late.publisher.draft(slacks), risk).safe


def test_with_time_every_requirement_has_its_program_and_ranges_cost_less(
    risk: Risk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, searches = count_programs(monkeypatch), searches_with(risk, Clock(60.0), Intervals(secret=1))
    slacks = searches.widen_one_by_one()
    assert asked
    wide = searches_with(risk, LateClock(1.0), Intervals(secret=1)).widen_one_by_one()
    prices = searches.ranges.prices
    least, most = (float(prices.down @ one.down + prices.up @ one.up) for one in (slacks, wide))
    assert least < most


def test_greatest_widths_are_kept_however_late_it_is(risk: Risk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_programs(monkeypatch)
    late = searches_with(risk, LateClock(1.0), Intervals(secret=1, most_width=dict.fromkeys(range(len(risk)), 10.0**9)))
    late.widen_one_by_one()
    assert asked


def test_some_grace_is_left_for_programs() -> None:
    assert 0 < INTERVALS.widening_grace < 1
