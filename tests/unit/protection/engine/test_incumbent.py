"""The incumbent: the best safe pattern and the best valid bound, whatever comes in which order; and when to stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.golden.test_daalmans_dewaal_2010 import TABLE_6, TWENTY

from celosia import assess
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.incumbent import PatternIncumbent, no_good_cuts
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.engine.stop import Stop, TimeUpError
from celosia.solve.clock import Clock


@pytest.fixture
def problem() -> ProtectionProblem:
    """Return a problem in which the first column is forced, and every column costs 1."""
    drawn = problem_of(assess(TABLE_6, TWENTY, cost="unity"), integer=False)
    return replace(drawn, forced=np.arange(len(drawn)) == 0)


def hiding(problem: ProtectionProblem, n: int) -> NDArray[np.bool_]:
    """Return the pattern of the first columns."""
    return np.arange(len(problem)) < n


def test_only_a_cheaper_pattern_is_better(problem: ProtectionProblem) -> None:
    heard: list[int] = []
    found = PatternIncumbent(problem, listen=lambda: heard.append(1))
    assert [found.improve(hiding(problem, n)) for n in (5, 6, 4)] == [True, False, True]
    assert (found.cost, len(heard)) == (4.0, 2)


def test_bounds_only_rise_and_are_rounded_up_to_costs_of_patterns(problem: ProtectionProblem) -> None:
    found = PatternIncumbent(problem)
    found.raise_bound(1.2)
    found.raise_bound(0.5)
    assert found.bound == 1.0 + 2.0  # the forced column, and two others
    found.improve(hiding(problem, 3))
    assert found.done


def test_a_frozen_bound_stays_and_nothing_is_concluded(problem: ProtectionProblem) -> None:
    found = PatternIncumbent(problem)
    found.freeze(unless=True)
    found.raise_bound(1.0)
    found.freeze()
    found.raise_bound(5.0)
    found.conclude()
    assert (found.bound, found.impossible, found.exhausted) == (2.0, False, True)


def test_a_refuted_pattern_gives_way_to_an_earlier_one(problem: ProtectionProblem) -> None:
    found = PatternIncumbent(problem)
    found.improve(hiding(problem, 5))
    found.improve(hiding(problem, 3))
    (cut,) = found.refute(np.array([0]), proved=True)
    assert found.cost == 5.0
    assert not found.allows(hiding(problem, 3))
    assert not found.allows(hiding(problem, 2))  # hiding less is no safer
    assert cut.violation(hiding(problem, 4).astype(float)) <= 0


def test_where_everything_hidden_is_refuted_nothing_is_safe(problem: ProtectionProblem) -> None:
    found = PatternIncumbent(problem)
    found.improve(np.ones(len(problem), dtype=bool))
    found.refute(np.array([0]), proved=True)
    assert (found.pattern, found.impossible, found.done) == (None, True, True)


def test_further_rows_are_kept(problem: ProtectionProblem) -> None:
    free = np.arange(1, len(problem))
    found = PatternIncumbent(problem, [Cut(free, -np.ones(len(free)), -2.0)])
    assert [found.allows(hiding(problem, n)) for n in (3, 4)] == [True, False]


def test_a_cell_that_is_not_forced_may_be_shown_instead(problem: ProtectionProblem) -> None:
    (cut,) = no_good_cuts(problem, hiding(problem, 3), np.array([2]))
    assert cut.violation(hiding(problem, 3).astype(float)) > 0
    assert cut.violation(hiding(problem, 2).astype(float)) <= 0
    assert cut.violation(hiding(problem, 4).astype(float)) <= 0


def test_a_search_may_stop_at_its_gap(problem: ProtectionProblem) -> None:
    found = PatternIncumbent(problem)
    stop = Stop(found, Clock(None))
    stop.begin(0.5, np.inf)
    found.improve(hiding(problem, 4))
    assert not stop.reached
    found.raise_bound(1.0)
    assert stop.reached


def test_before_a_first_pattern_time_has_its_grace(problem: ProtectionProblem) -> None:
    audits: list[int] = []
    found = PatternIncumbent(problem)
    stop = Stop(found, Clock(0.0), lambda: audits.append(1), grace=1.0)
    stop.check()
    found.improve(hiding(problem, 4))
    with pytest.raises(TimeUpError):
        stop.check()
    assert len(audits) == 2
