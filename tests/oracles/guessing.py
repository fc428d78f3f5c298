"""A reader who knows rule, parameters and mechanism, and guesses: plain arithmetic, nothing of the package.

He sees the range of a sensitive cell. He knows that it holds a class of values (A, B] with A = B (1 - s) - 4, in units,
from a secret start, or (0, B]; that levels are padding around the class, l A below and u B above; and that others may
have made the range wider. He is left with every value for which there is such a class. Who has the secret as well knows
the class of every leaf, and adds them up for totals; a linear program says what is left of all of them together.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

_ROUNDING = 3.0
"""Boundaries are whole units."""


def find_left(low: float, high: float, shares: tuple[float, float, float]) -> tuple[float, float]:
    """Return the least and the greatest value that a reader cannot rule out, in units.

    Parameters
    ----------
    low, high
        The published ends, in units.
    shares
        Which parts of the value lower level, upper level and the width of the range are: l, u and s.
    """
    steps = 1000
    values = [low + (high - low) * step / steps for step in range(steps + 1)]
    values += _strip(low, high, shares)
    left = [value for value in values if _is_possible(value, low, high, shares)]
    return min(left), max(left)


def _is_possible(value: float, low: float, high: float, shares: tuple[float, float, float]) -> bool:
    width = shares[2]
    lowest, highest = _strip(low, high, shares)
    if low <= 0:
        return value <= highest
    least = max(value, (lowest + 4 - _ROUNDING) / (1 - width))
    most = min(highest, (value + 4) / (1 - width))
    return least <= most + _ROUNDING + 1e-12 * high


def _strip(low: float, high: float, shares: tuple[float, float, float]) -> tuple[float, float]:
    """Return the ends without levels."""
    lower, upper, _ = shares
    lowest = (low + (1 if lower else 0)) / (1 - lower) if low > 0 else 0.0
    return lowest, (high - (1 if upper else 0)) / (1 + upper)


def read_width(low: float, high: float, width: float) -> float:
    """Return what the largest contribution is if a range is as wide as levels ask for, and these are a part of it."""
    return (high - low) / width


def draw_class(value: int, width: float, secret: int, name: str) -> tuple[int, int]:
    """Return the least and the greatest value of the class of a leaf, in units, as who has the secret finds them.

    Parameters
    ----------
    value
        The truth, in units.
    width
        Which part of the value the class is wide.
    secret
        The key.
    name
        What the cell is called.
    """
    key = hashlib.blake2b(secret.to_bytes(16, "big")).digest()
    start = int.from_bytes(hashlib.blake2b(name.encode(), key=key, digest_size=6).digest(), "big") / 2**48
    boundaries = [0]
    while boundaries[-1] < value or len(boundaries) == 1:
        grown = math.exp(-math.log(1 - width) * (len(boundaries) + start))
        boundaries.append(math.ceil(4 / width * (grown - 1) - 1e-9))
    return (boundaries[-2] + 1 if boundaries[-2] else 0), boundaries[-1]


def intersect(
    sums: NDArray[np.float64], told: list[tuple[float, float]], asked: list[int]
) -> list[tuple[float, float]]:
    """Return what is left of some cells when all that is told of all cells holds at a time.

    Parameters
    ----------
    sums
        Of which leaves every cell is the sum, ``(n_cells, n_leaves)``; leaves are not negative.
    told
        Between which numbers every cell lies.
    asked
        Places of cells.
    """
    low, high = np.array(told).T
    left = []
    for cell in asked:
        ends = []
        for sign in (1, -1):
            above, below = np.isfinite(high), np.isfinite(low)
            found = linprog(
                sign * sums[cell],
                A_ub=np.vstack([sums[above], -sums[below]]),
                b_ub=np.concatenate([high[above], -low[below]]) + 0.5,
                bounds=(0, None),
            )
            ends.append(sign * found.fun if found.success else sign * -math.inf)
        left.append((ends[0], ends[1]))
    return left
