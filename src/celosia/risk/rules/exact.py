"""Comparisons and levels without floating point.

Parameters of rules are decimals (10, 12.5), amounts are whole numbers, so every rule is an inequality between whole
numbers. 64 bits are used where they suffice, Python's integers where they do not.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.table.fixed import Fixed
from celosia.tolerance import LARGEST_COUNT


def whole(*parameters: float) -> tuple[int, ...]:
    """Return whole numbers in the same proportion as some decimals, with what one stands for last.

    >>> whole(12.5, 100)
    (125, 1000, 10)
    """
    numbers = [Decimal(str(parameter)) for parameter in parameters]
    places = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
    scale = 10 ** max(0, places)
    return (*(int(number * scale) for number in numbers), scale)


def roomy(factor: int, *amounts: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the amounts in integers that can be multiplied by `factor` and summed without overflow."""
    largest = max((int(np.abs(amount).max(initial=0)) for amount in amounts), default=0)
    if max(largest, 1) * factor * len(amounts) < LARGEST_COUNT:
        return tuple(amount.astype(np.int64, copy=False) for amount in amounts)
    return tuple(amount.astype(object) for amount in amounts)


def spread(counts: NDArray[Any], cells: NDArray[np.int64], n: int, decimals: int) -> Fixed:
    """Return the counts of some of `n` cells, zero for the others."""
    out = np.zeros(n, dtype=counts.dtype)
    out[cells] = counts
    return Fixed.of_counts(out, decimals)


def divide_rounding_up(numerator: NDArray[Any], denominator: int | NDArray[Any]) -> NDArray[Any]:
    """Return whole quotients, rounded up: a level may ask for a little more than the rule, never for less."""
    return -((-numerator) // denominator)
