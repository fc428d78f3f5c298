from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from tests.oracles.examples import first_few

from celosia.attack.system.exact import find_exact_moves, prove_reach
from celosia.attack.system.fractions import find_common_denominator, multiply_exactly, solve_exactly
from celosia.tolerance import ENDLESS

Numbers = NDArray[np.int64]


def whole(rows: Sequence[Sequence[int]]) -> sp.csr_array:
    return sp.csr_array(np.array(rows, dtype=np.int64))


def counts(*numbers: int) -> Numbers:
    return np.array(numbers, dtype=np.int64)


def three_dimensional(sides: tuple[int, ...], hidden: float, rng: np.random.Generator) -> sp.csr_array:
    """Return the relations of a table of which only inner cells are hidden: the sums along every axis."""
    cells = {cell: place for place, cell in enumerate(product(*map(range, sides)))}
    lines = sorted({(axis, *cell[:axis], *cell[axis + 1 :]) for cell in cells for axis in range(len(sides))})
    row = {line: place for place, line in enumerate(lines)}
    matrix = np.zeros((len(lines), len(cells)), dtype=np.int64)
    for cell, place in cells.items():
        for axis in range(len(sides)):
            matrix[row[(axis, *cell[:axis], *cell[axis + 1 :])], place] = 1
    return sp.csr_array(matrix[:, rng.random(len(cells)) < hidden])


def optimum(
    matrix: sp.csr_array, up: Numbers, down: Numbers, column: int, sign: int
) -> tuple[NDArray[np.float64], ...]:
    cost = np.zeros(len(up))
    cost[column] = -sign
    bounds = np.column_stack([-down.astype(float), np.where(up >= ENDLESS, np.inf, up)])
    answer = linprog(cost, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=bounds, method="highs-ds")
    return answer.x, -answer.eqlin.marginals


def in_fractions(matrix: sp.csr_array, x: NDArray[np.float64], up: Numbers, down: Numbers) -> list[Fraction]:
    """Return a vertex by elimination in fractions: cells at a bound stay there, the others follow."""
    values: list[Fraction | None] = []
    for k, number in enumerate(x.tolist()):
        bound = next((b for b in (int(up[k]), -int(down[k])) if abs(number - b) < 1e-6), None)
        values.append(None if bound is None else Fraction(bound))
    free = [k for k, value in enumerate(values) if value is None]
    rows: list[list[Fraction]] = []
    for line in matrix.toarray().tolist():
        fixed = sum((line[k] * value for k, value in enumerate(values) if value is not None), Fraction(0))
        rows.append([*(Fraction(line[k]) for k in free), -fixed])
    for place in range(len(free)):
        pivot = next(r for r in range(place, len(rows)) if rows[r][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [entry / rows[place][place] for entry in rows[place]]
        for r in range(len(rows)):
            if r != place and (factor := rows[r][place]):
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[place], strict=True)]
    for place, k in enumerate(free):
        values[k] = rows[place][-1]
    return [value or Fraction(0) for value in values]


@pytest.mark.parametrize("seed", first_few(16, range(40)))
def test_vertices_of_random_tables_are_found_exactly_and_proved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = three_dimensional(tuple(rng.integers(2, 5, 3).tolist()), 0.9, rng)
    n = int(matrix.shape[1])
    up, down = rng.integers(0, 30, n), rng.integers(0, 30, n)
    for column, sign in product(rng.choice(n, 2, replace=False).tolist(), (1, -1)):
        x, duals = optimum(matrix, up, down, column, sign)
        found = find_exact_moves(x, matrix, up, down)
        assert found is not None
        moves, denominator = found
        vertex = [Fraction(int(move), denominator) for move in moves]
        assert vertex == in_fractions(matrix, x, up, down)
        proof = prove_reach(duals, column, matrix, up, down, upward=sign > 0)
        assert proof is not None
        assert proof[0] == sign * vertex[column]


