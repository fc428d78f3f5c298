"""Ctrl-C and time limits end a search with the best safe pattern so far; results tell the truth about it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.instances import OPTIMA, instance

from celosia import InfeasibleError, OutOfTimeError, Pattern, Suppress, audit, protect
from celosia.presses import answer_presses
from celosia.progress import Silent
from celosia.protection.fallback import Fallback
from celosia.protection.run import Run
from celosia.protection.suppression.components import ComponentSearches
from celosia.protection.suppression.solve import _Suppression
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

ROOT = Path(__file__).parents[3]
SOLVERS = [
    "highs",
    pytest.param(
        "scip", marks=pytest.mark.skipif(find_spec("pyscipopt") is None, reason="celosia[scip] is not installed")
    ),
]


class Interrupting(Silent):
    """Presses Ctrl-C when it has heard of so many steps."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.heard = 0

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        self.heard += 1
        if self.heard == self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("after", [1, 2, 5, 20])
@pytest.mark.parametrize("name", ["t50x20", "h1", "hh1"])
def test_ctrl_c_in_the_midst_of_a_search(name: str, after: int, solver: str) -> None:
    listener = Interrupting(after)
    found = protect(instance(name), solver=solver, progress=listener)
    best = OPTIMA[name].value
    assert best is not None
    assert found.safe
    assert found.bound <= best <= found.cost
    if listener.heard == after:
        assert found.seconds > 0


def test_the_trace_leads_to_the_result() -> None:
    found = protect(instance("hh1"))
    seconds, cost, bound, cuts = zip(*found.trace, strict=True)
    assert list(seconds) == sorted(seconds)
    assert cost[-1] == pytest.approx(found.cost)
    assert bound[-1] == pytest.approx(found.bound)
    assert list(bound) == sorted(bound)
    assert cuts[-1] > 0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("limit", [0.001, 0.05, 0.4])
@pytest.mark.parametrize("name", ["h2", "hh1", "d3a"])
def test_a_time_limit(name: str, limit: float, solver: str) -> None:
    began = time.process_time()
    try:
        found = protect(instance(name), solver=solver, time_limit=limit)
    except OutOfTimeError:
        return
    assert time.process_time() - began < limit + 10
    assert found.safe
    assert found.bound <= found.cost
    best = OPTIMA[name].value if name in OPTIMA else None
    assert best is None or found.bound <= best <= found.cost


def test_a_pattern_that_was_audited_during_the_search_is_not_audited_again(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[bytes] = []

    def watch(pattern: Pattern, *said: object, **more: object) -> object:
        judged.append((pattern.status != "shown").tobytes())
        return audit(pattern, *said, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("celosia.protection.suppression.solve.audit", watch)
    monkeypatch.setattr(Fallback, "due", True)
    clock = Clock(None)
    run = Run(clock, 0.01, backends()[0], 0, integer=False, fallback=Fallback(clock))
    suppression, search = _Suppression(instance("hh1"), Suppress(), run), ComponentSearches.solve

    def search_and_audit(searches: ComponentSearches, begin: Callable[[], None]) -> None:
        search(searches, begin)
        suppression._audit_if_due()

    monkeypatch.setattr(ComponentSearches, "solve", search_and_audit)
    found = suppression.solve()
    assert found.safe
    assert found.bound <= found.cost
    assert (found.pattern.status != "shown").tobytes() == judged[-1]
    assert len(set(judged)) == len(judged)


class Pressing(Silent):
    """Sends the signal of Ctrl-C so many seconds after the first pattern, wherever the search is by then."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, signal.raise_signal, [signal.SIGINT])

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        if cost is not None and not self._timer.is_alive():
            with contextlib.suppress(RuntimeError):  # it was started once
                self._timer.start()

    def end(self) -> None:
        self._timer.cancel()
        self._timer.join()


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of Unix")
@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.1, 0.3, 0.7])
def test_a_signal_at_any_moment_after_the_first_pattern_of_hh2_with_unit_costs(seconds: float) -> None:
    risk = instance("hh2", unity=True)
    listener = Pressing(seconds)
    with answer_presses():  # so that a press after the end harms nobody
        found = protect(risk, progress=listener)
        listener.end()
    assert found.safe
    assert found.bound <= 329 <= found.cost
    assert found.optimal or found.bound < found.cost


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of Unix")
@pytest.mark.parametrize("name", ["hh2", "t50x20", "d3a"])
def test_a_signal_before_the_first_pattern_still_gives_one(name: str) -> None:
    class AtOnce(Silent):
        def start(self, step: str, total: int | None = None) -> None:  # noqa: ARG002
            if step == "protecting":
                signal.raise_signal(signal.SIGINT)

    risk = instance(name, unity=True)
    found = protect(risk, progress=AtOnce())
    assert found.safe
    assert found.bound <= found.cost <= len(risk)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of Unix")
def test_ctrl_c_by_a_signal() -> None:
    program = """
import json
from benchmarks.instances import instance
from celosia.progress import Silent
from celosia.protection.protect import protect

class Telling(Silent):
    told = False

    def search(self, cost, bound, cuts):
        if cost is not None and bound and not self.told:
            self.told = True
            print("searching", flush=True)

found = protect(instance("d3a"), progress=Telling())
print(json.dumps([found.safe, found.bound, found.cost, found.seconds]), flush=True)
"""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        cwd=ROOT,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "searching\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate()
    finally:
        child.kill()
    assert child.returncode == 0, err
    safe, bound, cost, seconds = json.loads(out)
    assert safe
    assert 0 < bound < cost
    assert seconds > 0


def test_out_of_time_before_it_is_known_that_nothing_is_safe() -> None:
    """With everything hidden the audit knows at once, however little time there was to say why."""
    risk = instance("t50x20")
    free = [cell for cell in range(len(risk)) if not risk.sensitive[cell]]
    with pytest.raises(InfeasibleError, match="is impossible"):
        protect(risk, Suppress(must_show=free), time_limit=0.001)
