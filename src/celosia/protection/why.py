"""Why a cell is hidden or a range: whom it protects, and what it would cost to show it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.attack.audit import audit
from celosia.attack.findings import MET
from celosia.errors import InfeasibleError, MidpointWarning, OutOfTimeError, SpecError, list_items
from celosia.pattern.entries import HIDDEN, INTERVAL, PERTURBED, ROUNDED, SHOWN
from celosia.pattern.modes.mode import Mode
from celosia.pattern.pattern import Pattern
from celosia.progress import SILENT, Progress
from celosia.protection.protect import protect
from celosia.protection.result import Protection
from celosia.protection.suppression.solve import protect_again
from celosia.risk.risk import HIDE, SHOW, Risk
from celosia.table.cell_names import CellName, find_cell
from celosia.table.fixed import Fixed
from celosia.tolerance import RANGE_OPTIMAL

_NONE = np.zeros(0, dtype=np.int64)

_IS = {HIDDEN: "hidden", INTERVAL: "a range", ROUNDED: "rounded", PERTURBED: "perturbed"}
_VERB = {HIDDEN: "hide", INTERVAL: "widen", ROUNDED: "change", PERTURBED: "change"}
"""What is done to a cell of each status, and to others instead."""


@dataclass(frozen=True, slots=True, eq=False)
class Why:
    """Why a cell that is not sensitive is hidden, a range, or another number. Confidential.

    Parameters
    ----------
    cell
        The cell.
    unsafe
        Cells that attackers come too close to when it alone is shown, by an audit; none where it could be shown.
    asked
        It is not shown because that was asked for.
    possible
        Whether there is a safe pattern that shows it; None where time was up before that was known.
    before
        What the pattern costs in which it is not shown.
    cost, bound
        What the best pattern found costs that shows it, and what any such pattern costs at least.
    hidden, shown
        What that pattern does not show instead, and what else it shows.
    risk
        The table.
    status
        How it is published, in the words of the release.
    concealed
        Levels are concealed, so that cells also protect from readers who know classes of values.
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
    status: str = HIDDEN
    concealed: bool = False

    def _labels(self, cells: NDArray[np.int64]) -> str:
        return list_items([self.risk.table.label(int(cell)) for cell in cells])

    @property
    def reason(self) -> str:
        """Whom it protects, in words."""
        name = repr(self.risk.table.label(self.cell))
        if not len(self.unsafe):
            wish = "must_hide" if self.status == HIDDEN else "least_width"
            said = f"{name} is {_IS[self.status]} because {wish} asks for it."
            alone = (
                "shown alone it tells attackers nothing, but may tell those who guess the classes of concealed levels."
            )
            open_ = f"{name} is {_IS[self.status]}: {alone}" if self.concealed else f"{name} could be shown alone."
            return said if self.asked else open_
        asked = f" It must be {_IS[self.status]} anyway." if self.asked else ""
        close = self._labels(self.unsafe)
        return f"{name} is {_IS[self.status]} because attackers would come too close to {close}.{asked}"

    @property
    def alternative(self) -> str:
        """What it would take to show it, in words."""
        if self.asked:
            return ""
        if self.possible is False:
            return "It cannot be shown: no safe pattern shows it."
        if self.cost is None:
            return (
                f"What to {_VERB[self.status]} instead is not known; it would cost at least {self._more(self.bound)}."
            )
        least = "" if self.bound >= self.cost * (1 - RANGE_OPTIMAL) else f" (at least {self._more(self.bound)})"
        price = f"Shown, it would cost {self._more(self.cost)}{least}"
        instead = [
            f"{verb} {self._labels(cells)}"
            for verb, cells in ((_VERB[self.status], self.hidden), ("show", self.shown))
            if len(cells)
        ]
        return f"{price}: {', and '.join(instead)}." if instead else f"{price}."

    def _more(self, cost: float) -> str:
        """Return how a cost compares with that of the pattern: what cells cost may be their values."""
        share = cost / self.before - 1 if self.before > 0 else 0.0
        return (
            "the same" if abs(share) < RANGE_OPTIMAL else f"{100 * abs(share):.2g}% {'more' if share > 0 else 'less'}"
        )

    def __str__(self) -> str:
        return f"{self.reason} {self.alternative}".rstrip()


