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

from celosia.attack.aggregations import Ties, table_and_release
from celosia.attack.protected import Protected
from celosia.attack.respondent_judgement import Coalition, Judgement, Proof
from celosia.attack.respondent_stage import Stage, stage_of
from celosia.attack.respondent_targets import Target, largest_others, targets_of
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

_FEW = 2  # suspects that are judged one by one


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A coalition that comes too close to a target. Confidential.

    Parameters
    ----------
    attackers
        Who attacks, as places in `RespondentAudit.respondents`. Where they are fewer than the coalition could be,
        anybody may join them; nobody at all stands for everybody.
    target
        Who is attacked.
    cells
        Where: leaf cells.
    reach, level
        How far his cell moves, and how far it must, as shares of what he contributes; None where he contributes to
        several cells.
    implied
        Another open pair is worse: larger contributions to the same cells. A pattern that closes it closes this one.
    signs
        Where he contributes to several cells: a combination of more (1) and less (-1) that is not possible.
    """

    attackers: tuple[int, ...]
    target: int
    cells: tuple[int, ...]
    implied: bool = False
    signs: tuple[int, ...] = ()
    reach: float | None = None
    level: float | None = None


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
    search = _Search(stage, min(knowledge.coalition, len(respondents) - 1), most)
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


class _Search:
    """Looks for coalitions that come too close, and notes them."""

    def __init__(self, stage: Stage, coalition: int, enough: int | None) -> None:
        self._stage, self._most, self._enough = stage, coalition, enough
        self.found: list[OpenPair] = []
        self.programs = self.pairs = 0
        self._last: tuple[Target, Coalition] | None = None
        self._taken: list[tuple[int, int]] = []

    def attack(self, group: list[Target]) -> bool:
        """Attack targets, the worst first, until one is safe; return whether there was time for it.

        Where one of a group is open and time is up, who comes too close to the next is left out: that is no worse.
        """
        for target in group:
            before = len(self.found)
            if self._stage.clock.left == 0:
                return target is not group[0]
            self.pairs += len(self._stage.respondents) - 1
            if not self._attack_one(target, implied=target is not group[0]):
                return len(self.found) > before or target is not group[0]
            if len(self.found) == before:
                break
        return True

    def _attack_one(self, target: Target, *, implied: bool) -> bool:
        """Note who comes too close to a target; return whether there was time for all."""
        nobody: Coalition = frozenset()
        self.programs += 1
        if target.cleared(largest_others(self._stage, target, nobody, self._most)):
            return True
        seen: set[Coalition] = set()
        waiting: list[Coalition] = [nobody]
        smaller: set[Coalition] = set()
        proofs: list[Proof] = []
        first = len(self.found)
        while waiting and (self._enough is None or len(self.found) - first < self._enough):
            members = waiting.pop()
            if members in seen or any(other < members for other in self._open_now(target)):
                continue
            seen.add(members)
            spare = self._most - len(members)
            if spare == 0 and any(self._covers(proof, target, members) for proof in reversed(proofs)):
                continue
            if self._stage.clock.left == 0:
                return False
            self.programs += 1
            judged = target.judged(members, spare, self._most_taken(target, members, spare))
            if judged.late:
                return False
            proof = judged.proof
            if proof is None:
                self._note(target, members, judged, implied=implied or members in smaller)
                after = [other for other in self._smaller(target, members) if other not in seen]
                smaller |= set(after)
                waiting += after
                continue
            proofs.append(proof)
            suspects = self._suspects(target, proof, members, spare) if spare else []
            if spare == 1:
                suspects = self._cleared_together(target, members, suspects)
            waiting += [members | {place} for place in suspects]
        return True

    def _most_taken(self, target: Target, members: Coalition, spare: int) -> dict[int, int]:
        """Return what members and the largest of those who may still join take of every leaf."""
        out = largest_others(self._stage, target, members, spare)
        for place in members:
            for leaf, size in self._stage.holdings[place].items():
                if leaf in out:
                    out[leaf] += size
        return out

    def _cleared_together(self, target: Target, members: Coalition, suspects: list[int]) -> list[int]:
        """Return who is left when suspects are cleared in groups: as if one of them took what any of them takes."""
        waiting, left = [suspects], []
        while waiting:
            group = waiting.pop()
            if len(group) <= _FEW or self._stage.clock.left == 0:
                left += group
                continue
            taken: dict[int, int] = {}
            for place in group:
                for leaf, sizes in self._near(target, members | {place}):
                    taken[leaf] = max(taken.get(leaf, 0), sizes)
            self.programs += 1
            if not target.cleared(taken):
                half = len(group) // 2
                waiting += [group[:half], group[half:]]
        return left

    def _open_now(self, target: Target) -> Iterator[Coalition]:
        return (
            frozenset(one.attackers)
            for one in self.found
            if one.target == target.place and one.cells == self._cells(target)
        )

    def _covers(self, proof: Proof, target: Target, members: Coalition) -> bool:
        """Return whether a proof against others holds against a coalition, too."""
        level = target.level(members)
        return not any(proof.fails(leaf, taken, level) for leaf, taken in self._near(target, members))

    def _near(self, target: Target, members: Coalition) -> list[tuple[int, int]]:
        """Return what members take of their leaves, and of the target's."""
        if self._last != (target, members):
            stage, component = self._stage, int(self._stage.component[target.leaves[0]])
            near = {leaf for place in members for leaf in stage.together(place, component)} | set(target.leaves)
            self._last, self._taken = (target, members), [(leaf, stage.taken(members, leaf)) for leaf in near]
        return self._taken

    def _suspects(self, target: Target, proof: Proof, members: Coalition, spare: int) -> list[int]:
        """Return whom a proof leaves suspect: who might join the members and come too close with as many others.

        Of those who contribute to one leaf only the largest is named: the next comes after him.
        """
        stage = self._stage
        more = largest_others(stage, target, members, spare)
        some = largest_others(stage, target, members, spare - 1)
        own = target.leaves[0]
        raised, most = target.level(members), target.level(members)
        if raised is not None and most is not None:
            raised, most = raised + stage.q * some[own], most + stage.q * more[own]
        inside = [place for _, place in stage.contributors[own] if place != target.place and place not in members]
        # Who is in the target's cell and elsewhere raises the level and takes rooms at once.
        suspects = dict.fromkeys(place for place in inside if not stage.alone(place, own))
        for leaf in sorted({*target.leaves, *stage.leaf_of[proof.columns].tolist()} & more.keys()):
            size = more[leaf]
            taken = stage.taken(members, leaf) + size
            if size and proof.fails(leaf, taken, most if leaf == own else raised):
                suspects |= dict.fromkeys(self._next(target, members, leaf))
        return list(suspects)

    def _next(self, target: Target, members: Coalition, leaf: int) -> Iterator[int]:
        """Yield who may be next to take something of a leaf: the largest who is alone in it, and all who are not."""
        single = False
        for _, place in self._stage.contributors[leaf]:
            if place == target.place or place in members:
                continue
            if not self._stage.alone(place, leaf):
                yield place
            elif not single:
                single = True
                yield place

    def _smaller(self, target: Target, members: Coalition) -> Iterator[Coalition]:
        """Yield the coalitions with the next smaller contributor to the same leaf in the place of one."""
        component = int(self._stage.component[target.leaves[0]])
        for place in members:
            leaves = self._stage.together(place, component)
            if len(leaves) != 1:
                continue
            own = [other for _, other in self._stage.contributors[leaves[0]]]
            for other in own[own.index(place) + 1 :]:
                if other != target.place and other not in members and self._stage.alone(other, leaves[0]):
                    yield (members - {place}) | {other}
                    break

    def _cells(self, target: Target) -> tuple[int, ...]:
        return tuple(int(self._stage.respondents.leaves[leaf]) for leaf in target.leaves)

    def _note(self, target: Target, members: Coalition, judged: Judgement, *, implied: bool) -> None:
        stage, cells = self._stage, self._cells(target)
        shares: tuple[float | None, float | None] = (None, None)
        signs: tuple[int, ...] = ()
        if len(target.leaves) == 1:
            unit = stage.holdings[target.place][target.leaves[0]] * stage.p * stage.knowledge.unit // stage.knowledge.p
            shares = (judged.reach / unit, judged.level / unit)
        else:
            excluded = dict(judged.signs)
            signs = tuple(excluded.get(leaf, 1) for leaf in target.leaves)
        self.found.append(OpenPair(tuple(sorted(members)), target.place, cells, implied, signs, *shares))
