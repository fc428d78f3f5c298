from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracles.solver_programs import INF, program

from celosia import SpecError
from celosia.solve.problem import LinearProgram


def test_all_problems_of_a_problem_are_told_at_once() -> None:
    with pytest.raises(SpecError) as raised:
        LinearProgram(
            rows=sp.csr_array(np.array([[1.0, 1e-12], [np.nan, 1.0]])),
            row_lower=np.zeros(3),
            row_upper=np.array([-INF, 1.0]),
            lower=np.array([0.0, INF]),
            upper=np.array([1e25, np.nan]),
            cost=np.array([INF, 0.0]),
            integer=np.ones(3, dtype=bool),
            quadratic=sp.csc_array(np.array([[1.0, 2.0], [0.0, 1.0]])),
        )
    places = [problem.place for problem in raised.value.problems]
    assert places == ["rows", "row_lower", "row_upper", "lower", "upper", "cost", "integer", "quadratic"]


def test_a_triangle_for_a_symmetric_matrix_is_refused_with_the_remedy() -> None:
    with pytest.raises(SpecError, match="the whole matrix"):
        program([1, 1], quadratic=[[1, 0], [1, 1]])
    with pytest.raises(SpecError, match="shape"):
        program([1, 1], quadratic=np.eye(3))


def test_a_problem_knows_what_it_is() -> None:
    assert program([1, 2], [[1, 1], [1, 2], [0, 1]]).shape == (3, 2)
    assert not program([1, 2]).has_integers
    assert program([1, 2], integer=True).has_integers
    assert program([1, 2], quadratic=np.eye(2)).has_squares
    assert not program([1, 2], quadratic=np.zeros((2, 2))).has_squares
