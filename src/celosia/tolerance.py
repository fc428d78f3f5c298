"""The one place that owns tolerances.

Values of a table are whole numbers of the last decimal (`celosia.table.fixed`), so additivity and ties need no
tolerance at all. What remains is how printed numbers may miss each other: every printed figure is off by up to half a
unit of its last decimal.
"""

from __future__ import annotations

LARGEST_COUNT = 2**62
"""Sums of fixed-point counts stay below this, so that 64-bit integers hold them with room for one addition."""

MOST_DECIMALS = 9
"""Real-valued data (no decimal representation) are read on a grid of at most this many decimals."""

LEVEL_DECIMALS = 6
"""Protection levels are rounded up to a grid this many decimals finer than the table."""


def additivity_units(terms: int) -> float:
    """Return by how many units of the last decimal a relation of `terms` printed figures may miss.

    Each printed figure differs from the truth by at most half a unit, so a relation of `terms` figures misses by at
    most `terms` / 2 units; a table that misses by more is not additive.
    """
    return terms / 2
