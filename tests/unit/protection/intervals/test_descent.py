"""Descents over moves: ranges that hold a move for every level are safe, and cost no more from round to round."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.instances import drawn
from scipy.optimize import linprog

from celosia import Intervals, Risk, protect
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.descent import Hiding, RangeDescent
from celosia.protection.intervals.formulation import Prices
from celosia.protection.intervals.parameters import IntervalParameters
from celosia.protection.intervals.solve import solve
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.tolerance import ENDLESS

CUBE = ((3,), (3,), (2,))


def descent_of(risk: Risk, *, hide: float | None = None) -> RangeDescent:
    problem = problem_of(risk, integer=None)
    n = len(problem)
    costs = risk.cost[problem.cells]
    hiding = None if hide is None else Hiding(np.full(n, hide), np.zeros(n, dtype=bool))
    return RangeDescent(problem, Prices(costs, costs), np.zeros(n, dtype=bool), hiding, backends()[0], Clock(None))


def missed(descent: RangeDescent) -> list[int]:
    """Return the sides whose level the ranges do not let an attacker reach, by SciPy."""
    problem, slacks, sides = descent.problem, descent.slacks, descent.sides
    hidden = np.zeros(len(problem), dtype=bool) if slacks.hidden is None else slacks.hidden
    out = []
    for side in range(len(sides)):
        who = sides.attackers[side]
        ends = []
        for bound, slack in ((problem.down, slacks.down), (problem.up, slacks.up)):
            own = np.where(bound[who] >= ENDLESS, 1e9, bound[who].astype(np.float64))
            ends.append(np.where(hidden, own, np.minimum(own, slack * (1 + 1e-9))))
        cost = np.zeros(len(problem))
        cost[sides.columns[side]] = -1.0 if sides.upward[side] else 1.0
        still = np.zeros(problem.matrix.shape[0])
        found = linprog(
            cost, A_eq=problem.matrix.toarray(), b_eq=still, bounds=list(zip(-ends[0], ends[1], strict=True))
        )
        if -found.fun < sides.levels[side] * (1 - 1e-6):
            out.append(side)
    return out


@pytest.mark.parametrize("sliding", [False, True])
@pytest.mark.parametrize("hide", [None, 40.0])
def test_ranges_of_a_descent_are_safe_and_rounds_never_cost_more(*, sliding: bool, hide: float | None) -> None:
    risk = drawn(CUBE, 1, sliding=sliding)
    descent = descent_of(risk, hide=hide)
    assert descent.run(enough=np.inf)
    first = descent.cost
    assert not missed(descent)
    descent.go_on()
    assert descent.cost <= first * (1 + 1e-9)
    assert not missed(descent)


def test_a_descent_from_the_ranges_of_another_costs_no_more() -> None:
    risk = drawn(CUBE, 2)
    first, second = descent_of(risk), descent_of(risk)
    assert first.run()
    assert second.run(first.slacks)
    assert second.cost <= first.cost * (1 + 1e-6)


@pytest.mark.filterwarnings("ignore::celosia.MidpointWarning")
def test_a_search_between_descents_ends_with_the_cheapest_ranges() -> None:
    risk = drawn(CUBE, 0)
    small = IntervalParameters(descent_columns=1)
    method = Intervals(secret=1, search="cuts", shift=False)
    applied = method.apply_to(risk)
    plain = protect(risk, method)

    run = Run(Clock(None), 0.0, backends()[0], 0, None)
    found = solve(applied, method, run, small)
    assert found.safe
    assert found.cost == pytest.approx(plain.cost, rel=1e-3)


def test_cells_that_cost_less_hidden_are_hidden() -> None:
    risk = drawn(CUBE, 1)
    dear, cheap = descent_of(risk, hide=1e9), descent_of(risk, hide=0.5)
    assert dear.run()
    assert cheap.run()
    assert not dear.hidden.any()
    assert cheap.hidden.any()
    assert cheap.cost < dear.cost


def test_moves_are_taken_over_where_levels_are_added_and_only_the_others_are_searched_for() -> None:
    risk = drawn(CUBE, 1)
    problem = problem_of(risk, integer=None)
    asked = problem.requirements
    some = replace(problem, requirements=asked.take(np.arange(len(asked) - 2)))
    costs = risk.cost[problem.cells]
    none = np.zeros(len(problem), dtype=bool)
    descent = RangeDescent(some, Prices(costs, costs), none, None, backends()[0], Clock(None))
    assert descent.run(enough=np.inf)
    first = descent.slacks
    known = descent.keep_moves()
    assert len(known.keys) == len(descent.sides)

    descent.require(problem)
    assert descent.run(enough=np.inf)
    assert not missed(descent)
    assert (descent.slacks.up >= first.up).all()
    assert (descent.slacks.down >= first.down).all()

    other = RangeDescent(problem, Prices(costs, costs), none, None, backends()[0], Clock(0.0))
    assert not other.run(enough=np.inf)  # there is no time for all levels
    late = IntervalParameters(late_moves=1.0)
    other = RangeDescent(problem, Prices(costs, costs), none, None, backends()[0], Clock(0.0), late)
    other.take_over(known)
    assert other.run(enough=np.inf)
    assert not missed(other)
