"""The publication of ranges: slacks of a search are placed, shifted at random and audited."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError
from celosia.pattern.entries import INTERVAL
from celosia.pattern.midpoint import warn_of_midpoints
from celosia.pattern.pattern import Pattern
from celosia.protection.intervals.publish.concealed_ends import conceal_ends
from celosia.protection.intervals.publish.placement import RangePlacement
from celosia.protection.intervals.publish.ranges import AuditedRanges, RangeSlacks
from celosia.protection.intervals.publish.shift import shift_ranges
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.solve.registry import backends
from celosia.table.relations import label_components

if TYPE_CHECKING:
    from celosia.protection.intervals.problem import RangeProblem

_T = TypeVar("_T")


@dataclass(eq=False)
class RangePublisher:
    """Makes audited ranges on decimals of the slacks of a search, and results of them.

    Parameters
    ----------
    ranges
        What is to be published.
    run
        When to stop.
    trace
        How a search went so far.
    """

    ranges: RangeProblem
    run: Run
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)

    def publish(self, slacks: RangeSlacks) -> AuditedRanges:
        """Return audited ranges on decimals, shifted at random at the same cost where all levels are sliding.

        Where levels are concealed nothing is shifted, and ends beside them are concealed, too.

        Shifts that only an audit can judge are kept if they cost no more: those next to hidden cells and other numbers,
        and those of ranges tied to whole numbers, which are shifted after they have been widened to whole ones.
        """
        whole = self._tied_to_whole
        if self.ranges.method.conceals_levels:
            return self._place(conceal_ends(self.ranges, slacks))
        placed, first = self._place_first(slacks)
        if not (self.ranges.method.shift and self.ranges.sliding) or self.run.clock.left <= 0:
            return placed
        if bool(whole.any()):
            first = self._whole_slacks(first, placed.pattern, whole)
            further = self.shift(first, step=10**self.ranges.problem.decimals, among=whole)
            placed, first = self._keep_cheaper((placed, first), further)
        if bool((slacks.no_ranges(self.ranges.problem.cells) & ~whole).any()):
            down, up = np.where(whole, first.down, slacks.down), np.where(whole, first.up, slacks.up)
            further = self.shift(replace(slacks, down=down, up=up), freely=True, among=~whole)
            placed, _ = self._keep_cheaper((placed, first), further)
        return placed

    def _place_first(self, slacks: RangeSlacks) -> tuple[AuditedRanges, RangeSlacks]:
        """Return ranges that pass the audit, shifted or, where they are not accepted then, not, and their slacks.

        Beside other numbers values in ranges must add up with these, which a shift may prevent.
        """
        first = self._shift_first(slacks)
        placed = self._place(first)
        if first is not slacks and not self.ranges.accepts(placed.pattern):
            with suppress(InfeasibleError):
                return self._place(slacks), slacks
        return placed, first

    def _shift_first(self, slacks: RangeSlacks) -> RangeSlacks:
        """Return ranges shifted to where they can be placed, those tied to whole numbers as little as possible."""
        whole = self._tied_to_whole
        moved = self.shift(slacks, among=~whole) or slacks
        return self.shift(moved, random=False, among=whole) or moved

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
        allowed = self.ranges.loss(known[0].pattern) * (1 + self.ranges.parameters.dearer)
        kept = self.ranges.loss(other.pattern) <= allowed and self.ranges.accepts(other.pattern)
        return (other, further) if kept else known

    @cached_property
    def _tied_to_whole(self) -> NDArray[np.bool_]:
        """Which columns are whole numbers, or tied by relations to columns that are, ``(n,)``."""
        _, label = label_components(self.ranges.problem.matrix)
        return np.isin(label, label[self.ranges.problem.whole])

    def _whole_slacks(self, slacks: RangeSlacks, pattern: Pattern, whole: NDArray[np.bool_]) -> RangeSlacks:
        """Return how far ranges among whole numbers reach in a pattern, in counts; the others stay."""
        cells, scale = self.ranges.problem.cells, 10.0**self.ranges.problem.decimals
        truth = self.ranges.risk.table.values[cells]
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

    def place_quickly(self, slacks: RangeSlacks) -> AuditedRanges | None:
        """Return ranges that pass the audit, not narrowed to what attackers can conclude; None where there are none."""
        try:
            first = self._shift_first(slacks)
            if self.ranges.method.conceals_levels:
                first = conceal_ends(self.ranges, first)
            placed = self._placement.place(first, quickly=True)
        except CelosiaError:
            return None
        return placed if self.ranges.accepts(placed.pattern) else None

    def draft(self, slacks: RangeSlacks) -> Pattern:
        """Return the pattern of slacks that no audit has widened or narrowed."""
        return self._placement.draft(slacks)

    @property
    def _placement(self) -> RangePlacement:
        run, ranges = replace(self.run, clock=self.run.clock.whole), self.ranges
        costs = ranges.costs, ranges.most, ranges.fixed_costs
        return RangePlacement(ranges.required, ranges.method, run, ranges.problem, *costs, ranges.parameters)

    def _despite_interrupt(self, work: Callable[[], _T]) -> _T:
        """Return the result of work after the search; the first Ctrl-C stops the clock, and the work is repeated."""
        try:
            return work()
        except KeyboardInterrupt:
            self.run.clock.stop()
            return work()

    def shift(
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
        ranges, method = self.ranges, self.ranges.method
        if not ranges.sliding or (among is not None and not bool(among.any())):
            return None

        def shift() -> RangeSlacks | None:
            source = np.random.default_rng(method.secret) if random and method.shift else None
            return shift_ranges(
                ranges.problem,
                slacks,
                (ranges.prices.down, ranges.prices.up),
                backends()[0],
                source,
                among=among,
                freely=freely,
                step=step,
                draws=ranges.parameters.shift_draws,
            )

        return self._despite_interrupt(shift)

    def result(self, placed: AuditedRanges, bound: float) -> Protection:
        """Return the last result; warn where midpoints give values away."""
        warn_of_midpoints(placed.pattern)
        return self.result_without_warning(placed, bound)

    def result_without_warning(self, placed: AuditedRanges, bound: float) -> Protection:
        """Return the result of audited ranges, without a warning: a better one may follow."""
        cost = self.ranges.loss(placed.pattern)
        return Protection(
            risk=self.ranges.risk.without_corners,
            method=self.ranges.method,
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
