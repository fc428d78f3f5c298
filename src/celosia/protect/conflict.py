"""Why no safe pattern exists: an irreducible set of cells that must be shown, or levels that nobody can reach.

Hiding more never helps an attacker, so a safe pattern exists exactly if hiding all that may be hidden is safe; but for
cells that keep a width if they are hidden, which are shown again where they cannot. Of the cells that must be shown a
set is freed: with all of it there is a safe pattern, with any less there is none.
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
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW, Risk

Hiding = Callable[[Risk], NDArray[np.bool_] | None]
"""Finds a cheap safe pattern of a risk, None where it knows none."""


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """What stands in the way of a safe pattern.

    Parameters
    ----------
    shown
        Cells that must be shown: freeing all of them helps, freeing less does not. Empty where freeing does not help.
    unmet
        Sensitive cells whose levels cannot be reached, as things are.
    cost, bound
        What the best known pattern costs when they are freed, and what any costs at least; None where that is unknown.
    """

    shown: NDArray[np.int64]
    unmet: NDArray[np.int64]
    cost: float | None = None
    bound: float | None = None

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
        """What to do about it, and what that costs."""
        if not len(self.shown):
            return "Lower the levels, or exempt these cells." if len(self.unmet) else "Allow more in at_most."
        advice = "Free it" if len(self.shown) == 1 else "Free all of them: any fewer would not help"
        if self.cost is None or self.bound is None:
            return f"{advice}."
        if self.bound >= self.cost:
            return f"{advice}. The cheapest pattern then costs {self.cost:,.10g}."
        return f"{advice}. A pattern then costs {self.cost:,.10g}, and none less than {self.bound:,.10g}."


def conflict_of(risk: Risk, method: Suppress, hiding: Hiding, *, integer: bool) -> Conflict:
    """Return what stands in the way of a safe pattern.

    Parameters
    ----------
    risk
        With the wishes of the method applied.
    method
        The method, for the widths that hidden cells keep.
    hiding
        Finds few cells to free: it is asked for a pattern where only cells that must be shown cost something.
    integer
        Attackers know that values are whole numbers.
    """
    nothing = np.zeros(0, dtype=np.int64)
    now = _unmet(risk, method, nothing, integer=integer)
    must = np.flatnonzero(risk.status == SHOW)
    if not len(now) or not len(must):
        return Conflict(nothing, now)
    asked = _only(risk, now)  # freeing more harms no other cell
    if len(_unmet(asked, method, must, integer=integer)):
        return Conflict(nothing, now)
    pattern = hiding(_freed(risk, must, cost=(risk.status == SHOW).astype(np.float64)))
    few = must if pattern is None else must[pattern[must]]
    if len(few) < len(must) and len(_unmet(asked, method, few, integer=integer)):
        few = must
    return Conflict(smallest(few, lambda freed: not len(_unmet(asked, method, freed, integer=integer))), now)


def freed(risk: Risk, conflict: Conflict) -> Risk:
    """Return the risk in which the cells of a conflict may be hidden."""
    return _freed(risk, conflict.shown, cost=risk.cost)


def _freed(risk: Risk, cells: NDArray[np.int64], *, cost: NDArray[np.float64]) -> Risk:
    status = risk.status.copy()
    status[cells] = SAFE
    return replace(risk, status=status, cost=cost)


def _only(risk: Risk, cells: NDArray[np.int64]) -> Risk:
    """Return the risk in which only some sensitive cells are asked about; the others are just hidden."""
    status = risk.status.copy()
    status[risk.sensitive] = HIDE
    status[cells] = np.where(risk.status[cells] == SENSITIVE, SENSITIVE, status[cells])
    return replace(risk, status=status)


def _unmet(risk: Risk, method: Suppress, cells: NDArray[np.int64], *, integer: bool) -> NDArray[np.int64]:
    """Return the cells that are hidden in any case and not protected, even when all that may be hidden is.

    Cells that keep a width if they are hidden, and cannot, are shown, one round after another.
    """
    opened = _freed(risk, cells, cost=risk.cost)
    forced = np.isin(opened.status, (SENSITIVE, HIDE))
    hidden = opened.status != SHOW
    while True:
        checked = audit(Pattern.suppressing(risk.table, hidden), method.conditional(opened, hidden), integer=integer)
        missed = np.unique([verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET])
        missed = missed.astype(np.int64)
        narrow = missed[~forced[missed]]
        if not len(narrow):
            return missed
        hidden[narrow] = False


def smallest(cells: NDArray[np.int64], helps: Callable[[NDArray[np.int64]], bool]) -> NDArray[np.int64]:
    """Return a part of some cells that helps, and no part of which does, given that more never harms (QuickXplain)."""
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
