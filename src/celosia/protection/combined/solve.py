"""How combined suppression is run: branch and cut over ranges with fixed costs, begun with the cheapest without."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError
from celosia.protection.combined.formulation import (
    FixedPrices,
    formulate_by_ends,
    formulate_by_widths,
    prices_of,
    widest_range,
)
from celosia.protection.combined.method import Combined
from celosia.protection.combined.parameters import COMBINED, CombinedParameters
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.admm.product import Product
from celosia.protection.intervals.formulation import formulate_by_ends as formulate_ranges
from celosia.protection.intervals.formulation import offer_range_ends
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.solve import IntervalSearch
from celosia.protection.intervals.solve import solve as solve_intervals
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import Risk
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.tolerance import LEVEL_REACHED


def solve(risk: Risk, method: Combined, run: Run, parameters: CombinedParameters = COMBINED) -> Protection:
    """Return few narrow ranges that are safe, with a bound on what any such ranges cost; see `celosia.protect`."""
    return solve_intervals(risk, method, run, _CombinedSearch, parameters)


class MixedIntegerIntervals(IntervalSearch):
    """Interval publication whose formulation has binary variables (fixed costs, suppression)."""

    parameters: CombinedParameters

    def _product(self) -> Product | None:
        """Return None: the splitting method knows no binary variables."""
        return None

    def _solve_by_ends(self) -> tuple[RangeSlacks, float]:
        """Return slacks by the model whose variables are both ends of every range, and a bound."""
        search = self._search(self._formulate_by_ends())
        self._run_from_ranges(search)
        if search.best is None:
            raise self._failure()
        return self._read(search)

    def _shorten(self, run: Run, share: float) -> Run:
        """Return a run with a share of the time that is left, and with all of it where that is little."""
        left = run.clock.left
        seconds = None if math.isinf(left) else max(share * left, min(left, self.parameters.least_seconds))
        return replace(run, clock=Clock(seconds))

    def _run_from_ranges(self, search: ModeSearch) -> None:
        """Run a search from the cheapest ranges without binary variables, which cuts of a linear program find."""
        ranges = formulate_ranges(self.problem, self.prices, self.most)
        parameters = self.parameters
        share = parameters.first_share if self.run.oracle is None else parameters.first_share_with_oracle
        first = self._search(ranges, self._shorten(search.run, share), lambda _: None)
        self._run_to_end(first)
        self._suggest(search, first.best)
        self._run_to_end(search)

    def _suggest(self, search: ModeSearch, first: NDArray[np.float64] | None) -> None:
        """Suggest a point as the incumbent by its first variables: ends of ranges, and what hides columns."""
        self._update_requirements(search)
        if first is None:
            return
        program, opening, n = search.modes.program, search.modes.opening, len(self.problem)
        point = np.maximum(program.lower, 0.0)
        point[: len(first)] = np.clip(first, program.lower[: len(first)], program.upper[: len(first)])
        wide = (point[:n] > 0) | (point[n : 2 * n] > 0)
        point[opening[wide & (opening >= 0)]] = 1.0
        try:
            search.suggest(point)
        except KeyboardInterrupt:
            self.run.clock.stop()

    def _failure(self) -> CelosiaError:
        """Return the error of a search without an incumbent, with the cells that the widest ranges leave unsafe."""
        if self.run.clock.left <= 0:
            return OutOfTimeError.one("time_limit", "was reached before a safe release was known.", "Allow more time.")
        modes = self._formulate_by_ends()
        separator = CapacitySeparator(self.problem, modes, backends()[0], self.parameters.search.separation)
        program = modes.program
        largest = float(separator.sides.levels.max(initial=1.0))
        widest = np.where(np.isfinite(program.upper), program.upper, largest)
        ends = 2 * len(self.problem)
        widest[:ends] = np.minimum(widest[:ends], np.tile(self.most / modes.unit, 2))
        missed = separator.sides.columns[separator.separate(widest).reached < 1.0 - LEVEL_REACHED]
        if len(missed):
            return self._refusal(missed)
        return InfeasibleError.one("protection", "is impossible with what may be published.", "Allow more.")


class _CombinedSearch(MixedIntegerIntervals):
    """A search for ranges with a fixed cost each, and their publication."""

    method: Combined

    @cached_property
    def prices(self) -> FixedPrices:
        """What ranges of the columns of the problem cost."""
        sensitive = int(self.required.sensitive.sum())
        if self.method.at_most is not None and self.method.at_most < sensitive:
            raise InfeasibleError.one(
                "at_most", f"is {self.method.at_most}, but {sensitive} cells are sensitive: each is a range."
            )
        return prices_of(self.problem, self.method, self.asked)

    @property
    def fixed_costs(self) -> NDArray[np.float64]:
        """What a range costs whatever its width, of every cell of the table, zero where it is none."""
        costs = np.zeros(len(self.required))
        costs[self.problem.cells] = self.prices.fixed
        return costs

    @property
    def by_width(self) -> bool:
        """Whether widths are enough: one attacker, equal costs, sliding levels only."""
        return self.sliding and super().by_width

    def _formulate_by_ends(self) -> Modes:
        """Return the modes in which both ends of every range are variables."""
        return formulate_by_ends(self.problem, self.prices, self.most, self.parameters.widest_levels)

    def _furthest(self, problem: ProtectionProblem) -> NDArray[np.float64]:
        """Return how far ranges may reach, ``(2 n,)``."""
        widest = widest_range(problem, self.parameters.widest_levels)
        return offer_range_ends(problem, self.prices, self.most, 1.0, widest).upper

    def _solve_by_widths(self) -> tuple[RangeSlacks, float] | None:
        """Return slacks by widths and a bound; None where those widths cannot be placed."""
        search = self._solve(*formulate_by_widths(self.problem, self.prices, self.most, self.parameters.widest_levels))
        if search.best is None:
            raise self._failure()
        n = len(self.problem)
        half = search.best[:n] * (search.modes.unit / 2)
        placed = self._shift(RangeSlacks(half, half))
        return self._solve_with_open(search.best[n:], search.bound) if placed is None else (placed, search.bound)

    def _solve_with_open(self, open_: NDArray[np.float64], bound: float) -> tuple[RangeSlacks, float] | None:
        """Return ranges by both ends, from the binary variables of widths that cannot be placed; None for no ranges."""
        modes = self._formulate_by_ends()
        start = np.concatenate([np.zeros(len(modes.program.cost) - len(open_)), open_])
        search = self._solve(self.problem, modes, start, bound)
        return None if search.best is None else self._read(search)

    def _solve(
        self, problem: ProtectionProblem, modes: Modes, start: NDArray[np.float64] | None = None, bound: float = -np.inf
    ) -> ModeSearch:
        """Return a search at its end; it may start from the whole numbers of a point and a valid bound."""
        search = ModeSearch(problem, modes, backends()[0], self.run, self._hear, parameters=self.parameters.search)
        try:
            if start is not None:
                search.begin(start, bound)
        except KeyboardInterrupt:
            self.run.clock.stop()
        self._run_to_end(search)
        return search
