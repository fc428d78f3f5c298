"""Progress that people see, on standard error: a bar on a terminal, otherwise a line for a step that takes its time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from celosia.cli.interrupt import check
from celosia.errors import pluralise, roughly
from celosia.library import OnFirstUse
from celosia.progress import Progress

if TYPE_CHECKING:
    from rich import progress as moving
else:
    moving = OnFirstUse("rich.progress")

_PATIENCE = 2.0  # seconds before a step is worth a line in a log
_REMINDER = 10.0  # seconds between further lines of the same step


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Progress]:
    """Show the steps of what happens inside."""
    console = Console(stderr=True)
    if quiet:
        yield QuietProgress()
    elif console.is_terminal and not console.is_dumb_terminal:
        described = moving.TextColumn("{task.description}")
        columns = (moving.SpinnerColumn(), described, moving.BarColumn(), moving.TimeElapsedColumn())
        with moving.Progress(*columns, console=console, transient=True) as bars:
            yield BarProgress(bars)
    else:
        yield LineProgress()


class QuietProgress:
    """A `Progress` that shows nothing, and ends with Ctrl-C all the same."""

    def start(self, step: str, total: int | None = None) -> None:  # noqa: ARG002
        """Begin a step."""
        check()

    def advance(self, amount: int = 1) -> None:  # noqa: ARG002
        """Tell that more is done."""
        check()

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        """Tell how far a search has come."""
        check()

    def done(self) -> None:
        """End the current step."""
        check()


class BarProgress:
    """A `Progress` that moves on a terminal and is gone afterwards."""

    def __init__(self, bars: moving.Progress) -> None:
        self._bars = bars
        self._task: moving.TaskID | None = None
        self._step = ""

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step."""
        self.done()
        self._task, self._step = self._bars.add_task(step, total=total), step

    def advance(self, amount: int = 1) -> None:
        """Tell that more is done."""
        check()
        if self._task is not None:
            self._bars.advance(self._task, amount)

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:
        """Tell how far a search has come."""
        check()
        if self._task is not None:
            self._bars.update(self._task, description=f"{self._step}: {describe_search(cost, bound, cuts)}")

    def done(self) -> None:
        """End the current step."""
        check()
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None


class LineProgress:
    """A `Progress` for log files: silent about what takes less than two seconds, then a line now and again."""

    def __init__(self) -> None:
        self._step: str | None = None
        self._total: int | None = None
        self._amount = 0
        self._began = 0.0
        self._next = 0.0

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step."""
        self.done()
        self._step, self._total, self._amount = step, total, 0
        self._began = time.monotonic()
        self._next = self._began + _PATIENCE

    def advance(self, amount: int = 1) -> None:
        """Tell that more is done."""
        check()
        self._amount += amount
        self._remind(f", {min(1.0, self._amount / self._total):.0%}" if self._total else "")

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:
        """Tell how far a search has come."""
        check()
        self._remind(f"; {describe_search(cost, bound, cuts)}")

    def _remind(self, more: str) -> None:
        now = time.monotonic()
        if self._step is not None and now >= self._next:
            self._say(f"{self._step} ({now - self._began:.0f} s{more}) ...")
            self._next = now + _REMINDER

    def done(self) -> None:
        """End the current step."""
        check()
        took = time.monotonic() - self._began
        if self._step is not None and took >= _PATIENCE:
            self._say(f"{self._step}: {took:.1f} s")
        self._step = None

    @staticmethod
    def _say(line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def describe_search(cost: float | None, bound: float | None, cuts: int) -> str:
    """Return in words how far a search has come.

    >>> describe_search(1200, 1140, 37)
    'cost 1,200, bound 1,200, gap 5.00%, 37 cuts'

    Costs may be values, and the first bound that of a single cell, so they are rounded.
    """
    parts = ["no safe pattern yet" if cost is None else f"cost {roughly(cost)}"]
    if bound is not None:
        parts.append(f"bound {roughly(bound)}")
        if cost:
            parts.append(f"gap {max(0.0, (cost - bound) / cost):.2%}")
    return ", ".join([*parts, pluralise(cuts, "cut")])
