"""Combined suppression of larger tables starts from a suppression pattern."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.instances import drawn

import celosia as cz
from celosia.pattern.modes.interval import Interval
from celosia.protection.combined.parameters import CombinedParameters
from celosia.protection.combined.solve import solve
from celosia.protection.engine.modes.parameters import ModeSearchParameters
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.start import ranges_of_witnesses
from celosia.protection.mixed.parameters import MixedParameters
from celosia.protection.mixed.solve import solve as solve_mixed
from celosia.protection.run import Run
from celosia.risk.risk import Risk
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")


def risk_of(*, sliding: bool) -> Risk:
    """Return a small table with a hierarchy, of levels on both sides or of sliding ones."""
    return drawn(((2, 3), (4,)), seed=3, sliding=sliding)


@pytest.mark.parametrize("sliding", [True, False])
def test_a_start_from_a_pattern_ends_at_the_same_optimum(*, sliding: bool) -> None:
    risk, costs = risk_of(sliding=sliding), []
    for least in (1, 10_000):
        method = cz.Combined("unity", cell_cost="value", secret=1, conceal=False)
        run = Run(Clock(None), 0.0, backends()[0], 0, None)
        found = solve(method.apply_to(risk), method, run, CombinedParameters(start_columns=least))
        assert found.safe
        assert found.bound >= found.cost * (1 - 1e-3)
        costs.append(found.cost)
    assert costs[0] == pytest.approx(costs[1], rel=1e-3)


def test_no_pattern_is_searched_for_where_fixed_costs_hardly_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def search_none(*_: object) -> None:
        pytest.fail("a pattern is searched for")

    monkeypatch.setattr("celosia.protection.combined.pattern.search_pattern", search_none)
    risk = risk_of(sliding=False)
    method = cz.Combined("unity", cell_cost=np.full(len(risk), 1e-9), secret=1, conceal=False)
    run = Run(Clock(None), 0.0, backends()[0], 0, None)
    found = solve(method.apply_to(risk), method, run, CombinedParameters(start_columns=1))
    assert found.safe
    assert found.cost == pytest.approx(cz.protect(risk, cz.Intervals("unity", secret=1, conceal=False)).cost, rel=1e-4)
    assert found.bound >= found.cost * (1 - 1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_a_mixed_release_that_begins_with_the_cuts_of_ranges_ends_at_the_same_optimum(seed: int) -> None:
    risk, costs = drawn(((2, 3), (4,)), seed=seed), []
    for least in (1, 10_000):
        method = cz.Mixed(secret=1, conceal=False)
        search = ModeSearchParameters(hiding_columns=least)
        run = Run(Clock(None), 0.0, backends()[0], 0, None)
        found = solve_mixed(method.apply_to(risk), method, run, MixedParameters(search=search, start_columns=least))
        assert found.safe
        assert found.bound >= found.cost * (1 - 1e-3)
        costs.append(found.cost)
    assert costs[0] == pytest.approx(costs[1], rel=1e-3)


@pytest.mark.parametrize("sliding", [True, False])
def test_ranges_that_hold_the_witnesses_of_a_pattern_are_safe_on_its_cells(*, sliding: bool) -> None:
    risk = risk_of(sliding=sliding)
    hidden = cz.protect(risk, cz.Suppress())
    method = cz.Intervals(secret=1, conceal=False)
    problem = RangeProblem(risk, risk, method, None).problem
    slacks = ranges_of_witnesses(problem, hidden.audit)
    assert slacks is not None
    wide = problem.cells[(slacks.down > 0) | (slacks.up > 0)]
    assert set(wide.tolist()) <= set(np.flatnonzero(hidden.pattern.status == "hidden").tolist())
    released = np.zeros(len(risk)), np.zeros(len(risk))
    for side, slack in zip(released, (slacks.down, slacks.up), strict=True):
        side[problem.cells] = slack / 10**problem.decimals
    truth = risk.table.values
    cells = np.flatnonzero(released[0] + released[1] > 0)
    scale = 10**problem.decimals
    lower, upper = (
        Fixed(np.rint((truth[cells] + sign * side[cells]) * scale).astype(np.int64), problem.decimals)
        for sign, side in zip((-1, 1), released, strict=True)
    )
    pattern = cz.Pattern.of(risk.table, Interval(cells, lower, upper, np.ones(len(cells)), np.ones(len(cells))))
    assert cz.audit(pattern, risk).safe
