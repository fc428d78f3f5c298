"""Ctrl-C as a wish: the first press stops the clock, the second ends what happens, wherever it is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from celosia.presses import answered, overdue, shielded, waiting


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
    with answered(lambda: stops.append(1)):
        press()
        assert stops == [1]
        with pytest.raises(KeyboardInterrupt):
            press()


def test_it_is_raised_while_a_solver_is_waited_for() -> None:
    with answered():
        with pytest.raises(KeyboardInterrupt), waiting():
            press()
        overdue()  # it was raised


def test_it_is_not_raised_in_what_must_be_done_anyway() -> None:
    with answered(), shielded(), waiting():
        press()
        overdue()


def test_a_press_just_before_waiting_is_raised_when_waiting_takes_long() -> None:
    with answered():
        press()
        with pytest.raises(KeyboardInterrupt), waiting():
            overdue()


def test_all_scopes_are_stopped_and_the_innermost_counts() -> None:
    stops: list[str] = []
    with answered(lambda: stops.append("outer")):
        for name in ("first", "second"):
            with answered(lambda name=name: stops.append(name)):  # type: ignore[misc]
                press()
        assert stops == ["outer", "first", "outer", "second"]
        with pytest.raises(KeyboardInterrupt):
            press()


def test_outside_nothing_changes() -> None:
    overdue()
    with shielded(), waiting(), pytest.raises(KeyboardInterrupt):
        press()


def test_other_threads_hear_nothing() -> None:
    done: list[object] = []

    def work() -> None:
        before = signal.getsignal(signal.SIGINT)
        with answered(), shielded(), waiting():
            overdue()
            done.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
