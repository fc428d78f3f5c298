"""Relations that the others imply, left out so that as few cells as possible stand in more than two.

In a table with one hierarchy a parent's line follows from the lines of its children and the sums that make the parent.
Without such lines every cell stands in at most two relations, and the table is a network.

Most relations define a total by its parts. One definition is kept for every total, as long as they do not go round in
circles; from random values for all other cells they give a random table. A relation that a random table satisfies
follows from the definitions but for a chance of 2^-62 (Schwartz and Zippel); everything concluded from it is checked
elsewhere, on every witness.
"""

from __future__ import annotations

from itertools import combinations
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.arrays import plain
from celosia.kernels import inner, kernel

_PRIME = 2**31 - 1
_DRAWS = 2
_ENDS = 2  # of an arc
_COLOURS = 62


def find_implied_rows(matrix: sp.csr_array) -> NDArray[np.bool_]:
    """Return which rows follow from the rest, ``(m,)``.

    Of the many ways to choose them the one is taken that leaves the fewest columns in more than two rows. Where such
    columns remain all the same, rows are left in that do no harm.
    """
    m, n = matrix.shape
    columns = sp.csc_array(matrix)
    if not m or int(np.diff(columns.indptr).max(initial=0)) <= _ENDS:
        return np.zeros(m, dtype=bool)
    colour = colour_rows(matrix.indptr, matrix.indices, n)
    totals = find_totals(matrix.indptr, matrix.indices, matrix.data)
    orders = [np.argsort(rank, kind="stable") for rank in _ranks(colour)]
    best = min(orders, key=lambda order: _count_crowded(matrix.indptr, matrix.indices, totals, order, n))
    table = np.random.default_rng(0).integers(1, _PRIME, size=(_DRAWS, n))
    return np.asarray(
        _follows(
            *(matrix.indptr, matrix.indices, matrix.data, columns.indptr, columns.indices),
            *(totals, best, table),
        )
    )


