"""Flipping ends where no other single choice of what is hidden is cheaper, and begins in large tables only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.instances import drawn
from numpy.typing import NDArray

from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.parameters import SEARCH, ModeSearchParameters
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.mixed.formulation import HidingPrices, formulate_without_numbers
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

FLIPS = replace(SEARCH, hiding_columns=1)


def problem_and_modes(
    seed: int, shape: tuple[tuple[int, ...], ...] = ((2, 3), (4,))
) -> tuple[ProtectionProblem, Modes]:
    """Return a small table whose cells are shown, hidden or ranges: narrow ones are cheaper, wide ones not."""
    problem = problem_of(drawn(shape, seed=seed), integer=False)
    width, hide = np.ones(len(problem)), np.random.default_rng(seed).uniform(0.5, 10.0, len(problem))
    prices = HidingPrices(width, width, hide)
    return problem, formulate_without_numbers(problem, prices, np.full(len(problem), np.inf))


def search_over(
    problem: ProtectionProblem, modes: Modes, parameters: ModeSearchParameters = FLIPS, limit: float | None = None
) -> ModeSearch:
    """Return a search."""
    run = Run(Clock(limit), 0.0, backends()[0], 0, integer=False)
    return ModeSearch(problem, modes, backends()[0], run, lambda _: None, parameters=parameters)


def cheapest_with(problem: ProtectionProblem, modes: Modes, hidden: NDArray[np.float64]) -> ModeSearch:
    """Return a search at its end in which just these cells are hidden."""
    lower, upper = modes.program.lower.copy(), modes.program.upper.copy()
    lower[modes.integers] = upper[modes.integers] = hidden
    fixed = replace(modes.program, lower=lower, upper=upper, integer=None)
    search = search_over(problem, replace(modes, program=fixed))
    search.solve()
    return search


@pytest.mark.parametrize("seed", range(3))
def test_no_single_flip_of_the_last_point_is_cheaper(seed: int) -> None:
    problem, modes = problem_and_modes(seed)
    start = cheapest_with(problem, modes, np.zeros(len(modes.integers)))
    search = search_over(problem, modes)
    assert start.best is not None
    search.learn([], search.bound, start.best)
    search.flip(Clock(None))
    assert search.best is not None
    assert search.cost < start.cost
    assert search.separator.separate(search.best).safe
    hidden = np.rint(search.best[modes.integers])
    for place in range(len(hidden)):
        other = cheapest_with(problem, modes, np.where(np.arange(len(hidden)) == place, 1.0 - hidden, hidden))
        assert other.best is None or other.cost > search.cost * (1 - 2 * FLIPS.flipping_gain)


def test_flips_change_no_bound_and_end_with_their_time() -> None:
    problem, modes = problem_and_modes(0)
    start = cheapest_with(problem, modes, np.zeros(len(modes.integers)))
    search = search_over(problem, modes)
    search.learn([], search.bound, start.best)
    before = search.bound
    search.flip(Clock(0.0))
    assert (search.best is start.best, search.bound) == (True, before)
    search.flip(Clock(None))
    assert search.bound == before


@pytest.mark.parametrize(
    ("shape", "parameters"),
    [(((2, 3), (4,)), SEARCH), (((3,), (3,), (3,)), FLIPS)],
    ids=["small", "no network"],
)
def test_small_tables_and_those_that_are_no_networks_are_not_flipped(
    shape: tuple[tuple[int, ...], ...], parameters: ModeSearchParameters
) -> None:
    problem, modes = problem_and_modes(0, shape)
    start = cheapest_with(problem, modes, np.zeros(len(modes.integers)))
    search = search_over(problem, modes, parameters)
    assert start.best is not None
    search.learn([], search.bound, start.best)
    search.flip(Clock(None))
    assert search.best is start.best
