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
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.source.tabulation.groups import Groups
from celosia.source.tabulation.ledger import Layout, Ledger, book
from celosia.table.lattice import LatticeStep

_BLOCK = 1 << 13  # rows gathered at a time


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
        The weighted contribution in the same decimal; None where there are no weights.
    asked, waived
        Who asked for protection, who waived it; None where nobody could.
    """

    leaf: NDArray[np.int32]
    value: NDArray[np.int64]
    weighted: NDArray[np.int64] | None
    asked: NDArray[np.bool_] | None
    waived: NDArray[np.bool_] | None


def enter(groups: Groups, rows: Rows, steps: Sequence[LatticeStep], *, largest: int, threads: int) -> Ledger:
    """Return the ledger of all cells for the contributors that `groups` makes of the rows.

    Guarantee: the result equals what summing every group's rows cell by cell and sorting would give, whatever
    `threads`; amounts must be such that their absolute sum stays below 2^62.
    """
    starts, cells = _ancestors(steps)
    layout = Layout(largest, rows.weighted is not None, rows.waived is not None, rows.asked is not None)
    alone = _alone(groups.order, groups.starts)
    group_bounds = np.linspace(0, len(groups), threads + 1).astype(np.int64)
    row_bounds = np.linspace(0, len(rows.leaf), threads + 1).astype(np.int64)

    def part(number: int) -> tuple[Ledger, Ledger]:
        local = Ledger.empty(len(starts) - 1, layout)
        spanning = Ledger.empty(steps[-1].size, layout)
        records: dict[str, Any] = {field.name: getattr(rows, field.name) for field in fields(rows)}
        first, last = row_bounds[number : number + 2]
        _enter_alone(alone, first, last, lines=local.lines, k=largest, **records)
        first, last = group_bounds[number : number + 2]
        into: dict[str, Any] = {"local": local.lines, "spanning": spanning.lines, "starts": starts, "cells": cells}
        _enter_groups(groups.order, groups.starts, first, last, k=largest, **into, **records)
        return local, spanning

    with ThreadPoolExecutor(threads) as pool:
        (ledger, spanning), *others = pool.map(part, range(threads))
    for local, more in others:
        ledger.add(local)
        spanning.add(more)
    for step in steps:
        ledger = ledger.raise_to(step)
    ledger.add(spanning)
    return ledger


@kernel()
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


def _ancestors(steps: Sequence[LatticeStep]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return for every leaf cell the cells that hold it, compressed by rows."""
    holding = None
    for step in steps:
        ones = np.ones(len(step.holders), dtype=np.int8)
        matrix = sp.csr_array((ones, step.holders, step.starts), shape=(len(step.starts) - 1, step.size))
        holding = matrix if holding is None else sp.csr_array(holding @ matrix)
    if holding is None:
        raise ValueError("a table needs a dimension")
    return holding.indptr.astype(np.int64), holding.indices.astype(np.int32)


