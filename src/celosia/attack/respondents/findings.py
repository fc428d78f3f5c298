"""What an audit of respondents finds: who comes too close to whom, rule by rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.attack.respondents.pairs import Pairs
from celosia.errors import pluralise
from celosia.table.frames import frame_of

if TYPE_CHECKING:
    from celosia.attack.respondents.boxes import Cover
    from celosia.attack.respondents.coalitions import OpenPair
    from celosia.attack.system.system import System
    from celosia.pattern.release import Release
    from celosia.risk.respondents.knowledge import Knowledge, Respondents
    from celosia.risk.rules.contributor_rules import RespondentRule
    from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class TargetProof:
    """Tables that show that a target is safe from all coalitions, in the leaves of one component. Confidential.

    Parameters
    ----------
    target
        His place among the respondents.
    leaves
        Where he is to be protected: places among the leaf cells.
    covers
        Tables for the corners of his box; each protects him from some coalitions, all of them from all.
    """

    target: int
    leaves: tuple[int, ...]
    covers: tuple[Cover, ...]


@dataclass(frozen=True, eq=False)
class RuleAudit:
    """What an audit of respondents finds by one rule. Confidential.

    Parameters
    ----------
    table, release, rule, respondents
        What was audited.
    knowledge
        What the rule says; with `celosia.audit_respondents`' ``ties="sensitive"`` of a p that is a little larger.
    open
        Who comes too close to whom; of coalitions of several not all.
    targets, pairs
        How many targets some coalition might come too close to, and how many pairs with attackers.
    programs
        How many coalitions were judged by a program.
    unjudged
        How many targets were left when time was up: nothing shows that they are safe.
    left
        The anonymous numbers of those who were left then, all who would have been looked at; increasing.
    proofs
        The tables that were found, on request. Whoever has none is protected by those of a larger one in his cell, or
        by the others in it.
    system
        Whose columns the tables move.
    """

    table: Table
    release: Release
    rule: RespondentRule
    respondents: Respondents
    knowledge: Knowledge
    open: tuple[OpenPair, ...]
    targets: int
    pairs: int
    programs: int
    unjudged: int = 0
    left: tuple[int, ...] = ()
    proofs: tuple[TargetProof, ...] = ()
    system: System | None = None

    @property
    def safe(self) -> bool:
        """No respondent comes too close to another, and all targets were judged."""
        return not self.open and not self.unjudged

    @property
    def exposed(self) -> list[int]:
        """The anonymous numbers of exposed respondents, increasing."""
        return [int(self.respondents.numbers[place]) for place in sorted({one.target for one in self.open})]

    @property
    def suspected(self) -> list[int]:
        """The anonymous numbers of all who were not found to be safe, increasing: exposed, or left unjudged."""
        return sorted({*self.exposed, *self.left})

    def columns(self) -> dict[str, list[Any]]:
        """Return one line per open pair: the rule, attackers, target, their cells, and how close they come."""
        name, label = self.respondents.name, self.table.label
        return {
            "rule": [self.rule.words] * len(self.open),
            "attackers": [", ".join(map(name, one.attackers)) or "anybody" for one in self.open],
            "attackers_in": ["; ".join(map(self._where, one.attackers)) for one in self.open],
            "target": [name(one.target) for one in self.open],
            "target_in": [", ".join(label(cell) for cell in one.cells) for one in self.open],
            "within": [self._within(one) for one in self.open],
            "allowed": [self._allowed_closeness(one) for one in self.open],
        }

    def _within(self, one: OpenPair) -> float | None:
        """Return how close they come, in percent of what the target contributes."""
        allowed = self._allowed_closeness(one)
        if one.reach is None or one.level is None or allowed is None:
            return None
        return allowed - 100 * (one.level - one.reach)

    def _allowed_closeness(self, one: OpenPair) -> float | None:
        """Return how close they may come, in percent of what the target contributes; None where cells differ."""
        if not self.knowledge.least:
            return 100 * self.knowledge.p / self.knowledge.unit
        if len(one.cells) > 1:
            return None
        leaf = int(np.searchsorted(self.respondents.leaves, one.cells[0]))
        size = int(self.respondents.sizes[leaf, one.target])
        return 100 * self.knowledge.error(size) / (self.knowledge.unit * size)

    def _where(self, place: int) -> str:
        leaves = self.respondents.leaves[self.respondents.sizes[:, [place]].nonzero()[0]]
        return ", ".join(self.table.label(cell) for cell in leaves.tolist())


@dataclass(frozen=True, eq=False)
class RespondentAudit:
    """The result of an audit of respondents. Confidential.

    Parameters
    ----------
    rules
        All rules of the audit.
    parts
        What was found, by rule; rules that another one implies are left out.
    asked
        Who was asked about whom.
    """

    rules: tuple[RespondentRule, ...]
    parts: tuple[RuleAudit, ...]
    asked: Pairs = field(default_factory=Pairs)

    @property
    def table(self) -> Table:
        """The table."""
        return self.parts[0].table

    @property
    def safe(self) -> bool:
        """By no rule a respondent comes too close to another, of those who were asked; all targets were judged."""
        return all(part.safe for part in self.parts)

    @property
    def open(self) -> tuple[OpenPair, ...]:
        """Who comes too close to whom, rule by rule."""
        return tuple(one for part in self.parts for one in part.open)

    @property
    def targets(self) -> int:
        """How many targets some coalition might come too close to."""
        return sum(part.targets for part in self.parts)

    @property
    def pairs(self) -> int:
        """How many pairs of a target and an attacker there are."""
        return sum(part.pairs for part in self.parts)

    @property
    def programs(self) -> int:
        """How many coalitions were judged by a program."""
        return sum(part.programs for part in self.parts)

    @property
    def unjudged(self) -> int:
        """How many targets were left when time was up."""
        return sum(part.unjudged for part in self.parts)

    def columns(self) -> dict[str, list[Any]]:
        """Return one line per open pair: the rule, attackers, target, their cells, and how close they come."""
        lines = [part.columns() for part in self.parts]
        return {name: [entry for part in lines for entry in part[name]] for name in lines[0]}

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the open pairs as a data frame."""
        return frame_of(self.columns(), library or self.table.library)

    def __repr__(self) -> str:
        people = {part.respondents.kind: part.respondents for part in self.parts}
        either = " or ".join(sorted(people))
        if self.safe:
            said = f"safe: {self._nobody(either)}"
        else:
            hit = {
                kind: {n for part in self.parts if part.respondents.kind == kind for n in part.exposed}
                for kind in people
            }
            exposed = " and ".join(pluralise(len(numbers), kind) for kind, numbers in sorted(hit.items()))
            said = f"not safe: {pluralise(len(self.open), 'open pair')}, {exposed} exposed"
            said += f", {self.unjudged:,} not judged in time" if self.unjudged else ""
        many = ", ".join(pluralise(len(own), kind) for kind, own in sorted(people.items()))
        return f"RespondentAudit({said}; {many}, {pluralise(self.targets, 'target')})"

    def _nobody(self, kind: str) -> str:
        """Return in words who comes too close to nobody, and that others were not asked where they were not."""
        attackers, targets = self.asked.attackers, self.asked.targets
        if self.asked.all:
            return f"no {kind} comes too close to another"
        who = f"no {kind}" if attackers is None else f"none of {pluralise(len(attackers), kind)}"
        whom = "another" if targets is None else pluralise(len(targets), kind)
        return f"{who} comes too close to {whom}, others were not asked"
