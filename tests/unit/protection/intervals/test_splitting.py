"""Ranges by splitting: bounds hold, ranges are safe, for sliding and separate levels. Ranges that are moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.instances import instance
from scipy.optimize import linprog
from tests.golden.test_intervals import SQUARE
from tests.unit.protection.conftest import GRID, make_risk

from celosia import Intervals, Mixed, Protection, Risk, protect
from celosia.pattern.midpoint import midpoint_share
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.admm.blocks import blocks_of
from celosia.protection.intervals.admm.model import SplittingModel
from celosia.protection.intervals.admm.parameters import SplittingParameters
from celosia.protection.intervals.admm.product import product_of, relations_of
from celosia.protection.intervals.admm.projection import ProductProjector
from celosia.protection.intervals.admm.search import SplittingRun, SplittingSearch, cut_bound, scaled_bound
from celosia.protection.intervals.admm.splitting import AlternatingDirections
from celosia.protection.intervals.formulation import Prices
from celosia.protection.intervals.publish import publication
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.publish.shift import shift_ranges
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
CUBE = (np.array([-1, 0, 0, 0]), np.array([-1, 0, 0, 0]), np.array([-1, 0, 0]))
"""Three dimensions with three, three and two leaves."""


def cube(*, slides: bool, seed: int = 0) -> SplittingModel:
    """Return a small model with costs that differ below and above, and rooms that end soon."""
    rng = np.random.default_rng(seed)
    n = 4 * 4 * 3
    targets = np.sort(rng.choice(n, size=5, replace=False))
    level, none = rng.uniform(0.5, 1.5, size=5), np.zeros(5)
    below, above = (none, none) if slides else (level / 2, level)
    return SplittingModel(
        rng.uniform(1, 3, size=n),
        rng.uniform(1, 3, size=n),
        rng.uniform(1, 4, size=n),
        rng.uniform(1, 4, size=n),
        targets,
        below,
        above,
        level if slides else none,
    )


def optimum(model: SplittingModel) -> float:
    """Return the cost of the cheapest safe ranges by one linear program with two tables a target (SciPy)."""
    matrix = relations_of(CUBE).tocoo()
    n, q = len(model.up), len(model.targets)
    tables = 2 * q
    width = 2 * n + tables * n
    eye = sp.eye_array(n)
    relations = sp.hstack([sp.coo_array((matrix.shape[0] * tables, 2 * n)), sp.kron(sp.eye_array(tables), matrix)])
    over = sp.vstack([sp.hstack([sp.coo_array((n, n)), -eye]) for _ in range(tables)])
    under = sp.vstack([sp.hstack([-eye, sp.coo_array((n, n))]) for _ in range(tables)])
    inside = sp.vstack([sp.hstack([over, sp.eye_array(tables * n)]), sp.hstack([under, -sp.eye_array(tables * n)])])
    own = sp.lil_array((2 * q, width))
    right = np.zeros(2 * q)
    for k, target in enumerate(model.targets):
        first, second = 2 * n + 2 * k * n + target, 2 * n + (2 * k + 1) * n + target
        if model.sliding[k] > 0:
            own[2 * k, first], own[2 * k, second], right[2 * k] = -1.0, 1.0, -model.sliding[k]
        else:
            own[2 * k, first], right[2 * k] = -1.0, -model.upper[k]
            own[2 * k + 1, second], right[2 * k + 1] = 1.0, -model.lower[k]
    found = linprog(
        np.concatenate([model.down_cost, model.up_cost, np.zeros(tables * n)]),
        A_ub=sp.csr_array(sp.vstack([inside, own])),
        b_ub=np.concatenate([np.zeros(2 * tables * n), right]),
        A_eq=sp.csr_array(relations),
        b_eq=np.zeros(relations.shape[0]),
        bounds=[
            *((0, room) for room in (*model.down, *model.up)),
            *((None, None) for _ in range(tables * n)),
        ],
    )
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize("slides", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_and_ranges_enclose_the_optimum(*, slides: bool, seed: int) -> None:
    model = cube(slides=slides, seed=seed)
    best = optimum(model)
    run = SplittingRun(model, CUBE, backends()[0], Clock(None))
    run.run(0.01)
    assert run.bound <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= run.cost <= best * 1.02
    assert run.bound >= 0.98 * best


@pytest.mark.parametrize("slides", [True, False])
@pytest.mark.parametrize("steps", [1, 3, 10])
def test_bounds_hold_at_any_moment(*, slides: bool, steps: int) -> None:
    model = cube(slides=slides)
    best = optimum(model)
    product = product_of(relations_of(CUBE))
    assert product is not None
    splitting = AlternatingDirections(model, ProductProjector(product))
    splitting.advance(steps)
    cuts = splitting.cuts()
    assert scaled_bound(model, cuts) <= best
    assert cut_bound(model, cuts, backends()[0], Clock(None)) <= best * (1 + 1e-9)


def test_a_product_may_lack_cells_to_which_nobody_contributes() -> None:
    relations = relations_of(CUBE)
    kept = np.setdiff1d(np.arange(relations.shape[1]), [relations.shape[1] - 1])
    matrix = sp.csr_array(-relations[:, kept])  # totals are negative in tables
    product = product_of(matrix)
    assert product is not None
    assert len(product) == relations.shape[1]
    expected = sp.csr_array(relations_of(product.parents)[:, product.place])
    assert {tuple(sorted(row.indices)) for row in expected} == {tuple(sorted(row.indices)) for row in matrix}


def separate(name: str) -> Risk:
    """Return an instance whose lower levels are half the upper ones."""
    risk = instance(name, unity=True)
    lower = risk.levels.lower
    return replace(risk, levels=replace(risk.levels, lower=Fixed(5 * lower.counts, lower.decimals + 1)))


def by(risk: Risk, search: str, gap: float) -> Protection:
    return protect(risk, Intervals(secret=1, search=search), gap=gap)  # type: ignore[arg-type]


def test_separate_levels_are_split_too() -> None:
    found = by(separate("d3a"), "splitting", 0.01)
    assert found.safe
    assert found.gap <= 0.01


def test_blocks_share_no_cell_and_hold_their_targets() -> None:
    product = product_of(instance("d3h").table.relations.matrix)
    assert product is not None
    targets = np.flatnonzero(product.leaves())
    blocks = blocks_of(product, targets)
    assert sum(len(block.places) for block in blocks) == len(np.unique(np.concatenate([b.places for b in blocks])))
    for block in blocks:
        assert set(targets[block.members]) <= set(block.places[block.inner])


def test_a_product_that_is_too_large_is_solved_block_by_block() -> None:
    risk = instance("d3a", unity=True, sliding=True)
    problem = problem_of(risk, integer=None)
    product = product_of(risk.table.relations.matrix)
    assert product is not None
    prices = Prices(np.ones(len(problem)), np.ones(len(problem)))
    whole, blocks = (
        SplittingSearch(
            problem, prices, product, backends()[0], Clock(None), parameters=SplittingParameters(largest=size)
        )
        for size in (20_000_000, 1)
    )
    whole.run(0.05)
    blocks.run(0.05)
    assert whole.safe
    assert blocks.bound <= whole.cost
    assert blocks.ends is not None
    assert blocks.steps > 0


def test_moved_ranges_cost_the_same_and_are_safe_against_several_attackers() -> None:
    risk = instance("t20x10", sliding=True)
    wiser = replace(risk, attackers=(*risk.attackers, risk.attackers[0].percentage(risk.table, 70)))
    moved, still = (protect(wiser, Intervals(secret=3, shift=shift)) for shift in (True, False))
    assert moved.safe
    assert moved.cost == pytest.approx(still.cost, rel=1e-3)
    low, lowest = moved.pattern.bounds()[0].floats, still.pattern.bounds()[0].floats
    assert not np.array_equal(low, lowest)


def test_ranges_are_moved_at_the_same_cost_where_costs_below_and_above_differ() -> None:
    risk = instance("t20x10", sliding=True)
    dear = np.linspace(1.0, 2.0, len(risk))
    moved, still = (
        protect(risk, Intervals(secret=3, shift=shift, lower_cost=dear, upper_cost=dear[::-1]))
        for shift in (True, False)
    )
    assert moved.safe
    assert moved.cost == pytest.approx(still.cost, rel=1e-3)


def test_ranges_next_to_hidden_cells_are_moved_at_random_too() -> None:
    risk = make_risk(SQUARE, GRID, {6: (0, 0, 6)}, cost=[1.0] * 16)
    first = [4, 5, 6]
    rest = np.setdiff1d(np.arange(16), first)
    truth = risk.table.amounts.floats
    found = [protect(risk, Mixed(may_range=first, may_hide=rest, secret=secret)) for secret in range(4)]
    places = []
    for one in found:
        assert one.safe
        assert (one.pattern.status == "hidden").any()
        lower, upper = (side.floats for side in one.pattern.bounds())
        cell = int(np.flatnonzero(one.pattern.status == "interval")[0])
        places.append((truth[cell] - lower[cell]) / (upper[cell] - lower[cell]))
    assert len(set(places)) > 1
    assert any(0 < place < 1 for place in places)


def test_without_time_there_are_ranges_all_the_same() -> None:
    model = cube(slides=True, seed=0)
    run = SplittingRun(model, CUBE, backends()[0], Clock(0.0))
    run.run(1e-3)
    assert run.ends is not None
    assert run.bound > 0.5 * run.cost


def test_where_others_find_ranges_none_are_polished_without_time() -> None:
    how = SplittingParameters(polishes_late=False)
    run = SplittingRun(cube(slides=False), CUBE, backends()[0], Clock(0.0), parameters=how)
    run.run(1e-3)
    assert run.ends is None
    assert run.bound > 0


def test_ctrl_c_while_ranges_are_moved_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    presses = iter([KeyboardInterrupt])

    def pressed(*arguments: Any, **options: Any) -> RangeSlacks | None:  # noqa: ANN401
        for press in presses:
            raise press
        return shift_ranges(*arguments, **options)

    monkeypatch.setattr(publication, "shift_ranges", pressed)
    found = protect(instance("t20x10", sliding=True), Intervals(secret=1))
    assert found.safe
    assert found.cost == pytest.approx(protect(instance("t20x10", sliding=True), Intervals(secret=1)).cost)


def test_ranges_of_whole_numbers_are_moved_by_whole_numbers_at_the_same_cost() -> None:
    risk = instance("t20x10", unity=True, sliding=True)
    moved, still, other = (
        protect(risk, Intervals(secret=secret, shift=shift), integer=True)
        for secret, shift in ((1, True), (1, False), (2, True))
    )
    assert moved.safe
    assert moved.cost == still.cost == other.cost
    ends = [found.pattern.bounds()[0].floats for found in (moved, still, other)]
    assert all(np.array_equal(end[np.isfinite(end)], np.rint(end[np.isfinite(end)])) for end in ends)
    assert not np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])
    assert midpoint_share(moved) < midpoint_share(still)