@kernel()
def _alone(order: NDArray[np.int32], starts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which rows are a group of their own: entered in the order of the file, they are kinder to the memory."""
    alone = np.zeros(len(order), dtype=np.bool_)
    for group in range(len(starts) - 1):
        if starts[group + 1] - starts[group] == 1:
            alone[order[starts[group]]] = True
    return alone


# In what follows an argument that may be None is None at compile time: every combination of weights, waivers and
# requests has compiled code of its own, without the branches it does not need.


@kernel()
def _enter_alone(
    alone: NDArray[np.bool_],
    first: int,
    last: int,
    leaf: NDArray[np.int32],
    value: NDArray[np.int64],
    weighted: NDArray[np.int64] | None,
    asked: NDArray[np.bool_] | None,
    waived: NDArray[np.bool_] | None,
    lines: Annotated[NDArray[np.int64], 2],
    k: int,
) -> None:
    """Enter the rows `first` .. `last` - 1 that are a group of their own."""
    for row in range(first, last):
        if alone[row]:
            w, a, f = _entry(weighted, weighted, row), _entry(asked, asked, row), _entry(waived, waived, row)
            book(lines, leaf[row], k, value[row], w, a, f)


@inner()
def _entry(given: NDArray[Any] | None, column: Any, place: int) -> Any:  # noqa: ANN401  (what the column holds)
    """Return an entry of a column, None where the records do not have it."""
    if given is None:
        return None
    return column[place]


@kernel()
def _enter_groups(
    order: NDArray[np.int32],
    group_starts: NDArray[np.int32],
    first: int,
    last: int,
    leaf: NDArray[np.int32],
    value: NDArray[np.int64],
    weighted: NDArray[np.int64] | None,
    asked: NDArray[np.bool_] | None,
    waived: NDArray[np.bool_] | None,
    starts: NDArray[np.int64],
    cells: NDArray[np.int32],
    local: Annotated[NDArray[np.int64], 2],
    spanning: Annotated[NDArray[np.int64], 2],
    k: int,
) -> None:
    """Enter the groups `first` .. `last` - 1 that have several rows.

    Rows lie scattered in the memory: they are gathered a block at a time, which lets the processor fetch many at once.
    `at[c]` is the place of cell c among the cells that the current group has touched; a group wipes its marks when it
    is done.
    """
    at = np.full(len(spanning), -1, dtype=np.int32)
    touched = np.empty(len(spanning), dtype=np.int32)
    sums = np.empty(len(spanning), dtype=np.int64)
    weighted_sums = np.empty(0 if weighted is None else len(spanning), dtype=np.int64)
    asks = np.empty(0 if asked is None else len(spanning), dtype=np.bool_)
    waives = np.empty(0 if waived is None else len(spanning), dtype=np.bool_)
    block, block_end = 0, 0
    leaves = np.empty(_BLOCK, dtype=np.int32)
    values = np.empty(_BLOCK, dtype=np.int64)
    for group in range(first, last):
        begin, end = group_starts[group], group_starts[group + 1]
        if end - begin == 1:
            continue
        if end > block_end:
            block, block_end = begin, min(len(order), max(begin + _BLOCK, end))
            if block_end - block > len(leaves):
                leaves = np.empty(block_end - block, dtype=np.int32)
                values = np.empty(block_end - block, dtype=np.int64)
            _gather(order[block:block_end], leaf, value, leaves, values)
        home = leaves[begin - block]
        spans = _spans(leaves[begin - block : end - block])
        n = 0
        for member in range(begin, end):
            amount = values[member - block]
            here = starts[leaves[member - block]]
            there = starts[leaves[member - block] + 1] if spans else here + 1
            for place in range(here, there):
                cell = cells[place] if spans else 0
                i = at[cell]
                new = i < 0
                if new:
                    i = n
                    n += 1
                    at[cell] = i
                    touched[i] = cell
                    sums[i] = amount
                else:
                    sums[i] += amount
                if weighted is not None:
                    weighted_sums[i] = weighted[order[member]] + (0 if new else weighted_sums[i])
                if asked is not None:
                    asks[i] = asked[order[member]] or (not new and asks[i])
                if waived is not None:
                    waives[i] = waived[order[member]] and (new or waives[i])
        for i in range(n):
            at[touched[i]] = -1
            w, a, f = _entry(weighted, weighted_sums, i), _entry(asked, asks, i), _entry(waived, waives, i)
            if spans:
                book(spanning, touched[i], k, sums[i], w, a, f)
            else:
                book(local, home, k, sums[i], w, a, f)


@inner(inline=True)
def _gather(
    rows: NDArray[np.int32],
    leaf: NDArray[np.int32],
    value: NDArray[np.int64],
    leaves: NDArray[np.int32],
    values: NDArray[np.int64],
) -> None:
    for place in range(len(rows)):
        leaves[place] = leaf[rows[place]]
    for place in range(len(rows)):
        values[place] = value[rows[place]]


@inner(inline=True)
def _spans(leaves: NDArray[np.int32]) -> bool:
    """Return whether the leaf cells are not all the same."""
    different = False
    for leaf in leaves:
        different |= leaf != leaves[0]
    return different
