from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.blocks import UnsolvedError, solve_model
from celosia.attack.subproblems.lp import solve_by_programs
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.subproblems.verification import check_claims, verify_witnesses
from celosia.attack.system.decomposition import decompose
from celosia.attack.system.system import System
from celosia.errors import SolverError
from celosia.solve.backend import Method, Model
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Solution
from celosia.tolerance import ENDLESS


def cubes(sides: list[int], seed: int) -> System:
    """Return the system of cubes without totals, side by side, some cells known."""
    rng = np.random.default_rng(seed)
    blocks = []
    for side in sides:
        cells = np.arange(side**3).reshape(side, side, side)
        lines = np.concatenate([np.moveaxis(cells, axis, -1).reshape(-1, side) for axis in range(3)])
        matrix = np.zeros((len(lines), side**3), dtype=np.int64)
        matrix[np.repeat(np.arange(len(lines)), side), lines.ravel()] = 1
        blocks.append(sp.csr_array(matrix[:, rng.random(side**3) < 0.85]))
    matrix = sp.csr_array(sp.block_diag(blocks), dtype=np.int64)
    m, n = matrix.shape
    down, up = rng.integers(0, 40, n), rng.integers(0, 40, n)
    return System(np.arange(n), matrix, np.arange(m), np.zeros(m, dtype=bool), down, up, np.zeros(n, dtype=bool), 0, n)


def everything(system: System, limit: int = ENDLESS) -> Questions:
    parts = decompose(system)
    columns = np.flatnonzero(parts.component >= 0)
    columns = np.repeat(columns[~parts.network[parts.component[columns]]], 2)
    return Questions(columns, np.arange(len(columns)) % 2 == 0, np.full(len(columns), limit))


def ends(answers: Answers) -> list[tuple[int, int]]:
    lowest = np.gcd(answers.reach.astype(object), answers.denominator.astype(object))
    return list(zip((answers.reach // lowest).tolist(), (answers.denominator // lowest).tolist(), strict=True))


def same(one: NDArray[np.object_] | NDArray[np.int64], other: NDArray[np.object_] | NDArray[np.int64]) -> bool:
    return bool(np.array_equal(one, other))


@pytest.mark.parametrize("integer", [False, True])
def test_two_harvests_are_alike_table_by_table(*, integer: bool) -> None:
    system = cubes([4, 5, 5], 1)
    system = replace(system, whole=np.full(len(system), integer))
    questions = everything(system)
    parts = decompose(system)
    first, second = (solve_by_programs(system, parts, questions, backends()[0]) for _ in range(2))
    for name in Answers.__slots__:
        assert same(getattr(first, name), getattr(second, name)), name


def test_ends_do_not_depend_on_the_solver() -> None:
    system = cubes([4, 5], 2)
    questions, parts = everything(system), decompose(system)
    found = [solve_by_programs(system, parts, questions, backend) for backend in backends()]
    for answers in found:
        assert answers.furthest.all()
        assert verify_witnesses(system, answers).all()
        assert check_claims(questions, answers).all()
        assert ends(answers) == ends(found[0])


def test_levels_are_reached_where_ends_allow_it() -> None:
    system = cubes([5, 4], 3)
    questions, parts, backend = everything(system), decompose(system), backends()[0]
    far = solve_by_programs(system, parts, questions, backend)
    limited = Questions(questions.columns, questions.upward, np.full(len(questions), 7))
    near = solve_by_programs(system, parts, limited, backend)
    assert verify_witnesses(system, near).all()
    assert check_claims(limited, near).all()
    reached = np.asarray(far.reach // far.denominator >= 7, dtype=bool)
    assert reached.any()
    assert not reached.all()
    assert (near.reach[reached] == 7 * near.denominator[reached]).all()
    assert np.array(ends(far))[~reached].tolist() == np.array(ends(near))[~reached].tolist()


def test_many_answers_share_a_table() -> None:
    system = cubes([5], 4)
    answers = solve_by_programs(system, decompose(system), everything(system, 1), backends()[0])
    assert answers.n_tables < len(answers) / 5


@pytest.mark.parametrize("places", [("random_objectives",), ("lp",), ("random_objectives", "lp", "rays")], ids=str)
def test_a_program_that_no_solver_solves_leaves_questions_open_and_is_no_crash(
    monkeypatch: pytest.MonkeyPatch, places: tuple[str, ...]
) -> None:
    """With amounts of 1e13 units HiGHS may call a bounded program unbounded (INSEE's turnover, 4 decimals)."""
    system = cubes([4, 5], 1)
    questions, parts = everything(system), decompose(system)
    wanted = solve_by_programs(system, parts, questions, backends()[0])

    def fails(_model: object) -> None:
        raise UnsolvedError

    for place in places:
        monkeypatch.setattr(f"celosia.attack.subproblems.{place}.solve_model", fails)
    found = solve_by_programs(system, parts, questions, backends()[0])
    for known, end, right in zip(found.furthest, ends(found), ends(wanted), strict=True):
        assert not known or end == right
    assert bool(found.furthest.all()) == ("lp" not in places)


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_a_method_without_a_clear_answer_is_followed_by_another(fails: int) -> None:
    asked: list[str] = []
    program = LinearProgram.of_moves(sp.csr_array(np.array([[1, 1]])), -np.ones(2), np.ones(2))
    model = backends()[0].open(program)
    solve = model.solve

    class Unclear:
        """A model whose first methods end without an answer."""

        def solve(self, *, method: Method) -> Solution:
            asked.append(method)
            if len(asked) <= fails:
                raise SolverError.one("solver", "ended without an answer.")
            return solve(method=method)

    if fails < 3:
        x, _ = solve_model(cast("Model", Unclear()))
        assert x.sum() == 0
    else:
        with pytest.raises(UnsolvedError):
            solve_model(cast("Model", Unclear()))
    assert asked == ["primal", "dual", "afresh"][: min(fails + 1, 3)]