@pytest.mark.parametrize("denominator", [1, 2, 7, 11, 9973, 1_000_003])
def test_the_denominator_is_found(denominator: int) -> None:
    matrix = whole([[1, -denominator, 0], [0, 1, -1]])
    up, down = counts(3 * denominator - 1, 100, ENDLESS), counts(0, 0, 0)
    x = np.array([3 * denominator - 1, 3 - 1 / denominator, 3 - 1 / denominator])
    found = find_exact_moves(x + 1e-9, matrix, up, down)
    assert found is not None
    assert found[1] == denominator
    np.testing.assert_array_equal(found[0], (3 * denominator - 1) * np.array([denominator, 1, 1]))
    # x_2 = x_1 = x_0 / denominator: multipliers 1 / denominator and 1 prove it
    proof = prove_reach(np.array([-1 / denominator, -1]), 2, matrix, up, down, upward=True)
    assert proof is not None
    assert proof[0] == 3 - Fraction(1, denominator)


@pytest.mark.parametrize(("size", "bits"), [(12, 20), (40, 63), (90, 200)])
def test_any_number_of_digits(size: int, bits: int) -> None:
    rng = np.random.default_rng(size)
    square = rng.integers(-3, 4, (size, size))
    matrix = sp.csr_array(np.vstack([np.column_stack([square, -rng.integers(1, 9, size)])] * 2))
    x = np.append(np.linalg.solve(square, -matrix.toarray()[:size, -1]), 1.0)
    up, down = np.full(size + 1, 1000), np.full(size + 1, 1000)
    up[-1] = 1
    found = find_exact_moves(x, matrix, up, down)
    assert found is not None
    moves, denominator = found
    assert denominator.bit_length() > bits
    assert moves.dtype == (object if bits > 62 else np.int64)
    assert not multiply_exactly(matrix, moves).any()
    assert int(moves[-1]) == denominator
    np.testing.assert_allclose([int(move) / denominator for move in moves], x, rtol=1e-6)


def test_multipliers_of_any_number_of_digits() -> None:
    size = 40
    rng = np.random.default_rng(1)
    square = rng.integers(-3, 4, (size, size))
    matrix = sp.csr_array(np.column_stack([square, rng.integers(1, 4, size)]))
    up, down = np.full(size + 1, ENDLESS), np.full(size + 1, ENDLESS)
    up[-1] = down[-1] = 5
    duals = np.linalg.solve(square.T, np.eye(size)[3])
    proof = prove_reach(duals, 3, matrix, up, down, upward=True)
    assert proof is not None
    bound, multipliers, denominator = proof
    assert denominator > 2**62
    rest = -multiply_exactly(sp.csr_array(matrix.T), multipliers)
    rest[3] += denominator
    assert not rest[:-1].any()
    assert bound == Fraction(5 * abs(int(rest[-1])), denominator)


def test_large_numbers_lose_digits_in_the_solver_and_get_them_back() -> None:
    rng = np.random.default_rng(5)
    matrix = three_dimensional((4, 4, 4), 1.0, rng)
    up, down = rng.integers(0, 10**13, 64), rng.integers(0, 10**13, 64)
    x, duals = optimum(matrix, up, down, 17, 1)
    found = find_exact_moves(x + rng.uniform(-1e-3, 1e-3, 64), matrix, up, down)
    proof = prove_reach(duals, 17, matrix, up, down, upward=True)
    assert found is not None
    assert proof is not None
    assert proof[0] == Fraction(int(found[0][17]), found[1])


def test_a_cell_in_the_basis_that_lies_at_its_bound() -> None:
    matrix = whole([[1, 1, -2, 0], [1, 1, -2, 0], [0, 0, 1, -1]])
    up, down = counts(1, 0, 5, 5), counts(0, 0, 0, 0)
    found = find_exact_moves(np.array([1, 1e-9, 0.5 + 1e-9, 0.5]), matrix, up, down)
    assert found is not None
    assert (found[0].tolist(), found[1]) == ([2, 0, 1, 1], 2)


