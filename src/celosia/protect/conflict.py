"""Why no safe pattern exists: an irreducible set of cells that must be shown, or levels that nobody can reach.

Hiding more never helps an attacker, so a safe pattern exists exactly if hiding all that may be hidden is safe. Of the
cells that must be shown a smallest set is freed: with all of it there is a safe pattern, with any less there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import MET, audit
from celosia.errors import listed
from celosia.pattern.pattern import Pattern
from celosia.protect.suppress import Suppress
from celosia.risk.risk import SAFE, SHOW, Risk


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """What stands in the way of a safe pattern.

    Parameters
    ----------
    shown
        Cells that must be shown: freeing all of them helps, freeing less does not. Empty where freeing does not help.
    unmet
        Sensitive cells whose levels cannot be reached, as things are.
    """

    shown: NDArray[np.int64]
    unmet: NDArray[np.int64]

    def sentence(self, risk: Risk) -> str:
        """Return what stands in the way, in words."""
        unmet = listed([risk.table.label(int(cell)) for cell in self.unmet])
        if len(self.shown):
            shown = listed([risk.table.label(int(cell)) for cell in self.shown])
            return f"is impossible while these cells must be shown: {shown}. They give away {unmet}."
        if len(self.unmet):
            return f"is impossible: even with everything hidden attackers come too close to {unmet}."
        return "is impossible with so few cells hidden."

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if len(self.shown):
            return "Free all of them: any fewer would not help."
        return "Lower the levels, or exempt these cells." if len(self.unmet) else "Allow more in at_most."


def conflict_of(risk: Risk, method: Suppress, *, integer: bool) -> Conflict:
    """Return what stands in the way of a safe pattern.

    Parameters
    ----------
    risk
        With the wishes of the method applied.
    method
        The method, for the widths that hidden cells keep.
    integer
        Attackers know that values are whole numbers.
    """
    del method

    def unmet(freed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sensitive cells that are not protected even when all that may be hidden is."""
        status = risk.status.copy()
        status[freed] = SAFE
        opened = replace(risk, status=status)
        checked = audit(Pattern.suppressing(risk.table, status != SHOW), opened, integer=integer)
        return np.unique([verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET])

    now = unmet(np.zeros(0, dtype=np.int64))
    must = np.flatnonzero(risk.status == SHOW)
    if not len(now) or not len(must) or len(unmet(must)):
        return Conflict(np.zeros(0, dtype=np.int64), now.astype(np.int64))
    return Conflict(_smallest(must, lambda freed: not len(unmet(freed))), now.astype(np.int64))


def _smallest(cells: NDArray[np.int64], helps: Callable[[NDArray[np.int64]], bool]) -> NDArray[np.int64]:
    """Return a smallest part of some cells that still helps, given that all do and more never harms (QuickXplain)."""
    nothing = np.zeros(0, dtype=np.int64)

    def needed(given: NDArray[np.int64], among: NDArray[np.int64], *, changed: bool) -> NDArray[np.int64]:
        if changed and helps(given):
            return nothing
        if len(among) == 1:
            return among
        half = len(among) // 2
        first, second = among[:half], among[half:]
        right = needed(np.concatenate([given, first]), second, changed=True)
        left = needed(np.concatenate([given, right]), first, changed=len(right) > 0)
        return np.concatenate([left, right])

    return np.sort(needed(nothing, cells, changed=False))
