"""From a solver's floating-point answer to whole numbers that can be checked.

Vertices of tables have small denominators, mostly one: multiplied by the right one, a vertex is whole, and rounding
finds it. Whether it was found is decided by exact arithmetic, not by the size of the rounding.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system import ENDLESS
from celosia.tolerance import LARGEST_COUNT

DENOMINATORS = (1, 2, 3, 4, 5, 6, 12, 60, 420, 2520)


def whole_moves(
    x: NDArray[np.float64],
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    *,
    denominators: tuple[int, ...] = DENOMINATORS,
) -> tuple[NDArray[np.int64], int] | None:
    """Return moves and their denominator near a floating-point solution, or None where rounding does not find them.

    Guarantee: the moves satisfy ``matrix @ moves == 0`` and ``-down <= moves / denominator <= up`` exactly.
    """
    for denominator in denominators:
        scaled = np.rint(x * denominator)
        if np.abs(scaled).max(initial=0) * max(1, int(matrix.shape[1])) >= LARGEST_COUNT:
            return None
        moves = scaled.astype(np.int64)
        if _inside(moves, up, denominator) and _inside(-moves, down, denominator) and not (matrix @ moves).any():
            return moves, denominator
    return None


def _inside(moves: NDArray[np.int64], room: NDArray[np.int64], denominator: int) -> bool:
    finite = room < ENDLESS
    if room[finite].max(initial=0) * denominator >= LARGEST_COUNT:
        return False
    return bool((moves[finite] <= room[finite] * denominator).all())


def proved_reach(
    duals: NDArray[np.float64],
    column: int,
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    *,
    upward: bool,
) -> tuple[Fraction, NDArray[np.int64], int] | None:
    r"""Return a bound on how far a cell can move, exact, with the multipliers that prove it.

    For any multipliers :math:`\gamma` of the relations, :math:`\pm x_p = \sum_i r_i x_i` with
    :math:`r = \pm e_p - M'\gamma` wherever :math:`M x = 0`, so :math:`\sum_i \max(r_i\,up_i, -r_i\,down_i)` is a bound:
    weak duality, valid whatever the accuracy of the solver. None where no rounding of the duals gives a finite one.

    Returns
    -------
    bound
        In counts.
    multipliers, denominator
        The multipliers of the rows are ``multipliers / denominator``.
    """
    best: tuple[Fraction, NDArray[np.int64], int] | None = None
    for denominator in DENOMINATORS:
        multipliers = np.rint(duals * denominator).astype(np.int64)
        rest = -np.asarray(matrix.T @ multipliers)
        rest[column] += denominator if upward else -denominator
        if (rest[up >= ENDLESS] > 0).any() or (rest[down >= ENDLESS] < 0).any():
            continue
        used = np.flatnonzero(rest)
        total = sum(
            int(r) * int(up[i]) if r > 0 else -int(r) * int(down[i]) for i, r in zip(used, rest[used], strict=True)
        )
        bound = Fraction(total, denominator)
        if best is None or bound < best[0]:
            best = (bound, multipliers, denominator)
        if np.abs(duals * denominator - multipliers).max(initial=0) < 1e-7:  # noqa: PLR2004  (the duals were found)
            break
    return best
