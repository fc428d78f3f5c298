from __future__ import annotations

import threading

import highspy
import numpy as np
import pytest
from highspy import HighsModelStatus
from tests.oracles.solver_programs import program

from celosia import SolverError
from celosia.solve.highs import engine as highs_engine
from celosia.solve.highs.backend import HighsBackend
from celosia.solve.highs.engine import HighsEngine
from celosia.solve.solution import Solution, Status

PROBLEM = program([1, 2], [[1, 1]], row_lower=1)


def test_a_status_that_is_not_understood_is_tried_again_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    model = HighsBackend().open(PROBLEM)
    model.solve()
    run = HighsEngine.run
    monkeypatch.setattr(HighsEngine, "run", lambda engine, clock: (run(engine, clock), None)[1])
    assert model.solve().status is Status.OPTIMAL
    assert (model.warm_solves, model.cold_solves) == (1, 2)


def test_a_status_that_is_not_understood_twice_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(highs_engine._STATUS, HighsModelStatus.kOptimal)
    with pytest.raises(SolverError, match="without an answer, twice: Optimal"):
        HighsBackend().open(PROBLEM).solve()


def test_an_option_that_highs_does_not_take_is_an_error() -> None:
    with pytest.raises(SolverError, match="option presolve = perhaps"):
        HighsEngine().option("presolve", value="perhaps")


def test_a_thread_in_which_somebody_else_used_more_threads_is_set_right() -> None:
    found: list[Solution] = []

    def work() -> None:
        other = highspy.Highs()  # type: ignore[no-untyped-call]
        other.setOptionValue("output_flag", False)  # noqa: FBT003
        other.setOptionValue("threads", 2)
        other.addVars(1, np.zeros(1), np.ones(1))
        other.run()
        found.append(HighsBackend().open(PROBLEM).solve())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found[0].objective == pytest.approx(1)
