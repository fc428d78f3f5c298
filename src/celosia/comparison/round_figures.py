r"""A base to round to and a reach to move within, where none is given: what the levels ask for, in round figures.

The reader of a value v that was rounded to the base b concludes :math:`v - b + u .. v + b - u`, where u is the smallest
difference between two values. One of the two multiples next to the truth a leaves :math:`a - lpl` and :math:`a + upl`
possible as soon as :math:`b \ge lpl + upl + 2 u`. A reach r does if :math:`r \ge lpl + upl`.

Levels are computed from single contributions, and base and reach are published: so both are rounded up to 1, 2 or 5
times a power of ten, over all cells together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from celosia.errors import round_up
from celosia.risk.risk import Risk

_TRIES = 4
"""The number of figures that are tried, the next one where one is too small for the table."""


def candidate_bases(risk: Risk) -> Iterator[int | Fraction]:
    """Yield bases to try, ascending; none where no cell is sensitive."""
    return _figures(risk, grains=2)


def candidate_reaches(risk: Risk) -> Iterator[int | Fraction]:
    """Yield reaches to try, ascending; none where no cell is sensitive."""
    return _figures(risk, grains=0)


def _figures(risk: Risk, grains: int) -> Iterator[int | Fraction]:
    """Yield round figures from what the levels ask for upwards, plus a number of smallest differences (`grains`)."""
    widest = _widest(risk)
    if widest is None:
        return
    counts, unit = bool(risk.table.is_count.any()), 10**risk.table.decimals
    grain = unit if counts else 1
    figure = round_up(max(math.ceil(widest * unit) + grains * grain, grain))
    for _ in range(_TRIES):
        yield figure // unit if figure % unit == 0 else Fraction(figure, unit)
        figure = round_up(figure + 1)


def _widest(risk: Risk) -> Fraction | None:
    """Return the most that levels ask for on both sides of a cell, None where no cell is sensitive."""
    cells = np.flatnonzero(risk.sensitive).tolist()
    levels = risk.largest_levels
    both = (levels.lower.fraction(cell) + levels.upper.fraction(cell) for cell in cells)
    widths = (levels.sliding.fraction(cell) for cell in cells)
    return max((max(pair) for pair in zip(both, widths, strict=True)), default=None)
