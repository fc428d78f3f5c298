"""Moves that programs have found serve other requirements and patterns, as far as attackers' bounds allow."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.protection.engine.test_oracle import drawn

from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.engine.subproblems.known_moves import KnownMoves
from celosia.protection.engine.subproblems.requirements import SideRequirements, split_sides
from celosia.solve.registry import backends


@pytest.fixture(name="problem", scope="module")
def problem_() -> ProtectionProblem:
    return problem_of(drawn(0, cube=True), integer=False)


def asked(column: int, level: float) -> SideRequirements:
    """Return the requirement to push a cell up, and down, by as much."""
    nothing = np.zeros(2, dtype=np.int64)
    upward, levels = np.array([True, False]), np.full(2, level)
    return SideRequirements(nothing, nothing + column, nothing, upward, levels, np.zeros(2, dtype=bool))


def test_a_move_serves_what_it_reaches_within_bounds_and_in_hidden_cells(problem: ProtectionProblem) -> None:
    builder = Separator.of(problem, backends()[0]).builder
    known, columns = KnownMoves(builder), np.arange(2)
    room = float(min(builder.up[0][:2].min(), builder.down[0][:2].min()))
    known.add(columns, np.array([1.0, -1.0]), room / 4)
    hidden = np.zeros(len(problem), dtype=bool)
    hidden[:2] = True
    assert known.find_served(hidden, asked(0, room)).tolist() == [True, True]  # scaled up, and turned
    assert known.find_served_by_last(asked(1, room / 2)).tolist() == [True, True]
    most = float(np.maximum(builder.up[0][:2], builder.down[0][:2]).max())
    assert not known.find_served(hidden, asked(0, most + 1)).any()
    assert not known.find_served(hidden, asked(2, 1.0)).any()
    hidden[1] = False
    assert not known.find_served(hidden, asked(0, room / 4)).any()


def test_what_hardly_moves_is_still_and_old_moves_are_forgotten(problem: ProtectionProblem) -> None:
    known = KnownMoves(Separator.of(problem, backends()[0]).builder)
    known.add(np.arange(3), np.array([1.0, -1.0, 1e-12]), 1.0)
    hidden = np.zeros(len(problem), dtype=bool)
    hidden[:2] = True
    assert known.find_served(hidden, asked(0, 1.0)).all()
    known.add(np.arange(1), np.zeros(1), 1.0)  # nothing moves
    assert not known.find_served_by_last(asked(0, 1.0)).any()
    for _ in range(known.parameters.most_moves):
        known.add(np.arange(1), np.zeros(1), 1.0)
    assert len(known) <= known.parameters.most_moves
    assert not known.find_served(hidden, asked(0, 1.0)).any()


@pytest.mark.parametrize("seed", range(4))
def test_patterns_are_judged_as_without_known_moves(seed: int) -> None:
    problem = problem_of(drawn(seed, cube=True), integer=False)
    random, used = np.random.default_rng(seed), Separator.of(problem, backends()[0])
    for _ in range(8):
        pattern = problem.forced | (random.random(len(problem)) < random.random())
        fresh = Separator.of(problem, backends()[0])
        x = pattern.astype(np.float64)
        alone = [
            fresh.subproblems.measure(x, fresh.sides.take(np.array([k]))) >= 1 - 1e-6 for k in range(len(fresh.sides))
        ]
        together = used.subproblems.measure(x, split_sides(problem.requirements)) >= 1 - 1e-6
        assert together.tolist() == [bool(one[0]) for one in alone]
