r"""Classes of values of a cell: all values of a class have the same range, so that its ends and width tell no more.

Boundaries :math:`N_1 < N_2 < \dots` grow geometrically from a secret start, so that
:math:`N_k - N_{k-1} \ge s N_k` with the part s of the value that the width of levels can be (docs/mathematics.md,
*Concealed levels*).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from celosia.risk.risk import LevelShares

WIDEST_SHARE = 0.9
"""Levels that may be a larger part of the value are not concealed: nobody who knows that values are not negative can be
left with a range that is wider than its upper end."""

_LEAST_WIDTH = 4
"""What classes are wider than the part of the value, in units: levels are at least a unit, and ends are whole ones."""


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of values of a cell, in units of the table's last decimal.

    Parameters
    ----------
    lower, upper, width
        Which parts of the value its lower level, its upper level and the width of its range can be.
    start
        Where the first boundary lies, from 0 to below 1; secret.
    """

    lower: float
    upper: float
    width: float
    start: float = 0.0

    @property
    def offset(self) -> float:
        """By what values are shifted so that classes of small ones are wide enough."""
        return _LEAST_WIDTH / self.width

    def boundary(self, number: int) -> int:
        """Return the upper boundary of a class, whose numbers count from 1; zero below the first."""
        if number < 1:
            return 0
        grown = -math.log1p(-self.width) * (number + self.start)
        return math.ceil(self.offset * math.expm1(grown))

    def find(self, value: int) -> tuple[int, int]:
        """Return the boundaries of the class of a value that is not negative: above the first, up to the second."""
        grown = math.log1p(value / self.offset) / -math.log1p(-self.width)
        number = max(1, math.ceil(grown - self.start))
        while self.boundary(number) < value:
            number += 1
        while number > 1 and self.boundary(number - 1) >= value:
            number -= 1
        return self.boundary(number - 1), self.boundary(number)

    def pad(self, low: int, high: int) -> tuple[int, int]:
        """Return the ends of a range that leaves every value of a class its lower and its upper level."""
        lower, upper = Fraction(str(self.lower)), Fraction(str(self.upper))
        below = max(0, low - math.ceil(lower * low) - 1) if lower and low else low
        return below, high + math.ceil(upper * high) + 1 if upper else high

    def strip(self, below: Fraction, above: Fraction) -> tuple[Fraction, Fraction]:
        """Return what is left of a range when levels are taken off: what any reader can do."""
        low, high = math.floor(below), math.ceil(above / (1 + Fraction(str(self.upper)))) + 1
        if self.lower and below > 0:
            low = math.floor(below / (1 - Fraction(str(self.lower))))
        while self.pad(low, high)[0] < below:
            low += 1
        while self.pad(low, high)[1] > above:
            high -= 1
        return Fraction(low), Fraction(high)

    def below(self, boundary: Fraction) -> Fraction:
        """Return the lower boundary of the class with some upper one, to within two units: no secret is needed."""
        return max(Fraction(0), boundary * (1 - Fraction(str(self.width))) - _LEAST_WIDTH)

    def above(self, boundary: Fraction) -> Fraction:
        """Return the upper boundary of the class with some lower one, to within two units."""
        return (boundary + _LEAST_WIDTH) / (1 - Fraction(str(self.width)))


def classes_of(shares: LevelShares, cell: int, start: float = 0.0) -> Classes | None:
    """Return the classes of a cell, None where its levels are no part of the value, or too large a one.

    Parameters
    ----------
    shares
        Which parts of the value levels can be.
    cell
        Its place.
    start
        Where the first boundary lies.
    """
    width = float(shares.width[cell])
    if not 0 < width <= WIDEST_SHARE:
        return None
    return Classes(float(shares.lower[cell]), float(shares.upper[cell]), width, start)
