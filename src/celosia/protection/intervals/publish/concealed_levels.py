"""Searches with concealed levels: they ask for more than the levels of the risk, and results are judged by these."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET, Conclusions, Verdicts, judge_requirements
from celosia.attack.result import Audit
from celosia.errors import OutOfTimeError, pluralise
from celosia.pattern.entries import SHOWN
from celosia.pattern.modes.suppressed import Suppressed
from celosia.pattern.pattern import Pattern
from celosia.protection.method import Method
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.concealment import TWO_DRAWS, ConcealedRisk, conceal_levels
from celosia.risk.requirement import Requirements
from celosia.risk.risk import SHOW, Levels, Risk

_SECRET_BITS = 64
_AFRESH = (
    "Levels are concealed by a secret that was drawn afresh: keep it, for the office only, and give it (`secret`, or "
    f"`secret_file` in a job) whenever this table is published again. {TWO_DRAWS}"
)
_KEPT = (
    "Levels of {} are not concealed: they are no part of the value, attackers know too much of it, or the method has "
    "no room for wider ones."
)
_TIED = (
    "Who guesses the classes of all cells comes closer than promised to {}: cells that must be shown, or are known, "
    "tie them together."
)
_UNASKED = "What single respondents conclude from the classes by which levels are concealed is not asked."
_NONE = "Levels are not concealed: they are no parts of contributions, or too large ones, or there is no room for it."
_FORBIDDEN = (
    "Levels are not concealed, because {} asks for what would tell them: widths and moves may tell contributions."
)
_IMPOSSIBLE = (
    "Levels are not concealed, because no safe release was found that conceals them: widths and moves may tell "
    "contributions. Say conceal=true to learn what stands in the way."
)
_MORE_TIME = "Allow more time, or say conceal=false: readers then learn more."


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """What a search is asked for.

    Parameters
    ----------
    method
        With its secret, where levels are concealed.
    risk
        With the wishes of the method.
    aimed
        The same, or with concealed levels.
    notes
        What to say of it.
    """

    method: Method
    risk: Risk
    aimed: Risk
    notes: tuple[str, ...] = ()

    @property
    def conceals(self) -> bool:
        """Whether the search asks for concealed levels."""
        return self.aimed is not self.risk

    @property
    def may_do_without(self) -> bool:
        """Whether levels are concealed where that is possible, and nobody has asked for it."""
        asked: Any = self.method
        return self.conceals and asked.conceal is None

    def without(self) -> Aim:
        """Return the aim without concealed levels."""
        return Aim(_leave_open(self.method), self.risk, self.risk, (_IMPOSSIBLE,))

    def allow_more_time(self, error: OutOfTimeError) -> OutOfTimeError:
        """Return an error of a search that may do without concealed levels, with that as a remedy."""
        if not self.may_do_without:
            return error
        return OutOfTimeError(
            replace(problem, remedy=_MORE_TIME) if problem.place == "time_limit" else problem
            for problem in error.problems
        )


def take_aim(risk: Risk, method: Method, run: Run) -> Aim:
    """Return what a search is asked for, with concealed levels where the method has them.

    Parameters
    ----------
    risk
        With the wishes of the method.
    method
        As it was asked for.
    run
        Which values are known to be whole.
    """
    asked: Any = method
    if getattr(method, "conceal", False) is None and not method.conceals_levels:
        few = _could_conceal(risk)
        return Aim(method, risk, risk, (_FORBIDDEN.format(method.forbids_concealment),) if few else ())
    if not method.conceals_levels or not bool(risk.sensitive.any()):
        return Aim(method, risk, risk)
    own = asked if asked.secret is not None else replace(asked, secret=secrets.randbits(_SECRET_BITS))
    aimed, notes = _conceal(risk, own, run)
    if asked.conceal is None and aimed is risk:
        return Aim(_leave_open(method), risk, risk, (_NONE,))
    afresh = () if asked.secret is not None else (_AFRESH,)
    unasked = (_UNASKED,) if risk.respondents else ()
    return Aim(own, risk, aimed, (*afresh, *notes, *unasked))


def _leave_open(method: Method) -> Method:
    """Return a method that conceals nothing."""
    asked: Any = method
    plain: Method = replace(asked, conceal=False)
    return plain


def _could_conceal(risk: Risk) -> bool:
    """Return whether levels of some sensitive cells are parts of contributions or of the value."""
    return risk.shares is not None and bool((risk.sensitive & (risk.shares.width > 0)).any())


def _conceal(risk: Risk, method: Method, run: Run) -> tuple[Risk, tuple[str, ...]]:
    """Return the risk with the levels that a search asks for, the same one if it conceals none, and what to say."""
    asked: Any = method
    found, lost = conceal_levels(risk, asked.secret), 0
    while asked.conceal is None:  # classes of others change with every cell that is left out
        narrow = found.concealed & method.leave_no_room(found.risk, run.integer)
        if not bool(narrow.any()):
            break
        found = conceal_levels(risk, asked.secret, found.concealed & ~narrow)
    if not found.fits:
        found = conceal_levels(risk, asked.secret, found.concealed & ~_find_unreachable(found, risk, run))
        found, lost = _ask_for_less(found, risk, run)
    said = []
    kept = int((risk.sensitive & ~found.concealed).sum())
    if kept:
        few = pluralise(kept, "sensitive cell")
        said.append(_KEPT.format(few))
    if lost:
        few = pluralise(lost, "sensitive cell")
        said.append(_TIED.format(few))
    return (found.risk if bool(found.concealed.any()) else risk), tuple(said)


def _find_unreachable(found: ConcealedRisk, risk: Risk, run: Run) -> NDArray[np.bool_]:
    """Return which cells attackers come too close to even if everything is hidden, ``(n_cells,)``."""
    unreachable = np.zeros(len(risk), dtype=bool)
    wanted, met = _hide_everything(found.risk, run)
    own = ~met & (wanted.attackers < len(risk.attackers))
    unreachable[wanted.cells[own]] = True
    return unreachable


def _ask_for_less(found: ConcealedRisk, risk: Risk, run: Run) -> tuple[ConcealedRisk, int]:
    """Return what is asked of readers who know classes, without what cannot be, and of how many cells."""
    wanted, met = _hide_everything(found.risk, run)
    attackers = list(found.risk.attackers)
    lost = ~met & (wanted.attackers >= len(risk.attackers))
    for place in np.unique(wanted.attackers[lost]).tolist():
        levels = attackers[place].levels
        assert levels is not None  # noqa: S101  (readers have levels of their own)
        here = wanted.cells[lost & (wanted.attackers == place)]
        counts = levels.lower.counts.copy(), levels.upper.counts.copy()
        for side in counts:
            side[here] = 0
        less = replace(
            levels, lower=replace(levels.lower, counts=counts[0]), upper=replace(levels.upper, counts=counts[1])
        )
        attackers[place] = replace(attackers[place], levels=less)
    return replace(found, risk=replace(found.risk, attackers=tuple(attackers))), len(np.unique(wanted.cells[lost]))


def _hide_everything(risk: Risk, run: Run) -> tuple[Requirements, NDArray[np.bool_]]:
    """Return the requirements, and which of them are met if every cell is hidden that may be."""
    pattern = Pattern.of(risk.table, Suppressed(np.flatnonzero(risk.status != SHOW)))
    checked = audit(pattern, replace(risk, respondents=()), integer=run.integer)
    assert isinstance(checked.verdicts, Verdicts)  # noqa: S101  (only respondents are judged one by one)
    return checked.verdicts.requirements, np.asarray(checked.verdicts.results == MET)


def restore_levels(found: Protection, risk: Risk, aimed: Risk) -> Protection:
    """Return a result that was found with concealed levels as one of the risk itself.

    Guarantee: nothing is called met but what the conclusions of the audit meet.

    Parameters
    ----------
    found
        The result.
    risk
        With the wishes of the method, and its own levels.
    aimed
        What the search was asked for: readers who know classes come after the attackers of the risk.
    """
    audited = found.found
    readers = _Readers(len(risk.attackers), len(aimed.attackers))
    plain = replace(found, risk=readers.leave(found.risk, risk.levels))
    if not isinstance(audited, Audit) or not isinstance(audited.verdicts, Verdicts):
        return plain
    hidden = np.asarray(found.pattern.status != SHOWN)
    own = readers.leave(audited.risk, found.method.require_widths(risk, hidden).levels)
    findings = readers.leave_findings(audited.verdicts.findings)
    wanted, by_distance = own.requirements, audited.release.criterion == "distance"
    results = judge_requirements(wanted, findings, by_distance=by_distance)
    judged = replace(
        audited,
        risk=own,
        verdicts=Verdicts(wanted, findings, results),
        intervals=readers.leave_findings(audited.intervals),
        systems=(*audited.systems[: readers.first], *audited.systems[readers.end :]),
    )
    return replace(plain, found=judged)


@dataclass(frozen=True, slots=True)
class _Readers:
    """The places of readers who know classes among the attackers: those of respondents may follow."""

    first: int
    end: int

    def leave(self, risk: Risk, levels: Levels) -> Risk:
        """Return a risk without readers, with levels of its own."""
        attackers, further = risk.attackers, risk.further
        if further is not None:
            further = replace(further, attackers=self._renumber(further.attackers))
        rest = (*attackers[: self.first], *attackers[self.end :])
        return replace(risk, levels=levels, attackers=rest, further=further)

    def leave_findings(self, findings: Conclusions) -> Conclusions:
        """Return the conclusions of all others."""
        others = (findings.attackers < self.first) | (findings.attackers >= self.end)
        kept = findings.take(np.flatnonzero(others))
        return replace(kept, attackers=self._renumber(kept.attackers))

    def _renumber(self, attackers: NDArray[np.int32]) -> NDArray[np.int32]:
        moved = np.where(attackers >= self.end, attackers - (self.end - self.first), attackers)
        return moved.astype(np.int32)
