"""Moves of few cells: paths, the cheapest product of them, witnesses, and searches that begin with them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import polars as pl
import pytest
from tests.oracles.product_oracle import case_of, find_unmet, reach_of_witnesses

from celosia import Attacker, Digits, MinFrequency, PPercent, Risk, Suppress, assess, audit, protect, tabulate
from celosia.progress import Silent
from celosia.protection.engine.heuristics.moves.beam import hash_keys
from celosia.protection.engine.heuristics.moves.paths import find_paths
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
from celosia.protection.engine.heuristics.moves.suitability import is_worth_moves
from celosia.protection.engine.parameters import MoveParameters
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.table.product.structure import find_product_structure

SHARES = [0.4, 0.25, 0.15, 0.1, 0.06, 0.04]


@pytest.fixture(scope="module")
def risk() -> Risk:
    """Return a table by industry in two levels, region and size, with many small cells."""
    random = np.random.default_rng(3)
    n = 1500
    records = pl.DataFrame(
        {
            "industry": random.choice([f"{a}{b}" for a in "ABC" for b in range(4)], n),
            "region": random.choice(list("nsew"), n, p=[0.4, 0.3, 0.2, 0.1]),
            "size": random.choice(["small", "medium", "large"], n, p=[0.7, 0.2, 0.1]),
            "turnover": random.lognormal(5, 2, n).round(2),
        }
    )
    table = tabulate(
        records, by=["industry", "region", "size"], value="turnover", hierarchies={"industry": Digits((1, 1))}
    )
    found = assess(table, PPercent(20), MinFrequency(4))
    return replace(found, respondents=(), unasked="outsiders alone", attackers=(Attacker.external(table),))


def search_of(problem: ProtectionProblem) -> MoveSearch:
    search = MoveSearch(problem, lambda: False)
    search.find_first()
    return search


def test_paths_lead_from_leaf_to_leaf_or_to_the_total(risk: Risk) -> None:
    product = find_product_structure(risk.table)
    assert product is not None
    paths = find_paths(product, np.ones(len(product)), MoveParameters(), 1)
    labels, stride = risk.table.axes[0].labels, int(product.strides[0])
    node = labels.index("A0")
    found = set()
    for path in range(paths.starts[node], paths.starts[node + 1]):
        part = slice(paths.entries[path], paths.entries[path + 1])
        shifts, signs = paths.shifts[part] // stride + node, paths.signs[part]
        found.add(frozenset((labels[k], int(sign)) for k, sign in zip(shifts, signs, strict=True)))
    assert frozenset({("A1", -1)}) in found
    assert frozenset({("A", 1), (labels[0], 1)}) in found
    assert frozenset({("A", 1), ("B", -1), ("B2", -1)}) in found
    assert all(("A0", sign) not in one for one in found for sign in (1, -1))


def test_keys_are_found_again() -> None:
    keys = np.random.default_rng(1).permutation(10**6)[:5000].astype(np.int64)
    slots, columns, _ = hash_keys(keys)
    assert sorted(columns[columns >= 0].tolist()) == list(range(len(keys)))
    np.testing.assert_array_equal(slots[columns >= 0], keys[columns[columns >= 0]])


def test_small_problems_and_large_dimensions_do_without(risk: Risk) -> None:
    problem = problem_of(risk, integer=False)
    assert is_worth_moves(problem, MoveParameters(least_columns=len(problem), most_leaves=12))
    assert not is_worth_moves(problem, MoveParameters(least_columns=len(problem) + 1))
    assert not is_worth_moves(problem, MoveParameters(most_leaves=11))
    assert not is_worth_moves(replace(problem, product=None), MoveParameters(least_columns=0))


def test_every_requirement_of_an_ordinary_table_gets_a_sound_witness(risk: Risk) -> None:
    problem = problem_of(risk, integer=False)
    search = search_of(problem)
    assert not len(search.missed)
    first = search.cost
    search.clean_up()
    assert search.cost < first
    assert not search.pattern.all()
    case, hidden = case_of(risk), frozenset(problem.cells[np.flatnonzero(search.pattern)].tolist())
    assert not find_unmet(case, reach_of_witnesses(case, hidden, search.propose().of_cells(problem.cells)))


def test_moves_that_break_a_relation_are_forgotten(risk: Risk) -> None:
    """The structure is that of the relations; were it not, what rests on it would be dropped."""
    problem = problem_of(risk, integer=False)
    matrix, column = problem.matrix.copy(), int(problem.requirements.columns[0])
    row = int(np.flatnonzero(matrix[:, [column]].toarray().ravel())[0])
    part = slice(int(matrix.indptr[row]), int(matrix.indptr[row + 1]))
    matrix.data[part] = np.where(matrix.indices[part] == column, 3 * matrix.data[part], matrix.data[part])
    search = search_of(replace(problem, matrix=matrix))
    assert not len(search.missed)
    search.drop_unsound()
    assert 0 in search.missed
    kept, term = search.propose(), np.zeros(len(problem), dtype=np.int64)
    term[matrix.indices[part]] = matrix.data[part]
    assert not np.add.reduceat(term[kept.moved] * kept.moves, kept.starts[:-1]).any()


class Content(Silent):
    """Presses Ctrl-C once, when it has heard of a pattern so many times: no test needs a machine of its own."""

    def __init__(self, times: int) -> None:
        self.left = times

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        self.left -= cost is not None
        if self.left == 0:
            self.left = -1
            raise KeyboardInterrupt


def test_a_search_begins_with_a_pattern_and_hides_no_more_later(risk: Risk) -> None:
    found = protect(risk, Suppress(), progress=Content(4))
    assert found.safe
    assert audit(found.pattern, risk, integer=False).safe
    costs = [cost for _, cost, _, _ in found.trace]
    assert costs[0] is not None
    assert found.cost <= costs[0] < risk.cost.sum()


def test_other_processes_send_their_witnesses(risk: Risk) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        found = protect(risk, Suppress(), time_limit=60.0, gap=0.5, executor=executor)
    assert found.safe


def test_frozen_cells_are_not_hidden_and_widths_are_kept(risk: Risk) -> None:
    rest = np.flatnonzero(risk.status == "safe")
    shown, wide = rest[::7].tolist(), {int(cell): 5.0 for cell in rest[1::9]}
    method = Suppress(must_show=shown, width_if_hidden=wide)
    found = protect(risk, method, progress=Content(2))
    assert found.safe
    assert not (found.pattern.status[shown] == "hidden").any()


def test_counts_keep_whole_witnesses() -> None:
    """Attackers who know that values are whole numbers are answered in whole numbers, also after pivots."""
    random, n = np.random.default_rng(5), 900
    columns = {name: random.choice([f"{name}{k}" for k in range(6)], n, p=SHARES) for name in "abc"}
    counted = tabulate(pl.DataFrame(columns), by=["a", "b", "c"])
    outsiders = replace(assess(counted, MinFrequency(2)), respondents=(), unasked="outsiders alone")
    found = protect(outsiders, Suppress(), progress=Content(2))
    assert found.safe
    assert audit(found.pattern, outsiders).safe
