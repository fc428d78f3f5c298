"""Attackers as plain data: what somebody knows about every cell before anything is published."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SpecError
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Attacker:
    """Somebody who knows that ``lower <= a <= upper``, cell by cell.

    Parameters
    ----------
    name
        How reports call him.
    lower, upper
        His bounds, infinite where he knows nothing.
    """

    name: str
    lower: Fixed
    upper: Fixed

    @classmethod
    def external(cls, table: Table, name: str = "external") -> Attacker:
        """Return the default attacker: he knows that values are not negative, where that is so, and nothing above.

        The sign is known variable by variable: where one value or contribution of a variable is negative, he knows
        nothing about that variable.
        """
        negative = np.zeros(len(table.variables), dtype=bool)
        np.logical_or.at(negative, table.variable, (table.amounts.counts < 0) | _netted(table))
        lower = np.where(negative[table.variable], -INFINITE, 0)
        return cls(name, Fixed(lower, table.decimals), Fixed(np.full(len(table), INFINITE), table.decimals))

    @classmethod
    def factor(cls, table: Table, factor: int, name: str = "factor") -> Attacker:
        """Return an attacker who knows that every value lies between zero and `factor` times the truth.

        The tests of Karlsson and Olsson (2015) use a factor of 11. Of a zero he knows that it is at most `factor`
        units.
        """
        if factor < 1:
            raise SpecError.one("factor", f"must be at least 1, not {factor}.")
        if not table.nonnegative:
            raise SpecError.one("factor", "makes no sense for a table with negative values.", "Use a percentage.")
        counts = table.amounts.counts
        upper = np.where(counts > 0, counts, 1).astype(object) * factor
        zero = Fixed(np.zeros_like(counts), table.decimals)
        return cls(name, zero, Fixed.of_counts(upper, table.decimals))

    def __len__(self) -> int:
        return len(self.lower)

    def knows(self, table: Table) -> NDArray[np.bool_]:
        """Return for which cells the bounds hold; an attacker whom the table refutes makes no sense."""
        decimals = max(table.decimals, self.lower.decimals, self.upper.decimals)
        truth = table.amounts.to(decimals).counts
        above = self.lower.infinite | (self.lower.to(decimals).counts <= truth)
        below = self.upper.infinite | (truth <= self.upper.to(decimals).counts)
        return np.asarray(above & below, dtype=bool)

    def bounds(self, cell: int) -> tuple[Fraction | None, Fraction | None]:
        """Return the bounds of one cell, None where there is none."""
        return (
            None if self.lower.infinite[cell] else self.lower.fraction(cell),
            None if self.upper.infinite[cell] else self.upper.fraction(cell),
        )


def _netted(table: Table) -> NDArray[np.bool_]:
    """Return the cells in which negative contributions hide: absolute contributions sum to more than the value."""
    statistics = table.statistics
    if statistics is None or statistics.shadow is not None or statistics.decimals != table.decimals:
        return np.zeros(len(table), dtype=bool)
    return np.asarray(statistics.respondents.total > np.abs(table.amounts.counts))
