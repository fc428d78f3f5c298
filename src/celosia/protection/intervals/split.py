"""How the splitting method (ADMM) is run where a table is a large product of trees, and what follows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.protection.intervals.admm.product import Product, product_of
from celosia.protection.intervals.admm.search import SplittingSearch, can_split
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.search import RangeSearches, RangesT
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.product.structure import may_have_more_dimensions


def leave_readers(searches: RangeSearches[RangesT]) -> RangeSearches[RangesT]:
    """Return a search without readers who are told classes: splitting asks one attacker.

    What it finds has the same columns, its bound holds, and placing widens ranges for readers. Where the table is small
    cuts find cheaper ranges for all of them.
    """
    ranges, parameters = searches.ranges, searches.ranges.parameters
    others = tuple(attacker for attacker in ranges.risk.attackers if not attacker.told_classes)
    small = len(ranges.problem) * len(ranges.problem.requirements) <= parameters.splitting_size
    if len(others) == len(ranges.risk.attackers) or ranges.risk.further is not None:
        return searches
    if small and not ranges.method.wants_splitting:
        return searches
    risk, required = (replace(risk, attackers=others) for risk in (ranges.risk, ranges.required))
    blind = replace(ranges, risk=risk, required=required, _systems={})
    same = blind.problem.decimals == ranges.problem.decimals
    if not same or not np.array_equal(blind.problem.cells, ranges.problem.cells):
        return searches
    return RangeSearches(blind, searches.publisher, searches.run)


def find_product(searches: RangeSearches[RangesT]) -> Product | None:
    """Return the product of trees that the table is, where the splitting method suits it; None elsewhere."""
    ranges, parameters = searches.ranges, searches.ranges.parameters
    how, n = ranges.method.search, len(ranges.problem) * len(ranges.problem.requirements)
    other = bool(np.isfinite(ranges.most).any()) or ranges.problem.n_local > 0
    if not n or how == "cuts" or not can_split(ranges.problem) or other:
        return None
    table, wanted, most_flat = ranges.risk.table, ranges.method.wants_splitting, parameters.splitting_dimensions
    large = n > parameters.splitting_size or searches.run.gap >= parameters.splitting.best_gap
    if not wanted and not (large and may_have_more_dimensions(table, most_flat)):
        return None
    product = product_of(table.relations.matrix)
    deep = product is not None and len(product.sizes) > most_flat
    return product if wanted or deep else None


def solve_by_splitting(searches: RangeSearches[RangesT], product: Product) -> tuple[RangeSlacks, float]:
    """Return ranges by the splitting method, and a bound; a descent over moves goes on where the gap stays open."""
    run, parameters = searches.run, searches.ranges.parameters
    clock = run.clock.share(parameters.cuts_share) if searches.descends else run.clock
    search = split_ranges(searches, product, clock, polishes_late=not searches.descends)
    known = None if search.ends is None or not search.safe else _wider(search.ends, parameters.splitting_widening)
    enough = search.bound / (1 - max(run.gap, parameters.splitting.best_gap))
    if searches.descends and not search.cost <= enough:
        found = searches.descend_alone(known, enough)
        if found is not None and found[1] < (np.inf if known is None else search.cost):
            return found[0], search.bound
    if known is not None:
        return known, search.bound
    start = None if search.ends is None else _wider(search.ends, parameters.splitting_widening)
    return searches.widen_one_by_one(start), search.bound


def split_ranges(
    searches: RangeSearches[RangesT], product: Product, clock: Clock, *, polishes_late: bool = True
) -> SplittingSearch:
    """Return a search by the splitting method at its end; its ranges are not polished late where none are needed."""
    ranges, run, parameters = searches.ranges, searches.run, searches.ranges.parameters

    def hear(search: SplittingSearch) -> None:
        searches.note(search.cost if np.isfinite(search.cost) else None, search.bound, search.steps)
        if search.ends is not None and search.safe:
            ends = search.ends
            searches.insure(lambda: _wider(ends, parameters.splitting_widening), search.bound)

    splitting = replace(parameters.splitting, polishes_late=polishes_late)
    search = SplittingSearch(ranges.problem, ranges.prices, product, backends()[0], clock, hear, splitting)
    try:
        search.run(run.gap)
    except KeyboardInterrupt:
        run.clock.stop()
    return search


def _wider(ends: tuple[NDArray[np.float64], NDArray[np.float64]], share: float) -> RangeSlacks:
    """Return ranges wider by a share: more than rounding errors."""
    return RangeSlacks(ends[0] * (1 + share), ends[1] * (1 + share))
