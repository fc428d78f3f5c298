"""Ranges with a price each: combined suppression at work."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError
from celosia.protection.combined.method import Combined
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.separation import REACHED, Press
from celosia.protection.intervals.formulation import Prices, by_ends, by_widths
from celosia.protection.intervals.publish.placement import Slacks
from celosia.protection.intervals.solve import Ranging
from celosia.protection.intervals.solve import solve as solve_intervals
from celosia.protection.result import Protection
from celosia.protection.run import Call
from celosia.risk.risk import Risk
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

_LITTLE = 2.0
"""Seconds: with no more than this a search had better find one good release than improve a bad one."""

_FIRST, _SAFE_FIRST = 0.25, 0.5
"""This share of the time goes into ranges without other prices and ways, from which a search starts.

More where somebody attacks them: the first release that he has nothing against is worth waiting for.
"""


def solve(risk: Risk, method: Combined, call: Call) -> Protection:
    """Return few narrow ranges that are safe, with a bound on what any such ranges cost; see `celosia.protect`."""
    return solve_intervals(risk, method, call, _Combining)


def shorter(call: Call, share: float) -> Call:
    """Return the same call with a share of the time that is left, and with all of it where that is little."""
    left = call.clock.left
    return replace(call, clock=Clock(None if math.isinf(left) else max(share * left, min(left, _LITTLE))))


class Engaged(Ranging):
    """Ranges that only the engine of modes can find."""

    def _in_general(self) -> tuple[Slacks, float]:
        """Return slacks by the general model and a bound."""
        search = self._search(by_ends(self.task, self.prices, self.most))
        self._run(search)
        if search.best is None:
            raise self._failure()
        return self._found(search)

    def _run(self, search: ModeSearch) -> None:
        """Run a search from the cheapest ranges without other prices and ways, which a linear program finds."""
        plain = by_ends(self.task, Prices(self.prices.down, self.prices.up), self.most)
        share = _FIRST if self.call.oracle is None else _SAFE_FIRST
        first = self._search(plain, shorter(search.call, share), lambda _: None)
        self._finished(first)
        self._suggest(search, first.best)
        self._finished(search)

    def _suggest(self, search: ModeSearch, first: NDArray[np.float64] | None) -> None:
        """Suggest a point by its first variables: ends of ranges, and what hides columns."""
        self._tell(search)
        if first is None:
            return
        program, opening, n = search.modes.program, search.modes.opening, len(self.task)
        point = np.maximum(program.lower, 0.0)
        point[: len(first)] = np.clip(first, program.lower[: len(first)], program.upper[: len(first)])
        wide = (point[:n] > 0) | (point[n : 2 * n] > 0)
        point[opening[wide & (opening >= 0)]] = 1.0
        try:
            search.suggest(point)
        except KeyboardInterrupt:
            self.call.clock.stop()

    def _failure(self) -> CelosiaError:
        if self.call.clock.left <= 0:
            return OutOfTimeError.one("time_limit", "was reached before a safe release was known.", "Allow more time.")
        modes = by_ends(self.task, self.prices, self.most)
        press = Press(self.task, modes, backends()[0])
        program = modes.program
        widest = np.where(np.isfinite(program.upper), program.upper, float(press.sides.levels.max(initial=1.0)))
        ends = 2 * len(self.task)
        widest[:ends] = np.minimum(widest[:ends], np.tile(self.most / modes.unit, 2))
        missed = press.sides.columns[press.attack(widest).reached < 1.0 - REACHED]
        if len(missed):
            return self._refusal(missed)
        return InfeasibleError.one("protection", "is impossible with what may be published.", "Allow more.")


class _Combining(Engaged):
    """A combined suppression at work."""

    method: Combined

    @cached_property
    def prices(self) -> Prices:
        """What ranges of the columns of the task cost."""
        below, above = (cost[self.task.cells] for cost in self.costs)
        sensitive = int(self.required.sensitive.sum())
        if self.method.at_most is not None and self.method.at_most < sensitive:
            raise InfeasibleError.one(
                "at_most", f"is {self.method.at_most}, but {sensitive} cells are sensitive: each is a range."
            )
        return Prices(below, above, self.method.cell_costs(self.asked)[self.task.cells], self.method.at_most)

    @property
    def by_width(self) -> bool:
        """Whether widths are enough: one attacker, equal costs, sliding levels only."""
        return self.sliding and super().by_width

    def _by_width(self) -> tuple[Slacks, float] | None:
        """Return slacks by widths and a bound; None where those widths cannot be placed."""
        search = self._engaged(*by_widths(self.task, self.prices, self.most))
        if search.best is None:
            raise self._failure()
        n = len(self.task)
        half = search.best[:n] * (search.modes.unit / 2)
        placed = self._shifted(Slacks(half, half))
        return self._around(search.best[n:], search.bound) if placed is None else (placed, search.bound)

    def _around(self, open_: NDArray[np.float64], bound: float) -> tuple[Slacks, float] | None:
        """Return ranges of cells whose widths cannot be placed, with both ends as variables."""
        modes = by_ends(self.task, self.prices, self.most)
        start = np.concatenate([np.zeros(len(modes.program.cost) - len(open_)), open_])
        search = self._engaged(self.task, modes, start, bound)
        return None if search.best is None else self._found(search)
