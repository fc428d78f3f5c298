from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from tests.oracles.solver_programs import INF, Opened, dual_bound, program, random_program

from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status


def oracle(problem: LinearProgram) -> float:
    """Return the optimum by SciPy."""
    matrix = problem.rows.toarray()
    below, above = np.isfinite(problem.row_lower), np.isfinite(problem.row_upper)
    answer = linprog(
        problem.cost,
        A_ub=np.vstack([matrix[above], -matrix[below]]),
        b_ub=np.concatenate([problem.row_upper[above], -problem.row_lower[below]]),
        bounds=np.column_stack([problem.lower, problem.upper]),
    )
    assert answer.status == 0
    return float(answer.fun)


@pytest.mark.parametrize("seed", range(12))
def test_random_problems_have_the_optimum_that_scipy_finds(opened: Opened, seed: int) -> None:
    problem = random_program(seed)
    solution = opened(problem).solve()
    assert solution.status is Status.OPTIMAL
    assert solution.x is not None
    assert solution.objective == pytest.approx(oracle(problem), abs=1e-7)
    assert solution.objective == pytest.approx(problem.cost @ solution.x, abs=1e-12)
    activity = problem.rows @ solution.x
    assert np.all(activity >= problem.row_lower - 1e-6)
    assert np.all(activity <= problem.row_upper + 1e-6)
    assert np.all(solution.x >= problem.lower - 1e-6)
    assert np.all(solution.x <= problem.upper + 1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_weak_duality_bounds_the_optimum_from_the_duals_alone(opened: Opened, seed: int) -> None:
    problem = random_program(seed)
    solution = opened(problem).solve()
    assert solution.duals is not None
    assert solution.reduced_costs is not None
    assert solution.reduced_costs == pytest.approx(problem.cost - problem.rows.T @ solution.duals, abs=1e-8)
    assert dual_bound(problem, solution.duals) == pytest.approx(solution.objective, abs=1e-6)
    assert solution.bound == solution.objective


@pytest.mark.parametrize("seed", range(12))
def test_any_multipliers_bound_the_optimum(opened: Opened, seed: int) -> None:
    problem = random_program(seed)
    solution = opened(problem).solve()
    assert solution.duals is not None
    moved = solution.duals + np.random.default_rng(seed).normal(size=len(solution.duals))
    assert dual_bound(problem, moved) <= solution.objective + 1e-6


def test_a_dual_is_positive_at_the_lower_side_and_negative_at_the_upper(opened: Opened) -> None:
    below = opened(program([2, 3], [[1, 1]], row_lower=4)).solve()
    above = opened(program([-2, -3], [[1, 1]], row_upper=4)).solve()
    slack = opened(program([2, 3], [[1, 1]], row_lower=-4, row_upper=4)).solve()
    assert below.duals == pytest.approx([2])
    assert below.reduced_costs == pytest.approx([0, 1])
    assert above.duals == pytest.approx([-3])
    assert above.reduced_costs == pytest.approx([1, 0])
    assert slack.duals == pytest.approx([0])


def test_a_reduced_cost_is_positive_at_the_lower_bound_and_negative_at_the_upper(opened: Opened) -> None:
    solution = opened(program([1, -1], lower=-2, upper=5)).solve()
    assert solution.x == pytest.approx([-2, 5])
    assert solution.reduced_costs == pytest.approx([1, -1])


def test_duals_are_left_out_where_they_are_not_wanted(opened: Opened) -> None:
    solution = opened(program([1, 1], [[1, 2]], row_lower=2)).solve(duals=False)
    assert solution.objective == pytest.approx(1)
    assert solution.duals is None
    assert solution.reduced_costs is None


def test_columns_may_be_free(opened: Opened) -> None:
    solution = opened(program([1, 1], [[1, 0], [0, 1]], row_lower=[-3, -4], lower=-INF)).solve()
    assert solution.x == pytest.approx([-3, -4])


@pytest.mark.parametrize("integer", [False, True])
def test_rows_without_entries_are_satisfied_or_make_the_problem_infeasible(opened: Opened, *, integer: bool) -> None:
    rows = [[0, 0], [1, 1]]
    possible = opened(program([1, 1], rows, row_lower=[0, 2], integer=integer)).solve()
    impossible = opened(program([1, 1], rows, row_lower=[1, 2], integer=integer)).solve()
    assert possible.objective == pytest.approx(2)
    assert impossible.status is Status.INFEASIBLE


@pytest.mark.parametrize("integer", [False, True])
def test_problems_without_rows_are_solved(opened: Opened, *, integer: bool) -> None:
    solution = opened(program([1, -1], lower=-2, upper=5, integer=integer)).solve()
    assert solution.x == pytest.approx([-2, 5])


@pytest.mark.parametrize(
    ("row_lower", "status"),
    [([], Status.OPTIMAL), ([-1, 0], Status.OPTIMAL), ([-1, 1], Status.INFEASIBLE)],
)
def test_problems_without_columns_are_solved(opened: Opened, row_lower: list[float], status: Status) -> None:
    n_rows, none = len(row_lower), np.zeros(0)
    sides = np.array(row_lower, dtype=float), np.full(n_rows, INF)
    solution = opened(LinearProgram(sp.csr_array((n_rows, 0)), *sides, none, none, none)).solve()
    assert solution.status is status
    if status is Status.OPTIMAL:
        assert solution.objective == 0
        assert solution.duals is not None
        assert len(solution.duals) == n_rows


def test_an_infeasible_problem_has_no_point_and_an_infinite_objective(opened: Opened) -> None:
    solution = opened(program([1, 1], [[1, 1]], row_lower=3, upper=1)).solve()
    assert solution.status is Status.INFEASIBLE
    assert solution.x is None
    assert solution.duals is None
    assert solution.objective == solution.bound == INF


@pytest.mark.parametrize("integer", [False, True])
def test_an_unbounded_problem_is_told_from_an_infeasible_one(opened: Opened, *, integer: bool) -> None:
    ray = program([-1, 0], [[1, -1]], row_lower=0, row_upper=0, integer=integer)
    nothing = program([-1, 0, 0], [[1, -1, 0], [0, 0, 1], [0, 0, 1]], [0, 2, -INF], [0, INF, 1], integer=integer)
    unbounded = opened(ray).solve()
    assert unbounded.status is Status.UNBOUNDED
    assert unbounded.objective == unbounded.bound == -INF
    assert opened(nothing).solve().status is Status.INFEASIBLE


@pytest.mark.parametrize("integer", [False, True])
def test_bounds_that_cross_are_infeasible_until_they_do_not(opened: Opened, *, integer: bool) -> None:
    model = opened(program([1, 1], [[1, 1]], row_lower=1, lower=[3, 0], upper=2, integer=integer))
    assert model.solve().status is Status.INFEASIBLE
    model.change_bounds(np.array([0]), np.array([1.0]), np.array([2.0]))
    assert model.solve().objective == pytest.approx(1)
    model.change_bounds(np.array([1]), np.array([5.0]), np.array([2.0]))
    assert model.solve().status is Status.INFEASIBLE


def test_rows_whose_sides_cross_are_infeasible_until_they_are_deleted(opened: Opened) -> None:
    model = opened(program([1, 1], [[1, 1], [1, 2]], row_lower=[1, 9], row_upper=[INF, 8]))
    assert model.solve().status is Status.INFEASIBLE
    model.delete_rows(np.array([1]))
    assert model.solve().objective == pytest.approx(1)


@pytest.mark.parametrize("method", ["primal", "dual"])
def test_either_method_finds_the_optimum(opened: Opened, method: str) -> None:
    problem = random_program(3)
    solution = opened(problem).solve(method=method)  # type: ignore[arg-type]
    assert solution.objective == pytest.approx(oracle(problem), abs=1e-7)


def test_a_solve_that_runs_out_of_time_is_stopped(opened: Opened) -> None:
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((900, 1800)) < 0.05, rng.random((900, 1800)) + 0.1, 0)
    solution = opened(program(rng.random(1800) + 1, rows, row_lower=1)).solve(time_limit=0.02)
    assert solution.status is Status.STOPPED
    assert solution.bound <= solution.objective
    assert solution.seconds < 10


@pytest.mark.parametrize("seed", range(4))
def test_the_interior_point_method_finds_the_same_optimum_and_the_simplex_method_goes_on_after_it(
    opened: Opened, seed: int
) -> None:
    problem = random_program(seed)
    model = opened(problem)
    inside, vertex = model.solve(method="interior"), model.solve()
    assert inside.objective == pytest.approx(oracle(problem), abs=1e-5)
    assert vertex.objective == pytest.approx(oracle(problem), abs=1e-7)
    assert inside.duals is not None
    assert dual_bound(problem, inside.duals) == pytest.approx(vertex.objective, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_barrier_method_ends_at_a_vertex_from_which_the_primal_method_goes_on(opened: Opened, seed: int) -> None:
    problem = random_program(seed)
    model = opened(problem)
    assert model.solve(method="barrier").objective == pytest.approx(oracle(problem), abs=1e-7)
    columns = np.arange(len(problem.cost))
    model.change_costs(columns, 2 * problem.cost)
    assert model.solve(method="primal").objective == pytest.approx(2 * oracle(problem), abs=1e-7)
