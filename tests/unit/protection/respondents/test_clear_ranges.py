"""Ranges are safe against respondents after seconds: by moves that clear them, and by totals that move with targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import (
    Digits,
    Intervals,
    MidpointWarning,
    MinFrequency,
    Mixed,
    OutOfTimeError,
    PPercent,
    Protection,
    Risk,
    assess,
    audit_respondents,
    protect,
    tabulate,
)
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.respondents.clear_ranges import close_by_totals, find_clear_ranges, widen_totals
from celosia.protection.respondents.oracle import RespondentOracle
from celosia.protection.respondents.solve import _RespondentSearch
from celosia.protection.run import Run
from celosia.risk.requirement import Requirements
from celosia.risk.respondents.rules import criteria_of
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")


@pytest.fixture(scope="module")
def risk() -> Risk:
    random = np.random.default_rng(7)
    n = 1200
    records = pl.DataFrame(
        {
            "firm": [f"firm {k // 2}" for k in range(n)],
            "industry": random.choice([f"{a}{b}" for a in "ABC" for b in range(4)], n),
            "region": random.choice(list("nsew"), n, p=[0.4, 0.3, 0.2, 0.1]),
            "size": random.choice(["small", "medium", "large"], n, p=[0.7, 0.2, 0.1]),
            "turnover": random.lognormal(5, 1.5, n).round(0),
        }
    )
    by = ["industry", "region", "size"]
    table = tabulate(records, by=by, value="turnover", respondent="firm", hierarchies={"industry": Digits((1, 1))})
    return assess(table, PPercent(10), MinFrequency(3))


@pytest.fixture
def run() -> Run:
    return Run(Clock(60.0), 0.0, backends()[0], 0, integer=False)


@pytest.fixture
def oracle(risk: Risk, run: Run) -> RespondentOracle:
    criteria = criteria_of(risk.table, risk.respondents)
    return RespondentOracle(
        replace(risk, respondents=()), Intervals(secret=1, conceal=False), run, risk.respondents, criteria
    )


def test_ranges_of_moves_are_safe_against_everybody(risk: Risk, run: Run, oracle: RespondentOracle) -> None:
    found = find_clear_ranges(oracle.method, run, oracle)
    assert found is not None
    assert found.safe
    assert found.bound <= found.cost
    assert audit_respondents(found.pattern, risk.table, rule=risk.respondents).safe
    assert oracle.judged == 0


def test_they_are_published_where_there_is_no_time_for_a_search(risk: Risk, monkeypatch: pytest.MonkeyPatch) -> None:
    find, calls = _RespondentSearch._find_pattern, []

    def find_once(search: _RespondentSearch, *arguments: Any) -> Protection:  # noqa: ANN401
        calls.append(1)
        if len(calls) > 1:
            raise OutOfTimeError.one("time_limit", "was reached.")
        return replace(find(search, *arguments), cost=1e12)

    monkeypatch.setattr(_RespondentSearch, "_find_pattern", find_once)
    with pytest.warns(MidpointWarning):
        found = protect(risk, Intervals(secret=1, conceal=False))
    assert found.safe
    assert 0 < found.bound < found.cost < 1e12
    assert int(np.count_nonzero(found.pattern.status == "interval")) < len(risk)


def test_ranges_that_respondents_attack_are_closed_by_totals(risk: Risk, run: Run, oracle: RespondentOracle) -> None:
    first = protect(
        replace(risk, respondents=()), Intervals(secret=1, conceal=False), respondents=None, time_limit=20.0, gap=0.5
    )
    exposed = audit_respondents(first.pattern, risk.table, rule=risk.respondents)
    assert exposed.open
    found = close_by_totals(first, exposed, oracle.method, run, oracle)
    assert found is not None
    assert found.safe
    assert found.cost > first.cost
    assert audit_respondents(found.pattern, risk.table, rule=risk.respondents).safe


def test_a_cell_and_all_of_its_totals_move_together(risk: Risk) -> None:
    problem = problem_of(risk, integer=False)
    leaf = int(np.flatnonzero(risk.sensitive)[0])
    level = Fixed(np.array([3]), 0)
    nothing = RangeSlacks(np.zeros(len(problem)), np.zeros(len(problem)))
    wanted = Requirements(np.array([leaf]), np.zeros(1, dtype=np.int32), level, level, Fixed(np.zeros(1, int), 0))
    slacks = widen_totals(problem, nothing, wanted, 2.0)
    assert slacks.up[problem.cells == leaf] == 6 * 10**problem.decimals
    assert not (problem.matrix @ slacks.up).any()
    assert np.array_equal(slacks.up, slacks.down)


def test_methods_that_hide_have_other_ways(run: Run, oracle: RespondentOracle) -> None:
    assert find_clear_ranges(Mixed(secret=1, conceal=False), run, oracle) is None
