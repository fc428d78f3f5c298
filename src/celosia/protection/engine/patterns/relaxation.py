"""The linear relaxation of the master problem: solve it, separate its point, fix columns by reduced costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.cuts.initial import no_isolated_cell_cuts
from celosia.protection.engine.cuts.kernel_separation import KernelSeparator
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.cuts.zero_half import zero_half_cuts
from celosia.protection.engine.incumbent import PatternIncumbent, no_good_cuts
from celosia.protection.engine.master import CutPool, Master, Point
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.stop import Stop
from celosia.protection.engine.subproblems.requirements import SideRequirements
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.tolerance import HALF, HIDDEN_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.problem import ProtectionProblem


class Relaxation:
    """The relaxed master of one problem with its cut pool and its separator.

    Parameters
    ----------
    incumbent
        Gets the bounds; says what the problem is.
    stop
        When to end.
    backend
        Solves the master and the attackers' subproblems.
    parameters
        How much effort cutting planes are worth.

    Attributes
    ----------
    pool
        All cuts that were found.
    separator
        Separates points by the requirements that the forced cells do not meet by themselves.
    master
        The open linear program.
    point
        Its last solution.
    is_complete
        Whether no cut separates it.
    """

    def __init__(
        self, incumbent: PatternIncumbent, stop: Stop, backend: Backend, parameters: EngineParameters = PARAMETERS
    ) -> None:
        self._incumbent, self._stop, self._parameters = incumbent, stop, parameters
        problem = incumbent.problem
        self.pool = CutPool()
        self.separator = self._presolve(Separator.of(problem, backend, parameters.cuts))
        self.master = Master(_program(problem), backend, self.pool)
        self.point = self._point_without_cuts
        self.is_complete = False
        self._kernel: KernelSeparator | None = None
        self._nearby, self._bounds_nearby = False, list[float]()
        self._steps_nearby = parameters.steps_nearby

    def separate_in_kernel(self, coordinates: KernelCoordinates, *, nearby: bool = False) -> None:
        """Separate fractional points in kernel coordinates from now on.

        Parameters
        ----------
        coordinates
            Of the columns.
        nearby
            Solve large masters nearly, as long as that finds cuts: the gap will be wide.
        """
        self._nearby = nearby and len(self._incumbent.problem) >= self._parameters.columns_nearby
        self._kernel = KernelSeparator(self.separator, coordinates, self._parameters.cuts)

    @property
    def separates_in_kernel(self) -> bool:
        """Whether fractional points are separated in kernel coordinates."""
        return self._kernel is not None

    def _presolve(self, everything: Separator) -> Separator:
        """Return the separator without requirements that the forced cells meet, as far as there is time to tell."""
        clock, share = self._stop.clock, self._parameters.presolve_share
        until = clock.seconds + max(share * clock.left, self._parameters.presolve_seconds)
        return everything.presolve(lambda: clock.seconds > until)

    @property
    def _point_without_cuts(self) -> Point:
        problem = self._incumbent.problem
        return Point(problem.forced.astype(np.float64), 0.0, np.where(problem.forced, 0.0, problem.cost))

    def extend(self, problem: ProtectionProblem, before: NDArray[np.int64]) -> Separator:
        """Add requirements; return the separator of the new ones alone.

        Parameters
        ----------
        problem
            The problem with them: columns more, if any, come last, and are forced.
        before
            Which requirement of the problem so far each one was, -1 for new ones, ``(q,)``.
        """
        everything = Separator.of(problem, self.separator.backend, self._parameters.cuts)
        was = before[everything.sides.requirements]
        new = replace(everything, sides=everything.sides.take(was < 0))  # forced cells miss most of them
        kept = np.isin(_keys(everything.sides, was), _keys(self.separator.sides, self.separator.sides.requirements))
        kept |= was < 0
        self._incumbent.force(problem.forced[: len(self._incumbent.problem)])
        self.separator = replace(everything, sides=everything.sides.take(kept))
        return new

    def reset(self) -> None:
        """Open every column that was fixed, and forget the point, whose bound may use what was fixed."""
        self.master.release()
        self.point = self._point_without_cuts

    def run_cutting_planes(self, *, deep: bool, zero_half: bool = False, seconds: float | None = None) -> None:
        """Solve the master and cut its point off until nothing is found, or the bound tails off for its time.

        Parameters
        ----------
        deep
            Solve attackers' linear programs where flows find nothing.
        zero_half
            Add zero-half cuts as well; beside separation in kernel coordinates once that finds fewer than it may add.
        seconds
            The time for it, by default a share of what is left.
        """
        until = self._stop.clock.seconds + (self._share_of_time() * self._stop.left if seconds is None else seconds)
        history: list[float] = []
        p, patient = self._parameters.cuts, zero_half and self.separates_in_kernel and seconds is None
        rounds = self._parameters.rounds_with_zero_half if patient else self._parameters.rounds_without_rise
        while not self._stop.reached:
            self._stop.check()
            nearby = self._is_nearby_enough()
            point = self.master.approach(self._steps_nearby) if nearby else self.master.solve()
            if point is None:
                self._incumbent.conclude()
                return
            self.point = point
            self._incumbent.raise_bound(point.bound)
            history.append(point.bound)
            self.fix_by_reduced_costs()
            added = self.add_violated_cuts(point.x, integer=False, deep=deep)
            if zero_half and not self._stop.reached and (self._kernel is None or added < p.cuts_a_round):
                added += self.master.add(zero_half_cuts(*self.master.inside, point.x, p))
            self.is_complete = not added and not nearby
            if self.is_complete:
                return
            if nearby:
                self._bounds_nearby.append(point.bound)
                self._nearby = bool(added)
            if self._kernel is not None:
                self.master.purge(p.patience_in_kernel)
            elif len(history) % self._parameters.purge_every == 0:
                self.master.purge(p.patience)
            if self._stop.clock.seconds > until or (not nearby and self._is_tailing_off(history, rounds)):
                return

    def _is_nearby_enough(self) -> bool:
        """Return whether the next master is solved nearly: the gap is wide, and that has raised the bound lately."""
        found, rounds = self._incumbent, self._parameters.rounds_without_rise
        closing = found.pattern is not None and found.is_closed_at(found.cost, self._parameters.gap_nearby)
        self._nearby &= not closing and not self._is_tailing_off(self._bounds_nearby, rounds)
        return self._nearby

    def _share_of_time(self) -> float:
        """Return the share for cutting: without a pattern all, where patterns need a point that is nearly safe."""
        if self._nearby:
            return self._parameters.cutting_share_nearby
        if self._kernel is not None:
            return self._parameters.cutting_share_beside_moves
        if self._incumbent.pattern is not None:
            return self._parameters.cutting_share
        constructed = len(self._incumbent.problem) <= self._parameters.heuristics.most_built
        return self._parameters.cutting_share_without_pattern if constructed else 1.0

    def _is_tailing_off(self, history: list[float], rounds: int) -> bool:
        least = self._parameters.least_rise
        return len(history) > rounds and (
            history[-1] - history[-rounds] <= least * (self._incumbent.base + abs(history[-1]))
        )

    def add_violated_cuts(
        self, x: NDArray[np.float64], *, integer: bool, deep: bool = True, thorough: bool = False
    ) -> int:
        """Add cuts that a point violates to the master; return how many."""
        p = self._parameters.cuts
        returned = self.master.recall(x)
        isolated = self.master.add(no_isolated_cell_cuts(self.separator.builder, x))
        if not integer and self._kernel is None and returned + isolated:
            return returned + isolated
        if not integer and self._kernel is not None:
            if self._nearby:
                isolated += self._add_cuts_of_few_relations(self._kernel, x)
                self._choose_steps(isolated)
            if isolated >= (p.few_cuts if self._nearby else p.many_lines):
                return returned + isolated
        if integer:
            cuts = self.separate_pattern(x, self._stop.check, thorough=thorough)
        elif self._kernel is not None:
            cuts = self._kernel.separate(x, self._stop.check)
        else:
            cuts = self.separator.separate(x, deep=deep, check=self._stop.check).cuts
        return returned + isolated + self.master.add(cuts)

    def _choose_steps(self, found: int) -> None:
        """Choose the steps of the next master, given how many cuts were found: few need a point that is closer."""
        p = self._parameters
        few = found < p.cuts.many_lines
        self._steps_nearby = min(2 * self._steps_nearby, p.most_steps_nearby) if few else p.steps_nearby

    def _add_cuts_of_few_relations(self, kernel: KernelSeparator, x: NDArray[np.float64]) -> int:
        """Add cuts that a point violates from sums of few relations, and from networks of some; return how many."""
        sums = self.master.add(kernel.separate_by_sums(x, self._stop.check))
        return sums + self.master.add(self.separator.separate(x, deep=False).cuts)

    def separate_pattern(
        self, x: NDArray[np.float64], check: Callable[[], None] = lambda: None, *, thorough: bool = False
    ) -> list[Cut]:
        """Return cuts that a pattern violates, none where it is safe: first it must hide what is forced since."""
        return hiding_cuts(self._incumbent.problem.forced & (x < HALF)) or separate_pattern(
            self.separator, x, check, thorough=thorough
        )

    @property
    def fractional_share(self) -> float:
        """How many of the columns that the point hides at all, forced ones left out, it hides in part; 0 to 1."""
        hidden = (self.point.x > HIDDEN_ZERO) & ~self._incumbent.problem.forced
        partly = hidden & (self.point.x < 1.0 - HIDDEN_ZERO)
        return float(partly.sum() / max(hidden.sum(), 1))

    def fix_by_reduced_costs(self) -> None:
        """Show cells whose hiding would cost more than the best pattern, and hide those whose showing would.

        The best pattern itself may be cut off by this: it is kept aside.
        """
        if self._incumbent.pattern is None:
            return
        gap = self._incumbent.cutoff - self.point.bound
        open_ = self.master.lower < self.master.upper
        shown = np.flatnonzero(open_ & (self.point.reduced > gap))
        hidden = np.flatnonzero(open_ & (-self.point.reduced > gap))
        if len(shown):
            self.master.fix(shown, 0.0)
        if len(hidden):
            self.master.fix(hidden, 1.0)


def separate_pattern(
    separator: Separator, x: NDArray[np.float64], check: Callable[[], None], *, thorough: bool = False
) -> list[Cut]:
    """Return cuts that a pattern violates by the requirements of a separator.

    Where doubles find that a requirement is missed, and no cut, there is a no-good cut: hiding less is no safer.
    """
    found = separator.separate(x, integer=True, thorough=thorough, check=check)
    if not found.cuts and len(found.missed):
        problem, pattern = separator.problem, separator.builder.padded_with_forced(x) > HIDDEN_ZERO
        return no_good_cuts(problem, pattern, problem.requirements.columns[found.missed])
    return found.cuts


def hiding_cuts(forced: NDArray[np.bool_]) -> list[Cut]:
    """Return cuts that say that columns are hidden."""
    return [Cut(np.array([column]), np.ones(1)) for column in np.flatnonzero(forced).tolist()]


def _keys(sides: SideRequirements, requirements: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers that tell the subproblems of some requirements from each other."""
    return np.asarray(requirements * 4 + sides.upward * 2 + sides.sliding)


def _program(problem: ProtectionProblem) -> LinearProgram:
    """Return the master without cuts: cells are shown or hidden, and forced ones are hidden at no further cost."""
    nothing, n = np.zeros(0), len(problem)
    cost = np.where(problem.forced, 0.0, problem.cost)
    lower, upper = problem.forced.astype(np.float64), np.ones(n)
    return LinearProgram(sp.csr_array((0, n)), nothing, nothing, lower, upper, cost, integer=np.ones(n, dtype=bool))
