r"""The audit of respondents: who comes too close to whom, using what he contributes himself.

The criterion is that of Daalmans and de Waal (2010): no aggregation of hidden cells may be sensitive. For a target t
that contributes to one leaf cell :math:`i_0` it is a linear program for every coalition S (its dual is the search for
the aggregation, with :math:`\lambda_{i_0} = 1`): within

.. math:: |y_l| \le q \sum_{r \notin S} |x_l^r| \quad (l \ne i_0), \qquad M y = 0

and what is published, cell :math:`i_0` must be able to move by :math:`p\,|x^t| - q \sum_{r \notin S, r \ne t}
|x_{i_0}^r|`, up and down. Of the many coalitions few need a program: a table that proves t safe against one proves him
safe against all that take no more than it leaves (`celosia.attack.respondent_targets`), and of those who contribute to
one leaf only the largest matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.arguments import takes
from celosia.attack.aggregations import Ties, table_and_release
from celosia.attack.coalitions import CoalitionSearch, OpenPair
from celosia.attack.protected import Protected
from celosia.attack.respondent_stage import stage_of
from celosia.attack.respondent_targets import targets_of
from celosia.errors import SpecError, counted
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release
from celosia.progress import SILENT, Progress
from celosia.risk.respondents import Knowledge, Respondents, respondents_of
from celosia.risk.risk import Risk
from celosia.risk.rules import PPercent, PriorPosterior
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends
from celosia.table.frames import frame_of
from celosia.table.table import Table


@dataclass(frozen=True, eq=False)
class RespondentAudit:
    """The result of an audit of respondents. Confidential.

    Parameters
    ----------
    table, release, respondents, knowledge
        What was audited.
    asked
        The knowledge with which it was audited: other than `knowledge` where ties are too close.
    open
        Who comes too close to whom; of coalitions of several not all.
    targets, pairs
        How many targets there are whom somebody might come too close to, and how many pairs with attackers.
    programs
        How many coalitions were judged by a program.
    unjudged
        How many targets were left when time was up: nothing shows that they are safe.
    """

    table: Table
    release: Release
    respondents: Respondents
    knowledge: Knowledge
    asked: Knowledge
    open: tuple[OpenPair, ...]
    targets: int
    pairs: int
    programs: int
    unjudged: int = 0

    @property
    def safe(self) -> bool:
        """Nobody comes too close to anybody, and everybody was asked about."""
        return not self.open and not self.unjudged

    def every_pair(self) -> Iterator[tuple[int, int]]:
        """Yield attacker and target of every open pair by their anonymous numbers, for attackers that work alone."""
        numbers = self.respondents.numbers
        seen: set[tuple[int, int]] = set()
        for one in self.open:
            who = one.attackers or tuple(range(len(numbers)))
            seen |= {(int(numbers[place]), int(numbers[one.target])) for place in who if place != one.target}
        return iter(sorted(seen, key=lambda pair: (pair[1], pair[0])))

    def columns(self) -> dict[str, Any]:
        """Return one line per open pair: attackers, target, their cells, and how close they come."""
        name, label = self.respondents.name, self.table.label
        return {
            "attackers": [", ".join(map(name, one.attackers)) or "anybody" for one in self.open],
            "attackers_in": ["; ".join(map(self._where, one.attackers)) for one in self.open],
            "target": [name(one.target) for one in self.open],
            "target_in": [", ".join(label(cell) for cell in one.cells) for one in self.open],
            "within": [self._within(one) for one in self.open],
            "allowed": [100 * self.knowledge.p / self.knowledge.unit] * len(self.open),
        }

    def _within(self, one: OpenPair) -> float | None:
        """Return how close they come, in percent of what the target contributes."""
        if one.reach is None or one.level is None:
            return None
        return 100 * (self.knowledge.p / self.knowledge.unit - (one.level - one.reach))

    def _where(self, place: int) -> str:
        leaves = self.respondents.leaves[self.respondents.sizes[:, [place]].nonzero()[0]]
        return ", ".join(self.table.label(cell) for cell in leaves.tolist())

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the open pairs as a data frame."""
        return frame_of(self.columns(), library or self.table.library)

    def __repr__(self) -> str:
        kind = self.respondents.kind
        if self.safe:
            said = f"safe: no {kind} comes too close to another"
        else:
            hit = len({one.target for one in self.open})
            said = f"not safe: {counted(len(self.open), 'open pair')}, {counted(hit, kind)} exposed"
            said += f", {self.unjudged:,} not judged in time" if self.unjudged else ""
        return f"RespondentAudit({said}; {counted(len(self.respondents), kind)}, {counted(self.targets, 'target')})"


