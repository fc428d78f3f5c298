"""Ranges closed one by one: the cheapest first, as long as the rest is safe and costs no more than a limit."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.instances import drawn

from celosia.protection.combined.closing import Closing
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.formulation import Prices, formulate_by_ends
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends


def searched(seed: int) -> tuple[ModeSearch, list[np.ndarray]]:
    """Return a search for ranges of a small table at its end, and the ends of all that may be closed."""
    problem = problem_of(drawn(((2, 4), (5,)), seed), integer=None)
    n = len(problem)
    modes = formulate_by_ends(problem, Prices(np.ones(n), np.ones(n)), np.full(n, np.inf))
    search = ModeSearch(problem, modes, backends()[0], Run(Clock(None), 0.0, backends()[0], 0, None), lambda _: None)
    search.solve()
    assert search.best is not None
    wide = search.best[:n] + search.best[n:] > 0
    wide[search.separator.sides.columns] = False
    return search, [np.array([column, n + column]) for column in np.flatnonzero(wide).tolist()]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ranges_are_closed_within_a_limit_and_the_rest_is_safe(seed: int) -> None:
    search, groups = searched(seed)
    closing = Closing(search, groups, 1.2 * search.cost, 0.0, Clock(None))
    closing.run()
    assert closing.closed
    assert search.cost <= closing.cost <= 1.2 * search.cost
    point = search.relaxation.master.solve()
    assert point is not None
    assert not point.x[np.concatenate([groups[group] for group in closing.closed])].any()
    assert search.separator.separate(point.x).least >= 1 - 1e-5
    assert search.modes.cost(point.x) == pytest.approx(closing.cost, rel=1e-6)


def test_no_range_is_closed_that_costs_more_than_the_limit_or_than_time_allows() -> None:
    search, groups = searched(1)
    for limit, seconds in ((0.5 * search.cost, None), (2.0 * search.cost, 0.0)):
        closing = Closing(search, groups, limit, 0.0, Clock(seconds))
        closing.run()
        assert not closing.closed
        assert not search.relaxation.master.is_restricted
