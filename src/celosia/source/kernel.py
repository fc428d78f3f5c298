"""The compiled part of tabulation: who contributes how much to every cell.

Sums and counts of records add up from leaf cells to totals; contributors do not. A holding with units in several leaf
cells counts once in their common total, with all it contributes there. So contributors with all their records in one
leaf cell are *local* and are handled at the leaf, from where they are rolled up; the others are *spanning* and are
entered into every cell that holds one of their leaf cells.

All amounts are whole numbers, so nothing here depends on the order of the records or the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from celosia.source.grouping import Groups
from celosia.table.lattice import Step
from celosia.table.statistics import Contributors

NOBODY = -1
"""The largest contribution of a requester where there is none."""

_COUNT, _UNWAIVED, _TOTAL, _REQUESTED, _LISTS = range(5)


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands in a line of a ledger.

    Four figures: the number of contributors, the number of them without waiver, the sum of absolute weighted
    contributions, the largest contribution of a requester. Then lists of the k largest: values, weighted values where
    there are weights, and the same for those without waiver where there are waivers. One line is one piece of memory:
    entering a contribution touches little of it.

    Parameters
    ----------
    k
        How many of the largest to keep.
    weighted, waivers
        Whether there are weights and waivers.
    """

    k: int
    weighted: bool
    waivers: bool

    @property
    def width(self) -> int:
        """The number of figures in a line."""
        return _LISTS + self.k * (1 + self.weighted) * (1 + self.waivers)


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """What is entered for each of n cells.

    Parameters
    ----------
    lines
        ``(n, layout.width)``.
    layout
        What stands where.
    """

    lines: NDArray[np.int64]
    layout: Layout

    @classmethod
    def empty(cls, n: int, layout: Layout) -> Ledger:
        """Return a ledger without entries."""
        lines = np.zeros((n, layout.width), dtype=np.int64)
        lines[:, _REQUESTED] = NOBODY
        return cls(lines, layout)

    def add(self, other: Ledger) -> None:
        """Enter everything that another ledger of the same cells holds."""
        cells = np.arange(len(self.lines), dtype=np.int32)
        _merge(
            np.arange(len(cells) + 1),
            cells,
            other.lines,
            self.lines,
            self.layout.k,
            self.layout.weighted,
            self.layout.waivers,
        )

    def raised(self, step: Step) -> Ledger:
        """Return the ledger of the next stage of the lattice."""
        out = Ledger.empty(step.size, self.layout)
        _merge(
            step.starts, step.holders, self.lines, out.lines, self.layout.k, self.layout.weighted, self.layout.waivers
        )
        return out

    def contributors(self) -> Contributors:
        """Return the entries as contributors' statistics."""
        k, lines = self.layout.k, self.lines
        lists = [lines[:, start : start + k].copy() for start in range(_LISTS, self.layout.width, k)]
        largest, weighted = lists[0], lists[1] if self.layout.weighted else lists[0]
        targets, weighted_targets = largest, weighted
        if self.layout.waivers:
            targets, weighted_targets = lists[-2] if self.layout.weighted else lists[-1], lists[-1]
        figures = [lines[:, place].copy() for place in (_COUNT, _TOTAL, _UNWAIVED)]
        return Contributors(figures[0], figures[1], largest, weighted, figures[2], targets, weighted_targets)

    def requested(self) -> NDArray[np.int64]:
        """Return the largest contribution of a requester, `NOBODY` where there is none."""
        return self.lines[:, _REQUESTED].copy()


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The records as the kernel sees them, ``(n_rows,)`` each.

    Parameters
    ----------
    leaf
        The leaf cell.
    value
        The contribution.
    weighted
        The weighted contribution in the same decimal; the same array where there are no weights.
    asked, waived
        Who asked for protection, who waived it; empty where nobody could.
    """

    leaf: NDArray[np.int32]
    value: NDArray[np.int64]
    weighted: NDArray[np.int64]
    asked: NDArray[np.bool_]
    waived: NDArray[np.bool_]


def enter(groups: Groups, rows: Rows, steps: Sequence[Step], *, largest: int, threads: int) -> Ledger:
    """Return the ledger of all cells for the contributors that `groups` makes of the rows.

    Guarantee: the result equals what summing every group's rows cell by cell and sorting would give, whatever
    `threads`; amounts must be such that their absolute sum stays below 2^62.
    """
    starts, cells = _ancestors(steps)
    layout = Layout(largest, rows.weighted is not rows.value, len(rows.waived) > 0)
    alone = _alone(groups.order, groups.starts)
    group_bounds = np.linspace(0, len(groups), threads + 1).astype(np.int64)
    row_bounds = np.linspace(0, len(rows.leaf), threads + 1).astype(np.int64)

    def part(number: int) -> tuple[Ledger, Ledger]:
        local = Ledger.empty(len(starts) - 1, layout)
        spanning = Ledger.empty(steps[-1].size, layout)
        records: tuple[Any, ...] = (rows.leaf, rows.value, rows.weighted, rows.asked, rows.waived)
        shape: tuple[Any, ...] = (layout.k, layout.weighted, layout.waivers)
        _enter_alone(alone, row_bounds[number], row_bounds[number + 1], *records, local.lines, *shape)
        bounds = (group_bounds[number], group_bounds[number + 1])
        _enter_groups(
            groups.order, groups.starts, *bounds, *records, starts, cells, local.lines, spanning.lines, *shape
        )
        return local, spanning

    with ThreadPoolExecutor(threads) as pool:
        (ledger, spanning), *others = pool.map(part, range(threads))
    for local, more in others:
        ledger.add(local)
        spanning.add(more)
    for step in steps:
        ledger = ledger.raised(step)
    ledger.add(spanning)
    return ledger


@njit(cache=True, nogil=True)
def leaf_sums(
    leaf: NDArray[np.int32], weighted: NDArray[np.int64], weight: NDArray[np.int64], n_leaves: int
) -> NDArray[np.int64]:
    """Return sum, number and weight (zero without weights) of the records of every leaf cell, ``(n_leaves, 3)``."""
    sums = np.zeros((n_leaves, 3), dtype=np.int64)
    for row in range(len(leaf)):
        cell = leaf[row]
        sums[cell, 0] += weighted[row]
        sums[cell, 1] += 1
        if len(weight):
            sums[cell, 2] += weight[row]
    return sums


def _ancestors(steps: Sequence[Step]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return for every leaf cell the cells that hold it, compressed by rows."""
    holding = None
    for step in steps:
        ones = np.ones(len(step.holders), dtype=np.int8)
        matrix = sp.csr_array((ones, step.holders, step.starts), shape=(len(step.starts) - 1, step.size))
        holding = matrix if holding is None else sp.csr_array(holding @ matrix)
    if holding is None:
        raise ValueError("a table needs a dimension")
    return holding.indptr.astype(np.int64), holding.indices.astype(np.int32)


