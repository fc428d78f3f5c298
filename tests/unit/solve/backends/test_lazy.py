from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.solver_programs import INF, Opened, cheapest_cover, cover, cover_program, program, uncovered

from celosia import SolverError
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.deadline import DeadlineError
from celosia.solve.registry import backend as named
from celosia.solve.solution import Status
from celosia.tolerance import ROW_SATISFIED


@pytest.mark.parametrize("seed", range(15))
def test_rows_given_lazily_lead_to_the_optimum_that_trying_all_covers_finds(opened: Opened, seed: int) -> None:
    rows, cost = cover(seed)
    asked: list[NDArray[np.float64]] = []

    def separate(x: NDArray[np.float64]) -> list[Row]:
        asked.append(x)
        return uncovered(rows, x)

    model = opened(cover_program(rows[:2], cost))
    solution = model.solve_lazily(separate)
    assert solution.status is Status.OPTIMAL
    assert solution.x is not None
    assert np.all(rows @ solution.x >= 1)
    assert solution.objective == cheapest_cover(rows, cost)
    assert solution.objective - 1e-6 <= solution.bound <= solution.objective
    assert all(set(x.tolist()) <= {0.0, 1.0} for x in asked)


@pytest.mark.parametrize("seed", range(5))
def test_problems_that_fall_apart_are_not_solved_without_their_lazy_rows(opened: Opened, seed: int) -> None:
    rows, cost = cover(seed, n_rows=8, n_columns=5)
    nothing = np.zeros_like(rows)
    blocks = np.block([[rows, nothing], [nothing, rows]])
    model = opened(cover_program(blocks[[0, 8]], np.tile(cost, 2)))
    solution = model.solve_lazily(lambda x: uncovered(blocks, x, 1))
    assert solution.objective == 2 * cheapest_cover(rows, cost)


