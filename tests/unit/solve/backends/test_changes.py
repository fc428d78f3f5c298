from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracles.examples import first_few
from tests.oracles.solver_programs import INF, Opened, cover, cover_program, program, random_program

from celosia import SpecError
from celosia.solve.backend import Model
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status


def counts(model: Model) -> tuple[int, int]:
    """Return the warm and cold solves."""
    return model.warm_solves, model.cold_solves


def test_a_model_starts_cold_and_stays_warm_when_costs_change(opened: Opened) -> None:
    model = opened(random_program(1))
    model.solve()
    assert counts(model) == (0, 1)
    for column in range(5):
        model.change_costs(np.array([column]), np.array([3.0]))
        model.solve()
    assert counts(model) == (5, 1)


def test_a_model_stays_warm_when_bounds_change_and_rows_come(opened: Opened) -> None:
    model = opened(program([1, 2], [[1, 1]], row_lower=1))
    assert model.solve().x == pytest.approx([1, 0])
    model.change_bounds(np.array([0]), np.array([0.0]), np.array([0.25]))
    assert model.solve().x == pytest.approx([0.25, 0.75])
    model.add_rows(sp.csr_array([[0.0, 1.0]]), np.array([2.0]), np.array([INF]))
    assert model.solve().x == pytest.approx([0, 2])
    assert counts(model) == (2, 1)


def test_a_model_stays_warm_when_slack_rows_go(opened: Opened) -> None:
    model = opened(program([1, 2], [[1, 1], [1, 0], [0, 1]], row_lower=[1, -5, -5]))
    model.solve()
    model.delete_rows(np.array([2, 1]))
    solution = model.solve()
    assert solution.objective == pytest.approx(1)
    assert solution.duals == pytest.approx([1])
    assert counts(model) == (1, 1)


def test_a_model_is_right_when_binding_rows_go(opened: Opened) -> None:
    model = opened(program([1, 2], [[1, 1], [1, 0]], row_lower=[1, 0.5]))
    model.solve()
    model.delete_rows(np.array([0]))
    assert model.solve().objective == pytest.approx(0.5)


def test_an_infeasible_model_recovers(opened: Opened) -> None:
    model = opened(program([1, 2], [[1, 1]], row_lower=1, upper=1))
    model.solve()
    model.change_bounds(np.array([0, 1]), np.zeros(2), np.full(2, 0.25))
    assert model.solve().status is Status.INFEASIBLE
    model.change_bounds(np.array([0, 1]), np.zeros(2), np.ones(2))
    assert model.solve().objective == pytest.approx(1)


