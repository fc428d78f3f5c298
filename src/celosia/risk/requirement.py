"""Requirements as plain data: how far from the truth each attacker must stay.

An attacker's interval for a cell of value `a` must satisfy (Karlsson and Olsson 2015, (3.5a)-(3.5c); Salazar 2002,
section 3)

    highest >= a + upper,    lowest <= a - lower,    highest - lowest >= sliding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.table.fixed import Fixed


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement: a cell, an attacker, and three protection levels.

    Parameters
    ----------
    cell, attacker
        Places in the table and in the list of attackers.
    lower, upper, sliding
        LPL, UPL and SPL: distances, zero where nothing is required.
    """

    cell: int
    attacker: int
    lower: Fraction
    upper: Fraction
    sliding: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Requirements:
    """Many requirements in arrays of the same length.

    Parameters
    ----------
    cells, attackers
        As in `Requirement`.
    lower, upper, sliding
        As in `Requirement`.
    """

    cells: NDArray[np.int64]
    attackers: NDArray[np.int32]
    lower: Fixed
    upper: Fixed
    sliding: Fixed

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, places: NDArray[np.int64]) -> Requirements:
        """Return some of the requirements."""
        return Requirements(
            self.cells[places], self.attackers[places], self.lower[places], self.upper[places], self.sliding[places]
        )

    def join(self, others: Requirements) -> Requirements:
        """Return these requirements, and others after them."""
        levels = (_join(getattr(self, name), getattr(others, name)) for name in ("lower", "upper", "sliding"))
        return Requirements(
            np.concatenate([self.cells, others.cells]), np.concatenate([self.attackers, others.attackers]), *levels
        )

    def __getitem__(self, place: int) -> Requirement:
        return Requirement(
            int(self.cells[place]),
            int(self.attackers[place]),
            self.lower.fraction(place),
            self.upper.fraction(place),
            self.sliding.fraction(place),
        )

    def __iter__(self) -> Iterator[Requirement]:
        return (self[place] for place in range(len(self)))


def _join(first: Fixed, second: Fixed) -> Fixed:
    decimals = max(first.decimals, second.decimals)
    return Fixed(np.concatenate([first.to(decimals).counts, second.to(decimals).counts]), decimals)
