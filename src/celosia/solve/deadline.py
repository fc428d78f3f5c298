"""The last moment of a call, known to everything that happens before it.

A search looks at its `celosia.solve.clock.Clock` and ends in good order when the limit is reached. What it calls on the
way, and what comes after it (audits, mending, models of solvers), has a last moment instead: when that has passed,
`DeadlineError` is raised out of the middle of the work, and a caller that has a result by then returns it. The
deadline is not an argument, so that nothing can forget to hand it on: solvers obey it, and long loops call `check`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

from celosia.errors import SpecError

P = ParamSpec("P")
T = TypeVar("T")


SAME = 0.05
"""Seconds: moments no further from each other are one. A solve with such a limit of its own ends with what it has."""


class DeadlineError(Exception):
    """The last moment has passed: what is being done will not be finished."""


class HasEnd(Protocol):
    """Something that knows how long work may go on, such as a clock."""

    @property
    def left_at_most(self) -> float:
        """Seconds until the last moment, never negative."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A last moment of its own, for work that is done in another thread or process.

    Parameters
    ----------
    at
        By `time.monotonic`, which all processes of a machine share, infinite for none.
    """

    at: float

    @classmethod
    def now_left(cls) -> Moment:
        """Return the last moment of what is being done here."""
        return cls(time.monotonic() + left())

    @property
    def left_at_most(self) -> float:
        """Seconds until then, never negative."""
        return max(0.0, self.at - time.monotonic())


@dataclass(frozen=True, slots=True)
class Until:
    """The last moment of a part of the work, such as the limit of a search, which ends in good order then.

    Parameters
    ----------
    left
        Returns how many seconds remain.
    """

    left: Callable[[], float]

    @property
    def left_at_most(self) -> float:
        """Seconds that remain, never negative."""
        return max(0.0, self.left())


@dataclass(slots=True, eq=False)
class _End:
    """A last moment, and whether work has already ended because of it: then it has passed for all."""

    moment: HasEnd
    passed: bool = False

    @property
    def left(self) -> float:
        return 0.0 if self.passed else self.moment.left_at_most


_ENDS: ContextVar[tuple[_End, ...]] = ContextVar("ends", default=())


@contextmanager
def before(moment: HasEnd) -> Iterator[None]:
    """Let everything inside end before a last moment; of several, one inside the other, the first counts."""
    token = _ENDS.set((*_ENDS.get(), _End(moment)))
    try:
        yield
    finally:
        _ENDS.reset(token)


@contextmanager
def in_all() -> Iterator[None]:
    """Let what is done inside end before the last moment of the whole call, not of the part that it belongs to."""
    token = _ENDS.set(_of_all())
    try:
        yield
    finally:
        _ENDS.reset(token)


def _of_all() -> tuple[_End, ...]:
    return tuple(end for end in _ENDS.get() if not isinstance(end.moment, Until))


def left() -> float:
    """Return the seconds until the last moment, infinite where there is none."""
    return min((end.left for end in _ENDS.get()), default=float("inf"))


def left_in_all() -> float:
    """Return the seconds until the last moment of the whole call."""
    return min((end.left for end in _of_all()), default=float("inf"))


def check() -> None:
    """Do nothing before the last moment.

    Raises
    ------
    DeadlineError
        It has passed.
    """
    if left() <= 0:
        raise run_out()


def run_out() -> DeadlineError:
    """Return the error that says that the last moment has come, and let it, and any next to it, have passed for all.

    A solver that ends at its limit may do so a hair too early: what it leaves undone must not be taken for done.
    """
    first = left()
    for end in _ENDS.get():
        if end.left <= first + SAME:
            end.passed = True
    return DeadlineError()


def limit_time(work: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose keyword ``time_limit``, in seconds, is the last moment of what it does.

    What is not done by then it leaves out. Where another last moment has passed, nothing is returned at all: whoever
    set that one has no use for a part.

    Raises
    ------
    SpecError
        The limit is not above zero.
    """

    @wraps(work)
    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        seconds = kwargs.get("time_limit")
        if seconds is None:
            found = work(*args, **kwargs)
        else:
            if not (isinstance(seconds, int | float) and seconds > 0):
                said = f"must be above zero, not {seconds}."
                raise SpecError.one("time_limit", said, "It is in seconds; leave it out for none.")
            with before(Moment(time.monotonic() + seconds)):
                found = work(*args, **kwargs)
        check()
        return found

    return inside
