"""Why no safe pattern exists: an irreducible set of cells that must be shown, or levels that no pattern can reach.

Hiding more never helps an attacker, so a safe pattern exists exactly if hiding all that may be hidden is safe; but for
cells that keep a width if they are hidden, which are shown again where they cannot. Of the cells that must be shown a
set is freed: with all of it there is a safe pattern, with any less there is none. The witnesses by which an audit shows
a pattern to be safe have a support: cells that they do not move need not be freed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET, Verdicts
from celosia.attack.result import Audit
from celosia.errors import InfeasibleError, SpecError, list_items, roughly
from celosia.pattern.pattern import Pattern
from celosia.protection.method import Method
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW, Risk
from celosia.solve.clock import Clock

Hiding = Callable[[Risk], NDArray[np.bool_] | None]
"""Returns the support of a cheap pattern of a risk that an audit calls safe, None where none is known."""

_SECONDS = 20.0
"""Seconds for fewer cells, by default: most conflicts are irreducible within one."""


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """What stands in the way of a safe pattern.

    Parameters
    ----------
    shown
        Cells that must be shown: freeing all of them helps, freeing less does not. Empty where freeing does not help.
    unmet
        Sensitive cells whose levels cannot be reached, as things are.
    least
        It is known that freeing less does not help: where thousands stand in the way, there is no time for that.
    cost, bound
        What the best known pattern costs when they are freed, and what any costs at least; None where that is unknown.
    """

    shown: NDArray[np.int64]
    unmet: NDArray[np.int64]
    least: bool = True
    cost: float | None = None
    bound: float | None = None

    def sentence(self, risk: Risk) -> str:
        """Return what stands in the way, in words."""
        unmet = list_items([risk.table.label(int(cell)) for cell in self.unmet])
        if len(self.shown):
            shown = list_items([risk.table.label(int(cell)) for cell in self.shown])
            return f"is impossible while these cells must be shown: {shown}. They give away {unmet}."
        if len(self.unmet):
            return f"is impossible: even with everything hidden attackers come too close to {unmet}."
        return "is impossible with so few cells hidden."

    @property
    def remedy(self) -> str:
        """What to do about it, and what that costs."""
        if not len(self.shown):
            return "Lower the levels, or exempt these cells." if len(self.unmet) else "Allow more in at_most."
        more = "any fewer would not help" if self.least else "perhaps fewer would do"
        advice = "Free it" if len(self.shown) == 1 else f"Free all of them: {more}"
        if self.cost is None or self.bound is None:
            return f"{advice}."
        if self.bound >= self.cost:
            return f"{advice}. The cheapest pattern then costs about {roughly(self.cost)}."
        price, least = roughly(self.cost), roughly(self.bound)
        return f"{advice}. A pattern then costs about {price}, and the cheapest about {least} at least."


def conflict_of(
    risk: Risk, method: Method | None, hiding: Hiding, *, integer: bool | None, seconds: float = _SECONDS
) -> Conflict:
    """Return what stands in the way of a safe pattern.

    Parameters
    ----------
    risk
        With the wishes of the method applied.
    method
        The method, for the widths that hidden cells keep; None where they keep none.
    hiding
        Finds few cells to free: it is asked for a pattern where only cells that must be shown cost something. What it
        finds is believed to be safe.
    integer
        Which values attackers know to be whole numbers; see `celosia.table.table.whole_cells`.
    seconds
        So long fewer cells are looked for.
    """
    nothing = np.zeros(0, dtype=np.int64)
    now = _find_unmet(risk, method, nothing, integer=integer)[0]
    must = np.flatnonzero(risk.status == SHOW)
    if risk.corners:
        return _conflict_of_corners(risk, now, must, hiding)
    if not len(now) or not len(must):
        return Conflict(nothing, now)
    required = _require_only(risk, now)  # freeing more harms no other cell

    def find_needed(cells: NDArray[np.int64]) -> NDArray[np.int64] | None:
        missed, used = _find_unmet(required, method, cells, integer=integer)
        return None if len(missed) else cells[used[cells]]

    pattern = hiding(_free_cells(risk, must, cost=(risk.status == SHOW).astype(np.float64)))
    few = find_needed(must) if pattern is None else must[pattern[must]]
    if few is None:
        return Conflict(nothing, now)
    few, least = _find_fewest(few, find_needed, Clock(seconds))
    return Conflict(few, now, least)


def _conflict_of_corners(risk: Risk, now: NDArray[np.int64], must: NDArray[np.int64], hiding: Hiding) -> Conflict:
    """Return what stands in the way where cells must move together: no audit judges that, but searches do."""
    pattern = hiding(_free_cells(risk, must, cost=(risk.status == SHOW).astype(np.float64)))
    few = must[:0] if pattern is None else must[pattern[must]]
    if pattern is not None and not len(few):
        return Conflict(few, now)
    return Conflict(few, np.unique(np.concatenate([now, *(one.published_cells for one in risk.corners)])), least=False)


def support_of(checked: Audit) -> NDArray[np.bool_]:
    """Return which cells the witnesses of an audit move, ``(n_cells,)``; all hidden ones where one is not known."""
    used = np.zeros(len(checked.risk), dtype=bool)
    if not isinstance(checked.verdicts, Verdicts):
        return np.asarray(checked.release.status != "shown")
    found = checked.verdicts.findings
    for answers in (found.down, found.up):
        if bool(((answers.table < 0) & (answers.reach != 0)).any()):
            return np.asarray(checked.release.status != "shown")
        with_table = np.flatnonzero(answers.table >= 0)
        owner = np.full(answers.n_tables, -1)
        owner[answers.table[with_table]] = found.attackers[with_table]
        entries = np.repeat(owner, np.diff(answers.starts))
        for who, system in enumerate(checked.systems):
            used[system.cells[answers.columns[entries == who]]] = True
    return used


def free_conflict(risk: Risk, conflict: Conflict) -> Risk:
    """Return the risk in which the cells of a conflict may be hidden."""
    return _free_cells(risk, conflict.shown, cost=risk.cost)


def _free_cells(risk: Risk, cells: NDArray[np.int64], *, cost: NDArray[np.float64]) -> Risk:
    """Return the risk in which some cells may be hidden; those about which there are requirements must be."""
    status = risk.status.copy()
    status[cells] = SAFE
    if risk.further is not None:
        status[np.intersect1d(cells, risk.further.cells)] = HIDE
    return replace(risk, status=status, cost=cost)


def _require_only(risk: Risk, cells: NDArray[np.int64]) -> Risk:
    """Return the risk in which only some sensitive cells are asked about; the others are just hidden."""
    status = risk.status.copy()
    status[risk.sensitive] = HIDE
    status[cells] = np.where(risk.status[cells] == SENSITIVE, SENSITIVE, status[cells])
    return replace(risk, status=status)


def _find_unmet(
    risk: Risk, method: Method | None, cells: NDArray[np.int64], *, integer: bool | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the cells that are not protected, even when all that may be hidden is; one may have to be shown itself.

    Cells that keep a width if they are hidden, and cannot, are shown, one round after another. Also return the support
    of the protection of the others, ``(n_cells,)``.
    """
    opened = _free_cells(risk, cells, cost=risk.cost)
    forced = np.isin(opened.status, (SENSITIVE, HIDE))
    hidden = opened.status != SHOW
    while True:
        required = opened if method is None else method.require_widths(opened, hidden)
        checked = audit(Pattern.hide(risk.table, hidden), required.without_corners, integer=integer)
        missed = np.unique([verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET])
        missed = missed.astype(np.int64)
        narrow = missed[hidden[missed] & ~forced[missed]]
        if not len(narrow):
            return missed, support_of(checked)
        hidden[narrow] = False


