r"""Whole tables by search: bounds are propagated through the relations, and where that ends, a range is halved.

All of it in whole numbers, so that a search that went through all cases is a proof. For components of some hundred
cells at most; where ranges have no end, or there are too many cases, the search gives up and says so.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.arrays import plain
from celosia.kernels import inner, kernel
from celosia.tolerance import ENDLESS, LARGEST_COUNT

MOST_CELLS = 400
"""Larger components are not searched."""

_MOST_CASES = 20_000
_MOST_DEPTH = 256
_MOST_ROUNDS = 50  # bounds may creep towards each other by ones
_NONE, _FOUND = 0, 1
_ALL, _LESS, _NOTHING = 0, 1, 2


class SearchEnd(Enum):
    """How a search ended."""

    FOUND = "found"
    NONE = "none"
    GAVE_UP = "gave up"


def search_whole_moves(
    matrix: sp.csr_array,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    near: NDArray[np.int64],
) -> tuple[SearchEnd, NDArray[np.int64]]:
    """Return whether there are whole moves between bounds that satisfy all relations, and if so, which.

    Guarantee: where it returns NONE there are none. Moves that are FOUND satisfy relations and bounds.

    Parameters
    ----------
    matrix
        The relations, ``(m, n)``.
    lower, upper
        The bounds, ``(n,)`` each; at or beyond `ENDLESS` in size where there is none.
    near
        Where to look first, ``(n,)``.
    """
    finite = np.concatenate([bounds[np.abs(bounds) < ENDLESS] for bounds in (lower, upper)])
    heaviest = int(np.abs(matrix.data).max(initial=1)) * int(np.diff(matrix.indptr).max(initial=1))
    largest = min(ENDLESS, LARGEST_COUNT // (4 * heaviest))  # no sum of such bounds overflows
    if len(lower) > MOST_CELLS or int(np.abs(finite).max(initial=0)) >= largest:
        return SearchEnd.GAVE_UP, near
    tidy = sp.csr_array(matrix, dtype=np.int64)
    tidy.sum_duplicates()
    tidy.eliminate_zeros()
    ended, moves = _search(tidy.indptr, tidy.indices, tidy.data, lower, upper, near, largest)
    if ended == _FOUND:
        return SearchEnd.FOUND, moves
    return (SearchEnd.NONE if ended == _NONE else SearchEnd.GAVE_UP), near


@kernel()
def _search(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    factors: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    near: NDArray[np.int64],
    largest: int,
) -> tuple[int, NDArray[np.int64]]:
    """Return 0 and nothing, 1 and moves, or 2 where it gave up."""
    n = len(lower)
    lows = np.empty((_MOST_DEPTH, n), dtype=np.int64)
    highs = np.empty((_MOST_DEPTH, n), dtype=np.int64)
    _put(lows, highs, 0, lower, upper)
    waiting = 1
    cases = 0
    while waiting > 0:
        waiting -= 1
        low, high = lows[waiting].copy(), highs[waiting].copy()
        cases += 1
        if cases > _MOST_CASES:
            return 2, near
        if not _propagate(starts, columns, factors, low, high, largest):
            continue
        narrowest, width = -1, LARGEST_COUNT
        for place in range(n):
            own = high[place] - low[place]
            if 0 < own < width:
                narrowest, width = place, own
        if narrowest < 0:
            if _are_balanced(starts, columns, factors, low):
                return 1, low
            continue
        if abs(low[narrowest]) >= ENDLESS or abs(high[narrowest]) >= ENDLESS or waiting + 2 > _MOST_DEPTH:
            return 2, near
        middle = low[narrowest] + width // 2
        first = waiting + 1 if near[narrowest] <= middle else waiting
        second = 2 * waiting + 1 - first
        _put(lows, highs, first, low, high)
        _put(lows, highs, second, low, high)
        highs[first, narrowest] = middle
        lows[second, narrowest] = middle + 1
        waiting += 2
    return 0, near


@inner()
def _put(
    lows: NDArray[np.int64], highs: NDArray[np.int64], place: int, low: NDArray[np.int64], high: NDArray[np.int64]
) -> None:
    """Let a case wait."""
    for k in range(len(low)):
        lows[place, k], highs[place, k] = low[k], high[k]


@inner(inline=True)
def _propagate(
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    factors: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    largest: int,
) -> bool:
    """Narrow the ranges by what each relation leaves open; return whether something is left."""
    for _ in range(_MOST_ROUNDS):
        changed = False
        for row in range(len(starts) - 1):
            part = slice(starts[row], starts[row + 1])
            left = _narrow(columns[part], factors[part], low, high, largest)
            if left == _NOTHING:
                return False
            changed |= left == _LESS
        if not changed:
            break
    return True


@inner()
def _narrow(
    columns: NDArray[np.int32],
    factors: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    largest: int,
) -> int:
    """Narrow the ranges by one relation; return whether less is left, or nothing."""
    least, endless_below = _least(columns, factors, plain(1), low, high)
    most, endless_above = _least(columns, factors, plain(-1), low, high)
    most = -most
    left = _ALL
    # Ranges shrink while least and most stay: a little behind, but sound.
    for entry in range(len(columns)):
        factor, place = factors[entry], columns[entry]
        lowest, highest = (low[place], high[place]) if factor > 0 else (high[place], low[place])
        own_below, own_above = abs(lowest) >= ENDLESS, abs(highest) >= ENDLESS
        # All terms sum to zero, so this one is at most the opposite of the least that the others sum to.
        if endless_below == (1 if own_below else 0):
            rest = least - (0 if own_below else factor * lowest)
            left = max(left, _narrow_below(factor, -rest, place, low, high, largest))
        if endless_above == (1 if own_above else 0):
            rest = most - (0 if own_above else factor * highest)
            left = max(left, _narrow_below(-factor, rest, place, low, high, largest))
        if low[place] > high[place]:
            return _NOTHING
    return left


@inner()
def _least(
    columns: NDArray[np.int32], factors: NDArray[np.int64], sign: int, low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[int, int]:
    """Return the least that terms, or with `sign` = -1 their opposites, sum to, and how many of them have no end."""
    least, endless = 0, 0
    for entry in range(len(columns)):
        factor = sign * factors[entry]
        lowest = low[columns[entry]] if factor > 0 else high[columns[entry]]
        if abs(lowest) >= ENDLESS:
            endless += 1
        else:
            least += factor * lowest
    return least, endless


@inner()
def _narrow_below(
    factor: int, most: int, place: int, low: NDArray[np.int64], high: NDArray[np.int64], largest: int
) -> int:
    """Narrow a range by ``factor * x <= most``."""
    bound = most // abs(factor)
    if abs(bound) < largest:
        if factor > 0 and bound < high[place]:
            high[place] = bound
            return _LESS
        if factor < 0 and -bound > low[place]:
            low[place] = -bound
            return _LESS
    return _ALL


@inner()
def _are_balanced(
    starts: NDArray[np.int32], columns: NDArray[np.int32], factors: NDArray[np.int64], moves: NDArray[np.int64]
) -> bool:
    for row in range(len(starts) - 1):
        total = 0
        for entry in range(starts[row], starts[row + 1]):
            total += factors[entry] * moves[columns[entry]]
        if total != 0:
            return False
    return True
