r"""Levels that tell nothing of contributions: values fall into classes, and all values of a class have its levels.

A level of a rule is a part of the largest contribution, so a range that is as narrow as levels allow tells it by its
width. Here the range of a sensitive cell is that of its class: boundaries :math:`N_1 < N_2 < \dots` grow geometrically
from a secret start, so that :math:`N_k - N_{k-1} \ge s N_k` with the part s of the value that the width of levels can
be. Ends and width of the range depend on the class alone, and levels that a reader takes off again are padding around
it: he is left with the whole class, whatever he knows of rule and mechanism (docs/mathematics.md, *Concealed levels*).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.risk.risk import Levels, LevelShares, Risk
from celosia.table.fixed import Fixed
from celosia.table.relations import label_components
from celosia.table.table import Table

WIDEST_SHARE = 0.9
"""Levels that may be a larger part of the value are not concealed: nobody who knows that values are not negative can be
left with a range that is wider than its upper end."""

_LEAST_WIDTH = 4
"""What classes are wider than the part of the value, in units: levels are at least a unit, and ends are whole ones."""

_KEY_BYTES = 16


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


def conceal_levels(risk: Risk, secret: int) -> tuple[Risk, int]:
    """Return the risk with levels that reach to the ends of classes, and how many sensitive cells keep their own.

    Guarantee: every level that is changed asks for at least what it asked for before: lower, upper and sliding.

    Parameters
    ----------
    risk
        What is to be protected.
    secret
        The key by which classes are drawn, cell by cell.
    """
    table, shares = risk.table, risk.shares
    cells = np.flatnonzero(risk.sensitive)
    decimals = max(risk.levels.lower.decimals, risk.levels.upper.decimals, risk.levels.sliding.decimals)
    decimals = max(decimals, table.decimals)
    levels = [getattr(risk.levels, name).to(decimals).counts.astype(object) for name in ("lower", "upper", "sliding")]
    names, unit, kept = _find_names(table), 10 ** (decimals - table.decimals), 0
    for cell in cells.tolist():
        own = None
        value = int(table.amounts.counts[cell])
        if shares is not None and value >= 0:
            own = classes_of(shares, cell, draw_start(secret, table.label(int(names[cell]))))
        if own is None:
            kept += 1
            continue
        below, above = own.pad(*own.find(value))
        wanted = [int(level[cell]) for level in levels]
        down, up = (value - below) * unit, (above - value) * unit
        if (
            down < wanted[0]
            or up < wanted[1]
            or down + up < wanted[2]
            or not _within_knowledge(risk, cell, below, above)
        ):
            kept += 1
            continue
        levels[0][cell], levels[1][cell], levels[2][cell] = down, up, 0
    changed = Levels(*(Fixed.of_counts(level, decimals) for level in levels))
    return replace(risk, levels=changed), kept


def draw_start(secret: int, name: str) -> float:
    """Return a number from 0 to below 1 that follows from a secret and the name of a cell, and from nothing else.

    The same secret gives the same classes for every period and revision of a table: two releases do not intersect them.
    """
    key = secret.to_bytes(max(_KEY_BYTES, (secret.bit_length() + 7) // 8), "big")
    digest = hashlib.blake2b(name.encode(), key=hashlib.blake2b(key).digest(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def _find_names(table: Table) -> NDArray[np.int64]:
    """Return the first of the cells that every cell is equal to because all that is between them is zero, ``(n,)``.

    A total of a single cell has its classes: two classes of one value would leave less than one.
    """
    nonzero = np.asarray(table.amounts.counts != 0, dtype=bool)
    matrix = sp.csr_array(table.relations.matrix)
    taken = sp.csr_array(matrix[:, np.flatnonzero(nonzero)])
    pairs = taken[np.flatnonzero(np.diff(taken.indptr) == 2)]  # noqa: PLR2004  (a total and its only part)
    _, label = label_components(sp.csr_array(pairs))
    places = np.flatnonzero(nonzero)
    names = np.arange(len(table))
    _, first, group = np.unique(label, return_index=True, return_inverse=True)
    names[places] = places[first[group]]
    return names


def _within_knowledge(risk: Risk, cell: int, below: int, above: int) -> bool:
    """Return whether no attacker knows beforehand that a value lies closer than the ends of a range."""
    ends = Fraction(below, 10**risk.table.decimals), Fraction(above, 10**risk.table.decimals)
    for attacker in risk.attackers:
        low, high = attacker.lower, attacker.upper
        if not low.infinite[cell] and low.fraction(cell) > ends[0]:
            return False
        if not high.infinite[cell] and high.fraction(cell) < ends[1]:
            return False
    return True
