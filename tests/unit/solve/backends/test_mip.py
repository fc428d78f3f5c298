from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.solver_programs import Opened, cheapest_cover, cover, cover_program, program

from celosia import SolverError
from celosia.solve.backend import Backend
from celosia.solve.solution import Status


@pytest.mark.parametrize("seed", range(8))
def test_random_covers_are_as_cheap_as_trying_all_of_them_says(opened: Opened, seed: int) -> None:
    rows, cost = cover(seed)
    solution = opened(cover_program(rows, cost)).solve()
    assert solution.status is Status.OPTIMAL
    assert solution.x is not None
    assert np.all(rows @ solution.x >= 1)
    assert set(solution.x.tolist()) <= {0.0, 1.0}
    assert solution.objective == cheapest_cover(rows, cost)
    assert solution.objective - 1e-6 <= solution.bound <= solution.objective


def test_a_mip_has_no_duals(opened: Opened) -> None:
    solution = opened(cover_program(*cover(1))).solve()
    assert solution.duals is None
    assert solution.reduced_costs is None


def test_integer_columns_hold_whole_numbers_beside_others_that_do_not(opened: Opened) -> None:
    problem = program([-1, -1], [[2, 2]], row_upper=5, upper=[10, 0.25], integer=True)
    assert problem.integer is not None
    problem.integer[1] = False
    solution = opened(problem).solve()
    assert solution.x == pytest.approx([2, 0.25])
    assert solution.x is not None
    assert solution.x[0] == 2


def test_an_infeasible_mip_whose_relaxation_is_feasible_is_infeasible(opened: Opened) -> None:
    problem = program([1, 1], [[2, -2]], row_lower=1, row_upper=1, upper=10, integer=True)
    assert opened(problem).solve().status is Status.INFEASIBLE


def test_a_wide_gap_is_kept_to(opened: Opened) -> None:
    rows, cost = cover(2, n_rows=60, n_columns=60)
    exact = opened(cover_program(rows, cost)).solve()
    rough = opened(cover_program(rows, cost)).solve(gap=0.5)
    assert exact.status is rough.status is Status.OPTIMAL
    assert rough.bound <= exact.objective <= rough.objective
    assert rough.objective - rough.bound <= 0.5 * rough.objective + 1e-6
    close = opened(cover_program(rows, cost)).solve(absolute_gap=0.999)
    assert close.objective == exact.objective  # costs are whole numbers


def test_a_mip_that_runs_out_of_time_keeps_its_best_point_and_a_bound(opened: Opened) -> None:
    rows, cost = cover(3, n_rows=150, n_columns=400)
    rows = np.where(np.random.default_rng(0).random(rows.shape) < 0.1, rows, 0)
    rows[np.arange(150), np.arange(150)] = 1
    solution = opened(cover_program(rows, 50 + cost)).solve(time_limit=0.4)
    assert solution.status is Status.STOPPED
    assert solution.bound <= solution.objective
    assert solution.seconds < 10
    if solution.x is not None:
        assert np.all(rows @ solution.x >= 1)
        assert solution.objective == pytest.approx((50 + cost) @ solution.x)


def test_integers_and_squares_together_are_refused(backend: Backend) -> None:
    with pytest.raises(SolverError, match="integer columns and a quadratic objective"):
        backend.open(program([1, 1], integer=True, quadratic=np.eye(2)))
