"""How much of a table readers see: shares of cells that are shown, and that are hidden.

Hiding everything is safe and useless. Shares are of the cells that are not zero: zeros are mostly known to be, such as
combinations that cannot occur, and a release that shows nothing else shows nothing. *Shown* means exactly; ranges and
numbers that were moved are neither shown nor hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from celosia.errors import pluralise
from celosia.pattern.entries import HIDDEN, INTERVAL, SHOWN
from celosia.pattern.pattern import Pattern

LITTLE = 0.1
"""A release in which no larger share of the cells has a number tells readers next to nothing."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How many cells that are not zero are published how.

    Parameters
    ----------
    cells
        How many there are.
    shown, ranges, hidden
        How many of them are shown exactly, as ranges, and not at all; the others have numbers that were moved.
    """

    cells: int
    shown: int
    ranges: int
    hidden: int

    @classmethod
    def of(cls, pattern: Pattern) -> Shares:
        """Return those of a pattern."""
        status = pattern.status[pattern.table.amounts.counts != 0]
        return cls(len(status), *(int(np.count_nonzero(status == word)) for word in (SHOWN, INTERVAL, HIDDEN)))

    @property
    def shown_share(self) -> float:
        """The share of cells that are shown exactly; 1 where all are zero."""
        return self.shown / self.cells if self.cells else 1.0

    @property
    def hidden_share(self) -> float:
        """The share of cells of which nothing is published."""
        return self.hidden / self.cells if self.cells else 0.0

    @property
    def warning(self) -> str | None:
        """What to say where next to nothing is shown, None elsewhere."""
        numbers = self.cells - self.ranges - self.hidden
        if not self.cells or numbers > LITTLE * self.cells:
            return None
        of = pluralise(self.cells, "cell")
        if self.hidden == self.cells:
            return f"Everything is hidden: of {of} none is shown. That is safe, and tells readers nothing."
        if self.ranges == self.cells:
            return f"No cell is shown exactly: of {of} all are ranges."
        if not self.ranges:
            few = f"{numbers:,} of {of} {'is' if numbers == 1 else 'are'} shown"
            return f"Nearly everything is hidden: {few}. That is safe, and tells readers next to nothing."
        few = "none" if not numbers else f"{numbers:,}"
        rest = f"{self.ranges:,} are ranges" + (f", {self.hidden:,} are hidden" if self.hidden else "")
        return f"Hardly any cell is shown exactly: {few} of {of}; {rest}."
