"""Figures as people read them: thousands parted, the decimals of a column all alike, and exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.table.fixed import INFINITE, Fixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table.table import Table

MINUS = "\N{MINUS SIGN}"
INFINITY = "\N{INFINITY}"

_FURTHER = 2  # decimals of a protection level beyond those of the table


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """How the values of a table are written.

    Parameters
    ----------
    table
        The table.
    decimals
        The decimals that each variable needs, ``(n_variables,)``: a count beside an amount in cents is written
        without any.
    """

    table: Table
    decimals: tuple[int, ...]

    @classmethod
    def of(cls, table: Table) -> Figures:
        """Return the figures with as few decimals as each variable allows."""
        counts = table.amounts.counts
        own = (counts[table.variable == number] for number in range(len(table.variables)))
        return cls(table, tuple(_count_decimals(values, table.decimals) for values in own))

    def values(self, cells: NDArray[np.int64]) -> list[str]:
        """Return the values of these cells as text."""
        variables, counts = self.table.variable[cells].tolist(), self.table.amounts.counts[cells].tolist()
        given = self.table.decimals
        return [
            format_number(count // 10 ** (given - self.decimals[variable]), self.decimals[variable])
            for variable, count in zip(variables, counts, strict=True)
        ]

    def levels(self, levels: Fixed) -> list[str]:
        """Return protection levels as text, all with the same decimals; empty where nothing is required.

        Levels have many decimals; they are shown with a few more than the table has, rounded up.
        """
        shown = min(levels.decimals, self.table.decimals + _FURTHER)
        rounded = -(-levels.counts // 10 ** (levels.decimals - shown))
        needed = _count_decimals(rounded[~levels.infinite], shown)
        counts = np.where(levels.infinite, levels.counts, rounded // 10 ** (shown - needed))
        return [format_number(count, needed) if count else "" for count in counts.tolist()]


def format_number(count: int, decimals: int) -> str:
    """Return the number ``count / 10^decimals`` with all its decimals and thousands parted.

    >>> format_number(123456789, 2)
    '1,234,567.89'
    """
    if abs(count) == INFINITE:
        return INFINITY if count > 0 else MINUS + INFINITY
    sign, count = (MINUS if count < 0 else ""), abs(count)
    if not decimals:
        return f"{sign}{count:,}"
    whole, part = divmod(count, 10**decimals)
    return f"{sign}{whole:,}.{part:0{decimals}d}"


def _count_decimals(counts: NDArray[np.int64], decimals: int) -> int:
    """Return how many of the decimals are ever used."""
    while decimals and not (counts % 10).any():
        counts, decimals = counts // 10, decimals - 1
    return decimals