def test_rooms_close_to_the_largest_number_do_not_overflow() -> None:
    matrix = whole([[1, -7]])
    up, down = counts(1, ENDLESS - 1), counts(0, 0)
    found = find_exact_moves(np.array([1, 1 / 7]), matrix, up, down)
    assert found is not None
    assert (found[0].tolist(), found[1]) == ([7, 1], 7)


@pytest.mark.parametrize(
    "x",
    [
        [np.nan, 0.0, 0.0],
        [np.inf, 0.0, 0.0],
        [3.0, 3.0, 3.0],  # beyond the room
        [1.0, 0.0, 0.0],  # breaks a relation
        [0.5, 0.25, 0.75],
    ],
)
def test_what_is_no_vertex_is_refused(x: list[float]) -> None:
    matrix = whole([[1, -1, 0], [0, 1, -1]])
    assert find_exact_moves(np.array(x), matrix, counts(2, 1, 2), counts(2, 2, 2)) is None


def test_a_point_that_is_no_vertex_gives_nothing_or_something_exact() -> None:
    matrix = whole([[1, 1, -1]])
    rooms = counts(2, 2, 2)
    found = find_exact_moves(np.array([0.31234567, 0.321234567, 0.633580237]), matrix, rooms, rooms)
    assert found is None or not multiply_exactly(matrix, found[0]).any()


def test_a_vertex_is_not_rounded_to_a_table_that_reaches_less() -> None:
    matrix = whole([[3, -7]])
    found = find_exact_moves(np.array([1, 3 / 7]), matrix, counts(1, 1), counts(0, 0))
    assert found is not None
    assert (found[0].tolist(), found[1]) == ([7, 3], 7)
    little = find_exact_moves(np.array([1 / 3, 1 / 3]), whole([[1, -1], [3, -3]]), counts(1, 1), counts(1, 1))
    assert little is not None
    assert (little[0].tolist(), little[1]) == ([1, 1], 3)


def test_only_the_denominators_that_are_asked_for() -> None:
    matrix = whole([[1, -2]])
    rooms = counts(1, 1)
    assert find_exact_moves(np.array([1, 0.5]), matrix, rooms, rooms, denominators=(1,)) is None
    assert find_exact_moves(np.array([1, 0.5]), matrix, rooms, rooms, denominators=(1, 2)) is not None


def test_no_multipliers_prove_a_reach_without_an_end() -> None:
    matrix = whole([[1, -1]])
    endless = counts(ENDLESS, ENDLESS)
    assert prove_reach(np.array([1.0]), 0, matrix, endless, endless, upward=True) is None
    assert prove_reach(np.array([np.nan]), 0, matrix, endless, endless, upward=True) is None


def test_wrong_duals_still_give_a_valid_bound() -> None:
    matrix = whole([[1, -1]])
    proof = prove_reach(np.array([0.3]), 0, matrix, counts(10, 4), counts(0, 0), upward=True)
    assert proof is not None
    assert proof[0] >= 4


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ([[1, 1], [1, 1]], [1, 1]),  # dependent columns
        ([[2, 0], [0, 3], [1, 1]], [1, 1, 1]),  # contradictory rows
        ([[2, 0], [0, 3], [0, 0]], [1, 1, 1]),
    ],
)
def test_systems_without_one_solution(rows: list[list[int]], right: list[int]) -> None:
    assert solve_exactly(whole(rows), counts(*right), counts(0, 0), np.ones(2, dtype=bool)) is None


def test_the_common_denominator_of_approximations() -> None:
    numbers = np.array([round(Fraction(k, 91) * 2**60) for k in (13, 7, -5, 91, 200)], dtype=object)
    assert find_common_denominator(numbers + 3, 60) == 91
    assert find_common_denominator(np.array([round(2**60 / 3.14159265358979)], dtype=object), 60) is None