@njit(cache=True, nogil=True)
def _alone(order: NDArray[np.int32], starts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which rows are a group of their own: entered in the order of the file, they are kinder to the memory."""
    alone = np.zeros(len(order), dtype=np.bool_)
    for group in range(len(starts) - 1):
        if starts[group + 1] - starts[group] == 1:
            alone[order[starts[group]]] = True
    return alone


@njit(cache=True, nogil=True, inline="always")
def _insert(lines: NDArray[np.int64], cell: int, base: int, k: int, pairs: bool, value: int, weighted: int) -> None:
    """Put a contribution into a list that is sorted by value, then by weighted value, largest first."""
    place = base + k - 1
    if value < lines[cell, place] or (
        value == lines[cell, place] and (not pairs or weighted <= lines[cell, place + k])
    ):
        return
    while place > base:
        above = lines[cell, place - 1]
        if value < above or (value == above and (not pairs or weighted <= lines[cell, place - 1 + k])):
            break
        lines[cell, place] = above
        if pairs:
            lines[cell, place + k] = lines[cell, place - 1 + k]
        place -= 1
    lines[cell, place] = value
    if pairs:
        lines[cell, place + k] = weighted


@njit(cache=True, nogil=True, inline="always")
def _book(
    lines: NDArray[np.int64],
    cell: int,
    value: int,
    weighted: int,
    asks: bool,
    waives: bool,
    k: int,
    pairs: bool,
    waivers: bool,
) -> None:
    """Enter one contributor's contribution to one cell."""
    value, weighted = abs(value), abs(weighted)
    lines[cell, _COUNT] += 1
    lines[cell, _TOTAL] += weighted
    _insert(lines, cell, _LISTS, k, pairs, value, weighted)
    if asks and weighted > lines[cell, _REQUESTED]:
        lines[cell, _REQUESTED] = weighted
    if not waives:
        lines[cell, _UNWAIVED] += 1
        if waivers:
            _insert(lines, cell, _LISTS + (2 * k if pairs else k), k, pairs, value, weighted)


@njit(cache=True, nogil=True)
def _merge(
    starts: NDArray[np.int64],
    holders: NDArray[np.int32],
    lines: NDArray[np.int64],
    out: NDArray[np.int64],
    k: int,
    pairs: bool,
    waivers: bool,
) -> None:
    """Enter every line of one ledger into the lines of those that hold its cell."""
    step = 2 * k if pairs else k
    for cell in range(len(starts) - 1):
        for place in range(starts[cell], starts[cell + 1]):
            holder = holders[place]
            for figure in (_COUNT, _UNWAIVED, _TOTAL):
                out[holder, figure] += lines[cell, figure]
            out[holder, _REQUESTED] = max(out[holder, _REQUESTED], lines[cell, _REQUESTED])
            for base in range(_LISTS, _LISTS + step * (2 if waivers else 1), step):
                for entry in range(base, base + k):
                    value, weighted = lines[cell, entry], lines[cell, entry + k] if pairs else 0
                    if value == 0 and weighted == 0:
                        break
                    _insert(out, holder, base, k, pairs, value, weighted)


@njit(cache=True, nogil=True)
def _enter_alone(
    alone: NDArray[np.bool_],
    first: int,
    last: int,
    leaf: NDArray[np.int32],
    value: NDArray[np.int64],
    weighted: NDArray[np.int64],
    asked: NDArray[np.bool_],
    waived: NDArray[np.bool_],
    lines: NDArray[np.int64],
    k: int,
    pairs: bool,
    waivers: bool,
) -> None:
    """Enter the rows `first` .. `last` - 1 that are a group of their own."""
    for row in range(first, last):
        if alone[row]:
            asks = len(asked) > 0 and asked[row]
            waives = waivers and waived[row]
            _book(lines, leaf[row], value[row], weighted[row], asks, waives, k, pairs, waivers)


@njit(cache=True, nogil=True)
def _enter_groups(
    order: NDArray[np.int32],
    group_starts: NDArray[np.int32],
    first: int,
    last: int,
    leaf: NDArray[np.int32],
    value: NDArray[np.int64],
    weighted: NDArray[np.int64],
    asked: NDArray[np.bool_],
    waived: NDArray[np.bool_],
    starts: NDArray[np.int64],
    cells: NDArray[np.int32],
    local: NDArray[np.int64],
    spanning: NDArray[np.int64],
    k: int,
    pairs: bool,
    waivers: bool,
) -> None:
    """Enter the groups `first` .. `last` - 1 that have several rows.

    `at[c]` is the place of cell c in the list of cells that the current group has touched; the marks of a group are
    wiped when it is done, not the array.
    """
    at = np.full(len(spanning), -1, dtype=np.int32)
    touched = np.empty(len(spanning), dtype=np.int32)
    sums = np.empty((len(spanning), 2), dtype=np.int64)
    flags = np.empty((len(spanning), 2), dtype=np.bool_)
    for group in range(first, last):
        begin, end = group_starts[group], group_starts[group + 1]
        if end - begin == 1:
            continue
        home = leaf[order[begin]]
        spans = False
        for place in range(begin + 1, end):
            spans = spans or leaf[order[place]] != home
        n = 0
        for member in range(begin, end):
            row = order[member]
            asks, waives = len(asked) > 0 and asked[row], waivers and waived[row]
            inside = starts[leaf[row]]
            outside = starts[leaf[row] + 1] if spans else inside + 1
            for place in range(inside, outside):
                cell = cells[place] if spans else 0
                i = at[cell]
                if i < 0:
                    i = n
                    n += 1
                    at[cell] = i
                    touched[i] = cell
                    sums[i, 0], sums[i, 1] = 0, 0
                    flags[i, 0], flags[i, 1] = False, True
                sums[i, 0] += value[row]
                if pairs:
                    sums[i, 1] += weighted[row]
                flags[i, 0] |= asks
                flags[i, 1] &= waives
        for i in range(n):
            at[touched[i]] = -1
            total = sums[i, 1] if pairs else sums[i, 0]
            if spans:
                _book(spanning, touched[i], sums[i, 0], total, flags[i, 0], flags[i, 1], k, pairs, waivers)
            else:
                _book(local, home, sums[i, 0], total, flags[i, 0], flags[i, 1], k, pairs, waivers)
