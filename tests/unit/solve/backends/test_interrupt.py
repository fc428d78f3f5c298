from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from celosia import SolverError
from celosia.solve import interrupt
from celosia.solve.backend import Backend
from celosia.solve.interrupt import Interruptible

ROOT = Path(__file__).parents[4]

SCRIPT = """
import sys, time
import numpy as np
from celosia import SolverError
from celosia.solve.backend import Row
from celosia.solve.registry import backend
from tests.oracles.solver_programs import INF, program

rng = np.random.default_rng(0)
shares = rng.integers(0, 100, (5, 40))
split = np.hstack([shares, np.eye(5), -np.eye(5)])  # a market split: easy nodes, and no end of them
half = shares.sum(axis=1) // 2
market = program(np.repeat([0, 1], [40, 10]), split, half, half, upper=np.repeat([1, 100], [40, 10]), integer=True)
dense = np.where(rng.random((1500, 3000)) < 0.05, rng.random((1500, 3000)) + 0.1, 0)

def slowly(x):
    time.sleep(0.05)
    return [Row(np.arange(40), np.ones(40), 19.0, INF)] if x[:40].sum() < 19 else []

solver = backend(sys.argv[1])
mip, lp = solver.open(market), solver.open(program(rng.random(3000) + 1, dense, row_lower=1))
for solve in (mip.solve, lp.solve, lambda: mip.solve_lazily(slowly)):
    try:
        print("running", flush=True)
        print(solve(), flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
def solve_again(model):
    while True:
        try:
            return model.solve(time_limit=0.1).status.name
        except SolverError:  # on a busy machine the solver has not come back from the run that was interrupted
            time.sleep(0.1)

print(solve_again(mip), solve_again(lp), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no signal to one process")
def test_ctrl_c_surfaces_soon_and_leaves_the_model_usable(backend: Backend) -> None:
    command = [sys.executable, "-c", SCRIPT, backend.name]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(3):
            assert child.stdout.readline() == "running\n"
            time.sleep(0.4)
            child.send_signal(signal.SIGINT)
            pressed = time.monotonic()
            assert child.stdout.readline() == "interrupted\n"
            assert time.monotonic() - pressed < interrupt.PATIENCE + 30  # a solver would go on for ever
        assert child.stdout.readline() == "STOPPED STOPPED\n"
    assert child.returncode == 0


@pytest.fixture
def pressed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Press Ctrl-C soon, with little patience afterwards."""
    monkeypatch.setattr(interrupt, "PATIENCE", 0.3)
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    yield
    timer.join()


def test_work_is_done_in_another_thread_and_its_outcome_comes_back() -> None:
    runner = Interruptible(lambda: None)
    assert runner.run(threading.current_thread) is not threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        runner.run(lambda: 1 // 0)
    assert runner.run(lambda: 1) == 1


def test_work_of_another_thread_is_done_on_the_spot() -> None:
    threads: list[threading.Thread] = []
    thread = threading.Thread(target=lambda: threads.append(Interruptible(lambda: None).run(threading.current_thread)))
    thread.start()
    thread.join()
    assert threads == [thread]


@pytest.mark.usefixtures("pressed")
def test_work_inside_other_work_is_cancelled_too() -> None:
    stop, inner_stop = threading.Event(), threading.Event()
    inner = Interruptible(inner_stop.set)
    with pytest.raises(KeyboardInterrupt):
        Interruptible(stop.set).run(lambda: inner.run(lambda: inner_stop.wait(5)))
    assert stop.is_set()
    assert inner_stop.is_set()


@pytest.mark.usefixtures("pressed")
def test_work_that_does_not_end_is_left_to_itself() -> None:
    never = threading.Event()
    runner = Interruptible(lambda: None)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        runner.run(lambda: never.wait(20))
    assert time.monotonic() - began < 15
    with pytest.raises(SolverError, match="still busy"):
        runner.run(lambda: None)
    assert Interruptible(lambda: None).run(lambda: 1) == 1
    never.set()


def test_a_press_that_comes_with_the_answer_waits_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What says that the work has ended was read, and the press came before anybody had it: all patience was lost."""

    def read_and_pressed(ended: SimpleQueue[BaseException | None]) -> BaseException | None:
        ended.get(timeout=10)
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupt, "_await_end", read_and_pressed)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Interruptible(lambda: None).run(lambda: 1)
    assert time.monotonic() - began < interrupt.PATIENCE / 2