def _find_fewest(
    cells: NDArray[np.int64], find_needed: Callable[[NDArray[np.int64]], NDArray[np.int64] | None], clock: Clock
) -> tuple[NDArray[np.int64], bool]:
    """Return a subset of cells whose freeing makes protection possible, and whether it is known to be minimal.

    Parameters
    ----------
    cells
        Freeing all of them makes protection possible.
    find_needed
        Returns which of some freed cells are used to protect, None where they are too few; more never harm.
    clock
        When to stop: what is left then is returned as it is.
    """
    sure, rest = cells[:0], cells
    size = max(1, len(rest) // 2)
    while len(rest):
        if clock.left <= 0:
            return np.sort(np.concatenate([sure, rest])), False
        found = find_needed(np.concatenate([sure, rest[size:]]))
        if found is not None:
            rest = np.intersect1d(rest[size:], found)
            size = min(2 * size, max(1, len(rest)))
        elif size == 1:
            sure, rest = np.append(sure, rest[0]), rest[1:]
        else:
            size //= 2
    return np.sort(sure), True


def find_smallest(cells: NDArray[np.int64], helps: Callable[[NDArray[np.int64]], bool]) -> NDArray[np.int64]:
    """Return a part of some cells that helps, and no part of which does, given that more never harms (QuickXplain)."""
    nothing = np.zeros(0, dtype=np.int64)

    def find_needed(given: NDArray[np.int64], among: NDArray[np.int64], *, changed: bool) -> NDArray[np.int64]:
        if changed and helps(given):
            return nothing
        if len(among) == 1:
            return among
        half = len(among) // 2
        first, second = among[:half], among[half:]
        right = find_needed(np.concatenate([given, first]), second, changed=True)
        left = find_needed(np.concatenate([given, right]), first, changed=len(right) > 0)
        return np.concatenate([left, right])

    return np.sort(find_needed(nothing, cells, changed=False))


def refuse_unreachable_levels(risk: Risk) -> None:
    """Refuse sensitive cells without a level, and levels beyond what an attacker knows anyway.

    Raises
    ------
    SpecError
        All levels of a sensitive cell are zero.
    InfeasibleError
        Attackers know more than the levels allow, whatever is published.
    """
    required = risk.requirements
    levels = required.lower, required.upper, required.sliding
    bare = np.unique(required.cells[np.all([level.counts == 0 for level in levels], axis=0)])
    if len(bare):
        labels = list_items([risk.table.label(cell) for cell in bare.tolist()])
        raise SpecError.one("levels", f"are all zero for sensitive cells: {labels}.", "Give each a level above zero.")
    beyond: dict[int, str] = {}
    for place in np.flatnonzero(_find_unreachable(risk)).tolist():
        beyond.setdefault(int(required.cells[place]), risk.attackers[required.attackers[place]].name)
    if beyond:
        labels = list_items([f"{risk.table.label(cell)} (attacker {name!r})" for cell, name in beyond.items()])
        raise InfeasibleError.one(
            "levels",
            f"lie beyond what attackers know already: {labels}.",
            "Lower the levels, or widen the attackers' bounds.",
        )


def _find_unreachable(risk: Risk) -> NDArray[np.bool_]:
    """Return which requirements ask for more than an attacker leaves open anyway, in exact numbers, ``(q,)``."""
    required, amounts = risk.requirements, risk.table.amounts
    ends = [end for attacker in risk.attackers for end in (attacker.lower, attacker.upper)]
    levels = required.lower, required.upper, required.sliding
    decimals = max(numbers.decimals for numbers in (amounts, *levels, *ends))
    found = np.zeros(len(required), dtype=bool)
    for number, attacker in enumerate(risk.attackers):
        own = np.flatnonzero(required.attackers == number)
        cells = required.cells[own]
        lower, upper = attacker.lower[cells], attacker.upper[cells]
        truth, lowest, highest, *asked = (
            numbers.to(decimals).counts.astype(object)  # counts of any size
            for numbers in (amounts[cells], lower, upper, *(level[own] for level in levels))
        )
        down = np.where(lower.infinite, np.inf, truth - lowest)
        up = np.where(upper.infinite, np.inf, highest - truth)
        found[own] = (down < asked[0]) | (up < asked[1]) | (down + up < asked[2])
    return found
