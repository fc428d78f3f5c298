"""Kernel coordinates: N spans the kernel of the relations, in whole numbers; classes and merged problems follow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracles.bare_tables import seeded
from tests.oracles.suppression_cases import KINDS, drawn_rows

from celosia.protection.engine.null_space.classes import find_classes
from celosia.protection.engine.null_space.coordinates import KernelCoordinates, find_coordinates
from celosia.protection.engine.null_space.elimination import eliminate

ENTRIES = 10**6


def rank(rows: list[list[int]]) -> int:
    """Return the rank of a matrix, in fractions."""
    left = [[Fraction(value) for value in row] for row in rows]
    found = 0
    for column in range(len(rows[0])):
        pivot = next((k for k in range(found, len(left)) if left[k][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for k in range(len(left)):
            if k != found and left[k][column]:
                factor = left[k][column] / left[found][column]
                left[k] = [a - factor * b for a, b in zip(left[k], left[found], strict=True)]
        found += 1
    return found


def coordinates_of(rows: list[list[int]]) -> KernelCoordinates:
    """Return the coordinates of relations, which must be found."""
    found = find_coordinates(sp.csr_array(np.array(rows, dtype=np.int64)), ENTRIES)
    assert found is not None
    return found


def awkward_rows(seed: int) -> list[list[int]]:
    """Return relations of every kind, some twice, some implied, some with coefficients other than one."""
    chance = seeded(f"coordinates {seed}")
    rows = drawn_rows(chance, KINDS[seed % len(KINDS)])
    one, other = chance.choice(rows), chance.choice(rows)
    implied = [a + chance.choice([-2, -1, 1]) * b for a, b in zip(one, other, strict=True)]
    scaled = [3 * value for value in chance.choice(rows)]
    return [*rows, one, *([implied] if any(implied) else []), scaled]


@pytest.mark.parametrize("seed", range(60))
def test_coordinates_span_the_kernel_exactly(seed: int) -> None:
    rows = awkward_rows(seed)
    found = coordinates_of(rows)
    basis = found.combinations.toarray()
    assert not (np.array(rows) @ basis).any()
    assert found.degrees_of_freedom == len(rows[0]) - rank(rows)
    assert not basis.size or rank(basis.T.tolist()) == basis.shape[1]


@pytest.mark.parametrize("seed", range(60))
def test_every_coordinate_moves_its_own_cell_alone_among_them(seed: int) -> None:
    found = coordinates_of(awkward_rows(seed))
    own = found.combinations[found.cells].toarray()
    assert np.array_equal(own, np.diag(found.own))


def test_relations_that_go_round_in_circles_lose_a_definition() -> None:
    found = coordinates_of([[-1, 1, 1, 0], [1, -1, 0, 1]])  # each of two cells is a part of the other
    assert found.degrees_of_freedom == 2


def test_without_relations_every_cell_is_a_coordinate() -> None:
    found = find_coordinates(sp.csr_array((0, 3), dtype=np.int64), ENTRIES)
    assert found is not None
    assert np.array_equal(found.combinations.toarray(), np.eye(3))


def test_elimination_without_a_coefficient_of_one_keeps_whole_numbers() -> None:
    solved = eliminate(sp.csr_array(np.array([[2, 3, 0], [0, 5, 7]])))
    assert solved is not None
    combined = solved[0].toarray()
    assert combined.shape == (3, 1)
    assert not (np.array([[2, 3, 0], [0, 5, 7]]) @ combined).any()


def test_numbers_that_grow_too_large_have_no_coordinates() -> None:
    assert eliminate(sp.csr_array(np.array([[7, 11, 0], [0, 13, 17]])), largest=20) is None


def test_an_array_that_would_be_too_large_is_not_made() -> None:
    rows = np.array([[1, 1, 1, 1]])
    assert find_coordinates(sp.csr_array(rows), 3) is None


@pytest.mark.parametrize("seed", range(40))
def test_cells_of_a_class_move_together_and_no_others_do(seed: int) -> None:
    basis = coordinates_of(awkward_rows(seed)).combinations
    classes = find_classes(basis)
    array = basis.toarray()
    for one in range(len(array)):
        for other in range(one):
            together = classes.number[one] == classes.number[other] >= 0
            same = bool(array[one].any()) and (
                np.array_equal(array[one], array[other]) or np.array_equal(array[one], -array[other])
            )
            assert together == same
            if same:
                assert np.array_equal(classes.sign[one] * array[one], classes.sign[other] * array[other])
