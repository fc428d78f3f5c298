"""The problem of mixed releases: every cell is shown, hidden, a range, rounded or perturbed, each at its price."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, SpecError, list_items, pluralise
from celosia.pattern.entries import HIDDEN, INTERVAL, PERTURBED, ROUNDED, of_status
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import rounded_modes
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.intervals.descent import Hiding
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.publish.consistency import adds_up
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.mixed.formulation import (
    Choice,
    HidingPrices,
    MixedModes,
    NumberPrices,
    formulate_without_numbers,
)
from celosia.protection.mixed.method import Mixed
from celosia.protection.mixed.numbers import Numbers, Perturbations, Roundings, perturbations_of, steps_of
from celosia.protection.mixed.parameters import MixedParameters
from celosia.protection.perturbation.formulation import PerturbationModel
from celosia.protection.perturbation.method import Perturb
from celosia.risk.risk import HIDE
from celosia.table.fixed import Fixed
from celosia.table.units import grains_of
from celosia.tolerance import NUMBER_ON_GRID

_WITHOUT_NUMBERS = 3
"""Where the variables of modes begin and end that have only ranges and hidden cells: so many places."""


class MixedProblem(RangeProblem):
    """What is to be published as a mixed release; see `celosia.protection.intervals.problem.RangeProblem`."""

    method: Mixed
    parameters: MixedParameters

    @cached_property
    def prices(self) -> HidingPrices:
        """What ranges and hiding the columns of the problem cost."""
        problem = self.problem
        below, above, hide = (problem.by_column(cost, 0.0) for cost in (*self.costs, self.method.hide_costs(self.risk)))
        hide = np.where(self.never_open, np.inf, hide)
        forced = problem.by_column(np.asarray(self.risk.status == HIDE), local=True)
        at_most, needed = self.method.at_most, int((self.required.sensitive | (self.risk.status == HIDE)).sum())
        if at_most is not None and at_most < needed:
            said = f"is {at_most}, but {pluralise(needed, 'cell')} must not be shown."
            raise InfeasibleError.one("at_most", said, "Allow more.")
        return HidingPrices(below, above, hide, forced, self.method.counts_ranges, at_most)

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The greatest widths in counts of the problem: none where a cell may be no range."""
        return np.where(self.problem.by_column(self.method.ranges(self.risk), local=False), super().most, 0.0)

    @property
    def hiding(self) -> Hiding:
        """What hiding the columns of the problem costs."""
        prices = self.prices
        return Hiding(prices.hide, np.zeros(len(self.problem), dtype=bool) if prices.forced is None else prices.forced)

    @cached_property
    def descends(self) -> bool:
        """Whether ranges are found by a descent over moves: no numbers are changed, and cells form no networks."""
        return not len(self.numbers.columns) and super().descends

    @property
    def by_width(self) -> bool:
        """Whether widths are enough: never, as hiding opens more on one side than on the other."""
        return False

    @cached_property
    def numbers(self) -> Numbers:
        """The columns that may be rounded or perturbed."""
        problem, table = self.problem, self.risk.table
        units, step = steps_of(problem, self.risk, integer=self.integer)
        free = problem.by_column(np.asarray(self.risk.status != HIDE), local=False) & ~self.never_open
        base = self.method.bases(table)
        if bool((base % units).any()):
            raise SpecError.one("round_base", "is no whole number.", "Counts are rounded to multiples of 3, 5 or 10.")
        grain = np.maximum(grains_of(table) // units, 1)
        base = base // units
        rounds = np.flatnonzero(problem.by_column(base > grain, local=False) & free)
        cells = problem.cells[rounds]
        truth = np.asarray(table.amounts.counts, dtype=np.int64)[cells] // units
        return Numbers(Roundings(rounds, base[cells], truth, grain[cells]), self._perturbations(free), step)

    def _perturbations(self, free: NDArray[np.bool_]) -> Perturbations:
        """Return which of the columns that need not be hidden may be perturbed, and how far."""
        reach = self.problem.by_column(self.method.reaches(self.risk.table), 0)
        room = PerturbationModel(
            self.required, Perturb(1 if self.method.reach is None else self.method.reach), self.integer
        )
        return perturbations_of(room, self.problem, np.flatnonzero((reach > 0) & free), self.method.secret)

    def formulate_by_ends(self) -> Modes:
        """Return the modes in which cells are shown, hidden or ranges, whose ends are variables."""
        return formulate_without_numbers(self.problem, self.prices, self.most, self.parameters)

    def read(self, modes: Modes, v: NDArray[np.float64]) -> RangeSlacks:
        """Return the ranges, hidden cells and numbers of a point."""
        if len(modes.starts) <= _WITHOUT_NUMBERS:
            return replace(super().read(modes, v), hidden=modes.hides(v))
        return self._publish_choice(MixedModes(modes, self.numbers).read(v))

    def accepts(self, pattern: Pattern) -> bool:
        """Return whether every cell is published in a way that it may be, and numbers and values in ranges add up.

        And no more cells than allowed are not shown.
        """
        if not super().accepts(pattern):
            return False
        ranges = pattern.status == INTERVAL
        hidden = (pattern.status == HIDDEN) & (self.risk.status != HIDE)
        allowed = bool(self.method.ranges(self.risk)[ranges].all())
        allowed = allowed and bool(np.isfinite(self.method.hide_costs(self.risk))[hidden].all())
        numbers = of_status(pattern.status, (ROUNDED, PERTURBED))  # without any the true values add up
        return allowed and (not bool(numbers.any()) or adds_up(pattern))

    def _publish_choice(self, choice: Choice) -> RangeSlacks:
        """Return what a point chose as ranges, hidden cells and modes of numbers."""
        numbers: list[Mode] = []
        table, cells = self.risk.table, self.problem.cells
        units = steps_of(self.problem, self.risk, integer=self.integer)[0]
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
        down, up = (self._snap(slack) for slack in (choice.down, choice.up))
        return RangeSlacks(down, up, choice.hidden, tuple(numbers))

    def _snap(self, slack: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return slacks, on the decimals of the table where they are next to them; the audit has the last word."""
        near = np.rint(slack / self.numbers.step) * self.numbers.step
        return np.where(np.abs(slack - near) <= NUMBER_ON_GRID * self.numbers.step, near, slack)

    @cached_property
    def number_prices(self) -> NumberPrices:
        """What other numbers of the columns of the problem cost."""
        return NumberPrices(*(self.problem.by_column(cost, 0.0) for cost in (self._move_cost, self._number_cost)))

    @cached_property
    def _move_cost(self) -> NDArray[np.float64]:
        return self.method.costs_named("move_cost", self.risk)

    @cached_property
    def _number_cost(self) -> NDArray[np.float64]:
        return self.method.costs_named("number_cost", self.risk)

    def refuse_cells_without_a_mode(self) -> None:
        """Refuse cells that must be hidden, or must not be shown, where no wish allows that.

        Raises
        ------
        SpecError
            With the cells by their labels.
        """
        no_hiding, forced = np.isinf(self.method.hide_costs(self.risk)), self.risk.status == HIDE
        numbers = np.zeros(len(self.risk), dtype=bool)
        numbers[self.problem.cells[self.numbers.columns]] = True
        shown = self.required.sensitive & no_hiding & ~self.method.ranges(self.risk) & ~numbers
        for wrong, said in ((forced & no_hiding, "must be hidden, but may not be"), (shown, "must be shown")):
            if bool(wrong.any()):
                labels = list_items([self.risk.table.label(int(cell)) for cell in np.flatnonzero(wrong)])
                raise SpecError.one("may_hide", f"and may_range leave no way: {labels} {said}.", "Allow one of them.")
