"""The relations of every sub-table without dimensions: sums that cross each other form a table.

In a table of rows and columns the parts of every row are the parts of the columns, one of each. Where two sums have the
same total, and the parts of the one are totals of sums whose parts are, one each, the parts of sums of the other's
parts, they are the margins of such a table. Sums with the same total of which every two cross are the margins of a
table in as many dimensions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.decomposition.sums import Sums


def group_by_crossing(sums: Sums) -> list[NDArray[np.int64]]:
    """Return the relations of every sub-table, increasing; a relation that is no plain sum is one of its own."""
    tables = _CrossingSums(sums)
    found = [np.array([relation]) for relation in np.flatnonzero(sums.total < 0).tolist()]
    return [*found, *(np.array(sorted(tables.complete(margins))) for margins in tables.find_margins())]


class _CrossingSums:
    """Which sums cross each other, looked up when asked for."""

    def __init__(self, sums: Sums) -> None:
        self._parts = [sums.parts_of(relation).tolist() for relation in range(len(sums))]
        self._of_total: dict[int, list[int]] = defaultdict(list)
        for relation, total in enumerate(sums.total.tolist()):
            if total >= 0:
                self._of_total[total].append(relation)
        self._totals_above: dict[int, set[int]] = defaultdict(set)
        for part, total in zip(sums.parts.tolist(), sums.total[sums.relation_of_part].tolist(), strict=True):
            self._totals_above[part].add(total)
        self._find_parallels = cache(self._look_for_parallels)

    def find_margins(self) -> Iterator[frozenset[int]]:
        """Yield the largest sets of sums with the same total of which every two cross."""
        for own in self._of_total.values():
            crossing = {one: {other for other in own if other != one and self._cross(one, other)} for one in own}
            yield from _find_cliques(frozenset(), set(own), set(), crossing)

    def complete(self, margins: frozenset[int]) -> set[int]:
        """Return all sums of the table that has these sums at its margins."""
        found, waiting = set(margins), [margins]
        seen = {margins}
        while waiting:
            own = waiting.pop()
            for one in own:
                for part in self._parts[one]:
                    others = (self._find_parallels(one, other).get(part) for other in own if other != one)
                    below = frozenset(relation for relation in others if relation is not None)
                    if below and below not in seen:
                        seen.add(below)
                        found |= below
                        waiting.append(below)
        return found

    def _cross(self, one: int, other: int) -> bool:
        return all(
            len(self._find_parallels(*pair)) == len(self._parts[pair[0]]) for pair in ((one, other), (other, one))
        )

    def _look_for_parallels(self, one: int, other: int) -> Mapping[int, int]:
        """Return for parts of a sum the sum of that part that lies along another sum of the same total."""
        along = set(self._parts[other])
        return {
            part: relation
            for part in self._parts[one]
            for relation in self._of_total.get(part, ())
            if self._lies_along(relation, along)
        }

    def _lies_along(self, relation: int, along: set[int]) -> bool:
        """Return whether every part of a sum is a part of exactly one of some cells, of another one each."""
        above = [self._totals_above[part] & along for part in self._parts[relation]]
        return all(len(one) == 1 for one in above) and len(set().union(*above)) == len(above)


def _find_cliques(
    clique: frozenset[int], candidates: set[int], done: set[int], adjacent: Mapping[int, set[int]]
) -> Iterator[frozenset[int]]:
    """Yield the largest sets of which every two are adjacent (Bron and Kerbosch 1973)."""
    if not candidates and not done:
        yield clique
        return
    pivot = max(candidates | done, key=lambda one: len(adjacent[one] & candidates))
    for one in sorted(candidates - adjacent[pivot]):
        yield from _find_cliques(clique | {one}, candidates & adjacent[one], done & adjacent[one], adjacent)
        candidates.remove(one)
        done.add(one)