@pytest.mark.parametrize("seed", range(5))
def test_lazy_rows_may_hold_columns_back_in_either_direction(opened: Opened, seed: int) -> None:
    """Dual reductions would fix columns whose known rows pull one way only."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 4, (8, 6)).astype(float)
    limits = matrix @ rng.integers(0, 4, 6) + rng.integers(0, 2, 8)
    problem = program(rng.integers(-6, 7, 6), matrix, row_upper=limits, upper=5, integer=True)
    problem = replace(problem, integer=np.arange(6) < 4)
    few = program(problem.cost, matrix[:1], row_upper=limits[:1], upper=5)
    model = opened(replace(few, integer=problem.integer))

    def separate(x: NDArray[np.float64]) -> list[Row]:
        return [Row(np.arange(6), matrix[row], -INF, limits[row]) for row in np.flatnonzero(matrix @ x > limits + 1e-6)]

    assert model.solve_lazily(separate).objective == pytest.approx(named("highs").open(problem).solve().objective)


def test_an_lp_takes_lazy_rows_too(opened: Opened) -> None:
    model = opened(program([-1, -1], upper=4))

    def separate(x: NDArray[np.float64]) -> list[Row]:
        """Cut a disc of radius 1 out by its tangents."""
        size = float(np.hypot(*x))
        return [] if size < 1 + 1e-5 else [Row(np.arange(2), x / size, -INF, 1.0)]

    solution = model.solve_lazily(separate)
    assert solution.objective == pytest.approx(-np.sqrt(2), abs=1e-4)
    assert solution.duals is not None


def test_rows_that_were_found_stay_in_the_model(opened: Opened) -> None:
    rows, cost = cover(3)
    model = opened(cover_program(rows[:2], cost))
    found = model.solve_lazily(lambda x: uncovered(rows, x))
    asked: list[object] = []
    again = model.solve_lazily(lambda x: asked.append(x) or uncovered(rows, x))  # type: ignore[func-returns-value]
    assert model.solve().objective == found.objective == again.objective
    assert asked


def test_lazy_rows_can_make_a_problem_infeasible(opened: Opened) -> None:
    solution = opened(program([1, 1], upper=1, integer=True)).solve_lazily(
        lambda x: [Row(np.arange(2), np.ones(2), 3.0, INF)] if x.sum() < 3 else []
    )
    assert solution.status is Status.INFEASIBLE
    assert solution.bound == INF


def test_a_row_violated_by_less_than_the_tolerance_counts_as_satisfied(opened: Opened) -> None:
    least = 1 + ROW_SATISFIED / 2
    model = opened(program([1, 1], [[1, 1]], row_lower=1, upper=1, integer=True))
    solution = model.solve_lazily(lambda _: [Row(np.arange(2), np.ones(2), least, INF)])
    assert solution.objective == 1


def test_rows_that_the_solver_takes_for_satisfied_are_an_error_not_a_loop(opened: Opened) -> None:
    """The point violates the row by 2e-6, but the scaled row by next to nothing."""
    row = Row(np.arange(2), np.array([1.0, 1.0]), 1.0 + 2e-6, INF)
    model = opened(program([1, 1], [[1, 1]], row_lower=1, upper=1, integer=True))
    try:
        solution = model.solve_lazily(lambda x: [row] if x.sum() < row.lower else [])
    except SolverError as error:
        assert "separate" in str(error)  # noqa: PT017 - either answer is right
    else:
        assert solution.objective == 2


def test_a_problem_that_is_unbounded_without_its_lazy_rows_is_never_called_unbounded(opened: Opened) -> None:
    model = opened(program([-1, -1], [[1, -1]], 0, 0, integer=True))
    try:
        solution = model.solve_lazily(lambda x: [Row(np.arange(2), np.ones(2), -INF, 5.0)] if x.sum() > 5 else [])
    except SolverError as error:
        assert "unbounded without its lazy rows" in str(error)  # noqa: PT017 - either answer is right
    else:
        assert solution.x == pytest.approx([2, 2])


def test_what_separate_raises_reaches_the_caller(opened: Opened) -> None:
    model = opened(cover_program(*cover(4)))

    def separate(_: NDArray[np.float64]) -> list[Row]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model.solve_lazily(separate)
    assert model.solve().objective == cheapest_cover(*cover(4))


def test_separate_may_solve_problems_of_its_own(opened: Opened, backend: Backend) -> None:
    rows, cost = cover(5)

    def separate(x: NDArray[np.float64]) -> list[Row]:
        worst = backend.open(program(rows @ x, [[1] * len(rows)], 1, 1)).solve()
        return uncovered(rows, x) if worst.objective < 1 - 1e-6 else []

    assert opened(cover_program(rows[:2], cost)).solve_lazily(separate).objective == cheapest_cover(rows, cost)


def test_out_of_time_no_point_is_returned_that_separate_refuses(opened: Opened) -> None:
    rows, cost = cover(6, n_rows=200, n_columns=120)
    rows = np.where(np.random.default_rng(0).random(rows.shape) < 0.15, rows, 0)
    rows[np.arange(200), np.arange(200) % 120] = 1
    solution = opened(cover_program(rows[:2], 20 + cost)).solve_lazily(lambda x: uncovered(rows, x, 1), time_limit=0.3)
    assert solution.status is Status.STOPPED
    assert solution.bound <= solution.objective
    assert solution.seconds < 10
    if solution.x is not None:
        assert np.all(rows @ solution.x >= 1)


def test_lazy_rows_need_one_tree_where_the_back_end_is_capable_of_it(opened: Opened, backend: Backend) -> None:
    rows, cost = cover(7)
    model = opened(cover_program(rows[:1], cost))
    model.solve_lazily(lambda x: uncovered(rows, x, 1))
    assert (model.cold_solves == 1) is (Capability.LAZY in backend.capabilities)


@pytest.mark.parametrize("last", [1, 2, 3, 5, 8, 13])
def test_what_is_raised_at_any_question_comes_through(opened: Opened, last: int) -> None:
    """Not an error of the solver, which asks on for a while, and other questions."""
    rows, cost = cover(6, n_rows=200, n_columns=120)
    left = [last]

    def separate(x: NDArray[np.float64]) -> list[Row]:
        left[0] -= 1
        if left[0] < 0:
            raise DeadlineError
        return uncovered(rows, x, 1)

    with contextlib.suppress(DeadlineError):
        opened(cover_program(rows[:2], 20 + cost)).solve_lazily(separate, time_limit=5)
