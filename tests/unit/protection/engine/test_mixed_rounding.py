"""Mixed-integer rounding cuts hold for all points with whole numbers, and cut fractional ones off."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from celosia.protection.engine.cuts.mixed_rounding import mixed_rounding_cuts
from celosia.solve.problem import LinearProgram

Floats = NDArray[np.float64]


def program_of(cost: Floats, whole: NDArray[np.bool_], rows: Floats, right: Floats) -> LinearProgram:
    n = len(cost)
    upper = np.where(whole, 1.0, np.inf)
    ends = np.full(len(right), np.inf)
    return LinearProgram(sp.csr_array(rows), right, ends, np.zeros(n), upper, cost, integer=whole)


def relaxed(program: LinearProgram, cost: Floats, fixed: dict[int, int] | None = None) -> tuple[float, Floats]:
    """Return the least cost and a point of the relaxation, by SciPy."""
    bounds = list(zip(program.lower.tolist(), program.upper.tolist(), strict=True))
    for column, value in (fixed or {}).items():
        bounds[column] = (value, value)
    found = linprog(cost, A_ub=-program.rows.toarray(), b_ub=-program.row_lower, bounds=bounds)
    return (float(found.fun), found.x) if found.status == 0 else (np.inf, np.zeros(len(cost)))


def drawn(seed: int) -> LinearProgram:
    """Return rows like capacity cuts: cells are ranges z or hidden x, and sensitive ones wide or hidden."""
    rng = np.random.default_rng(seed)
    cells = 5
    levels = rng.integers(2, 30, 6).astype(np.float64)
    rows, right = [], []
    for cell in range(2):
        row = np.zeros(2 * cells)
        row[cell], row[cells + cell] = 1.0, levels[cell]
        rows.append(row)
        right.append(levels[cell])
    for level in levels:
        row = np.zeros(2 * cells)
        for cell in rng.choice(cells, 3, replace=False):
            row[cell], row[cells + cell] = 1.0, min(level, float(rng.integers(3, 40)))
        rows.append(row)
        right.append(level)
    cost = np.concatenate([np.ones(cells), rng.integers(3, 20, cells).astype(np.float64)])
    return program_of(cost, np.arange(2 * cells) >= cells, np.array(rows), np.array(right))


@pytest.mark.parametrize("seed", range(12))
def test_every_point_with_whole_numbers_satisfies_the_cuts(seed: int) -> None:
    program = drawn(seed)
    assert program.integer is not None
    _, x = relaxed(program, program.cost)
    cuts = mixed_rounding_cuts(program.rows, program.row_lower, x, program)
    whole = np.flatnonzero(program.integer)
    for cut in cuts:
        assert cut.violation(x) > 0
        values = np.zeros(len(x))
        values[cut.columns] = cut.values
        for choice in product((0, 1), repeat=len(whole)):
            least, _ = relaxed(program, values, dict(zip(whole.tolist(), choice, strict=True)))
            assert least >= cut.right - 1e-6


def test_they_raise_the_bound_of_some_programs() -> None:
    raised = 0
    for seed in range(12):
        program = drawn(seed)
        before, x = relaxed(program, program.cost)
        cuts = mixed_rounding_cuts(program.rows, program.row_lower, x, program)
        rows = np.zeros((len(cuts), len(x)))
        for row, cut in zip(rows, cuts, strict=True):
            row[cut.columns] = cut.values
        assert program.integer is not None
        more = program_of(
            program.cost,
            program.integer,
            np.vstack([program.rows.toarray(), rows]),
            np.append(program.row_lower, [cut.right for cut in cuts]),
        )
        raised += relaxed(more, program.cost)[0] > before * 1.001
    assert raised >= 3


def test_a_sensitive_cell_is_wide_or_hidden_so_others_need_hide_no_more_than_is_missing() -> None:
    # z0 >= 6 (1 - x0) and z0 + 10 x0 + z1 + 10 x1 >= 10: what is missing is 4, so 4 x0 and 4 x1 are enough
    rows = np.array([[1.0, 0.0, 6.0, 0.0], [1.0, 1.0, 10.0, 10.0]])
    program = program_of(np.ones(4), np.arange(4) >= 2, rows, np.array([6.0, 10.0]))
    x = np.array([6.0, 0.0, 0.0, 0.4])
    (cut, *_) = mixed_rounding_cuts(program.rows, program.row_lower, x, program)
    got = np.zeros(4)
    got[cut.columns] = cut.values
    assert got / got[0] == pytest.approx([1.0, 1.0, 10.0, 4.0], abs=1e-6)
    assert cut.right / got[0] == pytest.approx(10.0, abs=1e-6)


def test_there_are_none_without_fractions_or_whole_numbers() -> None:
    program = drawn(0)
    whole = np.concatenate([np.full(5, 50.0), np.ones(5)])
    assert not mixed_rounding_cuts(program.rows, program.row_lower, whole, program)
    bare = LinearProgram(program.rows, program.row_lower, program.row_upper, program.lower, program.upper, program.cost)
    assert not mixed_rounding_cuts(program.rows, program.row_lower, whole, bare)
