"""The publication of ranges: slacks of a search are placed, shifted at random and audited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError
from celosia.pattern.entries import INTERVAL
from celosia.pattern.midpoint import warn_of_midpoints
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.intervals.formulation import Prices
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.parameters import INTERVALS, IntervalParameters
from celosia.protection.intervals.publish.placement import RangePlacement
from celosia.protection.intervals.publish.ranges import AuditedRanges, RangeSlacks
from celosia.protection.intervals.publish.shift import shift_ranges
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import Risk
from celosia.solve.registry import backends
from celosia.table.relations import label_components

_T = TypeVar("_T")


@dataclass(eq=False)
class RangePublication:
    """A problem of interval publication, and how slacks become published, audited ranges.

    Parameters
    ----------
    asked, required
        The risk with the wishes of the method, and with widths as levels.
    method, run
        How to publish.
    parameters
        How ranges are searched for and published.
    trace
        How a search went so far.
    """

    asked: Risk
    required: Risk
    method: Intervals
    run: Run
    parameters: IntervalParameters = INTERVALS
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)

    @cached_property
    def problem(self) -> ProtectionProblem:
        """The cells that may be ranges, and the requirements."""
        return problem_of(self.required, integer=self.run.integer)

    @cached_property
    def costs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a unit below and above the truth costs, of every cell of the table."""
        return self.method.costs(self.asked)

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The greatest widths in counts of the problem."""
        most = np.full(len(self.problem), np.inf)
        for cell, width in self.method.most.items():
            most[self.problem.cells == cell] = width * 10**self.problem.decimals
        return most

    @property
    def sliding(self) -> bool:
        """Whether all levels are sliding."""
        return not bool(self.problem.requirements.up.any() or self.problem.requirements.down.any())

    @cached_property
    def prices(self) -> Prices:
        """What ranges of the columns of the problem cost."""
        below, above = (cost[self.problem.cells] for cost in self.costs)
        return Prices(below, above)

    @property
    def fixed_costs(self) -> NDArray[np.float64] | None:
        """What a range costs whatever its width, of every cell of the table; None for nothing."""
        return None

    def _publish(self, slacks: RangeSlacks) -> AuditedRanges:
        """Return audited ranges on decimals, shifted at random at the same cost where all levels are sliding.

        Shifts that only an audit can judge are kept if they cost no more: those next to hidden cells and other numbers,
        and those of ranges tied to whole numbers, which are shifted after they have been widened to whole ones.
        """
        whole, first = self._tied_to_whole, self._shift_first(slacks)
        placed = self._place(first)
        if not (self.method.shift and self.sliding) or self.run.clock.left <= 0:
            return placed
        if bool(whole.any()):
            first = self._whole_slacks(first, placed.pattern, whole)
            further = self._shift(first, step=10**self.problem.decimals, among=whole)
            placed, first = self._keep_cheaper((placed, first), further)
        if bool((slacks.no_ranges(self.problem.cells) & ~whole).any()):
            down, up = np.where(whole, first.down, slacks.down), np.where(whole, first.up, slacks.up)
            further = self._shift(replace(slacks, down=down, up=up), freely=True, among=~whole)
            placed, _ = self._keep_cheaper((placed, first), further)
        return placed

    def _shift_first(self, slacks: RangeSlacks) -> RangeSlacks:
        """Return ranges shifted to where they can be placed, those tied to whole numbers as little as possible."""
        whole = self._tied_to_whole
        moved = self._shift(slacks, among=~whole) or slacks
        return self._shift(moved, random=False, among=whole) or moved

    def _keep_cheaper(
        self, known: tuple[AuditedRanges, RangeSlacks], further: RangeSlacks | None
    ) -> tuple[AuditedRanges, RangeSlacks]:
        """Return ranges that were shifted further, if these can be placed at the same cost; else the known ones."""
        if further is None:
            return known
        try:
            other = self._place(further)
        except InfeasibleError:
            return known
        return (
            (other, further)
            if self._loss(other.pattern) <= self._loss(known[0].pattern) * (1 + self.parameters.dearer)
            else known
        )

    @cached_property
    def _tied_to_whole(self) -> NDArray[np.bool_]:
        """Which columns are whole numbers, or tied by relations to columns that are, ``(n,)``."""
        _, label = label_components(self.problem.matrix)
        return np.isin(label, label[self.problem.whole])

    def _whole_slacks(self, slacks: RangeSlacks, pattern: Pattern, whole: NDArray[np.bool_]) -> RangeSlacks:
        """Return how far ranges among whole numbers reach in a pattern, in counts; the others stay."""
        cells, scale = self.problem.cells, 10.0**self.problem.decimals
        truth = self.asked.table.values[cells]
        lower, upper = (side.floats[cells] for side in pattern.bounds())
        ranges, stays = pattern.status[cells] == INTERVAL, slacks.no_ranges(cells) | ~whole
        down, up = (
            np.where(stays, own, np.where(ranges, np.rint(far * scale), 0.0))
            for own, far in ((slacks.down, truth - lower), (slacks.up, upper - truth))
        )
        return replace(slacks, down=down, up=up)

    def _place(self, slacks: RangeSlacks) -> AuditedRanges:
        """Return ranges on decimals that pass the audit."""
        return self._despite_interrupt(lambda: self._placement.place(slacks))

    def _place_quickly(self, slacks: RangeSlacks) -> AuditedRanges | None:
        """Return ranges that pass the audit, not narrowed to what attackers can conclude; None where there are none."""
        try:
            return self._placement.place(self._shift_first(slacks), quickly=True)
        except CelosiaError:
            return None

    @property
    def _placement(self) -> RangePlacement:
        run = replace(self.run, clock=self.run.clock.whole)
        fixed, parameters = self.fixed_costs, self.parameters
        return RangePlacement(self.required, self.method, run, self.problem, self.costs, self.most, fixed, parameters)

    def _despite_interrupt(self, work: Callable[[], _T]) -> _T:
        """Return the result of work after the search; the first Ctrl-C stops the clock, and the work is repeated."""
        try:
            return work()
        except KeyboardInterrupt:
            self.run.clock.stop()
            return work()

    def _shift(
        self,
        slacks: RangeSlacks,
        *,
        among: NDArray[np.bool_] | None = None,
        random: bool = True,
        freely: bool = False,
        step: int | None = None,
    ) -> RangeSlacks | None:
        """Return ranges, all or some, shifted at the same cost, at random if the method says so.

        None where levels are not sliding, or no shift keeps them.
        """
        if not self.sliding or (among is not None and not bool(among.any())):
            return None
        prices = self.prices.down, self.prices.up

        def shift() -> RangeSlacks | None:
            source = np.random.default_rng(self.method.secret) if random and self.method.shift else None
            return shift_ranges(
                self.problem,
                slacks,
                prices,
                backends()[0],
                source,
                among=among,
                freely=freely,
                step=step,
                draws=self.parameters.shift_draws,
            )

        return self._despite_interrupt(shift)

    def _result(self, placed: AuditedRanges, bound: float) -> Protection:
        """Return the last result; warn where midpoints give values away."""
        warn_of_midpoints(placed.pattern)
        return self._result_without_warning(placed, bound)

    def _result_without_warning(self, placed: AuditedRanges, bound: float) -> Protection:
        """Return the result of audited ranges, without a warning: a better one may follow."""
        cost = self._loss(placed.pattern)
        return Protection(
            risk=self.asked,
            method=self.method,
            pattern=placed.pattern,
            cost=cost,
            bound=min(bound, cost),
            found=placed.audit,
            seconds=self.run.clock.seconds,
            solver=f"{backends()[0].name} {backends()[0].version}",
            trace=tuple(self.trace),
            seed=self.run.seed,
            notes=placed.notes,
        )

    def _loss(self, pattern: Pattern) -> float:
        """Return what a pattern costs."""
        return self.method.loss(pattern, self.asked)
