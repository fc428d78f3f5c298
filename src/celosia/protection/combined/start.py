"""Mixed-integer searches for ranges that begin with a linear program: the cheapest ranges without binary variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError
from celosia.protection.combined.parameters import CombinedParameters
from celosia.protection.combined.thinning import thin_ranges
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.formulation import formulate_by_ends
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.search import RangeSearches, RangesT
from celosia.protection.intervals.split import find_product, split_ranges
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.problem import float_bounds
from celosia.solve.registry import backends
from celosia.tolerance import LEVEL_REACHED


def solve_by_ends(
    searches: RangeSearches[RangesT],
    parameters: CombinedParameters,
    begin: Callable[[ModeSearch, float], None] | None = None,
) -> tuple[RangeSlacks, float]:
    """Return slacks by the model whose variables are both ends of every range, and a bound."""
    search = searches.open(searches.ranges.formulate_by_ends())
    finish_from_ranges(searches, search, parameters, begin)
    best = thin_ranges(searches, search, parameters)
    if best is None:
        raise failure_of(searches)
    return searches.ranges.read(search.modes, best), search.bound


def finish_from_ranges(
    searches: RangeSearches[RangesT],
    search: ModeSearch,
    parameters: CombinedParameters,
    begin: Callable[[ModeSearch, float], None] | None = None,
) -> None:
    """Run a search from the cheapest ranges without binary variables, which cuts of a linear program find.

    `begin` starts it from what else is known, and from what these ranges cost at least.
    """
    ranges = searches.ranges
    share = parameters.first_share if searches.run.oracle is None else parameters.first_share_with_oracle
    product = find_product(searches) if searches.descends and ranges.hiding is None else None
    if product is not None and begin is not None:
        clock = search.run.clock.share_of_rest(parameters.splitting_share)
        split = split_ranges(searches, product, clock, polishes_late=False)  # its bound is all that is needed
        begin(search, split.bound)
        searches.finish(search)
        return
    if searches.descends and ranges.hiding is not None:  # ranges alone are far from what hiding makes of them
        searches.finish(search)
        return
    modes = formulate_by_ends(ranges.problem, ranges.prices, ranges.most)
    first = searches.open(modes, shorten(search.run, share, parameters), lambda _: None)
    searches.finish(first)
    if len(ranges.problem) >= parameters.start_columns:
        search.learn(_cuts_with_hiding(first.cuts, search.modes, ranges.problem), search.bound, search.best)
    if begin is not None:
        begin(search, first.bound)
    suggest(searches, search, first.best, safe=searches.descends)
    searches.finish(search)


def shorten(run: Run, share: float, parameters: CombinedParameters) -> Run:
    """Return a run with a share of the time that is left, and with all of it where that is little."""
    left = run.clock.left
    seconds = None if math.isinf(left) else max(share * left, min(left, parameters.least_seconds))
    return replace(run, clock=Clock(seconds))


def suggest(
    searches: RangeSearches[RangesT], search: ModeSearch, first: NDArray[np.float64] | None, *, safe: bool = False
) -> None:
    """Suggest a point as the incumbent by its first variables: ends of ranges, and what hides columns.

    One that is known to be safe is not judged again: that would take long where cells form no networks.
    """
    searches.update_requirements(search)
    if first is None:
        return
    program, opening, n = search.modes.program, search.modes.opening, len(searches.ranges.problem)
    point = np.maximum(program.lower, 0.0)
    point[: len(first)] = np.clip(first, program.lower[: len(first)], program.upper[: len(first)])
    wide = (point[:n] > 0) | (point[n : 2 * n] > 0)
    point[opening[wide & (opening >= 0)]] = 1.0
    try:
        if safe:
            search.requirements.confirm(point)
        else:
            search.suggest(point)
    except KeyboardInterrupt:
        searches.run.clock.stop()


def failure_of(searches: RangeSearches[RangesT]) -> CelosiaError:
    """Return the error of a search without an incumbent, with the cells that the widest ranges leave unsafe."""
    ranges = searches.ranges
    if searches.run.clock.left <= 0:
        return OutOfTimeError.one("time_limit", "was reached before a safe release was known.", "Allow more time.")
    modes = ranges.formulate_by_ends()
    separator = CapacitySeparator(ranges.problem, modes, backends()[0], ranges.parameters.search.separation)
    program = modes.program
    largest = float(separator.sides.levels.max(initial=1.0))
    widest = np.where(np.isfinite(program.upper), program.upper, largest)
    ends = 2 * len(ranges.problem)
    widest[:ends] = np.minimum(widest[:ends], np.tile(ranges.most / modes.unit, 2))
    short = separator.separate(widest).reached < 1.0 - LEVEL_REACHED
    missed = separator.sides.columns[short & separator.sides.certain]
    if len(missed):
        return ranges.refusal(missed)
    return InfeasibleError.one("protection", "is impossible with what may be published.", "Allow more.")


def _cuts_with_hiding(cuts: Sequence[Cut], modes: Modes, problem: ProtectionProblem) -> list[Cut]:
    """Return capacity cuts over the ends of ranges as cuts over ranges and hidden cells.

    A column that is hidden has its attackers' bound as slack, and need not count for more than the right side; with
    several attackers the widest bound keeps a cut valid.
    """
    n = len(problem)
    room = np.concatenate([float_bounds(bound.max(axis=0)) for bound in (problem.up, problem.down)]) / modes.unit
    out = []
    for cut in cuts:
        if not cut.right > 0 or bool((cut.values < 0).any()):
            continue
        opened = np.zeros(n)
        np.add.at(opened, cut.columns % n, np.minimum(cut.values * room[cut.columns], cut.right))
        hides = np.flatnonzero((opened > 0) & (modes.hiding >= 0))
        columns = np.concatenate([cut.columns, modes.hiding[hides]])
        values = np.concatenate([cut.values, np.minimum(opened[hides], cut.right)])
        order = np.argsort(columns)
        out.append(Cut(columns[order], values[order], cut.right))
    return out
