"""The incumbent of a search: its best safe pattern, its lower bound, and which patterns the audit has refuted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.risk.cost_step import CostStep
from celosia.tolerance import CUT_SATISFIED, ONE_STEP

if TYPE_CHECKING:
    from celosia.attack.subproblems.proposals import ProposedWitnesses
    from celosia.protection.engine.problem import ProtectionProblem


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a search has found, to be sent from one process to another.

    Parameters
    ----------
    pattern, bound, impossible, exhausted
        As in `Incumbent`.
    cuts
        All cuts that were found.
    witnesses
        Witnesses in whole numbers, by columns; None where there are none.
    """

    pattern: NDArray[np.bool_] | None
    bound: float
    impossible: bool
    exhausted: bool
    cuts: list[Cut]
    witnesses: ProposedWitnesses | None = None


class Incumbent:
    """Best safe pattern and best valid lower bound so far; both hold at any moment.

    Parameters
    ----------
    problem
        What is searched.
    rows
        Further rows that patterns satisfy, such as a greatest number of hidden cells.
    listen
        Is called after every better pattern or bound.

    Attributes
    ----------
    problem
        The same, with cells that the oracle's requirements force as well.
    pattern
        The cheapest safe pattern so far, None where there is none, ``(n,)``.
    bound
        No pattern costs less than this, forced cells included.
    impossible
        There is no safe pattern.
    exhausted
        Nothing is left to search.
    refuted
        No-good cuts of patterns that the audit, or the oracle, has refuted.
    base
        What the cells that were forced at first cost.
    step
        Of which all costs are multiples.
    """

    def __init__(
        self, problem: ProtectionProblem, rows: Sequence[Cut] = (), listen: Callable[[], None] = lambda: None
    ) -> None:
        self.problem = problem
        self.rows = list(rows)
        self.pattern: NDArray[np.bool_] | None = None
        self.base = float(problem.cost[problem.forced].sum())
        self.bound = self._proved_bound = self.base
        self.impossible = self.exhausted = False
        self.refuted: list[Cut] = []
        self.step = CostStep.of(problem.cost[~problem.forced])
        self._listen = listen
        self._earlier: list[NDArray[np.bool_]] = []
        self._frozen = False

    @property
    def cost(self) -> float:
        """What the best pattern costs, infinite where there is none."""
        return np.inf if self.pattern is None else self.cost_of(self.pattern)

    def cost_of(self, pattern: NDArray[np.bool_]) -> float:
        """Return what a pattern costs."""
        return float(self.problem.cost[pattern].sum())

    @property
    def cutoff(self) -> float:
        """The highest cost, forced cells left out, of a pattern that is cheaper than the best one."""
        return self.step.below(self.cost - self.base)

    @property
    def done(self) -> bool:
        """Whether the pattern is optimal, or there is none."""
        if self.pattern is None:
            return self.impossible
        return self.bound >= self.cost or self.bound - self.base > self.cutoff

    @property
    def one_step_left(self) -> bool:
        """Whether no cost lies between the bound and the best pattern's: a tree tells at once which is the optimum."""
        return self.cost - self.bound <= self.step.size * ONE_STEP

    def allows(self, pattern: NDArray[np.bool_]) -> bool:
        """Return whether a pattern satisfies the further rows, and was not refuted."""
        x = pattern.astype(np.float64)
        return not any(row.violation(x) > CUT_SATISFIED for row in (*self.rows, *self.refuted))

    def improve(self, pattern: NDArray[np.bool_]) -> bool:
        """Take a safe pattern where it is the best so far; return whether it is."""
        if self.cost_of(pattern) >= self.cost:
            return False
        self.pattern = pattern
        self._earlier.append(pattern)
        self._listen()
        return True

    def raise_bound(self, bound: float) -> None:
        """Raise the bound to one that leaves forced cells out, where that is higher."""
        raised = self.base + self.step.raise_bound(bound)
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
        """Let the bound stay where it is from now on, unless all requirements are necessary."""
        self._frozen |= not unless

    def force(self, forced: NDArray[np.bool_]) -> None:
        """Hide further columns in any case from now on, ``(n,)``; they cost what they did."""
        self.problem = replace(self.problem, forced=forced)

    def take_over(self, found: Outcome) -> None:
        """Take over a bound that was found by another process."""
        self.exhausted = found.exhausted
        if not self._frozen:
            self.bound = self._proved_bound = max(self.bound, found.bound)
            self.impossible = found.impossible
        self._listen()

    def refute(self, missed: NDArray[np.int64], *, proved: bool) -> list[Cut]:
        """Return no-good cuts of the best pattern, which misses levels of these columns, and go back to an earlier one.

        Where that is not proved, bounds must not use the cuts: the bound stays where it is from now on.
        """
        if self.pattern is None:
            return []
        # A cell that is shown, and misses its level, must be hidden: that is to hide more.
        cuts = no_good_cuts(self.problem, self.pattern, missed if bool(self.pattern[missed].all()) else missed[:0])
        self.refuted += cuts
        self.impossible = self.impossible or (proved and not all(len(cut.columns) for cut in cuts))
        self.freeze(unless=proved)
        self.exhausted = False
        self.bound = min(self.bound, self._proved_bound)
        self._earlier = [pattern for pattern in self._earlier if self.allows(pattern)]
        self.pattern = min(self._earlier, key=self.cost_of, default=None)
        return cuts


def no_good_cuts(problem: ProtectionProblem, pattern: NDArray[np.bool_], missed: NDArray[np.int64]) -> list[Cut]:
    """Return what holds if a pattern misses the levels of some columns: a pattern that hides less misses them, too.

    A cell that is not forced may be shown instead.
    """
    others = np.flatnonzero(~pattern & ~problem.forced)
    if bool(problem.forced[missed].any()) or not len(missed):
        return [Cut(others, np.ones(len(others)))]
    cuts = []
    for column in np.unique(missed).tolist():
        columns = np.sort(np.append(others, column))
        cuts.append(Cut(columns, np.where(columns == column, -1.0, 1.0), 0.0))
    return cuts