@takes(protection=Protection)
def why(protection: Protection, cell: CellName, *, time_limit: float = 10.0) -> Why:
    """Return why a cell is hidden, or why it is a range.

    Parameters
    ----------
    protection
        What `celosia.protect` returned, by `celosia.Suppress`, `celosia.Intervals`, `celosia.Combined` or
        `celosia.Mixed`.
    cell
        A cell that is not shown and not sensitive: its number, its label (``"C x North"``) or its codes.
    time_limit
        Seconds for the search for a pattern that shows it.

    Raises
    ------
    SpecError
        The cell is shown, or sensitive, or not in the table.
    """
    return _why(protection, find_cell(protection.risk.table, cell), time_limit)


def _why(protection: Protection, cell: int, time_limit: float) -> Why:
    risk, hidden = protection.risk, protection.pattern.status != SHOWN
    _check(protection, cell, hidden)
    anyway = protection.method.require_widths(risk, np.zeros(len(risk), dtype=bool))
    asked = bool(risk.status[cell] == HIDE or anyway.sensitive[cell])
    unsafe = _unsafe(protection, cell)
    concealed = protection.method.conceals_levels
    before, bound, status = protection.cost, protection.bound, str(protection.pattern.status[cell])
    answer = Why(cell, unsafe, asked, None, before, None, bound, _NONE, _NONE, risk, status, concealed)
    if asked:
        return replace(answer, possible=True)
    shown = risk.status.copy()
    shown[cell] = SHOW
    try:
        found = _protect_again(protection, replace(risk, status=shown), time_limit)
    except OutOfTimeError:
        return answer
    if found is None:
        return replace(answer, possible=False, bound=float("inf"))
    now = found.pattern.status != SHOWN
    return replace(
        answer,
        possible=True,
        cost=found.cost,
        bound=max(found.bound, min(protection.bound, found.cost)),
        hidden=np.flatnonzero(now & ~hidden),
        shown=np.flatnonzero(hidden & ~now & (np.arange(len(risk)) != cell)),
    )


@takes(protection=Protection)
def whys(protection: Protection, *, time_limit: float = 10.0, progress: Progress = SILENT) -> Iterator[Why]:
    """Yield for every cell that is not shown, but not sensitive, why that is so.

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
    risk, method = protection.risk, protection.method
    if not method.statuses & {HIDDEN, INTERVAL}:
        remedy = "Suppression, ranges and mixed releases explain cells."
        raise SpecError.one("protection", f"is by {method.name!r}.", remedy)
    label = repr(risk.table.label(cell))
    if not hidden[cell]:
        raise SpecError.one("cell", f"{label} is shown.", "Ask about a hidden one.")
    if risk.sensitive[cell]:
        said = "; ".join(risk.reason(cell)) or "its status"
        raise SpecError.one("cell", f"{label} is sensitive by {said}.", "Ask about a cell that protects others.")


def _unsafe(protection: Protection, cell: int) -> NDArray[np.int64]:
    """Return the cells that are no longer safe when a cell alone is shown."""
    pattern = _show(protection.pattern, cell)
    risk = protection.method.require_widths(protection.risk, np.asarray(pattern.status != SHOWN))
    checked = audit(pattern, risk, integer=protection.audit.integer)
    missed = [verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET]
    return np.unique(np.array(missed, dtype=np.int64))


def _show(pattern: Pattern, cell: int) -> Pattern:
    """Return the pattern in which one more cell is shown."""
    modes = [_without(mode, cell) for mode in pattern.modes if mode.status != SHOWN]
    return Pattern.of(pattern.table, *(mode for mode in modes if len(mode.cells)))


def _without(mode: Mode, cell: int) -> Mode:
    kept = mode.cells != cell
    if bool(kept.all()):
        return mode
    fewer = {own.name: getattr(mode, own.name) for own in fields(mode)}  # type: ignore[arg-type]
    fewer = {name: value[kept] for name, value in fewer.items() if isinstance(value, np.ndarray | Fixed)}
    return replace(mode, **fewer)  # type: ignore[type-var]


def _protect_again(protection: Protection, risk: Risk, seconds: float) -> Protection | None:
    """Return the protection of another risk by the same method, None where there is no safe pattern."""
    if protection.method.only_hides:
        return protect_again(protection, risk, seconds)
    seed, integer, method = protection.seed, protection.audit.integer, protection.method
    if method.conceals_levels:  # what does without concealed levels is no alternative
        asked: Any = method
        method = replace(asked, conceal=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MidpointWarning)
            return protect(risk, method, time_limit=seconds, seed=seed, integer=integer)
    except (InfeasibleError, SpecError):  # the latter where a least width cannot be reached then
        return None
