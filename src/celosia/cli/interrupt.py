"""Ctrl-C that is not lost, and SIGTERM that leaves nothing behind.

Python raises KeyboardInterrupt wherever it happens to be; compiled code that is called back from C swallows it there.
So a press is remembered, and raised again at the next step that reports its progress.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Terminated(BaseException):
    """Somebody ended the process while it wrote files."""


_pressed = threading.Event()
_searching = threading.Event()


@contextmanager
def remembered() -> Iterator[None]:
    """Remember Ctrl-C while something runs."""

    def press(*_: object) -> None:
        _pressed.set()
        raise KeyboardInterrupt

    def say_unless_pressed(lost: sys.UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            said(lost)

    said = sys.unraisablehook
    before = signal.signal(signal.SIGINT, press)
    sys.unraisablehook = say_unless_pressed
    try:
        yield
    finally:
        sys.unraisablehook = said
        signal.signal(signal.SIGINT, before)
        _pressed.clear()


def pressed() -> bool:
    """Return whether somebody has pressed Ctrl-C."""
    return _pressed.is_set()


@contextmanager
def answered_by_search() -> Iterator[None]:
    """Leave Ctrl-C to a search: it hears the press itself, ends, and what it has found goes on its way.

    So the press is not raised a second time at the next step, nor remembered afterwards. A search that ends with the
    KeyboardInterrupt all the same has nothing to show.
    """
    _searching.set()
    try:
        yield
    except KeyboardInterrupt:
        raise
    except Exception:
        _pressed.clear()
        raise
    else:
        _pressed.clear()
    finally:
        _searching.clear()


def check() -> None:
    """Raise KeyboardInterrupt where somebody has pressed Ctrl-C, and no search answers it."""
    if pressed() and not _searching.is_set():
        raise KeyboardInterrupt


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
