"""Combined suppression from a pattern of complete suppression: its cells at the fixed costs, and the sum of two bounds.

Hiding the cells of any safe ranges is safe. So what ranges cost whatever their widths is no less than the cheapest
suppression pattern at these costs, and what their widths cost no less than the cheapest ranges: both bounds together
hold for combined suppression. The other way round ranges of the cells of a pattern protect what hiding them protects.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.pattern.entries import HIDDEN
from celosia.protection.combined.parameters import CombinedParameters
from celosia.protection.combined.problem import CombinedProblem
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.intervals.formulation import Prices, formulate_by_placed_widths
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.search import RangeSearches
from celosia.protection.intervals.start import search_pattern
from celosia.solve.registry import backends

Searches = RangeSearches[CombinedProblem]


@dataclass(frozen=True, slots=True, eq=False)
class PatternStart:
    """The cells that complete suppression hides at the fixed costs.

    Parameters
    ----------
    hidden
        Which columns of the problem, ``(n,)``; None where that is of no use, and not known.
    bound
        What any suppression pattern costs at least.
    """

    hidden: NDArray[np.bool_] | None
    bound: float

    def begin(self, searches: Searches, search: ModeSearch, bound: float) -> None:
        """Start a search from ranges of these cells; `bound` is what any widths cost at least."""
        if self.hidden is None:
            search.learn([], bound + self.bound, search.best)
            return
        n, program = len(self.hidden), search.modes.program
        start = np.zeros(len(program.cost))
        start[-n:] = np.maximum(self.hidden, program.lower[-n:])
        try:
            if searches.can_descend(search):
                search.learn([], bound + self.bound, search.best)
                searches.descend(search, search.run.clock.whole, self.hidden, once=True)
            else:
                search.begin(start, max(search.bound, bound + self.bound))
        except KeyboardInterrupt:
            searches.run.clock.stop()


def find_start(searches: Searches, parameters: CombinedParameters) -> PatternStart | None:
    """Return the pattern from which a search starts, None where there is no need or none is found.

    Small tables are solved to the optimum without it. Where fixed costs hardly count, the cheapest ranges by widths are
    nearly the best, and no pattern is searched for.
    """
    ranges, run = searches.ranges, searches.run
    limited = ranges.method.at_most is not None or bool(np.isfinite(ranges.most).any() or ranges.method.conditional)
    if len(ranges.problem) < parameters.start_columns or run.oracle is not None or limited:
        return None
    fixed = ranges.prices.fixed
    if not ranges.by_width and float(fixed.sum()) <= parameters.counting_share * ranges.least_cost:
        return PatternStart(None, float(fixed[np.unique(ranges.problem.requirements.columns)].sum()))
    pattern = search_pattern(replace(ranges.required, cost=ranges.fixed_costs), run, parameters)
    if pattern is None:
        return None
    hidden = ranges.problem.by_column(np.asarray(pattern.pattern.status == HIDDEN), local=True)
    return PatternStart(hidden, pattern.bound)


def place_open_ranges(searches: Searches, columns: NDArray[np.int64]) -> RangeSlacks | None:
    """Return the cheapest ranges of some columns by widths that can be placed; None where none are found."""
    ranges, n, m = searches.ranges, len(searches.ranges.problem), len(columns)
    part = ranges.problem.part(columns, np.arange(len(ranges.problem.requirements)))
    prices, margin = Prices(ranges.prices.down[columns], ranges.prices.up[columns]), ranges.parameters.placing_margin
    widths, modes = formulate_by_placed_widths(part, prices, ranges.most[columns], shifted=True, margin=margin)
    run = replace(searches.run, clock=searches.run.clock.whole)
    search = ModeSearch(widths, modes, backends()[0], run, lambda _: None, parameters=ranges.parameters.search)
    try:
        searches.finish(search)
    except (SolverError, ArithmeticError):
        return None
    if search.best is None:
        return None
    half, centre = search.best[:m] * (modes.unit / 2), search.best[m:] * modes.unit
    down, up = np.zeros(n), np.zeros(n)
    down[columns], up[columns] = np.maximum(half - centre, 0.0), np.maximum(half + centre, 0.0)
    return RangeSlacks(down, up)
