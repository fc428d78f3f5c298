"""The relaxation with side patterns: every table is a solution, multipliers prove bounds, and the tree is exact."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from tests.oracles.adjust_oracle import Shape, risk_of

from celosia import Adjust
from celosia.protection.adjustment.formulation import AdjustmentProblem, formulate
from celosia.protection.adjustment.integer import find_whole_moves, solve_whole
from celosia.protection.adjustment.parameters import ADJUSTMENT
from celosia.protection.adjustment.sides.program import SidesProgram, SidesRows, formulate_sides
from celosia.protection.adjustment.sides.tree import SidesTree
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Status

SHAPE = Shape((3, 4))
BALANCED = replace(ADJUSTMENT, most_split_cells=1)
"""Only relations with one sensitive cell have side patterns, the others balance rows."""


def drawn(seed: int, *, equal: bool, weight: str = "1") -> AdjustmentProblem:
    """Return a problem with five sensitive leaves."""
    random = np.random.default_rng(seed)
    leaves = random.integers(1, 40, size=12)
    places = random.choice(12, size=5, replace=False).tolist()
    ups = random.integers(2, 12, size=5).tolist()
    downs = ups if equal else random.integers(1, 8, size=5).tolist()
    levels = {SHAPE.leaves[place]: (down, up) for place, down, up in zip(places, downs, ups, strict=True)}
    method = Adjust(1, weight)
    return formulate(method.apply_to(risk_of(SHAPE.table(leaves.tolist()), levels)), method, integer=False)[0]


def cheapest(problem: AdjustmentProblem) -> tuple[NDArray[np.int64], float]:
    """Return the cheapest moves by a mixed-integer program, and what they cost."""
    moves, _ = solve_whole(problem, "everything", backends()[0], Clock(None))
    assert moves is not None
    assert problem.admits(moves)
    return moves, float(problem.costs(moves).sum())


def admits(sides: SidesProgram, moves: NDArray[np.int64]) -> bool:
    """Return whether some weights of side patterns make moves a solution, held rows included."""
    steps, program = sides.steps, sides.program
    start, column = steps.start[steps.column], steps.column
    problem = steps.problem
    up = moves >= problem.up
    top = np.where(problem.split, problem.up, steps.start)[column]
    climb, descent = np.maximum(moves[column] - top, 0), np.maximum(start - moves[column], 0)
    x = np.where(steps.jump, np.where(up[column], steps.length, 0), np.where(steps.direction > 0, climb, descent))
    free = len(program.cost) - len(x)
    rows = sp.csr_array(sp.vstack([program.rows, sides.held], format="csr"))
    given = LinearProgram(
        rows,
        np.concatenate([program.row_lower, sides.least]),
        np.concatenate([program.row_upper, np.full(len(sides.least), np.inf)]),
        np.concatenate([x, np.zeros(free)]),
        np.concatenate([x, np.ones(free)]),
        program.cost,
    )
    return backends()[0].open(given).solve().status is Status.OPTIMAL


@pytest.mark.parametrize("parameters", [ADJUSTMENT, BALANCED])
@pytest.mark.parametrize("equal", [True, False])
def test_every_table_is_a_solution(*, equal: bool, parameters: object) -> None:
    """No row of the relaxation, separated or not, cuts off a table: sides at random, and the cheapest moves there."""
    assert isinstance(parameters, type(ADJUSTMENT))
    problem = drawn(1, equal=equal)
    _, cost = cheapest(problem)
    sides = formulate_sides(problem, 100 * cost, parameters)
    assert sides is not None
    random, tried = np.random.default_rng(0), 0
    for _ in range(40):
        found = find_whole_moves(problem.choose_sides(random.random(len(problem)) < 0.5), backends()[0], Clock(None))
        if found is not None:
            assert problem.admits(found.moves)
            assert admits(sides, found.moves)
            tried += 1
    assert tried > 5


@pytest.mark.parametrize("equal", [True, False])
def test_any_multipliers_prove_a_bound(*, equal: bool) -> None:
    """Whatever the multipliers are, the bound is below the optimum."""
    problem = drawn(2, equal=equal)
    _, cost = cheapest(problem)
    sides = formulate_sides(problem, cost, ADJUSTMENT)
    assert sides is not None
    rows = SidesRows(sides, np.arange(len(sides.least)))
    random = np.random.default_rng(3)
    number = sides.program.rows.shape[0] + len(sides.least)
    for size in (0.0, 1e-3, 0.1, 3.0):
        duals = random.normal(size=number) * size
        assert rows.prove_bound(duals, sides.program.lower, sides.program.upper).value <= cost


@pytest.mark.parametrize("parameters", [ADJUSTMENT, BALANCED])
@pytest.mark.parametrize("seed", range(6))
def test_the_tree_ends_at_the_optimum(seed: int, parameters: object) -> None:
    """With a gap of zero the tree finds what a mixed-integer program finds, from any first table."""
    assert isinstance(parameters, type(ADJUSTMENT))
    problem = drawn(seed, equal=seed % 2 == 0, weight=("1", "1/a")[seed % 3 > 0])
    _, cost = cheapest(problem)
    best = [4 * cost]

    def try_sides(upward: NDArray[np.bool_]) -> None:
        found = find_whole_moves(problem.choose_sides(upward), backends()[0], Clock(None))
        if found is not None and problem.admits(found.moves):
            best[0] = min(best[0], math.fsum(problem.costs(found.moves).tolist()))

    sides = formulate_sides(problem, best[0], parameters)
    assert sides is not None
    tree = SidesTree(
        sides,
        Clock(None),
        lambda: best[0],
        lambda bound: bound >= best[0] * (1 - 1e-9),
        try_sides,
        parameters=parameters,
    )
    for bound in tree.run():
        assert bound <= cost * (1 + 1e-9)
    assert best[0] == pytest.approx(cost, rel=1e-9)
    assert tree.bound == pytest.approx(cost, rel=1e-6)


def test_a_mirrored_problem_admits_every_table_and_its_mirror_image() -> None:
    """Bounds become wide enough for both, where levels are equal."""
    problem = drawn(5, equal=True)
    moves, _ = cheapest(problem)
    wide = problem.mirror()
    assert wide is not None
    assert wide.admits(moves)
    assert wide.admits(-moves)
    assert drawn(5, equal=False).mirror() is None


def test_too_many_patterns_are_not_written_down() -> None:
    """The search goes on without them."""
    assert formulate_sides(drawn(0, equal=True), 1000.0, replace(ADJUSTMENT, most_patterns=3)) is None
