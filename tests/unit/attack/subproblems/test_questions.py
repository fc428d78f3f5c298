from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.lp import solve_by_programs
from celosia.attack.subproblems.questions import Answer, Answers, Questions
from celosia.attack.subproblems.verification import verify_witnesses
from celosia.attack.system.decomposition import decompose
from celosia.attack.system.fractions import Whole
from celosia.attack.system.system import System
from celosia.solve.highs.backend import HighsBackend
from celosia.tolerance import ENDLESS

LARGE = 2**80


def system(rows: list[list[int]], up: int = ENDLESS, down: int = ENDLESS) -> System:
    matrix = sp.csr_array(np.array(rows, dtype=np.int64))
    m, n = matrix.shape
    rooms = (np.full(n, down), np.full(n, up))
    return System(np.arange(n), matrix, np.arange(m), np.zeros(m, dtype=bool), *rooms, np.zeros(n, dtype=bool), 0, n)


def answer(moves: list[int], denominator: int = 1) -> Answer:
    numbers: Whole = np.array(moves, dtype=object if max(map(abs, moves)) >= 2**62 else np.int64)
    return Answer(abs(moves[0]), denominator, furthest=False, columns=np.arange(len(moves)), moves=numbers)


def verdicts(of: System, *answers: Answer) -> list[bool]:
    return list(map(bool, verify_witnesses(of, Answers.of_list(list(answers)))))


def test_small_and_large_numbers_stand_beside_each_other() -> None:
    answers = Answers.of_list([answer([1, 1]), answer([LARGE, LARGE], LARGE + 1), answer([3, 3], 4)])
    assert answers.moves.dtype == object
    assert answers[1].reach == LARGE
    assert answers[1].denominator == LARGE + 1
    turned = answers.take(np.array([2, 1, 0])).keep_witnesses(np.array([True, False, True]))
    assert turned.n_tables == 2
    assert not len(turned[1].moves)
    assert turned[0].moves.tolist() == [3, 3]
    assert verify_witnesses(system([[1, -1]], up=1), answers).all()
    assert Answers.of_list([answer([1, 1]), answer([3, 3], 4)]).moves.dtype == np.int64


def test_one_unit_in_eighty_bits_breaks_a_relation() -> None:
    assert verdicts(system([[1, -1]]), answer([LARGE, LARGE]), answer([LARGE, LARGE + 1])) == [True, False]


def test_sums_that_come_to_zero_in_64_bits_only() -> None:
    assert verdicts(system([[1, 1, 1, 1]]), answer([2**62 - 1] * 4), answer([2**61 - 1] * 4)) == [False, False]
    wrapping = answer([2**61, 2**61, 2**61, 2**61]), answer([-(2**61), -(2**61), -(2**61), -(2**61)])
    assert verdicts(system([[2, 2, 2, 2]]), *wrapping) == [False, False]


@pytest.mark.parametrize("scale", [1, 7, LARGE])
def test_rooms_are_exact(scale: int) -> None:
    of = system([[1, -1]], up=ENDLESS - 1, down=3)
    inside = [answer([move, move], scale) for move in ((ENDLESS - 1) * scale, -3 * scale)]
    outside = [answer([move, move], scale) for move in ((ENDLESS - 1) * scale + 1, -3 * scale - 1)]
    assert verdicts(of, *inside, *outside) == [True, True, False, False]


def test_no_denominator_below_one() -> None:
    assert verdicts(system([[1, -1]]), answer([1, 1], 0), answer([1, 1], -1)) == [False, False]


def cube(side: int, rng: np.random.Generator) -> NDArray[np.int64]:
    cells = np.arange(side**3).reshape(side, side, side)
    lines = [np.moveaxis(cells, axis, -1).reshape(-1, side) for axis in range(3)]
    matrix = np.zeros((3 * side * side, side**3), dtype=np.int64)
    matrix[np.repeat(np.arange(3 * side * side), side), np.concatenate(lines).ravel()] = 1
    return matrix[:, rng.random(side**3) < 0.8]


def test_every_reach_in_three_dimensions_has_a_witness_and_a_proof() -> None:
    rng = np.random.default_rng(0)
    of = system(cube(5, rng).tolist(), up=1, down=1)
    of.up[:], of.down[:] = rng.integers(0, 50, len(of)), rng.integers(0, 50, len(of))
    parts = decompose(of)
    columns = np.flatnonzero(parts.component >= 0)
    columns = columns[~parts.network[parts.component[columns]]]
    count = 2 * len(columns)
    questions = Questions(np.repeat(columns, 2), np.arange(count) % 2 == 0, np.full(count, ENDLESS))
    answers = solve_by_programs(of, parts, questions, HighsBackend())
    assert count > 100
    assert answers.furthest.all()
    assert verify_witnesses(of, answers).all()
    limits = -(-answers.reach // answers.denominator) // 2
    levels = solve_by_programs(of, parts, Questions(questions.columns, questions.upward, limits), HighsBackend())
    np.testing.assert_array_equal(levels.reach, limits * levels.denominator)
    assert verify_witnesses(of, levels).all()