@takes(release=(Protected, Release, Pattern), risk=(Risk, Table), rule=(PPercent, PriorPosterior))
def audit_respondents(
    release: Release | Pattern | Protected,
    risk: Risk | Table | None = None,
    *,
    rule: PPercent | PriorPosterior | None = None,
    ties: Ties = "safe",
    targets: Collection[int] | None = None,
    most: int | None = None,
    solver: str | None = None,
    clock: Clock | None = None,
    progress: Progress = SILENT,
) -> RespondentAudit:
    """Return who comes too close to whom: every coalition of contributors against every other contributor.

    Guarantee: a target is called safe from a coalition only with a table in whole numbers that satisfies every
    relation, agrees with everything published, with what the coalition contributes and with everybody else's
    contributions within q percent, and in which the target's is p percent off; in both directions, and for every
    combination of them where he contributes to several cells that hang together.

    Parameters
    ----------
    release
        What is published: cells that are hidden, ranges, rounded values.
    risk
        The table with single contributions, or its risk; the result of a protection brings its own.
    rule
        `PPercent` or `PriorPosterior`: what respondents know, how close they may come, how many work together, and
        whether respondents or holdings do. By default the rule of the risk.
    ties
        ``safe``: it is enough to be kept exactly p percent away, as elsewhere in celosia; ``sensitive``: it is not,
        as in the paper. Then contributions must be a ten-thousandth of a percent further off than p.
    targets
        Anonymous numbers of those whom to attack; by default everybody.
    most
        Look no further where so many coalitions come too close to a target.
    solver
        The name of a solver; by default the best that is installed.
    clock
        When to stop: targets that are left then are counted, and the release is not called safe.
    progress
        Hears about targets.

    Raises
    ------
    SpecError
        The table knows no contributions, or the rule does not say what respondents know.
    DataError
        Contributions do not add up, or the release does not belong to the table.
    """
    rule = rule or _own_rule(release, risk)
    table, release = table_and_release(release, risk)
    knowledge = Knowledge.of(rule)
    respondents = respondents_of(table, knowledge.by)
    backend = backend_named(solver) if solver else backends()[0]
    asked = knowledge.beyond() if ties == "sensitive" else knowledge
    stage = stage_of(table, release, respondents, asked, backend, clock or Clock(None))
    groups = targets_of(stage, knowledge.coalition)
    search = CoalitionSearch(stage, min(knowledge.coalition, len(respondents) - 1), most)
    progress.start("attacking respondents", len(groups))
    wanted = None if targets is None else set(np.flatnonzero(np.isin(respondents.numbers, list(targets))).tolist())
    unjudged = 0
    for group in groups:
        if wanted is None or not wanted.isdisjoint(target.place for target in group):
            unjudged += not search.attack(group)
        progress.advance(1)
    progress.done()
    found = sorted(search.found, key=lambda one: (one.target, one.cells, one.attackers))
    return RespondentAudit(
        *(table, release, respondents, knowledge, asked, tuple(found)),
        targets=len(groups),
        pairs=search.pairs,
        programs=search.programs,
        unjudged=unjudged,
    )


def _own_rule(release: Release | Pattern | Protected, risk: Risk | Table | None) -> PPercent | PriorPosterior:
    """Return the rule by which a risk protects respondents."""
    own = risk if isinstance(release, Release | Pattern) or risk is not None else release.risk
    if not isinstance(own, Risk) or own.respondents is None:
        raise SpecError.one("rule", "is missing.", "Say what respondents know: rule=PPercent(10), for instance.")
    return own.respondents
