from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.solver_programs import INF, Opened, program

from celosia import SolverError
from celosia.solve.backend import Backend, Capability
from celosia.solve.highs.engine import HighsEngine
from celosia.solve.solution import Status


@pytest.fixture(params=["installed", "absent"])
def hipo(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run with HiPO, if it is installed, and without."""
    if request.param == "absent":
        monkeypatch.setattr(HighsEngine, "takes", lambda *_, **__: False)
    return str(request.param)


@pytest.mark.usefixtures("hipo")
def test_the_nearest_point_of_a_plane_is_found(opened: Opened) -> None:
    solution = opened(program([0, 0, 0], [[1, 2, 2]], 9, 9, lower=-INF, quadratic=np.eye(3))).solve()
    assert solution.status is Status.OPTIMAL
    assert solution.x == pytest.approx([1, 2, 2], abs=1e-6)
    assert solution.objective == pytest.approx(4.5)
    assert solution.duals == pytest.approx([1], abs=1e-6)


@pytest.mark.usefixtures("hipo")
def test_the_gradient_is_what_the_duals_say(opened: Opened) -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    problem = program(rng.normal(size=5), rng.normal(size=(3, 5)), -1, 2, -4, 4, quadratic=root.T @ root)
    solution = opened(problem).solve()
    assert solution.x is not None
    assert solution.duals is not None
    assert problem.quadratic is not None
    gradient = problem.cost + problem.quadratic @ solution.x
    assert solution.reduced_costs == pytest.approx(gradient - problem.rows.T @ solution.duals, abs=1e-6)
    value = problem.cost @ solution.x + solution.x @ (problem.quadratic @ solution.x) / 2
    assert solution.objective == pytest.approx(value, abs=1e-12)


@pytest.mark.usefixtures("hipo")
def test_costs_bounds_and_rows_of_a_qp_change_in_place(opened: Opened) -> None:
    model = opened(program([0, 0], [[1, 1]], 2, 2, quadratic=np.eye(2)))
    assert model.solve().x == pytest.approx([1, 1], abs=1e-5)
    model.change_costs(np.array([0]), np.array([-1.0]))
    assert model.solve().x == pytest.approx([1.5, 0.5], abs=1e-5)
    model.change_bounds(np.array([0]), np.zeros(1), np.array([0.5]))
    assert model.solve().x == pytest.approx([0.5, 1.5], abs=1e-5)
    assert model.warm_solves == 0


@pytest.mark.usefixtures("hipo")
def test_an_infeasible_qp_is_infeasible(opened: Opened) -> None:
    problem = program([1, 1], [[1, 1]], row_lower=3, upper=1, quadratic=np.eye(2))
    assert opened(problem).solve().status is Status.INFEASIBLE


def test_an_unbounded_qp_is_never_called_optimal(opened: Opened, hipo: str) -> None:
    model = opened(program([0, -1], [[1, 1]], row_lower=1, quadratic=np.diag([1.0, 0])))
    try:
        assert model.solve().status is Status.UNBOUNDED
    except SolverError:
        assert hipo == "absent"  # the active-set method gives no answer here


@pytest.mark.usefixtures("hipo")
def test_a_problem_that_is_not_convex_is_an_error(opened: Opened) -> None:
    with pytest.raises(SolverError, match="without an answer"):
        opened(program([0, 1], [[1, 1]], 1, 1, quadratic=np.diag([-1.0, 1]))).solve()


def test_a_quadratic_part_of_nothing_is_an_lp(opened: Opened) -> None:
    model = opened(program([1, 2], [[1, 1]], row_lower=1, quadratic=np.zeros((2, 2))))
    model.solve()
    model.solve()
    assert model.warm_solves == 1


def test_a_back_end_without_squares_says_so(backend: Backend) -> None:
    if Capability.QP in backend.capabilities:
        pytest.skip(f"{backend.name} solves QP")
    with pytest.raises(SolverError, match=f"needs QP, which {backend.name}"):
        backend.open(program([1, 1], quadratic=np.eye(2)))
