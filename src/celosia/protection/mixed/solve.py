"""How mixed releases are run: branch and cut over all modes, from the best release of ranges and hidden cells alone."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError, SolverError, SpecError, list_items
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import rounded_modes
from celosia.protection.combined.solve import MixedIntegerIntervals
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.intervals.publish.consistency import adds_up
from celosia.protection.intervals.publish.ranges import AuditedRanges, RangeSlacks
from celosia.protection.intervals.solve import solve as solve_intervals
from celosia.protection.mixed.formulation import (
    Choice,
    HidingPrices,
    MixedModes,
    NumberPrices,
    formulate_without_numbers,
)
from celosia.protection.mixed.method import Mixed
from celosia.protection.mixed.numbers import Numbers, Perturbations, Roundings, perturbations_of, steps_of
from celosia.protection.mixed.parameters import MIXED, MixedParameters
from celosia.protection.perturbation.formulation import PerturbationModel
from celosia.protection.perturbation.method import Perturb
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import HIDE, Risk
from celosia.table.fixed import Fixed
from celosia.table.units import grains_of
from celosia.tolerance import NUMBER_ON_GRID

_WITHOUT_NUMBERS = 3
"""Where the variables of modes begin and end that have only ranges and hidden cells: so many places."""


def solve(risk: Risk, method: Mixed, run: Run, parameters: MixedParameters = MIXED) -> Protection:
    """Return a safe release in which every cell is published in one of its ways, with a bound; see `celosia.protect`.

    Guarantee: published numbers add up, exactly where a relation has nothing else, and elsewhere with values within
    ranges.
    """
    if method.reach is not None and method.secret is None:
        method = replace(method, secret=secrets.randbits(parameters.secret_bits))
    return solve_intervals(risk, method, run, _MixedSearch, parameters)


class _MixedSearch(MixedIntegerIntervals):
    """A search for a mixed release, and its publication."""

    method: Mixed
    parameters: MixedParameters

    @cached_property
    def prices(self) -> HidingPrices:
        """What ranges and hiding the columns of the problem cost."""
        cells = self.problem.cells
        below, above = (cost[cells] for cost in self.costs)
        hide, forced = self.method.hide_costs(self.asked), self.asked.status == HIDE
        return HidingPrices(below, above, hide[cells], forced[cells])

    def _refuse_cells_without_a_mode(self) -> None:
        """Refuse cells that must be hidden, or must not be shown, where no wish allows that.

        Raises
        ------
        SpecError
            With the cells by their labels.
        """
        no_hiding, forced = np.isinf(self.method.hide_costs(self.asked)), self.asked.status == HIDE
        numbers = np.zeros(len(self.asked), dtype=bool)
        numbers[self.problem.cells[self.numbers.columns]] = True
        shown = self.required.sensitive & no_hiding & ~self.method.ranges(self.asked) & ~numbers
        for wrong, said in ((forced & no_hiding, "must be hidden, but may not be"), (shown, "must be shown")):
            if bool(wrong.any()):
                labels = list_items([self.asked.table.label(int(cell)) for cell in np.flatnonzero(wrong)])
                raise SpecError.one("may_hide", f"and may_range leave no way: {labels} {said}.", "Allow one of them.")

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The greatest widths in counts of the problem: none where a cell may be no range."""
        return np.where(self.method.ranges(self.asked)[self.problem.cells], super().most, 0.0)

    @property
    def by_width(self) -> bool:
        """Whether widths are enough: never, as hiding opens more on one side than on the other."""
        return False

    @cached_property
    def numbers(self) -> Numbers:
        """The columns that may be rounded or perturbed."""
        problem, table = self.problem, self.asked.table
        units, step = steps_of(problem, self.asked, integer=self.run.integer)
        free = self.asked.status[problem.cells] != HIDE
        base = self.method.bases(table)
        if bool((base % units).any()):
            raise SpecError.one("round_base", "is no whole number.", "Counts are rounded to multiples of 3, 5 or 10.")
        grain = np.maximum(grains_of(table) // units, 1)
        base = base // units
        rounds = np.flatnonzero(((base > grain)[problem.cells]) & free)
        cells = problem.cells[rounds]
        truth = np.asarray(table.amounts.counts, dtype=np.int64)[cells] // units
        return Numbers(Roundings(rounds, base[cells], truth, grain[cells]), self._perturbations(free), step)

    def _perturbations(self, free: NDArray[np.bool_]) -> Perturbations:
        """Return which of the columns that need not be hidden may be perturbed, and how far."""
        reach = self.method.reaches(self.asked.table)[self.problem.cells]
        room = PerturbationModel(
            self.required, Perturb(1 if self.method.reach is None else self.method.reach), self.run.integer
        )
        return perturbations_of(room, self.problem, np.flatnonzero((reach > 0) & free), self.method.secret)

    def protection(self) -> Protection:
        """Return the release."""
        self._refuse_cells_without_a_mode()
        if not len(self.numbers.columns) or not len(self.problem.requirements):
            return super().protection()
        self._refuse_determined_cells()
        parameters = self.parameters
        mixed = MixedModes.of(self.problem, self.prices, self.most, self.numbers, self._number_prices, parameters)
        search = self._search(mixed.modes)
        self._start_without_numbers(search)
        ceiling = np.inf
        for _ in range(parameters.refused_choices):
            self._suggest(search, mixed.widest)
            self._run_to_end(search)
            if search.best is None:
                raise self._failure() if self.run.clock.left <= 0 else _no_choice()
            placed = self._publish_additive(self._slacks(search.modes, search.best))
            if placed is not None:
                return self._result(placed, min(search.bound, ceiling))
            ceiling = min(ceiling, search.bound)
            if not search.forbid(search.best):
                break
        raise SolverError.one("mixed", "found no release that passes the audit.", "Allow more, or report this.")

    def _formulate_by_ends(self) -> Modes:
        """Return the modes in which cells are shown, hidden or ranges, whose ends are variables."""
        return formulate_without_numbers(self.problem, self.prices, self.most)

    def _slacks(self, modes: Modes, v: NDArray[np.float64]) -> RangeSlacks:
        """Return the ranges, hidden cells and numbers of a point."""
        if len(modes.starts) <= _WITHOUT_NUMBERS:
            return replace(super()._slacks(modes, v), hidden=modes.hides(v))
        return self._publish_choice(MixedModes(modes, self.numbers).read(v))

    def _publish_additive(self, slacks: RangeSlacks) -> AuditedRanges | None:
        """Return a release that passes the audit and adds up, None where solvers' tolerances promised too much."""
        try:
            placed = self._publish(slacks)
        except InfeasibleError:
            return None
        return placed if adds_up(placed.pattern) else None

    def _place_quickly(self, slacks: RangeSlacks) -> AuditedRanges | None:
        """Return a release that passes the audit and adds up, not narrowed; None where there is none."""
        placed = super()._place_quickly(slacks)
        return placed if placed is not None and adds_up(placed.pattern) else None

    def _start_without_numbers(self, search: ModeSearch) -> None:
        """Suggest the best release without rounded and perturbed cells as the incumbent."""
        modes, hear = self._formulate_by_ends(), partial(self._hear, bound=search.bound)
        without = self._search(modes, self._shorten(self.run, self.parameters.numberless_share), hear)
        self._run_from_ranges(without)
        self._suggest(search, without.best)

    @cached_property
    def _number_prices(self) -> NumberPrices:
        cells = self.problem.cells
        return NumberPrices(self._move_cost[cells], self._number_cost[cells])

    @cached_property
    def _move_cost(self) -> NDArray[np.float64]:
        return self.method.costs_named("move_cost", self.asked)

    @cached_property
    def _number_cost(self) -> NDArray[np.float64]:
        return self.method.costs_named("number_cost", self.asked)

    def _publish_choice(self, choice: Choice) -> RangeSlacks:
        """Return what a point chose as ranges, hidden cells and modes of numbers."""
        numbers: list[Mode] = []
        table, cells = self.asked.table, self.problem.cells
        units = steps_of(self.problem, self.asked, integer=self.run.integer)[0]
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


def _no_choice() -> CelosiaError:
    remedy = "Allow more cells to be hidden or to be ranges, wider ranges, a larger base or a larger reach."
    return InfeasibleError.one("protection", "is impossible: no choice of what is allowed is safe and adds up.", remedy)
