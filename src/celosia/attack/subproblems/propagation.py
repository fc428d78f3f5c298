"""Bounds that follow from single relations: how far cells can move at most, without any program solved."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.tolerance import ENDLESS, LARGEST_COUNT

_VISITS = 20
"""How often a relation is looked at, on average, at most: bounds may come closer by ever smaller steps."""


def propagate_bounds(
    matrix: sp.csr_array, down: NDArray[np.int64], up: NDArray[np.int64], whole: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return bounds that follow from single relations, at most the given ones, ``(n,)`` each.

    Guarantee: every x with ``matrix @ x == 0`` and ``-down <= x <= up`` stays inside that is whole where it must be.
    In whole numbers, rounded outwards.

    Parameters
    ----------
    matrix
        The relations, ``(m, n)``.
    down, up
        The bounds of the moves, `ENDLESS` where there is no end.
    whole
        Where only whole x count, ``(n,)``: there rounding goes inwards.
    """
    columns = sp.csc_array(matrix)
    longest = int(np.diff(matrix.indptr).max(initial=1)) * int(np.abs(matrix.data).max(initial=1))
    # A bound that might overflow a sum counts as endless.
    most = LARGEST_COUNT // max(1, longest)
    lower, upper = np.where(down >= most, ENDLESS, down), np.where(up >= most, ENDLESS, up)
    _tighten(matrix.indptr, matrix.indices, matrix.data, columns.indptr, columns.indices, lower, upper, whole, _VISITS)
    return np.minimum(down, lower), np.minimum(up, upper)


@kernel()
def _tighten(
    row_starts: NDArray[np.int32],
    row_columns: NDArray[np.int32],
    data: NDArray[np.int64],
    column_starts: NDArray[np.int32],
    column_rows: NDArray[np.int32],
    down: NDArray[np.int64],
    up: NDArray[np.int64],
    whole: NDArray[np.bool_],
    visits: int,
) -> None:
    """Tighten rooms in place, relation by relation, those first that have waited longest."""
    m = len(row_starts) - 1
    waiting = np.arange(m)
    is_waiting = np.ones(m, dtype=np.bool_)
    first, n_waiting, left = 0, m, visits * m
    while n_waiting > 0 and left > 0:
        row = waiting[first]
        first = (first + 1) % m
        n_waiting -= 1
        left -= 1
        is_waiting[row] = False
        for sign in (1, -1):
            most, endless = _reach_of_row(row, sign, row_starts, row_columns, data, down, up)
            for place in range(row_starts[row], row_starts[row + 1]):
                column = row_columns[place]
                factor = sign * data[place]
                if not _cut(column, factor, most, endless, down, up, whole):
                    continue
                for entry in range(column_starts[column], column_starts[column + 1]):
                    other = column_rows[entry]
                    if not is_waiting[other]:
                        is_waiting[other] = True
                        waiting[(first + n_waiting) % m] = other
                        n_waiting += 1


@inner()
def _reach_of_row(
    row: int,
    sign: int,
    row_starts: NDArray[np.int32],
    row_columns: NDArray[np.int32],
    data: NDArray[np.int64],
    down: NDArray[np.int64],
    up: NDArray[np.int64],
) -> tuple[int, int]:
    """Return how large a relation's terms can get in sum, the endless ones left out, and how many those are."""
    most, endless = 0, 0
    for place in range(row_starts[row], row_starts[row + 1]):
        factor, column = sign * data[place], row_columns[place]
        room = up[column] if factor > 0 else down[column]
        if room >= ENDLESS and factor != 0:
            endless += 1
        else:
            most += abs(factor) * room
    return most, endless


@inner()
def _cut(
    column: int,
    factor: int,
    most: int,
    endless: int,
    down: NDArray[np.int64],
    up: NDArray[np.int64],
    whole: NDArray[np.bool_],
) -> bool:
    """Cut the room of one cell to what the others of the relation can make up for; return whether that is less.

    The terms come to zero, so a term is at least minus the most that the others reach; `most` is what all can reach
    before this relation cut anything, which is too large at worst.
    """
    if factor == 0:
        return False
    own = up[column] if factor > 0 else down[column]
    others = endless
    rest = most
    if own >= ENDLESS:
        others -= 1
    else:
        rest -= abs(factor) * own
    if others > 0:
        return False
    size = abs(factor)
    allowed = rest // size if whole[column] else -(-rest // size)
    room = down if factor > 0 else up
    if allowed < room[column]:
        room[column] = allowed
        return True
    return False
