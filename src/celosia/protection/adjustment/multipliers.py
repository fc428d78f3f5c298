"""Multipliers whose products with relations are exact."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_BITS = 40
"""Multipliers are rounded to so many bits of the largest: sums of thousands of them fit into a double."""


def on_a_grid(multipliers: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return multipliers as whole numbers of a unit, and the unit, a power of two."""
    largest = float(np.abs(multipliers).max(initial=0.0))
    unit = 2.0 ** (math.ceil(math.log2(largest)) - _BITS) if largest > 0 else 1.0
    return np.rint(multipliers / unit), unit
