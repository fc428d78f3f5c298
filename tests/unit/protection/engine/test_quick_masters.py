"""Integer masters that are solved before anything else find the optima that other searches find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.protection.engine.test_oracle import drawn

from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.patterns.branching import QuickBranching
from celosia.protection.engine.patterns.parameters import QuickParameters
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import problem_of
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

EARLY = replace(PARAMETERS, many_subproblems=0)
EASY = QuickParameters(most_fractional=1.0)


def searched(seed: int, quick: QuickParameters, *, early: bool = True, seconds: float | None = None) -> PatternSearch:
    problem = problem_of(drawn(seed, cube=True), integer=False)
    parameters = EARLY if early else PARAMETERS
    linear, *others = backends()
    search = PatternSearch(problem, linear, (others or [linear])[0], Clock(seconds), parameters=parameters, quick=quick)
    search.run(0.0)
    return search


@pytest.mark.parametrize("seed", range(4))
def test_optima_are_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    late = searched(seed, EASY, early=False).incumbent
    with monkeypatch.context() as patch:  # rounds of integer masters alone close the gap
        for step in ("_round", "_strengthen", "_branch"):
            patch.setattr(PatternSearch, step, lambda _: None)
        early = searched(seed, EASY).incumbent
    assert early.done
    assert early.cost == late.cost == early.bound


def test_masters_are_solved_to_a_part_of_the_gap_and_in_the_end_to_the_optimum() -> None:
    rough = searched(1, replace(EASY, closing_gap=0.0, part=0.5)).incumbent
    assert rough.done
    assert rough.cost == searched(1, EASY).incumbent.cost


def test_fractional_points_and_small_problems_leave_them_out(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(QuickBranching, "plan", lambda *_, **__: calls.append(1))
    searched(2, EASY, early=False)
    assert not calls
    found = searched(2, EASY)
    assert len(calls) == 1
    share = found.cutting.fractional_share
    assert 0 <= share <= 1


def test_a_master_that_takes_too_long_leaves_the_rest_to_the_others() -> None:
    found = searched(3, replace(EASY, seconds=0.0)).incumbent
    assert found.done
    assert np.isclose(found.cost, searched(3, EASY).incumbent.cost)


@pytest.mark.parametrize("complete", [True, False])
def test_points_may_be_more_fractional_where_an_oracle_adds_requirements(
    monkeypatch: pytest.MonkeyPatch, *, complete: bool
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(QuickBranching, "plan", lambda *_, **__: calls.append(1))
    monkeypatch.setattr("celosia.protection.engine.patterns.cutting_planes.PatternCuttingPlanes.fractional_share", 0.6)
    problem, solver = problem_of(drawn(2, cube=True), integer=False), backends()[0]
    extend = None if complete else lambda _: None
    PatternSearch(problem, solver, solver, Clock(None), parameters=EARLY, extend=extend).run(0.0)
    assert len(calls) == (0 if complete else 1)
