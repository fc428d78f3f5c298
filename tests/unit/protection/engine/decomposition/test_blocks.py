"""Blocks of product tables, and patterns that are improved block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.scale_tables import SHAPES, assess_shape
from numpy.typing import NDArray

from celosia import Attacker, Digits, Pattern, PPercent, Risk, Suppress, assess, audit, protect, tabulate
from celosia.protection.engine.decomposition.block_search import BlockSearch, BlockUnion
from celosia.protection.engine.decomposition.blocks import list_blocks
from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.solve.registry import backends

SMALL = replace(JOINT_MOVES, most_columns=60, least_subproblems=0, most_idle=2)


@pytest.fixture(scope="module")
def risk() -> Risk:
    """Return a table of three dimensions, two of them with hierarchies, in which every tenth cell is sensitive."""
    random, n = np.random.default_rng(3), 2_500
    records = pl.DataFrame(
        {
            "industry": random.choice([f"{a}{b}" for a in "ABCD" for b in range(4)], n),
            "region": random.choice([f"{a}{b}" for a in "NS" for b in range(3)], n),
            "size": random.choice(["small", "medium", "large"], n, p=[0.6, 0.25, 0.15]),
            "turnover": np.ceil(random.lognormal(3, 1.4, n)),
        }
    )
    hierarchies = {"industry": Digits((1, 1)), "region": Digits((1, 1))}
    table = tabulate(records, by=["industry", "region", "size"], value="turnover", hierarchies=hierarchies)
    return assess(table, PPercent(10), cost="value", attackers=[Attacker.external(table)])


@pytest.fixture(scope="module")
def problem(risk: Risk) -> ProtectionProblem:
    return problem_of(risk, integer=False)


@pytest.fixture(scope="module")
def first(problem: ProtectionProblem) -> MoveSearch:
    search = MoveSearch(problem, lambda: False)
    search.find_first()
    search.serve_by_windows(backends()[0], lambda: 60.0)
    assert not len(search.missed)
    return search


def is_safe(risk: Risk, problem: ProtectionProblem, hidden: NDArray[np.bool_]) -> bool:
    """Return whether a pattern is safe, by an audit that is told nothing of its witnesses."""
    mask = np.zeros(len(risk), dtype=bool)
    mask[problem.cells[hidden]] = True
    return audit(Pattern.hide(risk.table, mask), risk).safe


def test_blocks_are_disjoint_small_and_move_alone(problem: ProtectionProblem) -> None:
    assert problem.product is not None
    blocks = list_blocks(problem.product, 60)
    assert max(len(block) for block in blocks) <= 60
    joined = np.concatenate(blocks)
    assert len(np.unique(joined)) == len(joined)
    assert len(joined) > len(problem) / 2
    leaves = [np.flatnonzero(holding.sum(axis=1) == 1) for holding in problem.product.holding]
    codes = problem.product.codes
    is_leaf = np.logical_and.reduce([np.isin(codes[:, axis], leaves[axis]) for axis in range(codes.shape[1])])
    assert set(np.flatnonzero(is_leaf).tolist()) <= set(joined.tolist())


def test_a_block_that_is_small_enough_is_everything(problem: ProtectionProblem) -> None:
    assert problem.product is not None
    (block,) = list_blocks(problem.product, len(problem))
    assert np.array_equal(block, np.arange(len(problem)))


def test_every_union_of_blocks_is_cheaper_and_safe(risk: Risk, problem: ProtectionProblem, first: MoveSearch) -> None:
    search = BlockSearch(problem, first, backends()[0], 0, lambda: 60.0, joint_moves=SMALL)
    assert len(search.blocks) > 3
    costs = [first.cost]
    for union in search.patterns():
        costs.append(float(problem.cost[union.hidden].sum()))
        proposed = union.propose(problem.decimals)
        assert set(problem.requirements.columns.tolist()) <= set(proposed.cells.tolist())
        assert bool(union.hidden[proposed.moved].all())
        assert is_safe(risk, problem, union.hidden)
        if len(costs) > 4:
            break
    assert len(costs) > 2
    assert costs == sorted(costs, reverse=True)


def last_pattern(problem: ProtectionProblem, first: MoveSearch, executor: Executor | None) -> list[bool]:
    search = BlockSearch(problem, first, backends()[0], 0, lambda: 600.0, executor, joint_moves=SMALL)
    *_, last = search.patterns()
    return [bool(hidden) for hidden in last.hidden]


class _LostWorkers(ThreadPoolExecutor):
    """Loses every second task, as a pool does whose worker was killed."""

    def submit(self, work: Callable[..., Any], /, *arguments: object, **options: object) -> Future[Any]:
        future = super().submit(work, *arguments, **options)
        self.sent = getattr(self, "sent", 0) + 1
        if self.sent % 2:
            return future
        lost: Future[Any] = Future()
        lost.set_exception(BrokenExecutor("a worker is gone"))
        return lost


def test_workers_find_the_same_and_may_be_lost(problem: ProtectionProblem, first: MoveSearch) -> None:
    alone = last_pattern(problem, first, None)
    with ThreadPoolExecutor(2) as workers, _LostWorkers(2) as losing:
        assert last_pattern(problem, first, workers) == alone
        assert last_pattern(problem, first, losing) == alone


def test_no_time_leaves_the_first_pattern(problem: ProtectionProblem, first: MoveSearch) -> None:
    patterns: Iterator[object] = BlockSearch(
        problem, first, backends()[0], 0, lambda: 0.0, joint_moves=SMALL
    ).patterns()
    assert not list(patterns)


@pytest.mark.slow
def test_protect_goes_by_blocks_where_the_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    patterns = BlockSearch.patterns

    def watch(self: BlockSearch) -> Iterator[BlockUnion]:
        used.append(len(self.blocks))
        return patterns(self)

    monkeypatch.setattr(BlockSearch, "patterns", watch)
    risk = assess_shape(SHAPES["three39"])
    result = protect(risk, Suppress(cost="value"), time_limit=40)
    assert used
    assert result.safe
    assert result.bound <= result.cost
    assert audit(result.pattern, risk).safe  # without witnesses
