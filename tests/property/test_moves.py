"""Moves of few cells on product tables drawn at random, judged by an oracle that knows only trees and values."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.product_oracle import ProductCase, drawn_case, find_unmet, loosened, reach_of_witnesses

from celosia import InfeasibleError, Pattern, Protection, Suppress, audit
from celosia.attack.findings import MET
from celosia.protection.engine.heuristics.moves.joint_parameters import JointMoveParameters
from celosia.protection.engine.heuristics.moves.joint_search import JointMoveSearch
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
from celosia.protection.engine.parameters import EngineParameters, MoveParameters
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.run import Run
from celosia.protection.suppression.solve import solve
from celosia.risk.risk import SHOW
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

CASES, MANY = range(5), range(5, 600)
LEAST_SERVED = 0.8


def searched(case: ProductCase, *, clean: bool) -> tuple[MoveSearch, ProtectionProblem]:
    problem = problem_of(case.risk, integer=False)
    search = MoveSearch(problem, lambda: False)
    search.find_first()
    search.drop_unsound()
    if clean:
        search.clean_up()
    return search, problem


def judge(case: ProductCase, problem: ProtectionProblem, search: MoveSearch) -> None:
    """See that all witnesses are sound, and that together they meet every requirement that is not called missed."""
    hidden = frozenset(problem.cells[np.flatnonzero(search.pattern)].tolist())
    assert len(case.risk.requirements) == len(problem.requirements)
    reached = reach_of_witnesses(case, hidden, search.propose().of_cells(problem.cells))
    assert find_unmet(case, reached) <= set(search.missed.tolist())


@pytest.mark.parametrize("seed", [*CASES, *(pytest.param(one, marks=pytest.mark.slow) for one in MANY)])
def test_every_witness_is_sound_before_and_after_pivots_and_swaps(seed: int) -> None:
    case = loosened(drawn_case(seed))
    before, problem = searched(case, clean=False)
    judge(case, problem, before)
    after, problem = searched(case, clean=True)
    judge(case, problem, after)
    assert after.cost <= before.cost
    np.testing.assert_array_equal(after.missed, before.missed)


@pytest.mark.parametrize("seed", [*CASES, *(pytest.param(one, marks=pytest.mark.slow) for one in MANY[:200])])
def test_every_joint_move_is_sound_and_what_they_leave_keeps_its_witness(seed: int) -> None:
    case = loosened(drawn_case(seed))
    first, problem = searched(case, clean=True)
    if len(first.missed):
        return
    search = JointMoveSearch(
        *(problem, first, lambda price: MoveSearch(problem, lambda: False, cell_price=price), backends()[0]),
        np.random.default_rng(seed),
        lambda: np.inf,
        JointMoveParameters(most_idle=3),
    )
    for found in search.patterns():
        assert found.cost < first.cost
        hidden = frozenset(problem.cells[np.flatnonzero(found.hidden)].tolist())
        proposed = found.propose(problem.decimals).of_cells(problem.cells)
        assert not find_unmet(case, reach_of_witnesses(case, hidden, proposed))


@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 102), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_moves_serve_nearly_everything_that_can_be_served_at_all(seeds: range) -> None:
    """What is left to least-cost programs are requirements whose cells have little room, or frozen ones around them."""
    served = possible = 0
    for seed in seeds:
        case = loosened(drawn_case(seed))
        search, _ = searched(case, clean=False)
        everything = audit(Pattern.hide(case.table, case.risk.status != SHOW), case.risk, integer=False)
        met = np.array([verdict.result == MET for verdict in everything.verdicts])
        possible += int(met.sum())
        served += int(np.delete(met, search.missed).sum())
    assert served >= LEAST_SERVED * possible


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(one, marks=pytest.mark.slow) for one in range(3, 80))])
def test_a_search_that_begins_with_moves_is_safe_and_its_bound_holds_for_the_others(seed: int) -> None:
    case = loosened(drawn_case(seed))
    found: list[Protection | None] = []
    for least in (0, 10**9):
        parameters = EngineParameters(explaining_seconds=(0.1, 0.2), moves=MoveParameters(least_columns=least))
        run = Run(Clock(2.0), 0.0, backends()[0], 0, integer=False)
        try:
            found.append(solve(case.risk, Suppress(), run, parameters))
        except InfeasibleError:
            found.append(None)
    assert (found[0] is None) == (found[1] is None)
    for one, other in ((found[0], found[1]), (found[1], found[0])):
        if one is not None and other is not None:
            assert audit(one.pattern, case.risk, integer=False).safe  # without proposals
            assert one.bound <= other.cost * (1 + 1e-9)
