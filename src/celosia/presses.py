"""Ctrl-C as a wish to come to an end: heard at once, raised only where that does no harm.

Python raises KeyboardInterrupt wherever it happens to be, and then a result may be lost that was as good as done.
Inside `answer_presses` the first press stops a clock instead, and is raised only while a solver is waited for; a second
press is raised wherever it comes. Only the main thread hears signals: elsewhere nothing changes. A process that was
started to ignore Ctrl-C, as shells start what runs in the background, goes on ignoring it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | None


@dataclass(slots=True)
class _Scope:
    """Something that answers presses: what it does at each, how many it has heard, and whether one is to be raised."""

    stop: Callable[[], None]
    heard: int = 0
    owed: bool = False


@dataclass(slots=True)
class _Ear:
    """Hears presses for all scopes; the main thread has one."""

    scopes: list[_Scope] = field(default_factory=list)
    waiting: bool = False
    shielded: bool = False

    def press(self, *_: object) -> None:
        """Tell every scope; raise KeyboardInterrupt where the innermost may be left here, or has heard enough."""
        for scope in self.scopes:
            scope.heard += 1
            scope.owed = scope is self.scopes[-1]
            scope.stop()
        if not self.scopes or self.scopes[-1].heard > 1:
            raise KeyboardInterrupt
        if self.waiting:
            self.pay()

    def pay(self) -> None:
        """Raise a press that was not raised when it came."""
        if self.scopes and self.scopes[-1].owed and not self.shielded:
            self.scopes[-1].owed = False
            raise KeyboardInterrupt


_EAR = _Ear()


def ignores_presses() -> bool:
    """Return whether Ctrl-C is none of this process's business: whoever started it wants it left alone."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@contextmanager
def answer_presses(stop: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Answer Ctrl-C inside: the first press calls `stop`, and is raised only in `admit_presses`; the second is raised.

    Scopes nest: every one of them is stopped, and the innermost counts.

    Parameters
    ----------
    stop
        Makes what happens inside end soon, such as `celosia.solve.clock.Clock.stop`.
    """
    if threading.current_thread() is not threading.main_thread() or ignores_presses():
        yield
        return
    depth = len(_EAR.scopes)
    before: Handler = signal.getsignal(signal.SIGINT)
    try:
        _EAR.scopes.append(_Scope(stop))
        if not depth:
            signal.signal(signal.SIGINT, _EAR.press)
        yield
    finally:
        if not depth:
            signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        del _EAR.scopes[depth:]


@contextmanager
def admit_presses() -> Iterator[None]:
    """Let the first press be raised here: whoever answers it expects KeyboardInterrupt while a solver runs."""
    before = _EAR.waiting
    try:
        _EAR.waiting = _EAR.waiting or threading.current_thread() is threading.main_thread()
        yield
    finally:
        _EAR.waiting = before


def raise_overdue_press() -> None:
    """Raise a press that came just before this began to wait, in the main thread."""
    if threading.current_thread() is threading.main_thread():
        _EAR.pay()


@contextmanager
def shield_from_presses() -> Iterator[None]:
    """Let the first press of a scope not be raised here at all: this must be done in any case, and is done soon."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _EAR.shielded
    try:
        _EAR.shielded = True
        yield
    finally:
        _EAR.shielded = before