def _ranks(colour: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the orders in which relations may define totals, as a rank for every row: two colours before all others.

    The sums along one dimension, however deep its hierarchy, need two colours.
    """
    pairs = combinations(range(int(colour.max(initial=0)) + 1), 2)
    return [np.where(np.isin(colour, pair), 0, 1 + colour) for pair in pairs]


@kernel()
def _count_crowded(
    starts: NDArray[np.int32], columns: NDArray[np.int32], totals: NDArray[np.int64], order: NDArray[np.int64], n: int
) -> int:
    """Return how many columns stand in more than two of the definitions, of which each total gets the first."""
    defined = np.zeros(n, dtype=np.bool_)
    times = np.zeros(n, dtype=np.int64)
    for row in order:
        if totals[row] < 0 or not defined[totals[row]]:
            if totals[row] >= 0:
                defined[totals[row]] = True
            for place in range(starts[row], starts[row + 1]):
                times[columns[place]] += 1
    crowded = 0
    for column in range(n):
        crowded += times[column] > _ENDS
    return crowded


@kernel()
def colour_rows(starts: NDArray[np.int32], columns: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Return a colour for every row, such that rows of one colour share no column: the first that fits, in order.

    Rows that would need more than 62 colours share the last.
    """
    used = np.zeros(n, dtype=np.int64)
    colour = np.zeros(len(starts) - 1, dtype=np.int64)
    for row in range(len(colour)):
        taken = np.int64(0)
        for place in range(starts[row], starts[row + 1]):
            taken |= used[columns[place]]
        number = 0
        while number < _COLOURS and (taken >> number) & 1:
            number += 1
        colour[row] = number
        for place in range(starts[row], starts[row + 1]):
            used[columns[place]] |= np.int64(1) << number
    return colour


def find_totals(starts: NDArray[np.int32], columns: NDArray[np.int32], data: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the column that every row defines: the only one of its sign, with a coefficient of size one; else -1.

    Of two cells that are equal, as a code and its only part are, the one is defined whose sign totals have elsewhere.
    """
    m = len(starts) - 1
    row = np.repeat(np.arange(m), np.diff(starts))
    side = 2 * row + (data > 0)
    alone = (np.bincount(side, minlength=2 * m)[side] == 1) & (np.abs(data) == 1)
    doubtful = np.bincount(row[alone], minlength=m) == _ENDS
    sure = alone & ~doubtful[row]
    sign = 1 if 2 * int((data[sure] > 0).sum()) > int(sure.sum()) else -1
    totals = np.full(m, -1, dtype=np.int64)
    for chosen in (sure, alone & doubtful[row] & (data == sign)):
        totals[row[chosen]] = columns[chosen]
    return totals


@kernel()
def _follows(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    data: NDArray[np.int64],
    column_starts: NDArray[np.int32],
    column_rows: NDArray[np.int32],
    totals: NDArray[np.int64],
    order: NDArray[np.int64],
    table: Annotated[NDArray[np.int64], 2],
) -> NDArray[np.bool_]:
    """Return which rows follow from definitions, of which every total gets the first in the given order."""
    m = len(starts) - 1
    defines = np.zeros(m, dtype=np.bool_)
    known = np.ones(table.shape[1], dtype=np.bool_)
    for row in order:
        if totals[row] >= 0 and known[totals[row]]:
            defines[row] = True
            known[totals[row]] = False
    defined = np.empty(m, dtype=np.int64)
    for row in range(m):
        defined[row] = totals[row] if defines[row] else -1
    found = _fill_totals(starts, columns, data, column_starts, column_rows, defined, known, table)
    for row in range(m):
        found[row] = not found[row]  # what is settled already needs no proof
        for draw in range(table.shape[0]):
            if found[row] and _sum(starts, columns, data, row, plain(-1), table[draw]) != 0:
                found[row] = False
    return found


@inner(inline=True)
def _fill_totals(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    data: NDArray[np.int64],
    column_starts: NDArray[np.int32],
    column_rows: NDArray[np.int32],
    totals: NDArray[np.int64],
    known: NDArray[np.bool_],
    table: Annotated[NDArray[np.int64], 2],
) -> NDArray[np.bool_]:
    """Fill totals in by their definitions, as long as all parts are known; return which definitions were used."""
    m = len(starts) - 1
    unknown = np.zeros(m, dtype=np.int64)
    for row in range(m):
        for place in range(starts[row], starts[row + 1]):
            unknown[row] += not known[columns[place]]
    waiting = np.empty(m, dtype=np.int64)
    n_waiting = 0
    for row in range(m):
        if totals[row] >= 0 and unknown[row] == 1:
            waiting[n_waiting] = row
            n_waiting += 1
    settled = np.zeros(m, dtype=np.bool_)
    while n_waiting:
        n_waiting -= 1
        row = waiting[n_waiting]
        settled[row] = True
        for draw in range(table.shape[0]):
            table[draw, totals[row]] = _sum(starts, columns, data, row, totals[row], table[draw])
        for place in range(column_starts[totals[row]], column_starts[totals[row] + 1]):
            other = column_rows[place]
            unknown[other] -= 1
            if totals[other] >= 0 and unknown[other] == 1 and not settled[other]:
                waiting[n_waiting] = other
                n_waiting += 1
    return settled


@inner()
def _sum(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    data: NDArray[np.int64],
    row: int,
    total: int,
    values: NDArray[np.int64],
) -> np.int64:
    """Return the sum of a row, or the value that a column must have to make it zero, modulo the prime."""
    value, own = np.int64(0), np.int64(-1)
    for place in range(starts[row], starts[row + 1]):
        if columns[place] == total:
            own = data[place]
        else:
            value = (value + data[place] % _PRIME * values[columns[place]]) % _PRIME
    return (-value * own) % _PRIME
