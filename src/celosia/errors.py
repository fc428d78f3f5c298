"""Errors that say what is wrong, where, and what to do; all problems of an input at once.

A message never carries a microdata value or the name of a contributor: codes of classifications, column names, cell
labels and row numbers are as far as it goes.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal
from typing import Self

_MOST = 20
_LARGE = 1e5  # from here on figures have no decimals


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Parameters
    ----------
    place
        Where: ``rules[0].p``, ``firms.csv, column 'turnover'``, ``t.jj, line 7``.
    message
        What is wrong, with what was seen.
    remedy
        What to do about it.
    """

    place: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        said = f"{self.place}: {self.message}" if self.place else self.message
        return f"{said} {self.remedy}" if self.remedy else said


class CelosiaError(Exception):
    """Anything that celosia refuses to do, with the list of its reasons.

    Parameters
    ----------
    problems
        What is wrong. One error carries every problem of an input, so that a user mends them in one go.
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def one(cls, place: str, message: str, remedy: str = "") -> Self:
        """Return the error for a single problem."""
        return cls(Problem(place, message, remedy))

    def under(self, place: str) -> Self:
        """Return the same error with every place prefixed: the caller knows the file, the callee the line."""
        return type(self)(
            Problem(f"{place}, {problem.place}" if problem.place else place, problem.message, problem.remedy)
            for problem in self.problems
        )


class SpecError(CelosiaError):
    """What was asked for makes no sense: a rule's parameter, an unknown option, a column that is not there."""


class DataError(CelosiaError):
    """The data contradict themselves or what was said about them."""


class SolverError(CelosiaError):
    """A solver gave no answer that can be relied on, or was asked for what it cannot do."""


class InfeasibleError(CelosiaError):
    """No safe pattern exists: what stands in the way, cell by cell."""


class OutOfTimeError(CelosiaError):
    """The time was up, or somebody pressed Ctrl-C, before any safe pattern was known."""


class MidpointWarning(UserWarning):
    """Too many published ranges have the true value in their middle: see `celosia.guesses`."""


@dataclass(slots=True)
class Problems:
    """Collects problems while an input is read, and raises them together.

    >>> found = Problems()
    >>> found.add("rules[0].p", "must be positive, not -1.")
    >>> found.raise_as(SpecError)
    Traceback (most recent call last):
    celosia.errors.SpecError: rules[0].p: must be positive, not -1.
    """

    found: list[Problem] = field(default_factory=list)

    def add(self, place: str, message: str, remedy: str = "") -> None:
        """Note one problem."""
        self.found.append(Problem(place, message, remedy))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Note several problems."""
        self.found.extend(problems)

    @contextmanager
    def gather(self) -> Iterator[None]:
        """Note the problems of an error that is raised inside, and go on after it."""
        try:
            yield
        except CelosiaError as error:
            self.extend(error.problems)

    def raise_as(self, error: type[CelosiaError]) -> None:
        """Raise what was noted so far as one error, the first twenty in words; do nothing when there is nothing."""
        more = len(self.found) - _MOST
        if self.found:
            raise error([*self.found[:_MOST], *([Problem("", f"... and {more} more")] if more > 0 else [])])


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the known word closest to `name`, or lists what is known."""
    words = sorted(known)
    close = difflib.get_close_matches(name, words, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known: {list_items(words)}." if words else ""


def list_items(items: Sequence[object], most: int = 8) -> str:
    """Return the first items as text, and how many more there are.

    >>> list_items(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(item) for item in items[:most])
    more = len(items) - most
    return f"{shown} and {more} more" if more > 0 else shown


def pluralise(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> pluralise(1, "record"), pluralise(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def describe_figure(value: float) -> str:
    """Return a cost, or a sum of values, as people read it."""
    return f"{value:,.0f}" if value >= _LARGE else f"{value:,.6g}"


def roughly(number: float) -> str:
    """Return a number as messages may show it where it comes from confidential data: two digits, rounded up.

    A message ends up in logs and mails. Of a figure that may be the contribution of a single respondent, or follow
    from one, it shows no more than this.

    >>> roughly(7654321), roughly(1530.866), roughly(12), roughly(0)
    ('7,700,000', '1,600', '12', '0')
    """
    if not math.isfinite(number) or not number:
        return f"{number:,g}"
    exact = Decimal(repr(float(number)))
    return f"{exact.quantize(Decimal((0, (1,), exact.adjusted() - 1)), ROUND_UP).normalize():,f}"


def round_up(number: int) -> int:
    """Return the next 1, 2 or 5 times a power of ten: a base or reach to suggest that tells nobody what it is for.

    >>> [round_up(number) for number in (1, 3, 12, 20, 1530866, 7654321)]
    [1, 5, 20, 20, 2000000, 10000000]
    """
    power: int = 10 ** (len(str(number)) - 1)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= number)


def rows_named(rows: Sequence[int], number: int) -> str:
    """Return the numbers of the first of so many rows, counted from 1.

    >>> rows_named([3, 17], 5)
    'rows 3, 17, ...'
    """
    shown = ", ".join(str(row) for row in rows)
    return f"row {shown}" if number == 1 else f"rows {shown}" + (", ..." if number > len(rows) else "")
