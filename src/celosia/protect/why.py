"""Why a cell is hidden: whom it protects, and what it would cost to show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import MET, audit
from celosia.errors import OutOfTimeError, SpecError, listed
from celosia.pattern.pattern import Pattern
from celosia.progress import SILENT, Progress
from celosia.protect.engine import protect_again
from celosia.protect.protection import Protection
from celosia.protect.suppress import Suppress
from celosia.risk.risk import HIDE, Risk

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Why:
    """Why a cell that is not sensitive is hidden. Confidential.

    Parameters
    ----------
    cell
        The cell.
    unsafe
        Cells that attackers come too close to when it alone is shown, by an audit; none where it could be shown.
    asked
        It is hidden because that was asked for.
    possible
        Whether there is a safe pattern that shows it; None where time was up before that was known.
    before
        What the pattern costs in which it is hidden.
    cost, bound
        What the best pattern found costs that shows it, and what any such pattern costs at least.
    hidden, shown
        What that pattern hides instead, and what else it shows.
    risk
        The table.
    """

    cell: int
    unsafe: NDArray[np.int64]
    asked: bool
    possible: bool | None
    before: float
    cost: float | None
    bound: float
    hidden: NDArray[np.int64]
    shown: NDArray[np.int64]
    risk: Risk = field(repr=False)

    def _labels(self, cells: NDArray[np.int64]) -> str:
        return listed([self.risk.table.label(int(cell)) for cell in cells])

    @property
    def reason(self) -> str:
        """Whom it protects, in words."""
        name = repr(self.risk.table.label(self.cell))
        if not len(self.unsafe):
            return f"{name} is hidden because must_hide asks for it." if self.asked else f"{name} could be shown alone."
        asked = " It must be hidden anyway." if self.asked else ""
        return f"{name} is hidden because attackers would come too close to {self._labels(self.unsafe)}.{asked}"

    @property
    def alternative(self) -> str:
        """What it would take to show it, in words."""
        if self.asked:
            return ""
        if self.possible is False:
            return "It cannot be shown: no safe pattern shows it."
        if self.cost is None:
            return f"What to hide instead is not known; it would cost {self.bound:,.10g} or more."
        least = "" if self.bound >= self.cost else f" (at least {self.bound:,.10g})"
        price = f"Shown, it would cost {self.cost:,.10g}{least} instead of {self.before:,.10g}"
        instead = [
            f"{verb} {self._labels(cells)}"
            for verb, cells in (("hide", self.hidden), ("show", self.shown))
            if len(cells)
        ]
        return f"{price}: {', and '.join(instead)}." if instead else f"{price}."

    def __str__(self) -> str:
        return f"{self.reason} {self.alternative}".rstrip()


def why(protection: Protection, cell: int, *, time_limit: float = 10.0) -> Why:
    """Return why a cell is hidden.

    Parameters
    ----------
    protection
        What `celosia.protect` returned.
    cell
        A hidden cell that is not sensitive.
    time_limit
        Seconds for the search for a pattern that shows it.

    Raises
    ------
    SpecError
        The cell is shown, or sensitive, or not in the table.
    """
    risk, hidden = protection.risk, protection.pattern.status != "shown"
    _check(protection, cell, hidden)
    asked = bool(risk.status[cell] == HIDE)
    unsafe = _unsafe(protection, cell, hidden)
    answer = Why(cell, unsafe, asked, None, protection.cost, None, protection.bound, _NONE, _NONE, risk)
    if asked:
        return replace(answer, possible=True)
    wishes = _suppression(protection)
    method = replace(wishes, must_show=_and(wishes.must_show, cell, len(risk)))
    try:
        found = protect_again(protection, method, time_limit)
    except OutOfTimeError:
        return answer
    if found is None:
        return replace(answer, possible=False, bound=float("inf"))
    now = found.pattern.status != "shown"
    return replace(
        answer,
        possible=True,
        cost=found.cost,
        bound=max(found.bound, min(protection.bound, found.cost)),
        hidden=np.flatnonzero(now & ~hidden),
        shown=np.flatnonzero(hidden & ~now & (np.arange(len(risk)) != cell)),
    )


def whys(protection: Protection, *, time_limit: float = 10.0, progress: Progress = SILENT) -> Iterator[Why]:
    """Yield why each cell is hidden that is not sensitive, one after another.

    Parameters
    ----------
    protection
        What `celosia.protect` returned.
    time_limit
        Seconds for each cell.
    progress
        Hears of every cell.
    """
    progress.start("asking why", len(protection.secondary))
    try:
        for cell in protection.secondary.tolist():
            yield why(protection, cell, time_limit=time_limit)
            progress.advance()
    finally:
        progress.done()


def _check(protection: Protection, cell: int, hidden: NDArray[np.bool_]) -> None:
    risk = protection.risk
    if not 0 <= cell < len(risk):
        raise SpecError.one("cell", f"is not in the table: {cell}.", f"Cells count from 0 up to {len(risk) - 1}.")
    label = repr(risk.table.label(cell))
    if not hidden[cell]:
        raise SpecError.one("cell", f"{label} is shown.", "Ask about a hidden one.")
    if risk.sensitive[cell]:
        said = "; ".join(risk.reason(cell)) or "its status"
        raise SpecError.one("cell", f"{label} is sensitive by {said}.", "Ask about a cell that protects others.")


def _unsafe(protection: Protection, cell: int, hidden: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the cells that are no longer safe when a cell alone is shown."""
    less = hidden.copy()
    less[cell] = False
    risk = _suppression(protection).conditional(protection.risk, less)
    checked = audit(Pattern.suppressing(risk.table, less), risk, integer=protection.audit.integer)
    missed = [verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET]
    return np.unique(np.array(missed, dtype=np.int64))


def _and(cells: object, cell: int, n: int) -> NDArray[np.int64]:
    """Return places of cells, or a mask of them, and one more."""
    array = np.asarray(cells)
    places = np.flatnonzero(array) if array.dtype == bool and array.shape == (n,) else array.astype(np.int64)
    return np.union1d(places, [cell]).astype(np.int64)


def _suppression(protection: Protection) -> Suppress:
    if isinstance(protection.method, Suppress):
        return protection.method
    raise SpecError.one("protection", f"is by {protection.method.name!r}.", "Only suppression explains cells.")
