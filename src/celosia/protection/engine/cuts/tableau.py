r"""The tableau of a basis of kernel coordinates: every class as a combination of those in the basis.

With d degrees of freedom, d classes with independent rows of N are a basis B, and every other class is
:math:`d_i = \sum_{b \in B} T_{ib} d_b`. So each row of the tableau T is a combination of relations with
coefficient 1 of class i: a fundamental cocircuit of the matroid of the rows of N. A pivot exchanges one class of the
basis.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.tolerance import KERNEL_ZERO


class Tableau(NamedTuple):
    """A tableau, which pivots change in place.

    Parameters
    ----------
    table
        T: every class by the classes of the basis, ``(n, d)``.
    basis
        The class at each place of the basis, ``(d,)``.
    place
        The place of each class in the basis, -1 for others, ``(n,)``.
    """

    table: Annotated[NDArray[np.float64], 2]
    basis: NDArray[np.int64]
    place: NDArray[np.int64]


class RowPrices(NamedTuple):
    """What a class adds to the left side of a capacity cut: its weight times its coefficient, which is at most 1.

    Parameters
    ----------
    weight
        Of every class: how far the point hides it, ``(n,)``.
    up, down
        The attacker's bounds of every class, for positive and for negative coefficients in the row, ``(n,)``.
    level
        How far the class of the row should move; 0 where every class counts with its weight.
    """

    weight: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    level: float


@kernel()
def take_lightest_basis(tableau: Tableau, order: NDArray[np.int64], weight: NDArray[np.float64]) -> None:
    """Pivot to the basis of least weight by the greedy algorithm, given the classes in the order of their weight."""
    table, basis, place = tableau
    d = len(basis)
    settled = np.zeros(d, dtype=np.bool_)
    n_settled = 0
    for one in order:
        if n_settled == d:
            break
        if place[one] < 0:
            best = -1
            for k in range(d):
                if not settled[k] and table[one, k] != 0.0 and (best < 0 or weight[basis[k]] > weight[basis[best]]):
                    best = k
            if best < 0:
                continue
            _pivot(table, basis, place, one, best)
        settled[place[one]] = True
        n_settled += 1


@kernel()
def sum_rows(tableau: Tableau, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of the classes of the basis in each row, infinite for rows of the basis, ``(n,)``."""
    table, basis, place = tableau
    n, d = table.shape
    total = np.full(n, np.inf)
    for i in range(n):
        if place[i] < 0:
            total[i] = 0.0
            for k in range(d):
                if table[i, k] != 0.0:
                    total[i] += weight[basis[k]]
    return total


@kernel()
def shorten_row(tableau: Tableau, row: int, prices: RowPrices, most: int, least: float) -> float:
    """Exchange classes of the basis as long as the price of a row falls, at most so often; return the price.

    Parameters
    ----------
    tableau
        The tableau.
    row
        A class outside the basis.
    prices
        What classes cost.
    most
        The greatest number of exchanges.
    least
        A fall by less does not count.
    """
    d = len(tableau.basis)
    used = np.empty(d, dtype=np.int64)
    cost = np.empty(d, dtype=np.float64)
    n_used = _list_entries(tableau, row, prices, used, cost)
    for _ in range(most):
        enters, leaves = _choose_exchange(tableau, row, prices, used[:n_used], cost[:n_used], least)
        if enters < 0:
            break
        _pivot(tableau.table, tableau.basis, tableau.place, enters, leaves)
        n_used = _list_entries(tableau, row, prices, used, cost)
    return cost[:n_used].sum()  # type: ignore[no-any-return]


@inner()
def _list_entries(
    tableau: Tableau, row: int, prices: RowPrices, used: NDArray[np.int64], cost: NDArray[np.float64]
) -> int:
    """Write the places of the basis that a row has, the dearest first, and what they cost; return how many."""
    n_used = 0
    for k in range(len(tableau.basis)):
        if tableau.table[row, k] != 0.0:
            price = _price(prices, tableau.basis[k], tableau.table[row, k])
            at = n_used
            while at > 0 and cost[at - 1] < price:
                cost[at], used[at] = cost[at - 1], used[at - 1]
                at -= 1
            cost[at], used[at] = price, k
            n_used += 1
    return n_used


