"""What searches remember: cuts that hold when more is required, tightened by what is forced since, and a pattern."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.golden.test_daalmans_dewaal_2010 import TABLE_6, TWENTY

from celosia import assess
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.engine.warm_start import cuts_for_problem, keep_cuts, pattern_for_problem
from celosia.protection.state.warm_start import WarmStart


def small_problem() -> ProtectionProblem:
    """Return a problem in which cells 0 and 1 are forced or not."""
    problem = problem_of(assess(TABLE_6, TWENTY, cost="unity"), integer=False)
    return replace(problem, forced=np.zeros(len(problem), dtype=bool))


def test_cuts_come_back_as_they_were_where_nothing_else_is_forced() -> None:
    problem, warm_start = small_problem(), WarmStart()
    keep_cuts(warm_start, problem, [Cut(np.array([1, 3]), np.array([0.5, 1.0]))])
    (cut,) = cuts_for_problem(warm_start, problem)
    assert (cut.columns.tolist(), cut.values.tolist(), cut.right) == ([1, 3], [0.5, 1.0], 1.0)


def test_what_is_forced_makes_them_tighter_or_met() -> None:
    problem, warm_start = small_problem(), WarmStart()
    keep_cuts(
        warm_start,
        problem,
        [Cut(np.array([0, 1, 2]), np.array([0.5, 0.25, 0.5])), Cut(np.array([0, 3]), np.array([1.0, 1.0]))],
    )
    forced = problem.forced.copy()
    forced[0] = True
    (cut,) = cuts_for_problem(warm_start, replace(problem, forced=forced))
    assert cut.columns.tolist() == [1, 2]
    np.testing.assert_allclose(cut.values, [0.5, 1.0], atol=1e-6)
    assert bool((cut.values >= [0.5, 1.0]).all())


def test_cuts_about_some_patterns_only_are_forgotten() -> None:
    problem, warm_start = small_problem(), WarmStart()
    columns, ones = np.array([0, 1]), np.ones(2)
    keep_cuts(
        warm_start,
        problem,
        [Cut(columns, ones, lean=True), Cut(columns, ones, rounded=True), Cut(columns, -ones, -1.0)],
    )
    assert list(cuts_for_problem(warm_start, problem)) == []


def test_cuts_about_cells_that_a_task_does_not_have_wait() -> None:
    problem, warm_start = small_problem(), WarmStart()
    keep_cuts(warm_start, problem, [Cut(np.array([len(problem) - 1]), np.ones(1))])
    assert (
        list(cuts_for_problem(warm_start, problem.part(np.arange(len(problem) - 1), np.zeros(0, dtype=np.int64)))) == []
    )


def test_the_pattern_hides_what_is_forced_and_columns_that_are_no_cells() -> None:
    problem = small_problem()
    assert pattern_for_problem(WarmStart(), problem) is None
    forced = problem.forced.copy()
    forced[[2, -1]] = True
    cells = problem.cells.copy()
    cells[-1] = len(TABLE_6)
    hidden = np.zeros(len(TABLE_6), dtype=bool)
    hidden[4] = True
    mask = pattern_for_problem(WarmStart(hidden), replace(problem, cells=cells, forced=forced, n_local=1))
    assert mask is not None
    np.testing.assert_array_equal(mask, forced | (problem.cells == 4))
