"""How a search stands: its best pattern, its bound, and what has been refuted; true at any moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.cost_step import Step
from celosia.protection.engine.cuts.capacity import Cut
from celosia.protection.engine.problem import Task

_MISSED = 1e-6
"""A row that is missed by less is satisfied."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a search has found: see the attributes of `Standing`.

    Parameters
    ----------
    pattern, bound, impossible, exhausted
        As there.
    cuts
        All cuts that were found.
    """

    pattern: NDArray[np.bool_] | None
    bound: float
    impossible: bool
    exhausted: bool
    cuts: list[Cut]


class Standing:
    """The best pattern so far, and what no pattern beats.

    Parameters
    ----------
    task
        What is searched.
    rows
        Further rows that patterns satisfy, such as a greatest number of hidden cells.

    Attributes
    ----------
    pattern
        The cheapest safe pattern so far, None where there is none, ``(n,)``.
    bound
        No pattern costs less than this, forced cells included.
    impossible
        There is no safe pattern.
    exhausted
        Nothing is left to search.
    refuted
        What is known since the audit refuted patterns.
    base
        What the forced cells cost.
    step
        Of which all costs are multiples.
    """

    def __init__(self, task: Task, rows: Sequence[Cut]) -> None:
        self.task = task
        self.rows = list(rows)
        self.pattern: NDArray[np.bool_] | None = None
        self.base = float(task.cost[task.forced].sum())
        self.bound = self._proved_bound = self.base
        self.impossible = self.exhausted = False
        self.refuted: list[Cut] = []
        self.step = Step.of(task.cost[~task.forced])
        self._earlier: list[NDArray[np.bool_]] = []
        self._frozen = False

    def _listen(self) -> None:
        """Hear of a better pattern or bound."""

    @property
    def cost(self) -> float:
        """What the best pattern costs, infinite where there is none."""
        return np.inf if self.pattern is None else float(self.task.cost[self.pattern].sum())

    @property
    def done(self) -> bool:
        """Whether the pattern is optimal, or there is none."""
        if self.pattern is None:
            return self.impossible
        return self.bound >= self.cost or self.bound - self.base > self.step.below(self.cost - self.base)

    def allows(self, pattern: NDArray[np.bool_]) -> bool:
        """Return whether a pattern satisfies the further rows, and the audit has not refuted it."""
        x = pattern.astype(np.float64)
        return not any(row.missing(x) > _MISSED for row in (*self.rows, *self.refuted))

    def improve(self, pattern: NDArray[np.bool_]) -> bool:
        """Take a safe pattern where it is the best so far; return whether it is."""
        if float(self.task.cost[pattern].sum()) >= self.cost:
            return False
        self.pattern = pattern
        self._earlier.append(pattern)
        self._listen()
        return True

    def raise_bound(self, bound: float) -> None:
        """Take note of a bound, forced cells left out."""
        raised = self.base + self.step.raised(bound)
        if raised > self.bound and not self._frozen:
            self.bound = self._proved_bound = min(raised, self.cost)
            self._listen()

    def conclude(self) -> None:
        """Conclude that the best pattern is optimal, or that there is none; or nothing, where a proof is missing."""
        self.exhausted = True
        if self._frozen:
            return
        if self.pattern is None:
            self.impossible = True
        else:
            self.bound = self._proved_bound = self.cost
        self._listen()

    def freeze(self, *, unless: bool = False) -> None:
        """Let the bound stay where it is from now on, unless all that is asked for is needed."""
        self._frozen |= not unless

    def take_over(self, found: Outcome) -> None:
        """Take over a bound that was found elsewhere."""
        self.exhausted = found.exhausted
        if not self._frozen:
            self.bound = self._proved_bound = max(self.bound, found.bound)
            self.impossible = found.impossible
        self._listen()

    def refute(self, missed: NDArray[np.int64], *, proved: bool) -> list[Cut]:
        """Go back to an earlier pattern, or none; return what holds since the best one misses these columns' levels.

        Where that is not proved, no bound may rest on it, so the bound stays where it is from now on.
        """
        if self.pattern is None:
            return []
        # A cell that is shown, and misses what is asked for, must be hidden: that is to hide more.
        cuts = refusals(self.task, self.pattern, missed if bool(self.pattern[missed].all()) else missed[:0])
        self.refuted += cuts
        self.impossible = self.impossible or (proved and not all(len(cut.columns) for cut in cuts))
        self.freeze(unless=proved)
        self.exhausted = False
        self.bound = min(self.bound, self._proved_bound)
        self._earlier = [pattern for pattern in self._earlier if self.allows(pattern)]
        self.pattern = min(self._earlier, key=lambda pattern: float(self.task.cost[pattern].sum()), default=None)
        return cuts


def refusals(task: Task, pattern: NDArray[np.bool_], missed: NDArray[np.int64]) -> list[Cut]:
    """Return what holds if a pattern misses the levels of some columns: one that hides less misses them, too.

    A cell that is not forced may be shown instead.
    """
    others = np.flatnonzero(~pattern & ~task.forced)
    if bool(task.forced[missed].any()) or not len(missed):
        return [Cut(others, np.ones(len(others)))]
    cuts = []
    for column in np.unique(missed).tolist():
        columns = np.sort(np.append(others, column))
        cuts.append(Cut(columns, np.where(columns == column, -1.0, 1.0), 0.0))
    return cuts
