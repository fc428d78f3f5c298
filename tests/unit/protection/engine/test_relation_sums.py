"""Sums of few relations are combinations of relations, light ones, and their cuts hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.unit.protection.conftest import make_risk

from celosia.protection.engine.capacity import CutBuilder
from celosia.protection.engine.cuts.combinations import Combinations
from celosia.protection.engine.cuts.relation_sums import Prices, Relations, SumSeparator, Targets, find_light_sums
from celosia.protection.engine.null_space.coordinates import find_coordinates
from celosia.protection.engine.parameters import CutParameters
from celosia.protection.engine.problem import problem_of
from celosia.protection.engine.subproblems.requirements import split_sides

# three cells with two totals that overlap: 0 + 1 + 2 = 3 and 0 + 1 + 4 = 5, and 3 + 6 = 7
RELATIONS = [
    [1, 1, 1, -1, 0, 0, 0, 0],
    [1, 1, 0, 0, 1, -1, 0, 0],
    [0, 0, 0, 1, 0, 0, 1, -1],
]
VALUES = [3, 4, 5, 12, 6, 13, 2, 14]


def combinations(sensitive: int = 2, relations: list[list[int]] = RELATIONS) -> Combinations:
    problem = problem_of(make_risk(relations, VALUES, {sensitive: (1, 1, 0)}), integer=False)
    coordinates = find_coordinates(problem.matrix, 10**6)
    assert coordinates is not None
    return Combinations(CutBuilder.of(problem), coordinates)


def prices(weight: list[float]) -> Prices:
    return Prices(np.array(weight), np.full((1, len(weight)), np.inf))


def target(column: int) -> Targets:
    return Targets(np.array([column]), np.zeros(1, dtype=np.int64), np.zeros(1))


def test_cells_that_two_relations_share_cancel() -> None:
    relations = Relations.of(combinations().builder)
    sums = find_light_sums(relations, target(2), prices([0.9, 0.9, 0.8, 0.1, 0.1, 0.1, 0.9, 0.9]), 3, 8)
    found = {
        tuple(sorted(sums.columns[sums.starts[k] : sums.starts[k + 1]].tolist())) for k in range(len(sums.targets))
    }
    assert found == {(2, 3, 4, 5)}  # 2 - 3 = 4 - 5


@pytest.mark.parametrize("seed", range(6))
def test_every_sum_is_a_combination_of_relations_that_keeps_its_target(seed: int) -> None:
    known = combinations()
    relations, rng = Relations.of(known.builder), np.random.default_rng(seed)
    columns = np.arange(len(VALUES))
    put = Targets(columns, np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns)))
    weight = rng.random(len(columns)) * rng.integers(0, 2, len(columns)) + 1e-3
    sums = find_light_sums(relations, put, prices(weight.tolist()), int(rng.integers(0, 5)), 8)
    for k, place in enumerate(sums.targets.tolist()):
        v = np.zeros(len(columns))
        entries = slice(sums.starts[k], sums.starts[k + 1])
        v[sums.columns[entries]] = sums.values[entries]
        assert not (known.matrix.T @ v).any()
        assert v[columns[place]] != 0.0
        assert (sums.values[entries] != 0.0).all()
        assert weight[np.setdiff1d(sums.columns[entries], columns[place])].sum() < weight[columns[place]]


def test_relations_without_whole_coefficients_are_left_out() -> None:
    builder = combinations().builder
    halved = np.where(np.repeat(np.arange(3), np.diff(builder.starts)) == 1, builder.data / 2, builder.data)
    fewer = Relations.of(CutBuilder(builder.problem, builder.starts, builder.columns, halved, builder.up, builder.down))
    assert np.diff(fewer.starts).tolist() == [4, 0, 3]
    assert np.diff(fewer.own_starts)[4] == 0


@pytest.mark.parametrize("seed", range(8))
def test_no_cut_cuts_off_a_safe_pattern_that_hides_no_cell_in_vain(seed: int) -> None:
    known = combinations()
    problem, rng = known.builder.problem, np.random.default_rng(seed)
    sides = split_sides(problem.requirements)
    separator = SumSeparator(known, sides, CutParameters())
    x = np.maximum(rng.random(len(VALUES)) * rng.integers(0, 2, len(VALUES)), problem.forced)
    cuts = separator.separate(x, lambda: None)
    assert all(cut.violation(x) > CutParameters().sum_violation for cut in cuts)
    kernel = known.matrix.toarray()
    for hidden in itertools.product([False, True], repeat=len(VALUES)):
        pattern = np.array(hidden) | problem.forced
        moves = kernel_of(kernel, pattern)
        movable = np.abs(moves).max(axis=1, initial=0.0) > 1e-9
        if not movable[2] or (pattern & ~movable).any():  # unsafe, or hides a cell in vain
            continue
        assert all(cut.violation(pattern.astype(float)) <= 1e-9 for cut in cuts)


def kernel_of(kernel: np.ndarray, pattern: np.ndarray) -> np.ndarray:
    """Return a basis of the moves of all cells that leave the shown ones where they are."""
    shown = kernel[~pattern]
    if not len(shown):
        return kernel
    _, sizes, right = np.linalg.svd(shown)
    rank = int((sizes > 1e-9).sum())
    return np.asarray(kernel @ right[rank:].T)


def test_a_point_that_hides_everything_is_not_cut() -> None:
    known = combinations()
    separator = SumSeparator(known, split_sides(known.builder.problem.requirements), CutParameters())
    assert not separator.separate(np.ones(len(VALUES)), lambda: None)


def test_a_sensitive_cell_alone_in_a_sum_is_cut() -> None:
    known = combinations()
    problem = known.builder.problem
    separator = SumSeparator(known, split_sides(problem.requirements), CutParameters())
    x = np.array([0.9, 0.9, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    supports = {tuple(cut.columns.tolist()) for cut in separator.separate(x, lambda: None) if cut.right == 1.0}
    assert (3, 4, 5) in supports
