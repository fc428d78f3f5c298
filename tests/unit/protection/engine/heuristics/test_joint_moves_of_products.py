"""Joint moves of product tables: programs, moves in whole numbers, and patterns that are cheaper than by few cells."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.oracles.product_oracle import case_of, find_unmet, reach_of_witnesses

from celosia import Attacker, Digits, MinFrequency, Pattern, PPercent, Risk, assess, audit, tabulate
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.heuristics.moves import start
from celosia.protection.engine.heuristics.moves.joint_parameters import JointMoveParameters
from celosia.protection.engine.heuristics.moves.joint_program import JointTask, find_joint_move, make_whole
from celosia.protection.engine.heuristics.moves.joint_search import JointMoveSearch, is_worth_joint_moves
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
from celosia.protection.engine.heuristics.moves.start import begin_with_moves, improve_by_joint_moves
from celosia.protection.engine.incumbent import PatternIncumbent
from celosia.protection.engine.parameters import EngineParameters, MoveParameters
from celosia.protection.engine.patterns.parameters import QuickParameters
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.engine.stop import Stop
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

STEPS = 2


def _keep(patterns: list[NDArray[np.bool_]], pattern: NDArray[np.bool_], _: object) -> None:
    patterns.append(pattern)


@pytest.fixture(scope="module")
def risk() -> Risk:
    """Return a table by industry in two levels, region and size, in which a third of the cells is sensitive."""
    random, n = np.random.default_rng(8), 700
    records = pl.DataFrame(
        {
            "industry": random.choice([f"{a}{b}" for a in "ABC" for b in range(4)], n),
            "region": random.choice(list("nsew"), n, p=[0.4, 0.3, 0.2, 0.1]),
            "size": random.choice(["small", "medium", "large"], n, p=[0.6, 0.25, 0.15]),
            "turnover": random.lognormal(5, 2, n).round(2),
        }
    )
    table = tabulate(
        records, by=["industry", "region", "size"], value="turnover", hierarchies={"industry": Digits((1, 1))}
    )
    found = assess(table, PPercent(20), MinFrequency(3))
    return replace(found, respondents=(), unasked="outsiders alone", attackers=(Attacker.external(table),))


@pytest.fixture(scope="module")
def problem(risk: Risk) -> ProtectionProblem:
    return problem_of(risk, integer=False)


@pytest.fixture(scope="module")
def first(problem: ProtectionProblem) -> MoveSearch:
    search = MoveSearch(problem, lambda: False)
    search.find_first()
    search.clean_up()
    assert not len(search.missed)
    return search


def task_of(problem: ProtectionProblem) -> JointTask:
    required = problem.requirements
    order = np.argsort(required.columns)
    levels = np.maximum(required.up, required.down)[order]
    return JointTask(0, np.minimum(problem.up[0], problem.down[0]), required.columns[order], levels)


def test_a_joint_move_satisfies_relations_bounds_and_levels_in_whole_numbers(problem: ProtectionProblem) -> None:
    task = task_of(problem)
    signs, price = np.ones(len(task.columns)), problem.cost / np.median(problem.cost)
    found = find_joint_move(problem, task, price, problem.forced, signs, 1e7, backends()[0], np.inf)
    assert found is not None
    move = np.zeros(len(problem), dtype=np.int64)
    move[found.columns] = found.moves
    assert not (problem.matrix @ move).any()
    assert (np.abs(move) <= task.room * found.denominator).all()
    served = np.isin(task.columns, found.served)
    assert served.mean() > 0.5
    assert (np.abs(move[task.columns[served]]) >= task.levels[served] * found.denominator).all()


def test_what_is_dear_to_serve_is_left_to_other_moves(problem: ProtectionProblem) -> None:
    task = task_of(problem)
    signs, price = np.ones(len(task.columns)), problem.cost / np.median(problem.cost)
    spent = []
    for missed_price in (1e-3, 1e7):
        found = find_joint_move(problem, task, price, problem.forced, signs, missed_price, backends()[0], np.inf)
        hidden = problem.forced.copy()
        hidden[[] if found is None else found.columns] = True
        spent.append((0 if found is None else len(found.served), problem.cost[hidden].sum()))
    assert spent[0] < spent[1]
    assert spent[0][1] < spent[1][1]


def test_a_solution_that_is_no_vertex_is_no_move(problem: ProtectionProblem) -> None:
    random = np.random.default_rng(1)
    assert make_whole(problem, task_of(problem), random.normal(size=len(problem)) * 1e6) is None


def test_joint_moves_improve_a_pattern_and_have_a_witness_for_everything(
    risk: Risk, problem: ProtectionProblem, first: MoveSearch
) -> None:
    steps = iter(range(STEPS))
    search = JointMoveSearch(
        *(problem, first, lambda price: MoveSearch(problem, lambda: False, cell_price=price), backends()[0]),
        np.random.default_rng(0),
        lambda: np.inf,
        JointMoveParameters(most_idle=STEPS),
    )
    found = [pattern for pattern, _ in zip(search.patterns(), steps, strict=False)]
    costs = [one.cost for one in found]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.95 * first.cost
    assert all(one.hidden[problem.forced].all() for one in found)
    case, hidden = case_of(risk), frozenset(problem.cells[np.flatnonzero(found[-1].hidden)].tolist())
    proposed = found[-1].propose(problem.decimals).of_cells(problem.cells)
    assert not find_unmet(case, reach_of_witnesses(case, hidden, proposed))


def test_a_search_begins_with_joint_moves_where_the_table_is_large(risk: Risk, problem: ProtectionProblem) -> None:
    costs = []
    for least in (0, 10**12):
        found = PatternIncumbent(problem, ())
        stop = Stop(found, Clock(1.0))
        stop.begin(0.0, np.inf)
        separator, patterns = Separator.of(problem, backends()[0]), list[NDArray[np.bool_]]()
        parameters = EngineParameters(moves=MoveParameters(least_columns=0))
        joint = JointMoveParameters(least_subproblems=least)
        accept = partial(_keep, patterns)
        first = begin_with_moves(separator, stop, accept, parameters)
        assert first is not None
        improve_by_joint_moves(first, separator, stop, accept, 0, parameters, joint)
        hidden = np.zeros(len(risk), dtype=bool)
        hidden[problem.cells[patterns[-1] | problem.forced]] = True
        assert audit(Pattern.hide(risk.table, hidden), risk, integer=False).safe  # without proposals
        costs.append(risk.cost[hidden].sum())
    assert costs[0] < costs[1]


def test_conditional_levels_and_small_tables_do_without(problem: ProtectionProblem) -> None:
    assert not is_worth_joint_moves(problem)
    small = JointMoveParameters(least_subproblems=0)
    assert is_worth_joint_moves(problem, small)
    assert not is_worth_joint_moves(replace(problem, forced=np.zeros(len(problem), dtype=bool)), small)
    assert not is_worth_joint_moves(problem, JointMoveParameters(least_subproblems=0, most_columns=100))


def test_a_pattern_that_is_shaken_keeps_all_witnesses_and_can_be_had_back(
    risk: Risk, problem: ProtectionProblem
) -> None:
    search, random = MoveSearch(problem, lambda: False), np.random.default_rng(3)
    search.find_first()
    search.clean_up()
    known, cost, prices = search.copied_witnesses, search.cost, search.witnesses.own_price.copy()
    costs = []
    for _ in range(8):
        search.shake(random, 0.5, lambda: False)
        costs.append(search.cost)
        case, hidden = case_of(risk), frozenset(problem.cells[np.flatnonzero(search.pattern)].tolist())
        assert not find_unmet(case, reach_of_witnesses(case, hidden, search.propose().of_cells(problem.cells)))
    assert min(costs) < cost
    assert np.array_equal(search.witnesses.own_price, prices)
    search.go_back(known)
    assert search.cost == cost


@pytest.mark.parametrize(("many", "jointly"), [(0, True), (10**12, False)])
def test_joint_moves_wait_where_few_subproblems_are_left(
    problem: ProtectionProblem, monkeypatch: pytest.MonkeyPatch, many: int, *, jointly: bool
) -> None:
    """Requirements that forced cells meet by themselves do not make cutting planes slow."""
    calls: list[int] = []
    monkeypatch.setattr(start, "improve_by_joint_moves", lambda *_, **__: calls.append(1))
    parameters = EngineParameters(many_subproblems=many, moves=MoveParameters(least_columns=0))
    quick, solver = QuickParameters(most_fractional=0.0), backends()[0]
    PatternSearch(problem, solver, solver, Clock(1.0), parameters=parameters, quick=quick).run(0.0)
    assert bool(calls) == jointly
