"""Ctrl-C as a wish: the first press stops the clock, the second ends what happens, wherever it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from celosia.presses import admit_presses, answer_presses, ignores_presses, raise_overdue_press, shield_from_presses

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_trace() -> Iterator[None]:
    """See that every test leaves signals as it found them."""
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_press_stops_and_the_second_is_raised() -> None:
    stops: list[int] = []
    with answer_presses(lambda: stops.append(1)):
        press()
        assert stops == [1]
        with pytest.raises(KeyboardInterrupt):
            press()


def test_it_is_raised_while_a_solver_is_waited_for() -> None:
    with answer_presses():
        with pytest.raises(KeyboardInterrupt), admit_presses():
            press()
        raise_overdue_press()  # it was raised


def test_it_is_not_raised_in_what_must_be_done_anyway() -> None:
    with answer_presses(), shield_from_presses(), admit_presses():
        press()
        raise_overdue_press()


def test_a_press_just_before_waiting_is_raised_when_waiting_takes_long() -> None:
    with answer_presses():
        press()
        with pytest.raises(KeyboardInterrupt), admit_presses():
            raise_overdue_press()


def test_all_scopes_are_stopped_and_the_innermost_counts() -> None:
    stops: list[str] = []
    with answer_presses(lambda: stops.append("outer")):
        for name in ("first", "second"):
            with answer_presses(lambda name=name: stops.append(name)):  # type: ignore[misc]
                press()
        assert stops == ["outer", "first", "outer", "second"]
        with pytest.raises(KeyboardInterrupt):
            press()


def test_outside_nothing_changes() -> None:
    raise_overdue_press()
    with shield_from_presses(), admit_presses(), pytest.raises(KeyboardInterrupt):
        press()


def test_other_threads_hear_nothing() -> None:
    done: list[object] = []

    def work() -> None:
        before = signal.getsignal(signal.SIGINT)
        with answer_presses(), shield_from_presses(), admit_presses():
            raise_overdue_press()
            done.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_a_process_that_ignores_it_goes_on_doing_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    stops: list[int] = []
    try:
        with answer_presses(lambda: stops.append(1)), admit_presses():
            press()
            press()
        assert ignores_presses()
    finally:
        signal.signal(signal.SIGINT, before)
    assert stops == []
    assert not ignores_presses()


IGNORING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of Unix")
def test_these_tests_pass_in_the_background_where_shells_have_it_ignored() -> None:
    press_here = f"{Path(__file__).relative_to(ROOT)}::{test_outside_nothing_changes.__name__}"
    command = [sys.executable, "-c", IGNORING, "-m", "pytest", "-q", "-p", "no:cacheprovider", press_here]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
