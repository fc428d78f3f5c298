"""The placement of ranges: from slacks in doubles to ends on decimals that pass the audit.

The search computes in doubles. Here ends are rounded outward to a grid, the audit says exactly what attackers can
conclude, ranges that are too narrow are widened until every requirement is met, and in the end all are narrowed to what
attackers can conclude.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET, Conclusions
from celosia.attack.result import Audit
from celosia.errors import SolverError, SpecError, list_items, pluralise
from celosia.pattern.entries import SHOWN
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.suppressed import Suppressed
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.parameters import INTERVALS, IntervalParameters
from celosia.protection.intervals.publish.consistency import adds_up, completion
from celosia.protection.intervals.publish.decimals import EndGrid, round_outward
from celosia.protection.intervals.publish.missed_corners import find_missed_corners
from celosia.protection.intervals.publish.ranges import AuditedRanges, EndCounts, RangeSlacks
from celosia.protection.intervals.publish.stretching import StretchedWitnesses
from celosia.protection.intervals.widen import widen_ranges
from celosia.protection.run import Run
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.tolerance import (
    END_ON_GRID,
    END_ON_GRID_SHARE,
    ENDLESS,
    SEARCHED_END_ON_GRID_SHARE,
    WIDENING_GROWTH,
    WIDENING_SHARE,
)


@dataclass(eq=False)
class RangePlacement:
    """Places ranges: makes slacks of a search ends that are published.

    Parameters
    ----------
    risk
        What must be met, least widths included.
    method, run
        How ranges are published, and when to stop.
    problem
        The cells that may be ranges.
    costs
        What a unit below and above the truth costs, of every cell of the table.
    most
        The greatest widths in counts of the problem, ``(n,)``.
    fixed
        What a range costs whatever its width, of every cell of the table; None for nothing.
    parameters
        How many decimals and rounds there may be.
    hidden
        Which columns are hidden, or no cells, ``(n,)``: their slacks are the attackers' bounds.
    numbers
        Modes of cells that are published as other numbers.
    no_ranges
        Which columns are no ranges, because they are hidden or other numbers, ``(n,)``.
    coarse
        How many ranges have ends that are rounded outward to the published decimals.
    unknown
        How many ranges have ends of which it is not known whether they can be concluded.
    eased
        How many ranges are wider than what can be concluded so that published numbers add up.
    """

    risk: Risk
    method: Intervals
    run: Run
    problem: ProtectionProblem
    costs: tuple[NDArray[np.float64], NDArray[np.float64]]
    most: NDArray[np.float64]
    fixed: NDArray[np.float64] | None = None
    parameters: IntervalParameters = INTERVALS
    hidden: NDArray[np.bool_] = field(init=False)
    numbers: tuple[Mode, ...] = ()
    no_ranges: NDArray[np.bool_] = field(init=False)
    coarse: int = 0
    unknown: int = 0
    eased: int = 0

    def __post_init__(self) -> None:
        self.hidden = np.arange(len(self.problem)) >= self.problem.n_own
        self.no_ranges = self.hidden

    def place(self, slacks: RangeSlacks, *, quickly: bool = False) -> AuditedRanges:
        """Return published ranges.

        Guarantee: the audit calls every requirement met. Without rounding on request every end is what an attacker can
        conclude, rounded outward to the grid; unless there is no time to ask for that, or it is to be done quickly.
        """
        grid, down, up = self._put_on_grid(slacks)
        limited = quickly or self.run.clock.left < self.run.clock.seconds  # less is left than the search took
        limited |= self.problem.n_attackers > self.parameters.many_attackers
        began = self.run.clock.seconds
        down, up, checked = self._widen_until_safe(grid, down, up, intervals=not limited)
        hurried = quickly or (limited and self._lacks_time(self.run.clock.seconds - began, down, up))
        ends = down, up
        if not hurried:
            if limited:
                checked = self._audit(grid, down, up, intervals=True)
            ends = self._narrow_to_conclusions(grid, down, up, checked.intervals)
        if self.method.rounds:
            ends = self._round_as_asked(grid, *ends)
        if not (np.array_equal(ends[0], down) and np.array_equal(ends[1], up)):
            down, up, checked = self._widen_until_safe(grid, *ends, intervals=False)
        return AuditedRanges(self._pattern(grid, down, up), checked, tuple(self._notes(grid, hurried=hurried)))

    def draft(self, slacks: RangeSlacks) -> Pattern:
        """Return the pattern of slacks that no audit has widened or narrowed."""
        grid, down, up = self._put_on_grid(slacks)
        return self._pattern(grid, *self._round_to_grid(grid, down, up))

    def _put_on_grid(self, slacks: RangeSlacks) -> tuple[EndGrid, NDArray[np.int64], NDArray[np.int64]]:
        """Return the decimals in which ends are published, and slacks on them."""
        if slacks.hidden is not None:
            self.hidden = self.hidden | slacks.hidden
        self.numbers = slacks.numbers
        self.no_ranges = self.hidden | slacks.no_ranges(self.problem.cells)
        self.most = np.where(self.no_ranges, 0.0, self.most)
        if self.method.at_most is not None or self.method.conditional:  # no further ranges
            self.most = np.where(slacks.down + slacks.up > 0, self.most, 0.0)
        grid = self._grid(slacks)
        bounds = grid.bound(self.problem.down), grid.bound(self.problem.up)
        near = END_ON_GRID_SHARE if self.numbers else SEARCHED_END_ON_GRID_SHARE  # no audit widens what does not add up
        down, up = (
            np.where(self.hidden, bound, grid.round_up(slack, bound, near))
            for slack, bound in zip((slacks.down, slacks.up), bounds, strict=True)
        )
        return grid, down, up

    def _lacks_time(self, seconds: float, down: NDArray[np.int64], up: NDArray[np.int64]) -> bool:
        """Return whether an audit of all ranges takes too long, given how long one of the sensitive cells took."""
        sensitive = int(np.count_nonzero(self.risk.sensitive)) or 1
        ranges = int(np.count_nonzero((down + up > 0) & ~self.no_ranges))
        return self.run.clock.left < seconds * max(1.0, ranges / sensitive)

    def _notes(self, grid: EndGrid, *, hurried: bool) -> Iterator[str]:
        """Yield why ranges are wider than what can be concluded."""
        if self.method.base is not None:
            yield f"Ends are rounded outward to multiples of {self.method.base}: ranges are wider than need be."
        elif self.method.digits is not None:
            digits = pluralise(self.method.digits, "significant digit")
            yield f"Ends are rounded outward to {digits}: ranges are wider than need be."
        if hurried:
            yield "Time was up before it was known what can be concluded: ranges may be wider than that."
        elif self.coarse:
            places = "whole numbers" if not grid.published else pluralise(grid.published, "decimal")
            yield f"Ends of {pluralise(self.coarse, 'range')} are rounded outward to {places}."
        if self.unknown:
            few = pluralise(self.unknown, "range")
            yield f"It is not known exactly what can be concluded about {few}: attackers may know them to be narrower."
        if self.eased:
            few = pluralise(self.eased, "range")
            yield f"So that published numbers add up, {few} may be wider than what can be concluded."

    def _grid(self, slacks: RangeSlacks) -> EndGrid:
        """Return the decimals in which ends are published."""
        problem = self.problem
        counts = problem.by_column(self.risk.table.is_count, local=True)  # what is no cell has no ends
        if self.run.integer:
            return EndGrid(problem, self.risk.table.decimals, 0, counts)
        if self.method.decimals is not None:
            return EndGrid(problem, max(problem.decimals, self.method.decimals), self.method.decimals, counts)
        unit = 10.0**-problem.decimals
        below, above = (np.where(counts, 0.0, problem.by_column(cost, 0.0)) for cost in self.costs)
        whole = (below @ slacks.down + above @ slacks.up) * unit
        ends = float(below[slacks.down > 0].sum() + above[slacks.up > 0].sum())
        largest = float(np.abs(self.risk.table.values).max(initial=0.0))
        largest += float(np.maximum(slacks.down, slacks.up)[: problem.n_own].max(initial=0.0)) * unit
        for more in range(self.parameters.more_decimals):
            decimals = max(self.risk.table.decimals, self.method.base_decimals) + more
            if more and largest * 10.0 ** max(problem.decimals, decimals) >= ENDLESS / 2:  # 64 bits hold no more
                break
            grid = EndGrid(problem, max(problem.decimals, decimals), decimals, counts)
            exact = all(grid.contains(side) for side in (slacks.down, slacks.up))
            if exact or ends * 10.0**-decimals <= self.parameters.rounding_loss * whole:
                break
        return grid

    def _pattern(self, grid: EndGrid, down: NDArray[np.int64], up: NDArray[np.int64]) -> Pattern:
        wide = np.flatnonzero((down + up > 0) & ~self.no_ranges)
        table, cells = self.risk.table, self.problem.cells[wide]
        truth = table.amounts[cells].to(grid.fine).counts
        ranges = Interval(
            cells,
            Fixed.of_counts(truth - down[wide], grid.fine),
            Fixed.of_counts(truth + up[wide], grid.fine),
            self.costs[0][cells],
            self.costs[1][cells],
            None if self.fixed is None else self.fixed[cells],
        )
        hidden = self.problem.cells_among(np.flatnonzero(self.hidden))
        return Pattern.of(table, ranges, *[Suppressed(hidden)][: len(hidden)], *self.numbers)

    def _audit(self, grid: EndGrid, down: NDArray[np.int64], up: NDArray[np.int64], *, intervals: bool) -> Audit:
        pattern, risk = self._pattern(grid, down, up), self.risk.without_corners
        if self.method.conditional:
            risk = self.method.require_widths(risk, np.asarray(pattern.status != SHOWN))
        return audit(pattern, risk, intervals=intervals, integer=self.run.integer)

    def _widen_until_safe(
        self, grid: EndGrid, down: NDArray[np.int64], up: NDArray[np.int64], *, intervals: bool = True
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Audit]:
        """Return ranges that pass the audit, widened where they must be."""
        down, up = self._round_to_grid(grid, down, up)
        for round_ in range(self.parameters.widening_rounds):
            checked = self._audit(grid, down, up, intervals=intervals)
            missed = find_missed_corners(self.problem, grid, (down, up))
            if checked.safe and not missed:
                return down, up, checked
            down, up = self._widen(grid, down, up, checked, round_)
            for requirement in missed:
                down, up = self._widen_for(requirement, grid, (down, up), round_)
            down, up = self._round_to_grid(grid, down, up)
        raise SolverError.one("intervals", "could not be widened until they are safe.", "Report this.")

    def _widen(
        self, grid: EndGrid, down: NDArray[np.int64], up: NDArray[np.int64], checked: Audit, round_: int
    ) -> EndCounts:
        """Return ranges widened for requirements that the audit calls missed: exactly, where next to nothing is.

        Elsewhere by a program, from round to round by larger steps.
        """
        stretched = StretchedWitnesses(self.problem, grid.fine, self.no_ranges & ~self.hidden, self.most)
        for requirement, verdict in zip(self._find_requirements(checked), checked.verdicts, strict=True):
            if verdict.result == MET:
                continue
            wider = stretched.widen(verdict, checked.systems[verdict.requirement.attacker], (down, up))
            down, up = self._widen_for(requirement, grid, (down, up), round_) if wider is None else wider
        return down, up

    def _find_requirements(self, checked: Audit) -> Iterator[int]:
        """Yield the requirement of the problem to which each verdict belongs.

        They have the same order, unless some of the problem count only for cells that are not shown.
        """
        asked = self.problem.requirements
        if asked.conditional is None:
            yield from range(len(checked.verdicts))
            return
        places: dict[tuple[int, int], deque[int]] = {}
        cells = self.problem.cells[asked.columns].tolist()
        for place, key in enumerate(zip(cells, asked.attackers.tolist(), strict=True)):
            places.setdefault(key, deque()).append(place)
        for verdict in checked.verdicts:
            key = verdict.requirement.cell, verdict.requirement.attacker
            if not places.get(key):
                raise SolverError.one("intervals", "are asked for what the search did not know.", "Report this.")
            yield places[key].popleft()

    def _widen_for(self, requirement: int, grid: EndGrid, ends: EndCounts, round_: int) -> EndCounts:
        """Return ranges widened by a program for a requirement, from round to round by larger steps."""
        (down, up), factor = ends, float(grid.factor)
        share = WIDENING_SHARE * WIDENING_GROWTH**round_
        more = widen_ranges(
            self.problem,
            requirement,
            max(Fraction(1, grid.factor), Fraction(int(share * self._level(requirement)))),
            (down / factor, up / factor),
            self._widening_costs(grid, down + up > 0),
            self.most,
            self.run,
            self.parameters.least_cost,
        )
        return (
            grid.add(down, more[0], grid.bound(self.problem.down)),
            grid.add(up, more[1], grid.bound(self.problem.up)),
        )

    def _level(self, requirement: int) -> float:
        """Return the largest level of a requirement, in counts."""
        levels = self.problem.requirements
        return float(max(levels.up[requirement], levels.down[requirement], levels.sliding[requirement]))

    def _widening_costs(
        self, grid: EndGrid, wide: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what a count more costs below and above, by columns; a new range costs more, and its fixed cost."""
        new = np.where(wide, 1.0, self.parameters.new_range)
        down, up = (self.problem.by_column(cost, 0.0) * new for cost in self.costs)
        if self.fixed is None:
            return down, up
        more = np.where(wide, 0.0, self.problem.by_column(self.fixed, 0.0) * grid.factor)
        return down + more, up + more

    def _round_to_grid(self, grid: EndGrid, down: NDArray[np.int64], up: NDArray[np.int64]) -> EndCounts:
        """Return ends that have no more decimals than are published; ends at the attackers' bounds stay there."""
        step = grid.step
        if bool((step == 1).all()):
            return down, up
        truth = self._truth(grid)
        lower, upper = truth - down, truth + up
        wide = (down + up > 0) & ~self.no_ranges
        lower, upper = (
            np.where(wide, lower // step * step, lower),
            np.where(wide, -(-upper // step) * step, upper),
        )
        return (
            np.minimum(truth - lower, np.maximum(grid.bound(self.problem.down), down)),
            np.minimum(upper - truth, np.maximum(grid.bound(self.problem.up), up)),
        )

    def _truth(self, grid: EndGrid) -> NDArray[Any]:
        """Return the true values by columns, in fine counts."""
        counts = self.risk.table.amounts[self.problem.own_cells].to(grid.fine).counts
        return np.concatenate([counts, np.zeros(self.problem.n_local, dtype=counts.dtype)])

    def _narrow_to_conclusions(
        self, grid: EndGrid, down: NDArray[np.int64], up: NDArray[np.int64], found: Conclusions
    ) -> EndCounts:
        """Return the ends that attackers can conclude, by the least informed of them, rounded outward."""
        column = np.full(len(self.risk), -1, dtype=np.int64)
        column[self.problem.own_cells] = np.arange(self.problem.n_own)
        place = column[found.cells]
        scale = 10 ** (grid.fine - found.decimals.astype(object))
        ends = []
        truth = self._truth(grid)[place].astype(object)
        off, unknown = np.zeros((2, len(self.problem)), dtype=bool)
        for answers, published, sign in ((found.down, down, -1), (found.up, up, 1)):
            open_ = ~answers.furthest | answers.endless | self.no_ranges[place]
            reached, denominator = answers.reach.astype(object) * scale, answers.denominator.astype(object)
            exact = -(-reached // denominator)
            between = (reached % denominator != 0) | ((truth + sign * exact) % grid.step[place] != 0)
            off[place[~open_ & np.asarray(between, dtype=bool)]] = True
            blind = ~answers.furthest & ~answers.endless & ~self.no_ranges[place]
            unknown[place[blind & np.asarray(exact < published[place], dtype=bool)]] = True
            far = np.where(open_, published[place], np.minimum(exact, published[place])).astype(np.int64)
            reach = np.where(np.arange(len(self.problem)) < self.problem.n_own, 0, published)
            np.maximum.at(reach, place, far)
            ends.append(reach)
        self.coarse, self.unknown = int(off.sum()), int(unknown.sum())
        return self._widen_until_additive(grid, (ends[0], ends[1]), (down, up)) if self.numbers else (ends[0], ends[1])

    def _widen_until_additive(self, grid: EndGrid, ends: EndCounts, wide: EndCounts) -> EndCounts:
        """Return ends next to other numbers, widened towards wider ones if no table has these numbers and ranges."""
        narrow, open_ = self._pattern(grid, *ends), self._pattern(grid, *wide)
        table = None if adds_up(narrow) else completion(open_, narrow.bounds())
        if table is None:
            return ends
        above = self.problem.by_column(table - self.risk.table.values, 0.0) * 10.0**grid.fine
        down, up = (
            np.where(self.no_ranges, end, np.maximum(end, np.minimum(np.ceil(far - END_ON_GRID), most))).astype(
                np.int64
            )
            for end, far, most in zip(ends, (-above, above), wide, strict=True)
        )
        if not adds_up(self._pattern(grid, down, up)):
            down, up = wide
        self.eased = int(np.count_nonzero((down > ends[0]) | (up > ends[1])))
        return down, up

    def _round_as_asked(self, grid: EndGrid, down: NDArray[np.int64], up: NDArray[np.int64]) -> EndCounts:
        """Return ends rounded outward to the digits or the base of the method.

        Raises
        ------
        SpecError
            They would leave an attacker's bounds, which tells readers nothing; or the base is finer than the grid.
        """
        truth = self._truth(grid).astype(object)
        lower, upper = truth - down, truth + up
        wide = np.flatnonzero((down + up > 0) & ~self.no_ranges)
        for k in wide.tolist():
            lower[k] = round_outward(int(lower[k]), grid.fine, self.method, up=False)
            upper[k] = round_outward(int(upper[k]), grid.fine, self.method, up=True)
        new_down, new_up = (truth - lower).astype(np.int64), (upper - truth).astype(np.int64)
        beyond = (new_down > np.maximum(grid.bound(self.problem.down), down)) | (
            new_up > np.maximum(grid.bound(self.problem.up), up)
        )
        if bool(beyond.any()):
            labels = list_items(
                [self.risk.table.label(int(cell)) for cell in self.problem.own_cells[beyond[: self.problem.n_own]]]
            )
            name = "digits" if self.method.digits is not None else "base"
            raise SpecError.one(
                name, f"would round ends beyond what attackers know anyway: {labels}.", "Round less, or not at all."
            )
        return new_down, new_up
