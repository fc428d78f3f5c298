"""Mixed releases at work: ranges and hidden cells, and rounded and perturbed ones, in one optimisation."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError, SolverError, SpecError, listed
from celosia.pattern.entries import HIDDEN, PERTURBED, ROUNDED, of_status
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import rounded_modes
from celosia.pattern.pattern import Pattern
from celosia.protection.combined.solve import Engaged, shorter
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.intervals.formulation import Prices, by_ends
from celosia.protection.intervals.publish.consistency import adds_up
from celosia.protection.intervals.publish.placement import Placed, Slacks
from celosia.protection.intervals.solve import solve as solve_intervals
from celosia.protection.mixed.formulation import Choice, MixedModes, NumberPrices
from celosia.protection.mixed.method import Mixed
from celosia.protection.mixed.numbers import Moves, Numbers, Roundings, moves_of, steps_of
from celosia.protection.perturbation.formulation import Room
from celosia.protection.perturbation.method import Perturb
from celosia.protection.result import Protection
from celosia.protection.rounding.method import grains_of
from celosia.protection.run import Call
from celosia.risk.risk import HIDE, Risk
from celosia.table.fixed import Fixed

_SECRET_BITS = 64

_WITHOUT = 0.5
"""This share of the time goes into a release without rounded and perturbed cells, from which the search starts."""

_TRIES = 20
"""So many choices that the audit refuses are forbidden before something must be wrong."""

_WITHOUT_NUMBERS = 3
"""So many places begin or end the variables of modes that have only ranges and hidden cells."""

_NEAR = 1e-3
"""A slack this close to the decimals of the table, in steps, is there: search reaches levels to doubles only."""


def solve(risk: Risk, method: Mixed, call: Call) -> Protection:
    """Return a safe release in which every cell is published in one of its ways, with a bound; see `celosia.protect`.

    Guarantee: published numbers add up, exactly where a relation has nothing else, and elsewhere with values within
    ranges.
    """
    if method.reach is not None and method.secret is None:
        method = replace(method, secret=secrets.randbits(_SECRET_BITS))
    return solve_intervals(risk, method, call, _Mixing)


class _Mixing(Engaged):
    """A mixed release at work."""

    method: Mixed

    @cached_property
    def prices(self) -> Prices:
        """What ranges and hiding the columns of the task cost."""
        cells = self.task.cells
        below, above = (cost[cells] for cost in self.costs)
        hide = self.method.hide_costs(self.asked)
        forced = self.asked.status == HIDE
        self._refuse(forced & np.isinf(hide), "must be hidden, but may not be")
        other = np.zeros(len(self.asked), dtype=bool)
        other[cells[self.numbers.columns]] = True
        self._refuse(
            self.required.sensitive & np.isinf(hide) & ~self.method.ranges(self.asked) & ~other, "must be shown"
        )
        return Prices(below, above, hide=hide[cells], forced=forced[cells])

    def _refuse(self, wrong: NDArray[np.bool_], said: str) -> None:
        if bool(wrong.any()):
            labels = listed([self.asked.table.label(int(cell)) for cell in np.flatnonzero(wrong)])
            raise SpecError.one("may_hide", f"and may_range leave no way: {labels} {said}.", "Allow one of them.")

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The greatest widths in counts of the task: none where a cell may be no range."""
        return np.where(self.method.ranges(self.asked)[self.task.cells], super().most, 0.0)

    @property
    def by_width(self) -> bool:
        """Whether widths are enough: never, as hiding opens more on one side than on the other."""
        return False

    @cached_property
    def numbers(self) -> Numbers:
        """The columns that may be rounded or perturbed."""
        task, table = self.task, self.asked.table
        units, step = steps_of(task, self.asked, integer=self.call.integer)
        free = self.asked.status[task.cells] != HIDE
        base = self.method.bases(table)
        if bool((base % units).any()):
            raise SpecError.one("round_base", "is no whole number.", "Counts are rounded to multiples of 3, 5 or 10.")
        grain = np.maximum(grains_of(table) // units, 1)
        base = base // units
        rounds = np.flatnonzero(((base > grain)[task.cells]) & free)
        cells = task.cells[rounds]
        truth = np.asarray(table.amounts.counts, dtype=np.int64)[cells] // units
        return Numbers(Roundings(rounds, base[cells], truth, grain[cells]), self._moves(free), step)

    def _moves(self, free: NDArray[np.bool_]) -> Moves:
        """Return which of the columns that need not be hidden may be perturbed, and how far."""
        reach = self.method.reaches(self.asked.table)[self.task.cells]
        room = Room(self.required, Perturb(1 if self.method.reach is None else self.method.reach), self.call.integer)
        return moves_of(room, self.task, np.flatnonzero((reach > 0) & free), self.method.secret)

    def protection(self) -> Protection:
        """Return the release."""
        if not len(self.numbers.columns) or not len(self.task.goals):
            return super().protection()
        self._refuse_cells_that_follow()
        mixed = MixedModes.of(self.task, self.prices, self.most, self.numbers, self._number_prices)
        search = self._search(mixed.modes)
        self._begin(search)
        ceiling = np.inf
        for _ in range(_TRIES):
            self._suggest(search, mixed.widest)
            self._finished(search)
            if search.best is None:
                raise self._failure() if self.call.clock.left <= 0 else _no_choice()
            placed = self._checked(self._slacks(search.modes, search.best))
            if placed is not None:
                return self._result(placed, min(search.bound, ceiling))
            ceiling = min(ceiling, search.bound)
            if not search.forbid(search.best):
                break
        raise SolverError.one("mixed", "found no release that passes the audit.", "Allow more, or report this.")

    def _slacks(self, modes: Modes, v: NDArray[np.float64]) -> Slacks:
        """Return what a point publishes, with other numbers or without."""
        if len(modes.starts) <= _WITHOUT_NUMBERS:
            return super()._slacks(modes, v)
        return self._chosen(MixedModes(modes, self.numbers).read(v))

    def _checked(self, slacks: Slacks) -> Placed | None:
        """Return a release that passes the audit and adds up, None where solvers' tolerances promised too much."""
        try:
            placed = self._placed(slacks)
        except InfeasibleError:
            return None
        return placed if adds_up(placed.pattern) else None

    def _audited_quickly(self, slacks: Slacks) -> Placed | None:
        """Return the same quickly, None where it does not pass or add up."""
        placed = super()._audited_quickly(slacks)
        return placed if placed is not None and adds_up(placed.pattern) else None

    def _begin(self, search: ModeSearch) -> None:
        """Let a search begin with the best release without other numbers."""
        modes, hear = by_ends(self.task, self.prices, self.most), partial(self._hear, bound=search.bound)
        without = self._search(modes, shorter(self.call, _WITHOUT), hear)
        self._run(without)
        self._suggest(search, without.best)

    @cached_property
    def _number_prices(self) -> NumberPrices:
        cells = self.task.cells
        return NumberPrices(self._move_cost[cells], self._number_cost[cells])

    @cached_property
    def _move_cost(self) -> NDArray[np.float64]:
        return self.method.priced("move_cost", self.asked)

    @cached_property
    def _number_cost(self) -> NDArray[np.float64]:
        return self.method.priced("number_cost", self.asked)

    def _chosen(self, choice: Choice) -> Slacks:
        """Return what was chosen as it is published."""
        numbers: list[Mode] = []
        table, cells = self.asked.table, self.task.cells
        units = steps_of(self.task, self.asked, integer=self.call.integer)[0]
        if len(choice.rounded):
            own = cells[choice.rounded]
            base = self.method.bases(table)[own]
            values = Fixed(choice.multiples * base, table.decimals)
            extra = np.zeros(len(own), dtype=np.int64)
            numbers += rounded_modes(own, values, Fixed(base, table.decimals), table, extra)
        if len(choice.perturbed):
            own = cells[choice.perturbed]
            truth = np.asarray(table.amounts.counts, dtype=np.int64)[own]
            reach, cost = Fixed(self.method.reaches(table)[own], table.decimals), self._move_cost[own]
            values = Fixed(truth + choice.moves * units, table.decimals)
            numbers.append(Perturbed(own, values, reach, cost, cost, table=table))
        down, up = (self._snapped(slack) for slack in (choice.down, choice.up))
        return Slacks(down, up, choice.hidden, tuple(numbers))

    def _snapped(self, slack: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return slacks, on the decimals of the table where they are next to them; the audit has the last word."""
        near = np.rint(slack / self.numbers.step) * self.numbers.step
        return np.where(np.abs(slack - near) <= _NEAR * self.numbers.step, near, slack)

    def _loss(self, pattern: Pattern) -> float:
        """Return what a pattern costs, hiding and other numbers at their own prices."""
        hide = self.method.hide_costs(self.asked)
        prices = {HIDDEN: np.where(np.isinf(hide), 0.0, hide), ROUNDED: self._move_cost}
        moved = of_status(pattern.status, (ROUNDED, PERTURBED))
        fixed = float(self._number_cost[moved].sum())
        return fixed + sum(mode.loss(pattern.table, prices.get(mode.status, self.asked.cost)) for mode in pattern.modes)


def _no_choice() -> CelosiaError:
    remedy = "Allow more cells to be hidden or to be ranges, wider ranges, a larger base or a larger reach."
    return InfeasibleError.one("protection", "is impossible: no choice of what is allowed is safe and adds up.", remedy)
