"""How interval publication is run: from a risk to safe ranges, published and audited, with a lower bound.

Ranges by widths are solved by cuts (`formulate_by_placed_widths`), their cuts then serve the general model
(`formulate_by_ends`); large products of three or more trees are solved by the splitting method (ADMM).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, SolverError
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.infeasibility import refuse_unreachable_levels
from celosia.protection.intervals.admm.product import Product
from celosia.protection.intervals.formulation import formulate_by_placed_widths
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.parameters import INTERVALS, IntervalParameters
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.publish.publication import RangePublisher
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.search import RangeSearches, RangesT
from celosia.protection.intervals.split import find_product, leave_readers, solve_by_splitting
from celosia.protection.intervals.start import protect_as_suppression
from celosia.protection.intervals.wishes import refuse_hidden, refuse_widths
from celosia.protection.result import Protection
from celosia.protection.run import NewColumnsError, Run
from celosia.risk.risk import Risk
from celosia.solve.registry import backends


def solve(risk: Risk, method: Intervals, run: Run, parameters: IntervalParameters = INTERVALS) -> Protection:
    """Return ranges that are safe, as narrow as time allows, with a bound on what any safe ranges cost.

    Guarantee: see `celosia.protect`; every range is what attackers can conclude, rounded outward where it does not end
    on the published decimals, or where that was asked for.
    """
    return solve_ranges(risk, method, run, RangeProblem, _solve_intervals, parameters)


def solve_ranges(
    risk: Risk,
    method: Intervals,
    run: Run,
    formulate: Callable[[Risk, Risk, Intervals, bool | None, IntervalParameters], RangesT],
    search: Callable[[RangeSearches[RangesT]], Protection],
    parameters: IntervalParameters,
) -> Protection:
    """Return what a method that publishes ranges finds, begun anew where respondents need other columns.

    Parameters
    ----------
    risk, method, run
        What to protect, how, and when to stop.
    formulate
        Returns the problem of the method.
    search
        Searches for ranges and returns the published ones.
    parameters
        How ranges are searched for and published.
    """
    if method.shift and method.secret is None:
        method = replace(method, secret=secrets.randbits(parameters.secret_bits))
    method.refuse_base(risk, integer=run.integer)
    required = method.require_widths(risk)
    refuse_widths(required, method)
    refuse_unreachable_levels(required)
    refuse_hidden(required, method)
    share = parameters.search_share if run.oracle is None else parameters.attacked_search_share
    searching = replace(run, clock=run.clock.share(share))
    ranges = formulate(risk, required, method, run.integer, parameters)
    searches = RangeSearches(ranges, RangePublisher(ranges, searching), searching)
    try:
        return search(searches)
    except NewColumnsError:
        told = searches.told
        assert told is not None  # noqa: S101  (it was told of other columns)
        anew = solve_ranges(told.risk, method, run, formulate, search, parameters)
        if told.necessary:
            return anew
        known = searches.publisher.trace[-1][2] if searches.publisher.trace else 0.0  # it uses what is necessary only
        return replace(anew, bound=min(known, anew.cost))
    except (InfeasibleError, SolverError, ArithmeticError):
        found = protect_as_suppression(searches)
        if found is None:
            raise
        return found


def _solve_intervals(searches: RangeSearches[RangeProblem]) -> Protection:
    """Return published ranges: by the splitting method, by widths, or by both ends of every range."""
    blind = leave_readers(searches)
    return publish_ranges(searches, _solve_by_widths, solve_by_ends, find_product(blind), blind)


def publish_ranges(
    searches: RangeSearches[RangesT],
    by_widths: Callable[[RangeSearches[RangesT]], tuple[RangeSlacks, float] | None],
    by_ends: Callable[[RangeSearches[RangesT]], tuple[RangeSlacks, float]],
    product: Product | None = None,
    blind: RangeSearches[RangesT] | None = None,
) -> Protection:
    """Return published ranges, by the first way that suits the problem: a product's, widths, ends.

    Parameters
    ----------
    searches
        What is searched for, and how it is published.
    by_widths, by_ends
        Search for ranges in these ways.
    product
        The product of trees that the table is, where the splitting method suits it.
    blind
        The search that it is used in, without readers who are told classes.
    """
    ranges, publisher = searches.ranges, searches.publisher
    n = len(ranges.problem)
    if not len(ranges.problem.requirements):
        return publisher.result(publisher.publish(RangeSlacks(np.zeros(n), np.zeros(n))), 0.0)
    ranges.refuse_determined_cells()
    if product is not None:
        slacks, bound = solve_by_splitting(blind or searches, product)
    else:
        found = by_widths(searches) if ranges.by_width else None
        slacks, bound = found if found is not None else by_ends(searches)
    placed = publisher.publish(slacks)
    if not ranges.accepts(placed.pattern):
        raise SolverError.one("protection", "was found in more cells than may be published so.", "Allow more.")
    return publisher.result(placed, bound)


def _solve_by_widths(searches: RangeSearches[RangeProblem]) -> tuple[RangeSlacks, float]:
    """Return the cheapest ranges with one shift of all centres, or cheaper ones by both ends, and a bound.

    The cuts of the width model are valid by both ends, where its ranges are mostly the cheapest ones, too.
    """
    if searches.is_first:  # widths take long, and their bound is none
        return solve_by_ends(searches)
    ranges, parameters = searches.ranges, searches.ranges.parameters
    n, bound, sliding = len(ranges.problem), ranges.least_cost, ranges.sliding
    modes = ranges.formulate_by_ends()
    margin = parameters.placing_margin
    widths = formulate_by_placed_widths(ranges.problem, ranges.prices, ranges.most, shifted=sliding, margin=margin)

    def ends_of(modes_of_widths: Modes, v: NDArray[np.float64]) -> NDArray[np.float64]:
        half, centre = v[:n] / 2, v[n:] if ranges.sliding else 0.0
        return np.asarray(np.concatenate([half + centre, half - centre]) * (modes_of_widths.unit / modes.unit))

    def read(modes_of_widths: Modes, v: NDArray[np.float64]) -> RangeSlacks:
        return ranges.read(modes, ends_of(modes_of_widths, v))

    hear = partial(searches.hear, bound=bound, read=read)
    run, how = searches.run, parameters.search
    if searches.descends:  # other ranges are at hand where time is up
        run = replace(run, clock=run.clock.share_of_rest(parameters.widths_part))
        how = replace(how, hasty_widenings=())
    width = ModeSearch(*widths, backends()[0], run, hear, parameters=how)
    searches.finish(width)
    start, same = None, width.modes.unit / modes.unit
    if width.best is not None:
        start = ends_of(width.modes, width.best)
    search = searches.open(modes)
    search.learn([_cut_of_ends(cut, n, same) for cut in width.cuts], bound, start)
    searches.finish(search)
    return searches.read(search)


def solve_by_ends(searches: RangeSearches[RangesT]) -> tuple[RangeSlacks, float]:
    """Return slacks by the model whose variables are both ends of every range, and a bound."""
    search = searches.open(searches.ranges.formulate_by_ends())
    searches.finish(search)
    return searches.read(search)


def _cut_of_ends(cut: Cut, n: int, same: float) -> Cut:
    """Return a cut over the widths of ranges as a cut over their two ends, whose sum is the width, in another unit."""
    return Cut(np.concatenate([cut.columns, cut.columns + n]), np.tile(cut.values, 2), cut.right * same)
