"""Ranges on their way to publication: how far they reach from the truth, and what has passed the audit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.result import Audit
from celosia.pattern.modes.mode import Mode
from celosia.pattern.pattern import Pattern

EndCounts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""How far ranges reach down and up, in counts of their grid, ``(n,)`` each."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeSlacks:
    """How far ranges reach from the truth, in counts of a problem, and what is no range.

    Parameters
    ----------
    down, up
        How far, ``(n,)`` each.
    hidden
        Which columns are hidden instead, ``(n,)``; None for none.
    numbers
        Modes of cells that are published as other numbers, whose slacks are as given.
    """

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    hidden: NDArray[np.bool_] | None = None
    numbers: tuple[Mode, ...] = ()

    def no_ranges(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which columns, given by their cells, are hidden or published as other numbers, ``(n,)``."""
        own = np.concatenate([np.zeros(0, dtype=np.int64), *(mode.cells for mode in self.numbers)])
        still = np.isin(cells, own)
        return still if self.hidden is None else still | self.hidden


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRanges:
    """Ranges that have passed the audit.

    Parameters
    ----------
    pattern, audit
        How every cell is published, and what attackers can conclude.
    notes
        Why ranges are wider than what can be concluded, where they are.
    """

    pattern: Pattern
    audit: Audit
    notes: tuple[str, ...] = ()
