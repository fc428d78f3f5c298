"""The incumbent of a search: its best safe point, its lower bound, and which points the audit has refuted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.risk.cost_step import CostStep
from celosia.tolerance import CUT_SATISFIED, ONE_STEP

if TYPE_CHECKING:
    from celosia.attack.subproblems.proposals import ProposedWitnesses
    from celosia.protection.engine.problem import ProtectionProblem


Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Generic[Scalar]):
    """What a search has found, to be sent from one process to another.

    Parameters
    ----------
    best, bound, impossible, exhausted
        As in `Incumbent`.
    cuts
        All cuts that were found.
    witnesses
        Witnesses in whole numbers, by columns; None where there are none.
    """

    best: NDArray[Scalar] | None
    bound: float
    impossible: bool
    exhausted: bool
    cuts: list[Cut]
    witnesses: ProposedWitnesses | None = None


class Incumbent(Generic[Scalar]):
    """Best safe point of a master and best valid lower bound so far; both hold at any moment.

    Parameters
    ----------
    cost_of
        Returns what a point costs.
    base
        What is paid in any case; masters leave it out.
    step
        Of which all costs, `base` left out, are multiples.
    listen
        Is called after every better point or bound.
    rows
        Further rows that points satisfy, such as a greatest number of hidden cells.
    accuracy
        By this share of a cost a tree's proof that nothing is cheaper may be wrong, 0 to 1. Twice of it is no gap.
    keeps
        Earlier points are kept, to go back to where the audit refutes the best.

    Attributes
    ----------
    best
        The cheapest safe point so far, None where there is none.
    bound
        No safe point costs less.
    impossible
        There is no safe point.
    exhausted
        Nothing is left to search.
    refuted
        No-good cuts of points that the audit, or the oracle, has refuted.
    """

    def __init__(
        self,
        cost_of: Callable[[NDArray[Scalar]], float],
        base: float,
        step: CostStep,
        listen: Callable[[], None] = lambda: None,
        *,
        rows: Sequence[Cut] = (),
        accuracy: float = 0.0,
        keeps: bool = True,
    ) -> None:
        self.cost_of, self.base, self.step = cost_of, base, step
        self.rows = list(rows)
        self.best: NDArray[Scalar] | None = None
        self.bound = base
        self.impossible = self.exhausted = False
        self.refuted: list[Cut] = []
        self.accuracy, self._listen, self._keeps = accuracy, listen, keeps
        self._earlier: list[NDArray[Scalar]] = []
        self._frozen = False

    @property
    def cost(self) -> float:
        """What the best point costs, infinite where there is none."""
        return np.inf if self.best is None else self.cost_of(self.best)

    @property
    def cutoff(self) -> float:
        """The highest cost, `base` left out, of a point that is cheaper than the best one."""
        return self.step.below(self.cost - self.base)

    @property
    def limit(self) -> float:
        """The highest cost, `base` left out, that is worth a search: one step below the best, or that of the best."""
        return self.cutoff if self.step.size else self.cost - self.base

    @property
    def done(self) -> bool:
        """Whether the best point is optimal, or there is none."""
        if self.best is None:
            return self.impossible
        return self.is_closed_at(self.cost, 2 * self.accuracy) or self.bound - self.base > self.cutoff

    def is_closed_at(self, cost: float, gap: float) -> bool:
        """Return whether a cost is within a share of the bound."""
        return cost - self.bound <= gap * abs(cost)

    def allows(self, point: NDArray[Scalar]) -> bool:
        """Return whether a point satisfies the further rows, and was not refuted."""
        x = point.astype(np.float64)
        return not any(row.violation(x) > CUT_SATISFIED for row in (*self.rows, *self.refuted))

    def improve(self, point: NDArray[Scalar]) -> bool:
        """Take a safe point where it is the best so far; return whether it is."""
        if self.cost_of(point) >= self.cost:
            return False
        self.best = point
        if self._keeps:
            self._earlier.append(point)
        self._listen()
        return True

    def raise_bound(self, bound: float) -> None:
        """Raise the bound to one that leaves `base` out, where that is higher."""
        raised = self.base + self.step.raise_bound(bound)
        if raised > self.bound and not self._frozen:
            self.bound = min(raised, self.cost)
            self._listen()

    def conclude(self) -> None:
        """Conclude that the best point is optimal, or that there is none; or nothing, where a proof is missing."""
        self.exhausted = True
        if self._frozen:
            return
        if self.best is None:
            self.impossible = True
        else:
            self.bound = max(self.bound, self.cost - self.accuracy * abs(self.cost))
        self._listen()

    def freeze(self, *, unless: bool = False) -> None:
        """Let the bound stay where it is from now on, unless all requirements are necessary."""
        self._frozen |= not unless

    def take_over(self, found: Outcome[Scalar]) -> None:
        """Take over a bound that was found by another process."""
        self.exhausted = found.exhausted
        if not self._frozen:
            self.bound = max(self.bound, found.bound)
            self.impossible = found.impossible
        self._listen()

    def withdraw(self, cuts: Sequence[Cut]) -> None:
        """Go back to an earlier point, or none: the best one is refuted, which these no-good cuts say."""
        self.refuted += cuts
        self.exhausted = False
        self._earlier = [point for point in self._earlier if self.allows(point)]
        self.best = min(self._earlier, key=self.cost_of, default=None)


class PatternIncumbent(Incumbent[np.bool_]):
    """The incumbent of a search over patterns, which hide or show every column of a problem.

    Parameters
    ----------
    problem
        What is searched.
    rows, listen
        As in `Incumbent`.

    Attributes
    ----------
    problem
        The same, with cells that the oracle's requirements force as well.
    """

    def __init__(
        self, problem: ProtectionProblem, rows: Sequence[Cut] = (), listen: Callable[[], None] = lambda: None
    ) -> None:
        self.problem = problem
        base, step = float(problem.cost[problem.forced].sum()), CostStep.of(problem.cost[~problem.forced])
        super().__init__(lambda pattern: float(self.problem.cost[pattern].sum()), base, step, listen, rows=rows)

    @property
    def pattern(self) -> NDArray[np.bool_] | None:
        """The cheapest safe pattern so far, None where there is none, ``(n,)``."""
        return self.best

    @property
    def one_step_left(self) -> bool:
        """Whether no cost lies between the bound and the best pattern's: a tree tells at once which is the optimum."""
        return self.cost - self.bound <= self.step.size * ONE_STEP

    def force(self, forced: NDArray[np.bool_]) -> None:
        """Hide further columns in any case from now on, ``(n,)``; they cost what they did."""
        self.problem = replace(self.problem, forced=forced)

    def refute(self, missed: NDArray[np.int64], *, proved: bool) -> list[Cut]:
        """Return no-good cuts of the best pattern, which misses levels of these columns, and go back to an earlier one.

        Where that is not proved, bounds must not use the cuts: the bound stays where it is from now on.
        """
        if self.best is None:
            return []
        # A cell that is shown, and misses its level, must be hidden: that is to hide more.
        cuts = no_good_cuts(self.problem, self.best, missed if bool(self.best[missed].all()) else missed[:0])
        self.impossible = self.impossible or (proved and not all(len(cut.columns) for cut in cuts))
        self.freeze(unless=proved)
        self.withdraw(cuts)
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