@inner()
def _choose_exchange(  # noqa: C901  (one loop, compiled)
    tableau: Tableau, row: int, prices: RowPrices, used: NDArray[np.int64], cost: NDArray[np.float64], least: float
) -> tuple[int, int]:
    """Return which class should enter the basis, and at which place, so that a row falls most; -1 where none does.

    Entries of the row cancel that have the same ratio to those of the class. Of all ratios two are tried: that of the
    dearest entry, and that of the next which has another.
    """
    table, place = tableau.table, tableau.place
    best, enters, leaves, total = least, -1, -1, cost.sum()
    for j in range(len(place)):
        if place[j] >= 0 or j == row or (prices.level == 0.0 and prices.weight[j] + best >= total):
            continue
        first, second, gain_first, gain_second = -1, -1, 0.0, 0.0
        for position in range(len(used)):
            k = used[position]
            if table[j, k] == 0.0:
                continue
            if first < 0:
                first = k
            # equal ratios, without a division
            if abs(table[row, k] * table[j, first] - table[row, first] * table[j, k]) <= KERNEL_ZERO:
                gain_first += cost[position]
                continue
            if second < 0:
                second = k
            if abs(table[row, k] * table[j, second] - table[row, second] * table[j, k]) <= KERNEL_ZERO:
                gain_second += cost[position]
        for at, gain in ((first, gain_first), (second, gain_second)):
            if at >= 0 and gain - _price(prices, j, table[row, at] / table[j, at]) > best:
                fall = _measure_fall(tableau, row, prices, j, at)
                if fall > best:
                    best, enters, leaves = fall, j, at
    return enters, leaves


@inner()
def _measure_fall(tableau: Tableau, row: int, prices: RowPrices, enters: int, at: int) -> float:
    """Return by how much an exchange lowers the price of a row."""
    table, basis = tableau.table, tableau.basis
    ratio = table[row, at] / table[enters, at]
    fall = -_price(prices, enters, ratio)
    for k in range(len(basis)):
        if table[enters, k] != 0.0:
            before, after = table[row, k], table[row, k] - ratio * table[enters, k]
            if before != 0.0:
                fall += _price(prices, basis[k], before)
            if abs(after) > KERNEL_ZERO:
                fall -= _price(prices, basis[k], after)
    return fall


@inner(inline=True)
def _price(prices: RowPrices, one: int, coefficient: float) -> float:
    """Return what a class costs with a coefficient."""
    weight = float(prices.weight[one])
    if prices.level == 0.0:
        return weight
    capacity = float(prices.up[one] if coefficient > 0.0 else prices.down[one])
    return weight * min(1.0, abs(coefficient) * capacity / prices.level)


@inner()
def _pivot(
    table: NDArray[np.float64], basis: NDArray[np.int64], place: NDArray[np.int64], enters: int, at: int
) -> None:
    """Let a class take a place of the basis."""
    n, d = table.shape
    used = np.empty(d, dtype=np.int64)
    n_used = 0
    for k in range(d):
        if k != at and table[enters, k] != 0.0:
            used[n_used] = k
            n_used += 1
    pivot = table[enters, at]
    for i in range(n):
        if table[i, at] == 0.0 or i == enters:
            continue
        factor = table[i, at] / pivot
        for position in range(n_used):
            k = used[position]
            left = table[i, k] - factor * table[enters, k]
            table[i, k] = left if abs(left) > KERNEL_ZERO else 0.0
        table[i, at] = factor
    for position in range(n_used):
        table[enters, used[position]] = 0.0
    table[enters, at] = 1.0
    place[basis[at]], place[enters] = -1, at
    basis[at] = enters
