"""The oracle of respondents: their requirements, separated like cuts.

Requirements are made lazily: respondents attack a pattern, those who come too close become attackers with a requirement
each (`celosia.attack.respondents.requirements`), and the search goes on with them. Few of the pairs ever do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from celosia.attack.respondents.audit import RespondentAudit, audit_respondents
from celosia.attack.respondents.requirements import add_requirements, find_corners
from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.pattern.arithmetic import align_decimals
from celosia.pattern.entries import HIDDEN, INTERVAL, SHOWN, of_status
from celosia.pattern.pattern import Pattern
from celosia.presses import shield_from_presses
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.method import Method
from celosia.protection.respondents.parameters import RESPONDENTS, RespondentParameters
from celosia.protection.run import Ask, Run, ViolatedRequirements
from celosia.risk.corner import Corner
from celosia.risk.respondents.joint import JointCells, joint_cells_of
from celosia.risk.respondents.rules import Criterion
from celosia.risk.risk import Risk
from celosia.risk.rules.contributor_rules import RespondentRule


class StoppedError(Exception):
    """Ctrl-C was pressed during an attack."""


@dataclass
class RespondentOracle:
    """Attacks patterns as respondents do, and keeps the requirements that they were found to violate.

    Parameters
    ----------
    risk, method, run
        The problem, with the wishes of the method.
    rules
        What respondents know, and how close they may come; all of these hold.
    criteria
        What the rules ask of the contributors of the table.
    parameters
        How many coalitions become requirements.

    Attributes
    ----------
    required
        The risk with the requirements about single cells.
    corners
        Requirements about several cells together, by their names.
    stricter
        Some requirements are not necessary: lower bounds must not use them.
    judged
        How many patterns were attacked.
    """

    risk: Risk
    method: Method
    run: Run
    rules: tuple[RespondentRule, ...]
    criteria: tuple[Criterion, ...]
    parameters: RespondentParameters = RESPONDENTS
    required: Risk = field(init=False)
    corners: dict[str, Corner] = field(default_factory=dict)
    stricter: bool = False
    judged: int = 0
    _without_corners: bool = False
    _safe: set[bytes] = field(default_factory=set)
    _last: tuple[Pattern, RespondentAudit] | None = None

    def __post_init__(self) -> None:
        self.required = self.risk

    @cached_property
    def joint(self) -> JointCells | None:
        """The joint cells of linked tables, in which respondents know contributions; None for other tables."""
        return joint_cells_of(self.risk.table)

    @property
    def has_several_leaves(self) -> bool:
        """Whether some respondents contribute to several leaf cells."""
        return any(len(own) > 1 for one in self.criteria for own in one.respondents.holdings)

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
            Ctrl-C was pressed.
        """
        clock = self.run.clock.extend(grace) if share is None else self.run.clock.share(share)
        with shield_from_presses():
            audit = audit_respondents(
                pattern,
                self.risk.table,
                rule=self.rules,
                criteria=self.criteria,
                again=again,
                most=self._most_coalitions(again) if self.judged else None,
                clock=clock,
                progress=self.run.progress,
            )
        self.run.progress.start("protecting")
        if clock.stopped:
            raise StoppedError
        self.judged += 1
        self._last = pattern, audit
        if audit.safe:
            self._safe.add((pattern.status != SHOWN).tobytes())
        return audit

    def _most_coalitions(self, again: RespondentAudit | None) -> int:
        """Return how many coalitions against one target are enough to go on: the more, the fewer targets are left."""
        few = self.parameters.coalitions
        if again is None or self.method.only_hides:
            return few
        exposed = sum(len(part.exposed) for part in again.parts)
        return max(few, self.parameters.all_coalitions // max(exposed, 1))

    def is_safe(self, pattern: Pattern, proposed: ProposedWitnesses) -> bool:
        """Return whether attacks on a pattern show that nobody comes too close; proposed moves are tried first.

        Raises
        ------
        StoppedError
            Ctrl-C was pressed.
        """
        clock = self.run.clock.share(1.0)
        with shield_from_presses():
            audit = audit_respondents(
                *(pattern, self.risk.table),
                rule=self.rules,
                criteria=self.criteria,
                most=1,
                clock=clock,
                proposed=proposed,
            )
        if clock.stopped:
            raise StoppedError
        if audit.safe:
            self._safe.add((pattern.status != SHOWN).tobytes())
        return audit.safe

    def require(self, audit: RespondentAudit) -> bool:
        """Add the requirements that an audit found violated; return whether some are new.

        Corners come after requirements about single cells: they make the problem larger. Where a method cannot take
        them, or there is no time, sufficient requirements come last: until then bounds hold. In linked tables all are
        corners, of joint cells.
        """
        if self.joint is not None:
            return self._require_corners(audit)
        before = self.required
        self._require_cells(audit, enough=False)
        exact = self.run.integer is False and self.method.takes_corners and not self._without_corners
        new = exact and (bool(self.corners) or self.required is before) and self._require_corners(audit)
        if new or self.required is not before or exact:
            return new or self.required is not before
        self._require_cells(audit, enough=True)
        return self.required is not before

    def _require_corners(self, audit: RespondentAudit) -> bool:
        """Add what is needed of several cells together, or of joint cells; return whether some of it is new."""
        new = {one.name: one for one in find_corners(audit, self.joint) if one.name not in self.corners}
        self.corners |= new
        self.stricter |= bool(new) and self.joint is not None and self.run.integer is not False
        return bool(new)

    def _require_cells(self, audit: RespondentAudit, *, enough: bool, every_corner: bool = False) -> None:
        """Add requirements about cells of the table: no more than is needed, or enough."""
        before = self.required
        self.required = self._with_requirements(audit, enough=enough, every_corner=every_corner)
        self.stricter |= self.required is not before and (enough or self._attackers_know_more)

    def _with_requirements(self, audit: RespondentAudit, *, enough: bool, every_corner: bool = False) -> Risk:
        """Return the problem with the requirements of an audit; the wishes of the method hold for new attackers."""
        hide = self.method.only_hides
        risk = add_requirements(self.required, audit, hide=hide, enough=enough, every_corner=every_corner)
        return risk if risk is self.required else self.method.apply_to(risk)

    @property
    def _attackers_know_more(self) -> bool:
        """Whether attackers of the engine know what those of `attack` do not: whole numbers, filled zeros."""
        if self.run.integer is not False or not getattr(self.method, "zeros_known", False):
            return self.run.integer is not False
        said = self.risk.table.contributions
        return said is not None and bool((said.amount < 0).any())

    def leave_corners_out(self) -> None:
        """Replace corners by sufficient requirements from now on: there is no time for them.

        In linked tables there are no others.
        """
        if self.joint is None:
            self.corners, self._without_corners = {}, True

    def add_corners(self, risk: Risk) -> Risk:
        """Return a risk with all that was asked of several cells together."""
        return replace(risk, corners=tuple(self.corners.values()))

    def violated(self, pattern: Pattern, ask: Ask = "exactly") -> ViolatedRequirements | None:
        """Return the respondents' requirements that a pattern violates; see `protection.run.RequirementOracle`."""
        if ask != "exactly":
            self.leave_corners_out()
        if self.method.only_hides and (pattern.status != SHOWN).tobytes() in self._safe:
            return None
        try:
            known = self.method.only_hides or ask != "exactly"
            audit = self.attack(pattern, self.find_exposed(pattern) if known else None)
        except StoppedError:
            raise TimeUpError from None
        if audit.safe:
            return None
        if not audit.open:
            raise TimeUpError
        before, corners = self.required, len(self.corners)
        if ask == "exactly" or self.joint is not None:
            self.require(audit)
        else:
            few = sum(len(part.exposed) for part in audit.parts) <= self.parameters.last_targets
            self._require_cells(audit, enough=ask == "enough", every_corner=few and ask == "enough")
        if ask == "needed" and self.required is before and len(self.corners) == corners:
            raise TimeUpError
        return ViolatedRequirements(self.add_corners(self.required), necessary=not self.stricter)

    def find_exposed(self, pattern: Pattern) -> RespondentAudit | None:
        """Return the audit that found all respondents who may be exposed in a pattern of hidden cells and ranges.

        Whoever is protected stays so when more is hidden, and ranges are wider, by the same tables: only the others are
        attacked again. None where anybody may be exposed.
        """
        if self._last is None or self._last[1].unjudged or not _gives_away_no_more(pattern, self._last[0]):
            return None
        return self._last[1]


def _gives_away_no_more(pattern: Pattern, other: Pattern) -> bool:
    """Return whether everything that agrees with another pattern agrees with this one; both change no numbers."""
    statuses = [one.status for one in (pattern, other)]
    if not all(bool(of_status(status, (SHOWN, HIDDEN, INTERVAL)).all()) for status in statuses):
        return False
    if not any(bool((status == INTERVAL).any()) for status in statuses):
        return not bool(((statuses[0] == SHOWN) & (statuses[1] != SHOWN)).any())
    ends = (align_decimals(*pair) for pair in zip(pattern.bounds(), other.bounds(), strict=True))
    (lower, lower_of_other), (upper, upper_of_other) = ends
    return bool((lower.counts <= lower_of_other.counts).all() and (upper.counts >= upper_of_other.counts).all())
