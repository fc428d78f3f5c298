"""Several methods on one table, by the same measures of risk and loss. Confidential: true values are behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attack.result import Audit
from celosia.errors import Problem
from celosia.pattern.entries import HIDDEN, INTERVAL, SHOWN
from celosia.pattern.release import Release, publish
from celosia.protection.result import Protection
from celosia.report.loss import loss
from celosia.report.margins import margins
from celosia.report.method_words import PROMISE, WORDS
from celosia.report.moves import ValueChanges


@dataclass(frozen=True, slots=True)
class Measures:
    """What a release keeps from attackers and what it takes from readers; the same for every method.

    A reader's guess is the number that is published, or the middle of what can be concluded about a cell. A cell about
    which nothing bounds what can be concluded is guessed to be zero.

    Parameters
    ----------
    safe, criterion
        Whether the criterion of the method is met, and which it is: ``intervals`` or ``distance``.
    requirements, met
        How many requirements there are, and how many are shown to be met; of ``distance`` sensitive cells, and how many
        moved far enough.
    margin
        The least part of what a requirement asks for that is there, 1 or more where all are met; None for ``distance``.
    guessed
        The share of sensitive cells to which a reader's guess comes closer than the protection levels.
    cells, shown, hidden, ranges, changed
        How many cells there are, are shown as they are, hidden, published as ranges, and with a number that is not the
        true one.
    value_share
        The share of all values in cells that are not shown as they are.
    width_share
        The widths of what can be concluded about them, as a share of all values; None where that is not known or
        without end.
    distance_share
        How far published numbers are from the truth in all, as a share of all values.
    error_share
        How far guesses are from the truth in all, as a share of all values.
    cost, bound, gap, seconds
        Of the search; costs of different methods count different things. No bound may be known.
    """

    safe: bool
    criterion: str
    requirements: int
    met: int
    margin: float | None
    guessed: float
    cells: int
    shown: int
    hidden: int
    ranges: int
    changed: int
    value_share: float
    width_share: float | None
    distance_share: float
    error_share: float
    cost: float
    bound: float | None
    gap: float | None
    seconds: float


MISSING, UNSUITED, IMPOSSIBLE = "parameter missing", "does not apply", "impossible"
OUT_OF_TIME, FAILED = "out of time", "failed"
"""Why a method protects nothing: an option has no value; it does not suit the table; no safe release exists; none was
known in time; a solver gave no answer."""


@dataclass(frozen=True, slots=True)
class ComparedMethod:
    """What a method did to a table, or why it could not.

    Parameters
    ----------
    method
        Its name.
    measures
        What it did; None where it could not.
    problems
        Why it could not.
    notes
        What else is to be known, such as warnings.
    failure
        Which kind of reason that is: `MISSING`, `UNSUITED`, `IMPOSSIBLE`, `OUT_OF_TIME` or `FAILED`; empty for none.
    chosen
        The options that were not given and were chosen for the table, as texts.
    """

    method: str
    measures: Measures | None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What the method is called."""
        return WORDS.get(self.method, self.method)

    @property
    def verdict(self) -> str:
        """What it achieved, in words that tell the two criteria apart."""
        found = self.measures
        if found is None:
            return self.failure
        if found.criterion == "distance":
            return "moved far enough" if found.safe else "not moved far enough"
        return "safe" if found.safe else "not shown safe"

    @property
    def promise(self) -> str:
        """What that means."""
        return "" if self.measures is None else PROMISE[self.measures.criterion]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, ready for JSON."""
        said = {} if self.measures is None else asdict(self.measures)
        problems = [asdict(problem) for problem in self.problems]
        head = {"method": self.method, "verdict": self.verdict}
        return {**head, **said, "chosen": dict(self.chosen), "problems": problems, "notes": list(self.notes)}


def measure(result: Protection, audit: Audit | None) -> Measures:
    """Return the measures of a protection.

    Parameters
    ----------
    result
        What a method found.
    audit
        An audit of it, with intervals where they are not too many; None for a method that protects by distance.
    """
    release, table = publish(result.pattern), result.risk.table
    followed = audit is not None and len(audit.intervals) > 0
    lost = loss(release, table, audit if followed else None)
    moves = ValueChanges.of(release, result.risk)
    guess = guess_values(release, audit)
    error = np.abs(guess - table.values)
    total = lost.value or 1.0
    close = margins(audit) if audit is not None else None
    return Measures(
        safe=result.safe,
        criterion=result.criterion,
        requirements=result.requirements,
        met=result.met,
        margin=_least(close.ratio) if close is not None else None,
        guessed=_share_guessed(result, guess),
        cells=len(table),
        shown=int((release.status == SHOWN).sum()),
        hidden=int((release.status == HIDDEN).sum()),
        ranges=int((release.status == INTERVAL).sum()),
        changed=moves.changed,
        value_share=lost.hidden_value / total,
        width_share=lost.width / total if lost.width is not None and math.isfinite(lost.width) else None,
        distance_share=lost.distance / total,
        error_share=math.fsum(error) / total,
        cost=float(result.cost),
        bound=float(result.bound) if math.isfinite(result.bound) else None,
        gap=float(result.gap) if math.isfinite(result.bound) else None,
        seconds=round(float(result.seconds), 3),
    )


def _least(ratio: NDArray[np.float64]) -> float | None:
    least = float(ratio.min(initial=np.inf))
    return least if math.isfinite(least) else None


def guess_values(release: Release, audit: Audit | None) -> NDArray[np.float64]:
    """Return what a reader takes the value of every cell for, ``(n_cells,)``."""
    guess = np.where(release.has_value, release.published.floats, 0.0)
    lower, upper = release.lower.floats, release.upper.floats
    ranged = (release.status == INTERVAL) & np.isfinite(lower) & np.isfinite(upper)
    guess[ranged] = (lower[ranged] + upper[ranged]) / 2
    for one in audit.intervals if audit is not None else ():
        first = one.attacker == 0 and release.status[one.cell] == HIDDEN
        if first and one.lower is not None and one.upper is not None:
            guess[one.cell] = float(one.lower + one.upper) / 2
    return guess


def _share_guessed(result: Protection, guess: NDArray[np.float64]) -> float:
    """Return the share of sensitive cells to which guesses come closer than the levels."""
    cells = np.flatnonzero(result.risk.sensitive)
    if not len(cells):
        return 0.0
    levels = result.risk.largest_levels
    off = guess[cells] - result.risk.table.values[cells]
    half = levels.sliding[cells].floats / 2
    below, above = (np.maximum(level[cells].floats, half) for level in (levels.lower, levels.upper))
    return float(np.mean((off > -below) & (off < above)))