def test_an_unbounded_model_recovers(opened: Opened) -> None:
    model = opened(program([1, 2], [[1, 1]], row_lower=1))
    model.solve()
    model.change_costs(np.array([1]), np.array([-1.0]))
    assert model.solve().status is Status.UNBOUNDED
    model.change_costs(np.array([1]), np.array([0.5]))
    assert model.solve().objective == pytest.approx(0.5)


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("seed", first_few(2, range(4)))
def test_a_changed_model_equals_one_that_is_opened_anew(opened: Opened, seed: int, *, integer: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = replace(random_program(seed), integer=np.full(15, integer))
    model = opened(problem)
    for step in range(8):
        problem = changed(model, problem, step % 4, rng)
        ours, anew = model.solve(), opened(problem).solve()
        assert ours.status is anew.status
        assert ours.objective == pytest.approx(anew.objective, abs=1e-6)
        if ours.x is not None:
            assert problem.cost @ ours.x == pytest.approx(ours.objective)


def changed(model: Model, problem: LinearProgram, kind: int, rng: np.random.Generator) -> LinearProgram:
    """Change a model at random, and return the problem that it should stand for now."""
    n_rows, n_columns = problem.shape
    columns = rng.choice(n_columns, 3, replace=False)
    if kind == 0:
        cost = problem.cost.copy()
        # Costs keep their signs, or the optimum might not be finite.
        cost[columns] *= rng.integers(1, 4, 3)
        model.change_costs(columns, cost[columns])
        return replace(problem, cost=cost)
    if kind == 1:
        lower, upper = problem.lower.copy(), problem.upper.copy()
        lower[columns] -= rng.integers(0, 3, 3)
        upper[columns] += rng.integers(0, 3, 3)
        model.change_bounds(columns, lower[columns], upper[columns])
        return replace(problem, lower=lower, upper=upper)
    if kind == 2:
        rows = sp.csr_array(rng.integers(-1, 2, (2, n_columns)).astype(float))
        row_lower, row_upper = np.array([-4.0, -INF]), np.array([INF, 6.0])
        model.add_rows(rows, row_lower, row_upper)
        return replace(
            problem,
            rows=sp.csr_array(sp.vstack([problem.rows, rows])),
            row_lower=np.concatenate([problem.row_lower, row_lower]),
            row_upper=np.concatenate([problem.row_upper, row_upper]),
        )
    gone = rng.choice(n_rows, 2, replace=False)
    kept = np.delete(np.arange(n_rows), gone)
    model.delete_rows(gone)
    rows = sp.csr_array(problem.rows[kept])
    return replace(problem, rows=rows, row_lower=problem.row_lower[kept], row_upper=problem.row_upper[kept])


def test_a_mip_is_cold_every_time(opened: Opened) -> None:
    model = opened(cover_program(*cover(0)))
    model.solve()
    model.change_costs(np.array([0]), np.array([100.0]))
    model.solve()
    assert counts(model) == (0, 2)


def test_entries_of_one_place_are_added_up_and_stored_zeros_dropped(opened: Opened) -> None:
    twice = sp.csr_array((np.array([1.0, 1.0, 0.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    ones = np.ones(1)
    model = opened(LinearProgram(twice, ones, ones, np.zeros(2), np.full(2, INF), np.ones(2)))
    assert model.solve().x == pytest.approx([0.5, 0])
    model.add_rows(twice, 2 * ones, np.full(1, INF))
    assert model.solve().status is Status.INFEASIBLE
    assert twice.nnz == 3


@pytest.mark.parametrize("integer", [False, True])
def test_a_change_that_makes_no_sense_is_refused_and_changes_nothing(opened: Opened, *, integer: bool) -> None:
    model = opened(program([1, 2], [[1, 1]], row_lower=1, integer=integer))
    one, two, here = np.ones(1), np.ones(2), np.array([0])
    with pytest.raises(SpecError, match=r"columns.* 0 and 1"):
        model.change_costs(np.array([2]), one)
    with pytest.raises(SpecError, match="once"):
        model.change_costs(np.array([0, 0]), two)
    with pytest.raises(SpecError, match="whole numbers"):
        model.change_costs(one, one)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="costs"):
        model.change_costs(here, np.array([np.nan]))
    with pytest.raises(SpecError, match="shape"):
        model.change_costs(here, two)
    with pytest.raises(SpecError, match=r"lower.*\n.*upper"):
        model.change_bounds(here, np.array([INF]), np.array([np.nan]))
    with pytest.raises(SpecError, match="3 columns, not 2"):
        model.add_rows(sp.csr_array(np.ones((1, 3))), one, one)
    with pytest.raises(SpecError, match="Scale"):
        model.add_rows(sp.csr_array(np.array([[1, 1e-12]])), one, one)
    with pytest.raises(SpecError, match="rows"):
        model.delete_rows(np.array([-1]))
    solution = model.solve()
    assert solution.x == pytest.approx([1, 0])


def test_changes_of_nothing_are_allowed(opened: Opened) -> None:
    model = opened(program([1, 2], [[1, 1]], row_lower=1))
    nowhere, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    model.change_costs(nowhere, nothing)
    model.change_bounds(nowhere, nothing, nothing)
    model.add_rows(sp.csr_array((0, 2)), nothing, nothing)
    model.delete_rows(nowhere)
    assert model.solve().objective == pytest.approx(1)
