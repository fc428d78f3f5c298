r"""Fewer ranges at the same cost: a range that hardly counts beside widths is closed where others make up for it.

Where a range costs 1, or nothing, beside widths of millions, a search has no reason to save ranges, and ends with many
narrow ones. Here every range is charged, by slope scaling (Kim and Pardalos 1999): with the whole numbers of the
incumbent and its ranges alone,

.. math:: \min\ w z + \sum_i \frac{\lambda}{W_i} (z_i^+ + z_i^-)

is solved again and again, :math:`W_i` being the widths of the last solution, so that ranges that stay as they are
are charged :math:`\lambda` and narrower ones are closed. Charges grow as long as the cost stays below a limit: hardly
more than the incumbent costs, or whatever is within the gap that is asked for. Where a gap is asked for, single cells
are flipped before (`celosia.protection.engine.heuristics.flipping`), because a cheaper point leaves more to spend.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
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
    weighed, nor where cells form no networks, which takes too long, nor where respondents attack: they would have to
    attack it again.
    """
    best, whole = search.best, searches.run.clock.whole
    small = len(searches.ranges.problem) < parameters.start_columns
    if best is None or small or searches.run.oracle is not None or search.separator.has_programs:
        return best
    if _count_costs(search, best) > parameters.counting_share * abs(search.modes.cost(best)):
        return best
    thinning = _Thinning(search, best, whole.share_of_rest(parameters.thinning_share), parameters)
    try:
        with suppress(DeadlineError, SolverError, ArithmeticError):
            thinning.flip()
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
        return int(np.count_nonzero(self._opens @ v))

    def flip(self) -> None:
        """Look for a cheaper point where the gap allows a dearer one: what is gained is spent on fewer ranges."""
        if self.search.run.gap > 0:
            self.search.flip(self.clock.share_of_rest(self.parameters.thinning_flips))
            self.best = self.best if self.search.best is None else self.search.best

    def run(self) -> None:
        """Charge ranges more and more, as long as the cost allows it and there is time; then a little less."""
        parameters, cost = self.parameters, self.search.modes.cost(self.best)
        limit = max(cost + parameters.thinning_loss * abs(cost), self._dearest_within_the_gap)
        charge = (limit - cost) / max(self._count(self.best), 1)
        paid, cuts = 0.0, self.search.pool.cuts
        for times in parameters.charges:
            cuts, cheap = self._charge(times * charge, limit, cuts)
            if not cheap:
                break
            paid = times * charge
        else:
            return
        dear = times * charge
        for _ in range(parameters.charge_halvings if paid else 0):
            between = float(np.sqrt(paid * dear))
            cuts, cheap = self._charge(between, limit, cuts)
            paid, dear = (between, dear) if cheap else (paid, between)

    def _charge(self, charge: float, limit: float, cuts: list[Cut]) -> tuple[list[Cut], bool]:
        """Charge every range so much, as long as there are fewer; return cuts, and whether that is within the limit."""
        known, at = np.inf, self.best
        while self.clock.left > 0 and self._count(at) < known:
            known = self._count(at)
            step = self._open(at, charge)
            step.pool.add(cuts)
            step.solve()
            if step.best is None:
                return cuts, False
            cuts, at = step.pool.cuts, self._close(step.best)
            if self.search.modes.cost(at) > limit:
                return cuts, False
            if self._count(at) < self._count(self.best):
                self.best = at
        return cuts, True

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
        """Return a point that pays for no range of no width."""
        modes, out = self.search.modes, v.copy()
        shut = (np.asarray(self._opens @ v) <= 0) & (modes.opening >= 0)
        out[modes.opening[shut]] = modes.program.lower[modes.opening[shut]]
        return out
