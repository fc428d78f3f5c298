r"""Fewer ranges at the same cost: a range that hardly counts beside widths is closed where others make up for it.

Where a range costs 1, or nothing, beside widths of millions, a search has no reason to save ranges, and ends with many
narrow ones. Here every range is charged, by slope scaling (Kim and Pardalos 1999): with the whole numbers of the
incumbent and its ranges alone,

.. math:: \min\ w z + \sum_i \frac{\lambda}{W_i} (z_i^+ + z_i^-)

is solved again and again, :math:`W_i` being the widths of the last solution, so that ranges that stay as they are
are charged :math:`\lambda` and narrower ones are closed. Charges grow as long as the cost stays below a limit: hardly
more than the incumbent costs, or whatever is within the gap that is asked for. What a first charge leaves of that is
spent on single cells (`celosia.protection.combined.closing`), which closes more of them than higher charges do. Where a
gap is asked for, single cells are flipped before (`celosia.protection.engine.heuristics.flipping`), and a tree raises
the bound, because both leave more to spend.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.combined.closing import Closing
from celosia.protection.combined.parameters import CombinedParameters
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.intervals.search import RangeSearches, RangesT
from celosia.solve.clock import Clock
from celosia.solve.deadline import DeadlineError
from celosia.solve.registry import backends

Floats = NDArray[np.float64]


def thin_ranges(searches: RangeSearches[RangesT], search: ModeSearch, parameters: CombinedParameters) -> Floats | None:
    """Return the incumbent of a search, or a safe point with fewer ranges that costs hardly more; None for none.

    Not in small tables, which are solved to the optimum, nor where ranges have a cost that counts, which a search has
    weighed, nor where cells form no networks, which takes too long, nor where cells have levels under a condition, nor
    where respondents attack: they would have to attack it again.
    """
    best, whole = search.best, searches.run.clock.whole
    small = len(searches.ranges.problem) < parameters.start_columns
    conditional = bool(searches.ranges.method.conditional)
    if best is None or small or conditional or searches.run.oracle is not None or search.separator.has_programs:
        return best
    if _count_costs(search, best) > parameters.counting_share * abs(search.modes.cost(best)):
        return best
    share = parameters.thinning_share_in_gap if search.run.gap > 0 else parameters.thinning_share
    thinning = _Thinning(search, best, whole.share_of_rest(share), parameters)
    try:
        with suppress(DeadlineError, SolverError, ArithmeticError):
            thinning.improve()
            thinning.run()
    except KeyboardInterrupt:
        searches.run.clock.stop()
    return thinning.best


def _count_costs(search: ModeSearch, v: Floats) -> float:
    """Return what the ranges of a point cost, whatever their widths."""
    modes = search.modes
    opening = modes.opening[modes.opening >= 0]
    return float(modes.program.cost[opening] @ v[opening])


@dataclass(eq=False)
class _Thinning:
    """The point of a search with the fewest ranges so far."""

    search: ModeSearch
    best: Floats
    clock: Clock
    parameters: CombinedParameters

    @cached_property
    def _opens(self) -> sp.csr_array:
        """How far every variable that is no whole number opens every column, both sides together."""
        modes = self.search.modes
        continuous = np.ones(len(modes.program.cost))
        continuous[modes.integers] = 0.0
        return sp.csr_array((abs(modes.up) + abs(modes.down)) @ sp.diags_array(continuous))

    @property
    def _dearest_within_the_gap(self) -> float:
        """What a point may cost so that the search would have taken it as the last."""
        bound, gap = self.search.bound, self.search.run.gap
        return bound / (1.0 - gap) if bound > 0 and gap < 1 else bound

    def _count(self, v: Floats) -> int:
        """Return of how many columns less than the value is published."""
        return int(np.count_nonzero(self._is_open(v)))

    def _is_open(self, v: Floats) -> NDArray[np.bool_]:
        """Return which columns are ranges or hidden at a point."""
        return np.asarray((self._opens @ v > 0) | self.search.modes.hides(v))

    def improve(self) -> None:
        """Look for a cheaper point and a better bound where a gap is allowed: fewer ranges may cost more then."""
        parameters = self.parameters
        if self.search.run.gap > 0:
            self.search.flip(self.clock.share_of_rest(parameters.thinning_flips))
            if self.clock.left > parameters.least_seconds:
                self.search.branch(self.clock.share_of_rest(parameters.thinning_tree))
            self.best = self.best if self.search.best is None else self.search.best

    def run(self) -> None:
        """Charge ranges a little, close them one by one, and charge the others more, as far as cost and time allow."""
        parameters, cost = self.parameters, self.search.modes.cost(self.best)
        if not parameters.charges:
            return
        limit = max(cost + parameters.thinning_loss * abs(cost), self._dearest_within_the_gap)
        charge = (limit - cost) / max(self._count(self.best), 1)
        cuts, cheap = self._charge(parameters.charges[0] * charge, limit, self.search.cuts)
        if self.search.run.gap > 0:  # much may be spent, and single ranges cost less than charges
            cuts = self._close_cheapest(limit, cuts)
        if cheap:
            cuts = self._charge_more(charge, limit, cuts)
        if not self.search.run.gap > 0:
            self._close_cheapest(limit, cuts)

    def _charge_more(self, charge: float, limit: float, cuts: list[Cut]) -> list[Cut]:
        """Charge ranges more and more, as long as the cost allows it; then a little less. Return cuts."""
        paid = self.parameters.charges[0] * charge
        for times in self.parameters.charges[1:]:
            cuts, cheap = self._charge(times * charge, limit, cuts)
            if not cheap:
                break
            paid = times * charge
        else:
            return cuts
        dear = times * charge
        for _ in range(self.parameters.charge_halvings if paid else 0):
            between = float(np.sqrt(paid * dear))
            cuts, cheap = self._charge(between, limit, cuts)
            paid, dear = (between, dear) if cheap else (paid, between)
        return cuts

    def _charge(self, charge: float, limit: float, cuts: list[Cut]) -> tuple[list[Cut], bool]:
        """Charge every range so much, as long as there are fewer; return cuts, and whether that is within the limit."""
        known, at = np.inf, self.best
        while self.clock.left > 0 and self._count(at) < known:
            known = self._count(at)
            step = self._open(at, charge)
            step.relaxation.pool.add(cuts)
            step.solve()
            if step.best is None:
                return cuts, False
            cuts, at = step.cuts, self._close(step.best)
            if self.search.modes.cost(at) > limit:
                return cuts, False
            if self._count(at) < self._count(self.best):
                self.best = at
        return cuts, True

    def _close_cheapest(self, limit: float, cuts: list[Cut]) -> list[Cut]:
        """Close ranges, and show hidden columns, one by one; return cuts."""
        step = self._solve_among(self.best, cuts)
        if step.best is None or step.cost > limit:
            return cuts
        at = self._close(step.best)
        groups = self._groups(at)
        nearly = self.parameters.nearly_as_cheap * max(limit - step.cost, 0.0)
        closing = Closing(step, groups, limit, nearly, self.clock.share_of_rest(self.parameters.closing_share))
        closing.run()
        cuts, closed = step.cuts, closing.closed
        while closed and self.clock.left > 0:
            fewer = at.copy()
            fewer[np.concatenate([groups[group] for group in closed])] = 0.0
            last = self._solve_among(fewer, cuts)
            cuts, fewer = last.cuts, at if last.best is None else self._close(last.best)
            if self.search.modes.cost(fewer) <= limit and self._count(fewer) < self._count(self.best):
                self.best = fewer
                break
            closed = closed[: -(len(closed) + 9) // 10]  # a safe point may cost a little more than cuts know
        return cuts

    def _solve_among(self, at: Floats, cuts: list[Cut]) -> ModeSearch:
        """Return a search for the cheapest ranges among those of a point, at its end."""
        search = self._open(at, 0.0)
        search.relaxation.pool.add(cuts)
        search.solve()
        return search

    def _groups(self, v: Floats) -> list[NDArray[np.int64]]:
        """Return the variables of every column of a point that may be shown, the cheapest columns first."""
        modes, opens = self.search.modes, self._opens
        hides, cost = modes.hides(v), modes.program.cost
        able = self._is_open(v)
        able[self.search.separator.sides.columns] = False
        able[hides] &= modes.program.lower[modes.hiding[hides]] < 1.0
        prices = np.asarray(opens @ (cost * v)) + np.where(hides, cost[modes.hiding], 0.0)
        columns = np.flatnonzero(able)
        groups = []
        for column in columns[np.argsort(prices[columns], kind="stable")].tolist():
            own = opens.indices[opens.indptr[column] : opens.indptr[column + 1]].astype(np.int64)
            groups.append(np.append(own, modes.hiding[column]) if hides[column] else own)
        return groups

    def _open(self, at: Floats, charge: float) -> ModeSearch:
        """Return a search among the ranges of a point whose widths are charged by slopes."""
        search, modes = self.search, self.search.modes
        program, integers, width = modes.program, modes.integers, np.asarray(self._opens @ at)
        slope = np.divide(charge, width, out=np.zeros_like(width), where=width > 0)
        closed = np.asarray(self._opens.T @ (width <= 0).astype(np.float64) > 0)
        lower, upper = program.lower.copy(), np.where(closed, program.lower, program.upper)
        lower[integers] = upper[integers] = np.rint(at[integers])
        priced = replace(program, cost=program.cost + self._opens.T @ slope, lower=lower, upper=upper, integer=None)
        how = replace(search.parameters, hasty_widenings=(), opens_everything=False)
        run = replace(search.run.shortly(0.0), clock=self.clock)
        problem = search.separator.problem
        return ModeSearch(problem, replace(modes, program=priced), backends()[0], run, lambda _: None, parameters=how)

    def _close(self, v: Floats) -> Floats:
        """Return a point that pays for no range of no width, nor for a range of a hidden column."""
        modes, out = self.search.modes, v.copy()
        out[np.asarray(self._opens.T @ modes.hides(v).astype(np.float64) > 0)] = 0.0
        shut = (np.asarray(self._opens @ v) <= 0) & (modes.opening >= 0)
        out[modes.opening[shut]] = modes.program.lower[modes.opening[shut]]
        return out
