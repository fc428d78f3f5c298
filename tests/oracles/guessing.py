"""A reader who knows rule, parameters and mechanism, and guesses: plain arithmetic, nothing of the package.

He sees the range of a sensitive cell. He knows that it holds a class of values (A, B] with A = B (1 - s) - 4, in units,
from a secret start, or (0, B]; that levels are padding around the class, l A below and u B above; and that others may
have made the range wider. He is left with every value for which there is such a class.
"""

from __future__ import annotations

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
