"""Cuts over the ends of ranges, kept for a problem with further cells and another unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.instances import drawn

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.formulation import Prices, formulate_by_ends
from celosia.protection.intervals.warm_start import keep_end_cuts, known_end_cuts
from celosia.protection.state.warm_start import WarmStart


def test_a_kept_cut_says_the_same_about_ranges_whatever_the_unit() -> None:
    risk = drawn(((3,), (3,)), 0)
    problem = problem_of(risk, integer=None)
    n, costs = len(problem), risk.cost[problem.cells]
    modes = formulate_by_ends(problem, Prices(costs, costs), np.full(n, np.inf))
    cut = Cut(np.array([1, n + 2]), np.array([1.0, 0.5]), 3.0)
    start = WarmStart()
    keep_end_cuts(start, problem, modes, [cut])

    same = known_end_cuts(start, problem, modes)[0]
    assert same.columns.tolist() == [1, n + 2]
    assert same.values.tolist() == [1.0, 0.5]
    assert np.isclose(same.right, 3.0)
    half = known_end_cuts(start, problem, replace(modes, unit=modes.unit / 2))[0]
    assert np.isclose(half.right, 6.0)


def test_a_cut_about_other_cells_is_left_out() -> None:
    risk = drawn(((3,), (3,)), 0)
    problem = problem_of(risk, integer=None)
    n, costs = len(problem), risk.cost[problem.cells]
    modes = formulate_by_ends(problem, Prices(costs, costs), np.full(n, np.inf))
    start = WarmStart(end_cuts=((np.array([10_000]), np.array([True]), np.ones(1), 1.0),))
    assert known_end_cuts(start, problem, modes) == []
