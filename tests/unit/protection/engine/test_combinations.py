"""Combinations of relations that a tableau proposes are made exact, or refused."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from tests.unit.protection.conftest import make_risk

from celosia.protection.engine.capacity import CutBuilder
from celosia.protection.engine.cuts.combinations import Combinations
from celosia.protection.engine.null_space.coordinates import find_coordinates
from celosia.protection.engine.problem import problem_of

# two rows of two cells and a total each, their column totals, and the grand total
RELATIONS = [
    [1, 1, 0, 0, -1, 0, 0, 0, 0],
    [0, 0, 1, 1, 0, -1, 0, 0, 0],
    [1, 0, 1, 0, 0, 0, -1, 0, 0],
    [0, 1, 0, 1, 0, 0, 0, -1, 0],
    [0, 0, 0, 0, 1, 1, 0, 0, -1],
]


def combinations() -> Combinations:
    risk = make_risk(RELATIONS, [3, 4, 5, 6, 7, 11, 8, 10, 18], {0: (1, 1, 0)})
    problem = problem_of(risk, integer=False)
    coordinates = find_coordinates(problem.matrix, 10**6)
    assert coordinates is not None
    return Combinations(CutBuilder.of(problem), coordinates)


def test_rows_of_a_tableau_become_combinations_of_relations() -> None:
    known = combinations()
    table = known.matrix.toarray() / known.own_factor
    others = np.setdiff1d(np.arange(9), known.own)
    noisy = table[others] + 1e-12
    for row, v in zip(others.tolist(), known.repair_rows(others, known.own, noisy), strict=True):
        assert v is not None
        assert v[row] == 1.0
        assert not (known.matrix.T @ v).any()


def test_what_is_no_combination_is_repaired_or_refused() -> None:
    known = combinations()
    other = int(np.setdiff1d(np.arange(9), known.own)[0])
    wrong = np.zeros((1, len(known.own)))
    (v,) = known.repair_rows(np.array([other]), known.own, wrong)
    assert v is None or not (known.matrix.T @ v).any()


def test_a_combination_with_a_forced_column_isolates_no_cell() -> None:
    known = combinations()
    row = sp.csr_array(known.builder.problem.matrix[[0]]).toarray()[0].astype(float)
    assert known.builder.problem.forced[0]
    assert known.build_isolation_cut(row, 1) is None
    cut = known.build_isolation_cut(sp.csr_array(known.builder.problem.matrix[[1]]).toarray()[0].astype(float), 2)
    assert cut is not None
    assert cut.lean
    assert cut.violation(np.eye(9)[2]) == 1.0
