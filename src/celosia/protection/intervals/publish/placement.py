"""From slacks in doubles to published ranges: on decimals, audited, as narrow as what can be concluded.

The search believes doubles. Here ends are rounded outward to the grid, the audit says exactly what attackers can
conclude, ranges that are too narrow are widened until every requirement is met, and what nobody can conclude anyway is
taken away again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET, Conclusions
from celosia.attack.result import Audit
from celosia.errors import SolverError, SpecError, counted, listed
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.suppressed import Suppressed
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.publish.consistency import adds_up, completion
from celosia.protection.intervals.publish.decimals import NEAR, NEAR_SHARE, SEARCHED, Grid
from celosia.protection.intervals.widen import mended
from celosia.protection.run import Call
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed

_LOSS = 1e-4
"""Decimals are added until rounding ends outward costs no more than this share of the whole."""

_MOST_DECIMALS = 6
"""So many decimals more than those of the table are tried."""

_ROUNDS = 50
"""Ranges are widened so many times before something must be wrong."""


Ends = tuple[NDArray[np.int64], NDArray[np.int64]]
"""How far ranges reach down and up, in fine counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Slacks:
    """How far ranges reach from the truth, in counts of a task, and what is no range.

    Parameters
    ----------
    down, up
        How far, ``(n,)`` each.
    hidden
        Which columns are hidden instead, ``(n,)``; None for none.
    numbers
        Modes of cells that are published as other numbers, whose slacks are as given.
    """

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    hidden: NDArray[np.bool_] | None = None
    numbers: tuple[Mode, ...] = ()

    def still(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which columns, given by their cells, are no ranges: hidden, or other numbers, ``(n,)``."""
        own = np.concatenate([np.zeros(0, dtype=np.int64), *(mode.cells for mode in self.numbers)])
        still = np.isin(cells, own)
        return still if self.hidden is None else still | self.hidden


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Ranges that have passed the audit.

    Parameters
    ----------
    pattern, audit
        How every cell is published, and what attackers can conclude.
    notes
        Why ranges are wider than what can be concluded, where they are.
    """

    pattern: Pattern
    audit: Audit
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class Placing:
    """Ranges on their way to publication.

    Parameters
    ----------
    risk
        What must be met, least widths included.
    method, call
        How ranges are published, and when to stop.
    task
        The cells that may be ranges.
    costs
        What a unit below and above the truth costs, of every cell of the table.
    most
        The greatest widths in counts of the task, ``(n,)``.
    fixed
        What a range costs whatever its width, of every cell of the table; None for nothing.
    hidden
        Which columns are hidden, ``(n,)``: their slacks are all the room that there is.
    numbers
        Modes of cells that are published as other numbers.
    still
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
    call: Call
    task: ProtectionProblem
    costs: tuple[NDArray[np.float64], NDArray[np.float64]]
    most: NDArray[np.float64]
    fixed: NDArray[np.float64] | None = None
    hidden: NDArray[np.bool_] = field(init=False)
    numbers: tuple[Mode, ...] = ()
    still: NDArray[np.bool_] = field(init=False)
    coarse: int = 0
    unknown: int = 0
    eased: int = 0

    def __post_init__(self) -> None:
        self.hidden = np.zeros(len(self.task), dtype=bool)
        self.still = self.hidden

    def place(self, slacks: Slacks, *, quickly: bool = False) -> Placed:
        """Return published ranges.

        Guarantee: the audit calls every requirement met. Without rounding on request every end is what an attacker can
        conclude, rounded outward to the grid; unless there is no time to ask for that, or it is to be done quickly.
        """
        grid, down, up = self._begun(slacks)
        limited = quickly or self.call.clock.left < self.call.clock.seconds  # less is left than the search took
        began = self.call.clock.seconds
        down, up, checked = self._widened(grid, down, up, intervals=not limited)
        hurried = quickly or (limited and self._late(self.call.clock.seconds - began, down, up))
        ends = down, up
        if not hurried:
            if limited:
                checked = audit(self._pattern(grid, down, up), self.risk, intervals=True, integer=self.call.integer)
            ends = self._concluded(grid, down, up, checked.intervals)
        if self.method.rounds:
            ends = self._rounded(grid, *ends)
        if not (np.array_equal(ends[0], down) and np.array_equal(ends[1], up)):
            down, up, checked = self._widened(grid, *ends, intervals=False)
        return Placed(self._pattern(grid, down, up), checked, tuple(self._notes(grid, hurried=hurried)))

    def drafted(self, slacks: Slacks) -> Pattern:
        """Return ranges as they would be published if no audit widened or narrowed them."""
        grid, down, up = self._begun(slacks)
        return self._pattern(grid, *self._on_grid(grid, down, up))

    def _begun(self, slacks: Slacks) -> tuple[Grid, NDArray[np.int64], NDArray[np.int64]]:
        """Return the decimals in which ends are published, and slacks on them."""
        if slacks.hidden is not None:
            self.hidden = slacks.hidden
        self.numbers = slacks.numbers
        self.still = slacks.still(self.task.cells)
        self.most = np.where(self.still, 0.0, self.most)
        grid = self._grid(slacks)
        rooms = grid.room(self.task.down), grid.room(self.task.up)
        near = NEAR_SHARE if self.numbers else SEARCHED  # no audit widens what does not add up
        down, up = (
            np.where(self.hidden, room, grid.outward(slack, room, near))
            for slack, room in zip((slacks.down, slacks.up), rooms, strict=True)
        )
        return grid, down, up

    def _late(self, seconds: float, down: NDArray[np.int64], up: NDArray[np.int64]) -> bool:
        """Return whether there is no time to ask what can be concluded about every range, after an audit of so long."""
        asked = int(np.count_nonzero(self.risk.sensitive)) or 1
        ranges = int(np.count_nonzero((down + up > 0) & ~self.still))
        return self.call.clock.left < seconds * max(1.0, ranges / asked)

    def _notes(self, grid: Grid, *, hurried: bool) -> Iterator[str]:
        """Yield why ranges are wider than what can be concluded."""
        if self.method.base is not None:
            yield f"Ends are rounded outward to multiples of {self.method.base}: ranges are wider than need be."
        elif self.method.digits is not None:
            digits = counted(self.method.digits, "significant digit")
            yield f"Ends are rounded outward to {digits}: ranges are wider than need be."
        if hurried:
            yield "Time was up before it was known what can be concluded: ranges may be wider than that."
        elif self.coarse:
            places = "whole numbers" if not grid.published else counted(grid.published, "decimal")
            yield f"Ends of {counted(self.coarse, 'range')} are rounded outward to {places}."
        if self.unknown:
            few = counted(self.unknown, "range")
            yield f"It is not known exactly what can be concluded about {few}: attackers may know them to be narrower."
        if self.eased:
            few = counted(self.eased, "range")
            yield f"So that published numbers add up, {few} may be wider than what can be concluded."

    def _grid(self, slacks: Slacks) -> Grid:
        """Return the decimals in which ends are published."""
        task = self.task
        counts = self.risk.table.is_count[task.cells]
        if self.call.integer:
            return Grid(task, self.risk.table.decimals, 0, counts)
        if self.method.decimals is not None:
            return Grid(task, max(task.decimals, self.method.decimals), self.method.decimals, counts)
        unit = 10.0**-task.decimals
        below, above = (np.where(counts, 0.0, cost[task.cells]) for cost in self.costs)
        whole = (below @ slacks.down + above @ slacks.up) * unit
        ends = float(below[slacks.down > 0].sum() + above[slacks.up > 0].sum())
        for more in range(_MOST_DECIMALS):
            decimals = max(self.risk.table.decimals, self.method.base_decimals) + more
            grid = Grid(task, max(task.decimals, decimals), decimals, counts)
            exact = all(grid.exact(side) for side in (slacks.down, slacks.up))
            if exact or ends * 10.0**-decimals <= _LOSS * whole:
                break
        return grid

    def _pattern(self, grid: Grid, down: NDArray[np.int64], up: NDArray[np.int64]) -> Pattern:
        wide = np.flatnonzero((down + up > 0) & ~self.still)
        table, cells = self.risk.table, self.task.cells[wide]
        truth = table.amounts[cells].to(grid.fine).counts
        ranges = Interval(
            cells,
            Fixed.of_counts(truth - down[wide], grid.fine),
            Fixed.of_counts(truth + up[wide], grid.fine),
            self.costs[0][cells],
            self.costs[1][cells],
            None if self.fixed is None else self.fixed[cells],
        )
        hidden = [Suppressed(self.task.cells[self.hidden])] if bool(self.hidden.any()) else []
        return Pattern.of(table, ranges, *hidden, *self.numbers)

    def _widened(
        self, grid: Grid, down: NDArray[np.int64], up: NDArray[np.int64], *, intervals: bool = True
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Audit]:
        """Return ranges that pass the audit, widened where they must be."""
        down, up = self._on_grid(grid, down, up)
        for _ in range(_ROUNDS):
            checked = audit(self._pattern(grid, down, up), self.risk, intervals=intervals, integer=self.call.integer)
            if checked.safe:
                return down, up, checked
            missed = np.array([k for k, verdict in enumerate(checked.verdicts) if verdict.result != MET])
            down, up = self._on_grid(grid, *self._mended(grid, down, up, missed))
        raise SolverError.one("intervals", "could not be widened until they are safe.", "Report this.")

    def _mended(self, grid: Grid, down: NDArray[np.int64], up: NDArray[np.int64], missed: NDArray[np.int64]) -> Ends:
        factor = float(grid.factor)
        for goal in missed.tolist():
            wider = mended(
                self.task,
                goal,
                Fraction(1, grid.factor),
                (down / factor, up / factor),
                self._dearness(grid, down + up > 0),
                self.most,
                self.call,
            )
            down = np.maximum(down, grid.outward(wider[0], grid.room(self.task.down)))
            up = np.maximum(up, grid.outward(wider[1], grid.room(self.task.up)))
        return down, up

    def _dearness(self, grid: Grid, wide: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what a count more costs below and above, where ranges have a price each: new ones are dear."""
        down, up = (cost[self.task.cells] for cost in self.costs)
        if self.fixed is None:
            return down, up
        more = np.where(wide, 0.0, self.fixed[self.task.cells] * grid.factor)
        return down + more, up + more

    def _on_grid(self, grid: Grid, down: NDArray[np.int64], up: NDArray[np.int64]) -> Ends:
        """Return ends that have no more decimals than are published; ends at the attackers' bounds stay there."""
        step = grid.step
        if bool((step == 1).all()):
            return down, up
        truth = self.risk.table.amounts[self.task.cells].to(grid.fine).counts
        lower, upper = truth - down, truth + up
        wide = (down + up > 0) & ~self.still
        lower, upper = (
            np.where(wide, lower // step * step, lower),
            np.where(wide, -(-upper // step) * step, upper),
        )
        return (
            np.minimum(truth - lower, np.maximum(grid.room(self.task.down), down)),
            np.minimum(upper - truth, np.maximum(grid.room(self.task.up), up)),
        )

    def _concluded(self, grid: Grid, down: NDArray[np.int64], up: NDArray[np.int64], found: Conclusions) -> Ends:
        """Return what attackers can conclude, each end as far as the least of them gets, rounded outward."""
        column = np.full(len(self.risk), -1, dtype=np.int64)
        column[self.task.cells] = np.arange(len(self.task))
        place = column[found.cells]
        scale = 10 ** (grid.fine - found.decimals.astype(object))
        ends = []
        truth = self.risk.table.amounts[self.task.cells].to(grid.fine).counts[place].astype(object)
        off, unknown = np.zeros((2, len(self.task)), dtype=bool)
        for answers, published, sign in ((found.down, down, -1), (found.up, up, 1)):
            open_ = ~answers.furthest | answers.endless | self.still[place]
            reached, denominator = answers.reach.astype(object) * scale, answers.denominator.astype(object)
            exact = -(-reached // denominator)
            between = (reached % denominator != 0) | ((truth + sign * exact) % grid.step[place] != 0)
            off[place[~open_ & np.asarray(between, dtype=bool)]] = True
            blind = ~answers.furthest & ~answers.endless & ~self.still[place]
            unknown[place[blind & np.asarray(exact < published[place], dtype=bool)]] = True
            far = np.where(open_, published[place], np.minimum(exact, published[place])).astype(np.int64)
            reach = np.zeros(len(self.task), dtype=np.int64)
            np.maximum.at(reach, place, far)
            ends.append(reach)
        self.coarse, self.unknown = int(off.sum()), int(unknown.sum())
        return self._completed(grid, (ends[0], ends[1]), (down, up)) if self.numbers else (ends[0], ends[1])

    def _completed(self, grid: Grid, ends: Ends, wide: Ends) -> Ends:
        """Return ends next to other numbers, widened where nothing would add up: towards wider ones, where it does."""
        narrow, open_ = self._pattern(grid, *ends), self._pattern(grid, *wide)
        table = None if adds_up(narrow) else completion(open_, narrow.bounds())
        if table is None:
            return ends
        cells = self.task.cells
        above = (table - self.risk.table.values)[cells] * 10.0**grid.fine
        down, up = (
            np.where(self.still, end, np.maximum(end, np.minimum(np.ceil(far - NEAR), most))).astype(np.int64)
            for end, far, most in zip(ends, (-above, above), wide, strict=True)
        )
        if not adds_up(self._pattern(grid, down, up)):
            down, up = wide
        self.eased = int(np.count_nonzero((down > ends[0]) | (up > ends[1])))
        return down, up

    def _rounded(self, grid: Grid, down: NDArray[np.int64], up: NDArray[np.int64]) -> Ends:
        """Return ends rounded outward as was asked.

        Raises
        ------
        SpecError
            They would leave an attacker's bounds, which tells readers nothing; or the base is finer than the grid.
        """
        truth = self.risk.table.amounts[self.task.cells].to(grid.fine).counts.astype(object)
        lower, upper = truth - down, truth + up
        wide = np.flatnonzero((down + up > 0) & ~self.still)
        for k in wide.tolist():
            lower[k] = _outward(int(lower[k]), grid.fine, self.method, up=False)
            upper[k] = _outward(int(upper[k]), grid.fine, self.method, up=True)
        new_down, new_up = (truth - lower).astype(np.int64), (upper - truth).astype(np.int64)
        beyond = (new_down > np.maximum(grid.room(self.task.down), down)) | (
            new_up > np.maximum(grid.room(self.task.up), up)
        )
        if bool(beyond.any()):
            labels = listed([self.risk.table.label(int(cell)) for cell in self.task.cells[beyond]])
            name = "digits" if self.method.digits is not None else "base"
            raise SpecError.one(
                name, f"would round ends beyond what attackers know anyway: {labels}.", "Round less, or not at all."
            )
        return new_down, new_up


def _outward(count: int, decimals: int, method: Intervals, *, up: bool) -> int:
    """Return an end rounded outward to significant digits or to a base, in the same counts."""
    if method.base is not None:
        base = Fraction(str(method.base)) * 10**decimals
    else:
        size = max(0, len(str(abs(count))) - (method.digits or 1)) if count else 0
        base = Fraction(10**size)
    steps = count / base
    rounded: Fraction = (math.ceil(steps) if up else math.floor(steps)) * base
    return math.ceil(rounded) if up else math.floor(rounded)
