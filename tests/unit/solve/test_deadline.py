"""The last moment of a call: solvers obey it, parts end in good order, and nothing undone is taken for done."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from tests.oracles.solver_programs import cheapest_cover, cover, cover_program

from celosia import SpecError
from celosia.solve import deadline
from celosia.solve.backend import Backend, Row
from celosia.solve.clock import Clock
from celosia.solve.deadline import DeadlineError, Moment, Until, before, check, in_all, limit_time
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status


class Passed:
    """A last moment that has passed."""

    left_at_most = 0.0


def hard(n: int = 60, m: int = 20) -> LinearProgram:
    """Return a program with whole numbers that no solver finishes within seconds (market split)."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 100, size=(m, n)).astype(float)
    side = np.floor(rows.sum(axis=1) / 2)
    whole = np.ones(n, dtype=bool)
    return LinearProgram(sp.csr_array(rows), side, side, np.zeros(n), np.ones(n), np.zeros(n), integer=whole)


def test_without_a_last_moment_there_is_no_end() -> None:
    assert math.isinf(deadline.left())
    check()


def test_of_several_the_first_counts_and_each_ends_with_its_block() -> None:
    with before(Clock(100.0)):
        with before(Until(lambda: 5.0)):
            assert deadline.left() == 5.0
            assert deadline.left_in_all() > 100.0
            with in_all():
                assert deadline.left() > 100.0
        assert deadline.left() > 100.0


def test_when_it_has_passed_check_says_so() -> None:
    with before(Passed()), pytest.raises(DeadlineError):
        check()
    check()


def test_who_gives_up_a_hair_too_early_has_given_up_for_all() -> None:
    """Otherwise what was left undone would pass the next look at the clock, and count as done."""
    with before(Clock(100.0)):
        with before(Until(lambda: 1e-3)):
            assert isinstance(deadline.run_out(), DeadlineError)
            assert deadline.left() == 0.0
        assert deadline.left() > 100.0
    with before(Until(lambda: 1e-3)):
        with before(Moment.now_left()), pytest.raises(DeadlineError):
            raise deadline.run_out()
        with pytest.raises(DeadlineError):
            check()


def test_another_thread_has_its_own_unless_it_is_told() -> None:
    seen: list[float] = []
    with before(Clock(100.0)):
        end = Moment.now_left()

        def work() -> None:
            seen.append(deadline.left())
            with before(end):
                seen.append(deadline.left())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert math.isinf(seen[0])
    assert 100.0 < seen[1] < 120.0


def test_a_limited_function_leaves_out_what_is_late_but_not_what_others_want_whole() -> None:
    @limit_time
    def work(*, time_limit: float | None = None) -> str:
        return "all" if deadline.left() > 1.0 else f"a part of {time_limit}"

    assert work() == "all"
    assert work(time_limit=0.5) == "a part of 0.5"
    with before(Passed()), pytest.raises(DeadlineError):
        work(time_limit=100.0)


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_limit_must_be_above_zero(limit: float) -> None:
    @limit_time
    def work(*, time_limit: float | None = None) -> float | None:
        return time_limit

    with pytest.raises(SpecError, match="time_limit: must be above zero"):
        work(time_limit=limit)


def test_a_solver_ends_at_the_last_moment(backend: Backend) -> None:
    model = backend.open(hard())
    began = time.perf_counter()
    with before(Until(lambda: 0.5 - (time.perf_counter() - began))), pytest.raises(DeadlineError):
        model.solve()
    assert time.perf_counter() - began < 10


def test_a_solver_that_is_late_does_not_begin(backend: Backend) -> None:
    with before(Passed()), pytest.raises(DeadlineError):
        backend.open(hard()).solve()


def test_a_limit_of_its_own_ends_a_solve_with_what_it_has(backend: Backend) -> None:
    with before(Clock(100.0)):
        assert backend.open(hard()).solve(time_limit=0.3).status is Status.STOPPED


def test_what_a_solver_calls_back_for_has_the_same_last_moment(backend: Backend) -> None:
    seen: list[float] = []

    def separate(_x: NDArray[np.float64]) -> list[Row]:
        seen.append(deadline.left())
        return []

    rows, cost = cover(3)
    with before(Clock(100.0)):
        found = backend.open(cover_program(rows, cost)).solve_lazily(separate)
    assert found.objective == pytest.approx(cheapest_cover(rows, cost))
    assert seen
    assert all(50.0 < left < 120.0 for left in seen)


def test_earlier_runs_of_a_linear_program_do_not_count(backend: Backend) -> None:
    """HiGHS adds them up: then a limit would end a run, and with it a call, long before it has passed."""
    rng, n = np.random.default_rng(2), 60
    rows = sp.csr_array(rng.normal(size=(n, n)))
    model = backend.open(LinearProgram(rows, -np.ones(n), np.ones(n), np.zeros(n), np.ones(n), np.zeros(n)))
    began = time.perf_counter()
    with before(Until(lambda: 0.3)):
        while time.perf_counter() - began < 1.0:
            model.change_costs(np.arange(n), rng.normal(size=n))
            assert model.solve().status is Status.OPTIMAL


def test_a_limit_holds_for_every_run_of_a_program_with_whole_numbers(backend: Backend) -> None:
    model = backend.open(hard())
    for _ in range(3):
        began = time.perf_counter()
        assert model.solve(time_limit=0.3).status is Status.STOPPED
        assert time.perf_counter() - began < 5.0
