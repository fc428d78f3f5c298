"""Cutting planes for patterns: capacity cuts, in kernel coordinates where these are few, isolated cells, zero-half."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut, unit_cuts
from celosia.protection.engine.cuts.initial import no_isolated_cell_cuts
from celosia.protection.engine.cuts.kernel_separation import KernelSeparator
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.cuts.zero_half import zero_half_cuts
from celosia.protection.engine.incumbent import PatternIncumbent, no_good_cuts
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.relaxation import Relaxation, RoundRules
from celosia.solve.problem import LinearProgram
from celosia.tolerance import HALF, HIDDEN_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.master import Point
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.patterns.waiting import WaitingRequirements
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.engine.stop import Stop
    from celosia.solve.backend import Backend


def open_relaxation(
    incumbent: PatternIncumbent, stop: Stop, backend: Backend, parameters: EngineParameters = PARAMETERS
) -> Relaxation[Separator]:
    """Return the relaxed master of patterns, whose separator leaves out requirements that the forced cells meet.

    These are left out as far as there is time to tell, and before them those that others imply.
    """
    problem, clock = incumbent.problem, stop.clock
    until = clock.seconds + max(parameters.presolve_share * clock.left, parameters.presolve_seconds)
    everything = Separator.of(problem, backend, parameters.cuts).without_implied_sides()
    return Relaxation(_program(problem), everything.presolve(lambda: clock.seconds > until), incumbent, stop, backend)


@dataclass(eq=False)
class PatternCuttingPlanes:
    """Cuts points of the relaxed master of patterns off.

    Parameters
    ----------
    incumbent, stop
        What has been found, and when to end.
    relaxation
        Has the master.
    waiting
        Requirements that are separated once a point misses them.
    parameters
        How much effort cutting planes are worth.
    """

    incumbent: PatternIncumbent
    stop: Stop
    relaxation: Relaxation[Separator]
    waiting: WaitingRequirements
    parameters: EngineParameters = PARAMETERS
    _kernel: KernelSeparator | None = None
    _nearby: bool = False
    _bounds_nearby: list[float] = field(default_factory=list)
    _steps_nearby: int = 1

    def separate_in_kernel(self, coordinates: KernelCoordinates, *, nearby: bool = False) -> None:
        """Separate fractional points in kernel coordinates from now on.

        Parameters
        ----------
        coordinates
            Of the columns.
        nearby
            Solve large masters nearly, as long as that raises the bound: the gap will be wide.
        """
        self._nearby = nearby and len(self.incumbent.problem) >= self.parameters.columns_nearby
        self._steps_nearby = self.parameters.steps_nearby
        self._kernel = KernelSeparator(self.relaxation.separator, coordinates, self.parameters.cuts)

    @property
    def separates_in_kernel(self) -> bool:
        """Whether fractional points are separated in kernel coordinates."""
        return self._kernel is not None

    def run(self, *, deep: bool, zero_half: bool = False, seconds: float | None = None) -> None:
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
        if self.stop.reached:
            return
        p, kernel = self.parameters, self.separates_in_kernel
        patient = zero_half and kernel and seconds is None
        rules = RoundRules(
            1 if kernel else p.purge_every,
            p.cuts.patience_in_kernel if kernel else p.cuts.patience,
            p.least_rise,
            None if self._nearby else p.rounds_with_zero_half if patient else p.rounds_without_rise,
            self.incumbent.base,
            self.stop.clock.seconds + (self._share_of_time() * self.stop.left if seconds is None else seconds),
        )

        rounds: list[int] = []

        def separate(point: Point) -> int | None:
            nearby = self._nearby
            added = self.add_violated_cuts(point.x, integer=False, deep=deep)
            if rounds or not added:
                added += self._add_cuts_of_called(point.x)
            rounds.append(added)
            if zero_half and not self.stop.reached and not (kernel and added >= p.cuts.cuts_a_round):
                master = self.relaxation.master
                added += master.add(zero_half_cuts(*master.inside, point.x, p.cuts))
            if nearby:
                self._bounds_nearby.append(point.bound)
                self._nearby = bool(added)
            return added if added or nearby else None

        self.relaxation.cut(separate, rules, steps=self._choose_steps)

    def _choose_steps(self) -> int:
        """Return by how many steps the next master is solved nearly: the gap is wide, and that raises the bound."""
        found, p = self.incumbent, self.parameters
        known, rounds = self._bounds_nearby, p.rounds_without_rise
        closing = found.pattern is not None and found.is_closed_at(found.cost, p.gap_nearby)
        rising = len(known) <= rounds or known[-1] - known[-rounds] > p.least_rise * (found.base + abs(known[-1]))
        self._nearby &= rising and not closing
        return self._steps_nearby if self._nearby else 0

    def _add_cuts_of_called(self, x: NDArray[np.float64]) -> int:
        """Add cuts of requirements that have waited until now, and that a point misses; return how many."""
        called = self.waiting.call_missed(x)
        return 0 if called is None else self.relaxation.master.add(called.separate(x, check=self.stop.check).cuts)

    def _share_of_time(self) -> float:
        """Return the share for cutting: without a pattern all, where patterns need a point that is nearly safe."""
        if self._nearby:
            return self.parameters.cutting_share_nearby
        if self._kernel is not None:
            return self.parameters.cutting_share_beside_moves
        if self.incumbent.pattern is not None:
            return self.parameters.cutting_share
        constructed = len(self.incumbent.problem) <= self.parameters.heuristics.most_built
        return self.parameters.cutting_share_without_pattern if constructed else 1.0

    def add_violated_cuts(
        self, x: NDArray[np.float64], *, integer: bool, deep: bool = True, thorough: bool = False
    ) -> int:
        """Add cuts that a point violates to the master; return how many."""
        p, master, separator = self.parameters.cuts, self.relaxation.master, self.relaxation.separator
        returned = master.recall(x)
        isolated = master.add(no_isolated_cell_cuts(separator.builder, x))
        if self._nearby and not integer and self._kernel is not None:
            isolated += self._add_cuts_of_few_relations(self._kernel, x)
            if isolated >= p.few_cuts:
                return returned + isolated
        elif not integer and (returned + isolated if self._kernel is None else isolated >= p.many_lines):
            return returned + isolated
        if integer:
            cuts = self.separate_pattern(x, self.stop.check, thorough=thorough)
        elif self._kernel is not None:
            cuts = self._kernel.separate(x, self.stop.check)
        else:
            cuts = separator.separate(x, deep=deep, check=self.stop.check).cuts
        return returned + isolated + master.add(cuts)

    def _add_cuts_of_few_relations(self, kernel: KernelSeparator, x: NDArray[np.float64]) -> int:
        """Add cuts that a point violates from sums of few relations, and from networks of some; return how many.

        Where there are few, the next point is to be closer to the optimum.
        """
        p, master = self.parameters, self.relaxation.master
        found = master.add(kernel.separate_by_sums(x, self.stop.check))
        found += master.add(self.relaxation.separator.separate(x, deep=False).cuts)
        few = found < p.cuts.many_lines
        self._steps_nearby = min(2 * self._steps_nearby, p.most_steps_nearby) if few else p.steps_nearby
        return found

    def separate_pattern(
        self, x: NDArray[np.float64], check: Callable[[], None] = lambda: None, *, thorough: bool = False
    ) -> list[Cut]:
        """Return cuts that a pattern violates, none where it is safe: first it must hide what is forced since."""
        return unit_cuts(np.flatnonzero(self.incumbent.problem.forced & (x < HALF))) or separate_pattern(
            self.relaxation.separator, x, check, thorough=thorough
        )

    @property
    def fractional_share(self) -> float:
        """How many of the columns that the point hides at all, forced ones left out, it hides in part; 0 to 1."""
        x = self.relaxation.point.x
        hidden = (x > HIDDEN_ZERO) & ~self.incumbent.problem.forced
        partly = hidden & (x < 1.0 - HIDDEN_ZERO)
        return float(partly.sum() / max(hidden.sum(), 1))


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


def _program(problem: ProtectionProblem) -> LinearProgram:
    """Return the master without cuts: cells are shown or hidden, and forced ones are hidden at no further cost."""
    nothing, n = np.zeros(0), len(problem)
    cost = np.where(problem.forced, 0.0, problem.cost)
    lower, upper = problem.forced.astype(np.float64), np.ones(n)
    return LinearProgram(sp.csr_array((0, n)), nothing, nothing, lower, upper, cost, integer=np.ones(n, dtype=bool))
