"""Many cuts at once: what `celosia.protection.engine.capacity` says about one, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import argsort
from celosia.kernels import inner, kernel
from celosia.protection.engine.capacity import Cut
from celosia.tolerance import COEFFICIENT_GRID, SUM_ROUNDING


class Reaches(NamedTuple):
    """Upper bounds on how far cells can move: see `celosia.protection.engine.capacity.Reach`.

    Parameters
    ----------
    starts, columns, values
        The columns other than the cell itself and their values, compressed by rows, ``(r + 1,)`` and ``(k,)``.
    targets, levels
        The cell of each, and how far it should move, ``(r,)``.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    targets: NDArray[np.int64]
    levels: NDArray[np.float64]


class CutArrays(NamedTuple):
    """Cuts as arrays: those of `engine.capacity.Cut`; `missing` says by how much the point misses each."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    right: NDArray[np.float64]
    missing: NDArray[np.float64]

    @property
    def cuts(self) -> list[Cut]:
        """The cuts, those that are missed most first."""
        starts, right = self.starts.tolist(), self.right.tolist()
        return [
            Cut(self.columns[starts[k] : starts[k + 1]], self.values[starts[k] : starts[k + 1]], right[k])
            for k in np.argsort(-self.missing, kind="stable").tolist()
        ]


def build_cuts(
    reaches: Reaches,
    forced: NDArray[np.bool_],
    x: NDArray[np.float64],
    threshold: float,
    covers: bool,  # noqa: FBT001
) -> CutArrays:
    """Return the cuts that a point misses by more than a threshold, and on request their cover inequalities.

    Forced cells are hidden anyway, so their terms move to the right side, and no coefficient need exceed it. A cell
    that is not forced must reach its level only if it is hidden: then its own column is the right side.
    """
    n_reaches = len(reaches.targets)
    capacity = 2 * (len(reaches.columns) + n_reaches)
    columns, values = np.empty(capacity, dtype=np.int64), np.empty(capacity)
    starts = np.zeros(2 * n_reaches + 1, dtype=np.int64)
    right, missing = np.empty(2 * n_reaches), np.empty(2 * n_reaches)
    n = _write(reaches, forced, x, threshold, covers, CutArrays(starts, columns, values, right, missing))
    end = starts[n]
    return CutArrays(
        starts[: n + 1].copy(), columns[:end].copy(), values[:end].copy(), right[:n].copy(), missing[:n].copy()
    )


@kernel()
def _write(
    reaches: Reaches,
    forced: NDArray[np.bool_],
    x: NDArray[np.float64],
    threshold: float,
    covers: bool,  # noqa: FBT001
    out: CutArrays,
) -> int:
    """Write the cuts; return how many."""
    starts, columns, values, right, missing = out
    n_reaches = len(reaches.targets)
    n_cuts = 0
    for k in range(n_reaches):
        begin = starts[n_cuts]
        end = _cut(k, reaches, forced, columns, values, begin)
        if end < 0:
            continue
        side = 1.0 if forced[reaches.targets[k]] else 0.0
        missed = side
        for place in range(begin, end):
            missed -= values[place] * x[columns[place]]
        if side == 1.0 and covers:
            # The cover is written behind the cut, and moves to its place if the cut itself is of no use.
            last = _cover(columns, values, x, begin, end)
            missed_by_cover = 1.0
            for place in range(end, last):
                missed_by_cover -= x[columns[place]]
            if last >= 0 and missed_by_cover > threshold:
                if missed > threshold:
                    right[n_cuts], missing[n_cuts] = side, missed
                    n_cuts += 1
                    starts[n_cuts] = end
                else:
                    for place in range(end, last):
                        columns[begin + place - end], values[begin + place - end] = columns[place], values[place]
                    last = begin + last - end
                right[n_cuts], missing[n_cuts] = 1.0, missed_by_cover
                n_cuts += 1
                starts[n_cuts] = last
                continue
        if missed > threshold:
            right[n_cuts], missing[n_cuts] = side, missed
            n_cuts += 1
            starts[n_cuts] = end
    return n_cuts


@inner()
def _cut(
    k: int,
    reaches: Reaches,
    forced: NDArray[np.bool_],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    begin: int,
) -> int:
    """Write a cut, in the order of its columns; return where it ends, -1 where it says nothing."""
    level, given = reaches.levels[k], 0.0
    for place in range(reaches.starts[k], reaches.starts[k + 1]):
        if forced[reaches.columns[place]]:
            given += reaches.values[place]
    right = level - given - SUM_ROUNDING * (level + given)
    if not right > 0.0:
        return -1
    order = argsort(reaches.columns[reaches.starts[k] : reaches.starts[k + 1]])
    own = -1 if forced[reaches.targets[k]] else reaches.targets[k]
    end = begin
    for step in range(len(order)):
        place = reaches.starts[k] + order[step]
        column = reaches.columns[place]
        if forced[column]:
            continue
        if 0 <= own < column:
            columns[end], values[end] = own, -1.0
            own, end = -1, end + 1
        scaled = min(reaches.values[place] / right * (1.0 + SUM_ROUNDING), 1.0)
        columns[end], values[end] = column, min(np.ceil(scaled / COEFFICIENT_GRID) * COEFFICIENT_GRID, 1.0)
        end += 1
    if own >= 0:
        columns[end], values[end] = own, -1.0
        end += 1
    return end


@inner(inline=True)
def _cover(
    columns: NDArray[np.int64], values: NDArray[np.float64], x: NDArray[np.float64], begin: int, end: int
) -> int:
    """Write the cover inequality of a cut behind it (`engine.capacity.cover`); return where it ends.

    Return -1 where it would say the same.
    """
    weight = np.full(end - begin, np.inf)  # turned round: the heaviest come first
    n_small = 0
    for place in range(begin, end):
        if values[place] < 1.0:
            weight[place - begin] = -(x[columns[place]] / values[place])
            n_small += 1
    if n_small == 0:
        return -1
    order = argsort(weight)
    total = 0.0
    n_dropped = 0
    while n_dropped < n_small and total + values[begin + order[n_dropped]] < 1.0 - SUM_ROUNDING:
        total += values[begin + order[n_dropped]]
        weight[order[n_dropped]] = -np.inf
        n_dropped += 1
    if n_dropped == 0:
        return -1
    last = end
    for place in range(begin, end):
        if weight[place - begin] > -np.inf:
            columns[last], values[last] = columns[place], 1.0
            last += 1
    return last
