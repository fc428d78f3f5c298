"""Respondents who attack the patterns of a problem, and what they were found to require so far.

Requirements are made lazily: respondents attack a pattern, those who come too close become attackers with a requirement
each (`celosia.attack.respondents.requirements`), and the engine is told of them. Few of the pairs ever do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.attack.respondents.audit import RespondentAudit, audit_respondents
from celosia.attack.respondents.requirements import Corner, add_requirements, find_corners
from celosia.pattern.entries import SHOWN
from celosia.pattern.pattern import Pattern
from celosia.presses import shielded
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.method import Method
from celosia.protection.respondents.corners import Cornered, takes_corners, without_corners
from celosia.protection.result import Protection
from celosia.protection.run import Call, ViolatedRequirements
from celosia.risk.risk import Risk
from celosia.risk.rules.contributor_rules import RespondentRule

_ENOUGH = 4  # coalitions that come too close to a target: what keeps them away mostly keeps the others away


class StoppedError(Exception):
    """Somebody pressed Ctrl-C during an attack."""


@dataclass
class RespondentOracle:
    """Those who contribute to a table, and look at patterns of it.

    Parameters
    ----------
    risk, method, call
        The problem.
    rules
        What they know, and how close they may come; all of these hold.

    Attributes
    ----------
    told
        The problem with what they were found to require.
    corners
        What they require of several cells together.
    stricter
        They are said to require more than they need: no bound rests on it.
    judged
        How many patterns they have attacked.
    """

    risk: Risk
    method: Method
    call: Call
    rules: tuple[RespondentRule, ...]
    told: Risk = field(init=False)
    corners: dict[str, Corner] = field(default_factory=dict)
    stricter: bool = False
    judged: int = 0
    _hurried: bool = False
    _safe: set[bytes] = field(default_factory=set)
    _last: tuple[NDArray[np.bool_], RespondentAudit] | None = None

    def __post_init__(self) -> None:
        self.told = self.risk

    def attack(
        self,
        pattern: Pattern,
        again: RespondentAudit | None = None,
        grace: float = PARAMETERS.grace,
        share: float | None = None,
    ) -> RespondentAudit:
        """Return who comes too close; after the first pattern a few for every target are enough to go on.

        Attacks may be late, because what was found is of no use without them, or have a share of the time. Ctrl-C ends
        them.

        Raises
        ------
        StoppedError
            Somebody pressed Ctrl-C.
        """
        clock = self.call.clock.extend(grace) if share is None else self.call.clock.share(share)
        with shielded():
            audit = audit_respondents(
                pattern,
                self.risk.table,
                rule=self.rules,
                again=again,
                most=_ENOUGH if self.judged else None,
                clock=clock,
                progress=self.call.progress,
            )
        self.call.progress.start("protecting")
        if clock.stopped:
            raise StoppedError
        self.judged += 1
        hidden = pattern.status != SHOWN
        self._last = hidden, audit
        if audit.safe:
            self._safe.add(hidden.tobytes())
        return audit

    def require(self, audit: RespondentAudit) -> bool:
        """Ask for what a pattern missed; return whether that is new.

        Corners come after what is about single cells: they make the problem larger. Where a method cannot take them,
        or there is no time, it is asked for more than is needed, and that last: a bound that does not know of it holds.
        """
        before = self.told
        self.told = self._with_requirements(audit, enough=False)
        self.stricter |= self._engine_knows_more and self.told is not before
        new, exact = {}, takes_corners(self.method, self.call) and not self._hurried
        if exact and (self.corners or self.told is before):
            new = {one.name: one for one in find_corners(audit) if one.name not in self.corners}
            self.corners |= new
        if new or self.told is not before or exact:
            return bool(new) or self.told is not before
        self.told = self._with_requirements(audit, enough=True)
        self.stricter |= self.told is not before
        return self.told is not before

    def _with_requirements(self, audit: RespondentAudit, *, enough: bool) -> Risk:
        """Return the problem with the requirements of an audit; the wishes of the method hold for new attackers."""
        risk = add_requirements(self.told, audit, hide=self.method.only_hides, enough=enough)
        return risk if risk is self.told else self.method.apply_to(risk)

    @property
    def _engine_knows_more(self) -> bool:
        """Whether attackers of the engine know what those of `attack` do not: whole numbers, filled zeros."""
        if self.call.integer is not False or not getattr(self.method, "zeros_known", False):
            return self.call.integer is not False
        said = self.risk.table.contributions
        return said is not None and bool((said.amount < 0).any())

    def hurry(self) -> None:
        """Leave corners out from now on: there is no time for them."""
        self.corners, self._hurried = {}, True

    def problem(self, risk: Risk, call: Call) -> tuple[Risk, Method]:
        """Return what the engine is to solve: a risk, with corners as cells more."""
        if not self.corners:
            return risk, self.method
        wider = Cornered(risk, self.method, tuple(self.corners.values()))
        method = wider.extend_method(call)
        return method.apply_to(wider.risk), method

    def plain(self, found: Protection, risk: Risk, call: Call) -> Protection:
        """Return what the engine found without cells more."""
        if not self.corners:
            return found
        return Cornered(risk, self.method, tuple(self.corners.values())).without(found, call)

    def violated(self, pattern: Pattern) -> ViolatedRequirements | None:
        """Return the respondents' requirements that a pattern violates; see `protection.run.RequirementOracle`."""
        if len(pattern.table) > len(self.risk):
            pattern = without_corners(pattern, self.risk.table)
        hidden, shown = pattern.status != SHOWN, self.method.only_hides
        if shown and hidden.tobytes() in self._safe:
            return None
        try:
            audit = self.attack(pattern, self._exposed(hidden) if shown else None)
        except StoppedError:
            raise TimeUpError from None
        if audit.safe:
            return None
        if not audit.open:
            raise TimeUpError
        self.require(audit)
        risk, method = self.problem(self.told, self.call)
        return ViolatedRequirements(risk, method, necessary=not self.stricter)

    def _exposed(self, hidden: NDArray[np.bool_]) -> RespondentAudit | None:
        """Return the audit that found everybody who may be exposed in a pattern that hides cells or shows them.

        Whoever is protected stays so when more is hidden, by the same tables: only the others are attacked again. None
        where anybody may be exposed.
        """
        if self._last is None or self._last[1].unjudged or bool((self._last[0] & ~hidden).any()):
            return None
        return self._last[1]
