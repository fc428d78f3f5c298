"""The relaxed master: what costs too much is fixed, and open again where the incumbent is refuted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from tests.oracles.bare_tables import FLAT_2, lattice
from tests.unit.protection.conftest import MakeRisk

from celosia import Attacker, Risk
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.offers import offer_hiding
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import problem_of
from celosia.protection.engine.relaxation import RoundRules
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

SQUARE, CELLS = lattice([FLAT_2, FLAT_2]), [60, 28, 32, 30, 20, 10, 30, 8, 22]
CHEAP, DEAR = [4, 5, 7, 8], [0, 1, 2, 3, 6]
"""The inner cells, which protect each other, and the totals."""


def search_hiding(risk: Risk, limit: float | None = None) -> ModeSearch:
    """Return a search over cells to hide; totals cost a hundred times as much as others."""
    problem = problem_of(risk, integer=False)
    cost = np.where(np.isin(np.arange(len(problem)), DEAR), 100.0, 1.0)
    modes = Modes.of(problem, [offer_hiding(np.arange(len(problem)), cost, problem.forced)], 1.0)
    run = Run(Clock(limit), 0.0, backends()[0], 0, integer=False)
    return ModeSearch(problem, modes, backends()[0], run, lambda _: None)


def hide(cells: list[int]) -> NDArray[np.float64]:
    return np.isin(np.arange(len(CELLS)), cells).astype(np.float64)


def test_whole_numbers_that_cost_more_than_the_gap_are_fixed_until_the_incumbent_is_refuted(make: MakeRisk) -> None:
    search = search_hiding(make(SQUARE, CELLS, {8: (3, 3, 0)}))
    master = search.relaxation.master
    search.relaxation.solve()
    assert master.upper.tolist() == [1.0] * len(CELLS)  # no incumbent, no gap
    search.suggest(hide(CHEAP))
    search.relaxation.fix_by_reduced_costs()
    assert (master.upper[DEAR].max(), master.upper[CHEAP].min()) == (0.0, 1.0)
    assert not master.is_restricted
    assert search.forbid(hide(CHEAP))
    assert (search.best, master.upper.min()) == (None, 1.0)


def test_cells_of_patterns_that_cost_more_than_the_gap_are_shown_until_the_pattern_is_refuted(make: MakeRisk) -> None:
    cost = np.where(np.isin(np.arange(len(CELLS)), DEAR), 100.0, 1.0).tolist()
    problem = problem_of(make(SQUARE, CELLS, {8: (3, 3, 0)}, cost=cost), integer=False)
    search = PatternSearch(problem, backends()[0], backends()[0], Clock(None))
    search.run(0.0)
    master, best = search.relaxation.master, search.best
    assert best is not None
    assert np.flatnonzero(best).tolist() == CHEAP
    assert (master.upper[DEAR].max(), master.is_restricted) == (0.0, False)
    search.forbid(np.array([8]), proved=False)
    assert (search.best, master.upper.min(), search.relaxation.last) == (None, 1.0, None)


def test_a_bound_tails_off_when_it_has_hardly_risen_in_some_rounds() -> None:
    rules = RoundRules(purge_every=1, patience=1, least_rise=0.01, rounds_without_rise=3)
    assert not rules.is_tailing_off([100.0, 100.5, 101.0])  # too few rounds
    assert rules.is_tailing_off([90.0, 100.0, 100.5, 101.0])
    assert not rules.is_tailing_off([90.0, 99.0, 100.5, 101.0])
    assert replace(rules, base=100.0).is_tailing_off([90.0, 99.0, 100.5, 101.0])
    assert not replace(rules, rounds_without_rise=None).is_tailing_off([100.0] * 9)


def test_a_search_that_had_no_time_goes_on_where_there_is_some(make: MakeRisk) -> None:
    search = search_hiding(make(SQUARE, CELLS, {8: (3, 3, 0)}), limit=0.0)
    search.suggest(hide([*CHEAP, 0]))
    search.solve()
    assert not search.is_done
    search.go_on(Clock(None))
    assert (search.cost, search.bound) == (4.0, 4.0)


def test_a_search_with_fixed_variables_proves_the_optimum(make: MakeRisk) -> None:
    search = search_hiding(make(SQUARE, CELLS, {8: (3, 3, 0)}))
    search.suggest(hide([*CHEAP, 0]))
    search.solve()
    assert (search.cost, search.bound) == (4.0, 4.0)  # costs are whole numbers, and so is the bound


def test_a_cell_that_follows_from_relations_alone_cannot_be_protected(make: MakeRisk) -> None:
    search = search_hiding(make([*SQUARE, [0] * 8 + [1]], CELLS, {8: (3, 3, 0)}))
    search.solve()
    assert (search.impossible, search.best) == (True, None)


def test_a_cell_that_follows_from_what_one_of_two_attackers_knows_is_impossible(make: MakeRisk) -> None:
    risk = make(SQUARE, CELLS, {8: (3, 3, 0)})
    (external,) = risk.attackers
    lower, upper = external.lower.counts.copy(), external.upper.counts.copy()
    lower[6:8] = upper[6:8] = CELLS[6:8]
    insider = Attacker("insider", Fixed(lower), Fixed(upper))
    search = search_hiding(replace(risk, attackers=(external, insider)))
    search.solve()
    assert (search.impossible, search.best) == (True, None)


def test_costs_have_a_step_where_all_that_costs_something_is_whole(make: MakeRisk) -> None:
    hiding = search_hiding(make(SQUARE, CELLS, {8: (3, 3, 0)})).modes
    assert hiding.cost_step.size == 1.0
    dearer = replace(hiding.program, cost=-3.0 * hiding.program.cost)
    assert replace(hiding, program=dearer).cost_step.size == 3.0
    fractional = replace(hiding.program, integer=np.arange(len(CELLS)) > 0)
    assert replace(hiding, program=fractional).cost_step.size == 0.0
