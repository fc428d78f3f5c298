"""How combined suppression is run: branch and cut over ranges with fixed costs, begun with the cheapest without."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.protection.combined.formulation import formulate_by_widths
from celosia.protection.combined.parameters import COMBINED, CombinedParameters
from celosia.protection.combined.pattern import PatternStart, find_start, place_open_ranges
from celosia.protection.combined.problem import CombinedProblem
from celosia.protection.combined.start import failure_of, shorten, solve_by_ends
from celosia.protection.combined.thinning import thin_ranges
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.formulation import offer_range_widths
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.search import RangeSearches
from celosia.protection.intervals.solve import publish_ranges, solve_ranges
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import Risk
from celosia.solve.registry import backends

Searches = RangeSearches[CombinedProblem]


def solve(risk: Risk, method: Intervals, run: Run, parameters: CombinedParameters = COMBINED) -> Protection:
    """Return few narrow ranges that are safe, with a bound on what any such ranges cost; see `celosia.protect`.

    Ranges that cost nothing by themselves are counted here, too, where there may be no more than so many.
    """

    def search(searches: Searches) -> Protection:
        start = find_start(searches, parameters)
        begin = None if start is None else partial(start.begin, searches)
        by_widths = partial(_solve_by_widths, start=start)
        no_pattern = start is not None and start.hidden is None
        how = replace(parameters, splitting_share=1.0) if no_pattern else parameters
        return publish_ranges(searches, by_widths, lambda same: solve_by_ends(same, how, begin))

    return solve_ranges(risk, method, run, CombinedProblem, search, parameters)


def _solve_by_widths(searches: Searches, start: PatternStart | None) -> tuple[RangeSlacks, float] | None:
    """Return slacks by widths and a bound; None where those widths cannot be placed."""
    ranges = searches.ranges
    widest = ranges.parameters.widest_levels
    widths, modes = formulate_by_widths(ranges.problem, ranges.prices, ranges.most, widest)
    search = _finish(searches, widths, modes) if start is None else _finish_from(searches, start, widths, modes)
    best = thin_ranges(searches, search, ranges.parameters)
    if best is None:
        raise failure_of(searches)
    n = len(ranges.problem)
    half = best[:n] * (search.modes.unit / 2)
    placed = searches.publisher.shift(RangeSlacks(half, half))
    if placed is None and start is not None:
        placed = place_open_ranges(searches, np.flatnonzero(np.rint(best[n:])))
    return _solve_with_open(searches, best[n:], search.bound) if placed is None else (placed, search.bound)


def _finish_from(searches: Searches, start: PatternStart, widths: ProtectionProblem, modes: Modes) -> ModeSearch:
    """Return a search over widths at its end that started from a pattern and from the cheapest widths alone."""
    ranges, parameters = searches.ranges, searches.ranges.parameters
    alone = Modes.of(widths, [offer_range_widths(widths, ranges.prices, ranges.most, modes.unit)], modes.unit)
    short = shorten(searches.run, parameters.first_share, parameters)
    first = ModeSearch(widths, alone, backends()[0], short, lambda _: None, parameters=parameters.search)
    searches.finish(first)
    run = replace(searches.run, clock=searches.run.clock.share(parameters.widths_share))
    search = ModeSearch(widths, modes, backends()[0], run, searches.hear, parameters=parameters.search)
    start.begin(searches, search, first.bound)
    searches.finish(search)
    return search


def _solve_with_open(searches: Searches, open_: NDArray[np.float64], bound: float) -> tuple[RangeSlacks, float] | None:
    """Return ranges by both ends, from the binary variables of widths that cannot be placed; None for no ranges."""
    modes = searches.ranges.formulate_by_ends()
    start = np.concatenate([np.zeros(len(modes.program.cost) - len(open_)), open_])
    search = _finish(searches, searches.ranges.problem, modes, start, bound)
    return None if search.best is None else searches.read(search)


def _finish(
    searches: Searches,
    problem: ProtectionProblem,
    modes: Modes,
    start: NDArray[np.float64] | None = None,
    bound: float = -np.inf,
) -> ModeSearch:
    """Return a search at its end; it may start from the whole numbers of a point and a valid bound."""
    parameters = searches.ranges.parameters.search
    search = ModeSearch(problem, modes, backends()[0], searches.run, searches.hear, parameters=parameters)
    try:
        if start is not None:
            search.begin(start, bound)
    except KeyboardInterrupt:
        searches.run.clock.stop()
    searches.finish(search)
    return search
