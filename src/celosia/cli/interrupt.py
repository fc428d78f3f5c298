"""Ctrl-C that is not lost, and SIGTERM that leaves nothing behind.

Python raises KeyboardInterrupt wherever it happens to be; compiled code that is called back from C swallows it there.
So a press is remembered, and raised again at the next step that reports its progress. What a search has found is not
lost by a press that comes later: see `celosia.presses`.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from celosia.presses import answer_presses, ignores_presses


class Terminated(BaseException):
    """The process was terminated while it wrote files."""


_pressed = threading.Event()
_done = threading.Event()


def press(*_: object) -> None:
    """Remember Ctrl-C and raise it; where all is done, and only to be said, it comes too late."""
    if _done.is_set():
        return
    _pressed.set()
    raise KeyboardInterrupt


def listen() -> Callable[[int, FrameType | None], object] | int | None:
    """Answer Ctrl-C by `press` unless it is ignored, and return what answered it before."""
    return signal.SIG_IGN if ignores_presses() else signal.signal(signal.SIGINT, press)


@contextmanager
def remember_presses() -> Iterator[None]:
    """Remember Ctrl-C while something runs."""

    def say_unless_pressed(lost: sys.UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            said(lost)

    said = sys.unraisablehook
    _done.clear()
    before = listen()
    sys.unraisablehook = say_unless_pressed
    try:
        yield
    finally:
        sys.unraisablehook = said
        signal.signal(signal.SIGINT, before)
        _pressed.clear()


def was_pressed() -> bool:
    """Return whether Ctrl-C was pressed, and no search has answered it."""
    return _pressed.is_set()


def check() -> None:
    """Raise KeyboardInterrupt where Ctrl-C was pressed, and no search has answered it."""
    if was_pressed():
        raise KeyboardInterrupt


@contextmanager
def answer_to_the_end() -> Iterator[None]:
    """Answer Ctrl-C by `celosia.presses.answer_presses`; once this is done, nothing is interrupted any more."""
    with answer_presses():
        yield
        _done.set()


@contextmanager
def tidy_when_terminated() -> Iterator[None]:
    """Let SIGTERM raise `Terminated` while files are written, so that their stand-ins are removed.

    Only here: at other times there is nothing to tidy up, and the process ends at once, even deep in a solver.
    """

    def end(*_: object) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
