"""How mixed releases are run: branch and cut over all modes, from the best release of ranges and hidden cells alone."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, SolverError
from celosia.protection.combined.start import failure_of, finish_from_ranges, shorten, solve_by_ends, suggest
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.intervals.publish.ranges import AuditedRanges, RangeSlacks
from celosia.protection.intervals.search import RangeSearches
from celosia.protection.intervals.solve import publish_ranges, solve_ranges
from celosia.protection.mixed.formulation import MixedModes
from celosia.protection.mixed.method import Mixed
from celosia.protection.mixed.parameters import MIXED, MixedParameters
from celosia.protection.mixed.problem import MixedProblem
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import Risk

Searches = RangeSearches[MixedProblem]


def solve(risk: Risk, method: Mixed, run: Run, parameters: MixedParameters = MIXED) -> Protection:
    """Return a safe release in which every cell is published in one of its ways, with a bound; see `celosia.protect`.

    Guarantee: published numbers add up, exactly where a relation has nothing else, and elsewhere with values within
    ranges.
    """
    if method.reach is not None and method.secret is None:
        method = replace(method, secret=secrets.randbits(parameters.secret_bits))
    return solve_ranges(risk, method, run, MixedProblem, _solve_mixed, parameters)


def _solve_mixed(searches: Searches) -> Protection:
    """Return the release, without rounded and perturbed cells where there are none, or where solvers fail with them."""
    ranges, parameters = searches.ranges, searches.ranges.parameters
    ranges.refuse_cells_without_a_mode()
    if not len(ranges.numbers.columns) or not len(ranges.problem.requirements):
        return publish_ranges(searches, lambda _: None, lambda same: solve_by_ends(same, parameters))
    ranges.refuse_determined_cells()
    try:
        return _solve_with_numbers(searches)
    except (CelosiaError, ArithmeticError) as error:
        found = None if isinstance(error, OutOfTimeError) else _solve_without_numbers(searches)
        if found is None:
            raise
        return found


def _solve_without_numbers(searches: Searches) -> Protection | None:
    """Return a release of ranges and hidden cells alone, None where there is none.

    It is allowed, too, and does not depend on amounts of 10^12 units beside a base of one, which solvers cannot tell
    apart. Nothing is known about what other releases cost at least.
    """
    parameters = searches.ranges.parameters
    with suppress(CelosiaError, ArithmeticError):
        found = publish_ranges(searches, lambda _: None, lambda same: solve_by_ends(same, parameters))
        return replace(found, bound=0.0) if searches.ranges.accepts(found.pattern) else None
    return None


def _solve_with_numbers(searches: Searches) -> Protection:
    """Return the release: numbers are chosen with ranges and hidden cells, and refused choices are forbidden."""
    ranges, parameters = searches.ranges, searches.ranges.parameters
    mixed = MixedModes.of(ranges.problem, ranges.prices, ranges.most, ranges.numbers, ranges.number_prices, parameters)
    search = searches.open(mixed.modes)
    _start_without_numbers(searches, search)
    ceiling = np.inf
    for _ in range(parameters.refused_choices):
        suggest(searches, search, mixed.widest)
        searches.finish(search)
        if search.best is None:
            raise failure_of(searches) if searches.run.clock.left <= 0 else _no_choice()
        placed = _publish_additive(searches, ranges.read(search.modes, search.best))
        if placed is not None:
            return searches.publisher.result(placed, min(search.bound, ceiling))
        ceiling = min(ceiling, search.bound)
        if not search.forbid(search.best):
            break
    raise SolverError.one("mixed", "found no release that passes the audit.", "Allow more, or report this.")


def _publish_additive(searches: Searches, slacks: RangeSlacks) -> AuditedRanges | None:
    """Return a release that passes the audit and adds up, None where solvers' tolerances promised too much."""
    try:
        placed = searches.publisher.publish(slacks)
    except InfeasibleError:
        return None
    return placed if searches.ranges.accepts(placed.pattern) else None


def _start_without_numbers(searches: Searches, search: ModeSearch) -> None:
    """Suggest the best release without rounded and perturbed cells as the incumbent."""
    parameters, hear = searches.ranges.parameters, partial(searches.hear, bound=search.bound)
    run = shorten(searches.run, parameters.numberless_share, parameters)
    without = searches.open(searches.ranges.formulate_by_ends(), run, hear)
    finish_from_ranges(searches, without, parameters)
    suggest(searches, search, without.best)


def _no_choice() -> CelosiaError:
    remedy = "Allow more cells to be hidden or to be ranges, wider ranges, a larger base or a larger reach."
    return InfeasibleError.one("protection", "is impossible: no choice of what is allowed is safe and adds up.", remedy)
