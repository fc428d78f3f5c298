r"""The judge of respondents: that by no rule one comes too close to another, from tables and contributions alone.

Every respondent is looked at who is to be protected, and every leaf cell to which he contributes:

- Where the others in the cell make up for his error, without the largest of them, nothing has to move.
- In other cells the certificate must have tables for him, which are judged against all coalitions
  (`celosia.certificate.respondents.coverage`).
- Or for a larger one in the same cell. Let t be protected there, t' contribute no more, and neither contribute to
  another leaf that the tables move. A coalition without t needs no more against t' than against t. In one with t, let
  the two change places: t' attacks t, takes as much from the tables and leaves t no better off than t leaves t'.

What protects a respondent in different cells must not move the same cells: then the tables can be added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import lcm

import numpy as np

from celosia.certificate.claim import Claim
from celosia.certificate.judge import WitnessJudge
from celosia.certificate.respondents.coverage import CoverMoves, TargetCoverage
from celosia.certificate.respondents.joint import open_joint_claim
from celosia.certificate.respondents.tables import CoverTables, TargetTables
from celosia.errors import Problem, pluralise
from celosia.risk.respondents.joint import add_joint_cells, joint_cells_of
from celosia.risk.respondents.rules import Criterion, criteria_of
from celosia.risk.risk import Risk

_AGAIN = "Make the certificate again, of a release that the audit calls safe."


@dataclass(frozen=True, slots=True, eq=False)
class _Protected:
    """What protects a respondent in some leaves: which cells the tables move, and which leaves among them."""

    place: int
    leaves: tuple[int, ...]
    cells: frozenset[int]
    moved: frozenset[int]


@dataclass(frozen=True, slots=True)
class Unproved:
    """A contribution that nothing shows to be protected: the respondent's place, and the leaf cell."""

    place: int
    cell: int


@dataclass(slots=True, eq=False)
class RespondentJudge:
    """The judge of one rule.

    Parameters
    ----------
    claim, tables
        What the certificate says, and the judge of its tables.
    one
        What the rule asks of the contributors of the table.
    given
        The certificate's tables for it.
    decimals
        In which contributions are counted: those of the table.
    """

    claim: Claim
    tables: WitnessJudge
    one: Criterion
    given: Sequence[TargetTables]
    decimals: int
    used: dict[int, frozenset[int]] = field(init=False, default_factory=dict)
    unproved: list[Unproved] = field(init=False, default_factory=list)
    _leaf_of: dict[int, int] = field(init=False)
    _by_leaf: dict[int, list[_Protected]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        people = self.one.respondents
        self._leaf_of = {cell: leaf for leaf, cell in enumerate(people.leaves.tolist())}
        place_of = {number: place for place, number in enumerate(people.numbers.tolist())}
        own: dict[int, list[_Protected]] = {}
        for number, tables in enumerate(self.given):
            place = place_of.get(tables.target)
            found = None if place is None else self._judge(number, place, tables)
            if found is not None:
                own.setdefault(found.place, []).append(found)
                if len(found.leaves) == 1 and self._is_single(found.place, found):
                    self._by_leaf.setdefault(found.leaves[0], []).append(found)
        for place, claims in enumerate(people.claims):
            if claims:
                self._judge_respondent(place, claims, own.get(place, []))

    def _is_single(self, place: int, by: _Protected) -> bool:
        """Return whether a respondent contributes to no leaf that tables move but the one that they protect."""
        return not (self.one.respondents.holdings[place].keys() & (by.moved - set(by.leaves)))

    def _judge(self, number: int, place: int, tables: TargetTables) -> _Protected | None:
        """Return what the tables of a target protect, None where they do not."""
        people = self.one.respondents
        leaves = tuple(self._leaf_of.get(cell, -1) for cell in tables.cells)
        if not leaves or len(set(leaves)) < len(leaves) or not people.claims[place] >= set(leaves):
            return None
        covers, cells = [], set()
        for k, cover in enumerate(tables.covers):
            found = self._moves_of(k, cover, leaves)
            for one in found:
                covers.append(one[0])
                cells |= one[1]
        used = TargetCoverage(people, self.one.knowledge, place, leaves, covers).prove()
        if used is None:
            return None
        self.used[number] = used
        moved = frozenset(self._leaf_of[cell] for cell in cells if cell in self._leaf_of)
        # Tables for one part of his cells say nothing where they move another one.
        if (moved & people.claims[place]) - set(leaves):
            return None
        return _Protected(place, leaves, frozenset(cells), moved)

    def _moves_of(
        self, number: int, cover: CoverTables, leaves: tuple[int, ...]
    ) -> Iterator[tuple[CoverMoves, set[int]]]:
        """Yield a cover and its opposite, where the release allows them: moves of leaves, and all cells that move."""
        steps = {leaf: step for leaf, step in zip(leaves, cover.steps, strict=True) if step >= 0}
        signs = {leaf: sign for leaf, sign in zip(leaves, cover.signs, strict=True) if sign}
        places = [cover.table, *steps.values()]
        if steps.keys() & signs.keys() or not all(self.tables.balanced[place] for place in places):
            return
        denominator = lcm(*(int(self.claim.denominators[place]) for place in places))
        middle = self._moves(cover.table, denominator)
        added = {leaf: self._moves(step, denominator) for leaf, step in steps.items()}
        cells = {*middle, *(cell for step in added.values() for cell in step)}
        spread = {cell: sum(abs(step.get(cell, 0)) for step in added.values()) for cell in cells}
        factor = 10**self.decimals * self.one.knowledge.unit
        for sign in (1, -1):
            ends = ((cell, sign * middle.get(cell, 0), spread[cell]) for cell in cells)
            if all(self.tables.allows(cell, move - far, move + far, denominator) for cell, move, far in ends):
                one = CoverMoves(
                    number,
                    signs,
                    self._at_leaves(middle, factor),
                    {leaf: self._at_leaves(step, factor) for leaf, step in added.items()},
                    denominator,
                )
                yield (one if sign > 0 else one.opposite()), cells

    def _moves(self, table: int, denominator: int) -> dict[int, int]:
        """Return the moves of a table, by cell, times a denominator."""
        moves = self.claim.moves
        part = slice(int(moves.starts[table]), int(moves.starts[table + 1]))
        factor = denominator // int(self.claim.denominators[table])
        pairs = zip(moves.cells[part].tolist(), moves.numbers[part].tolist(), strict=True)
        return {cell: move * factor for cell, move in pairs if move}

    def _at_leaves(self, moves: dict[int, int], factor: int) -> dict[int, int]:
        return {self._leaf_of[cell]: move * factor for cell, move in moves.items() if cell in self._leaf_of}

    def _judge_respondent(self, place: int, claims: set[int], own: list[_Protected]) -> None:
        """Note the leaves in which nothing shows that a respondent is protected."""
        people, used = self.one.respondents, list(own)
        for leaf in sorted(claims - {leaf for one in own for leaf in one.leaves}):
            if self._is_made_up_for(place, leaf):
                continue
            size = people.holdings[place][leaf]
            larger = (
                one
                for one in self._by_leaf.get(leaf, ())
                if people.holdings[one.place][leaf] >= size and self._is_single(place, one)
            )
            found = next(larger, None)
            if found is None:
                self.unproved.append(Unproved(place, int(people.leaves[leaf])))
            else:
                used.append(found)
        leaves = [leaf for one in used for leaf in one.leaves]
        if len(set(leaves)) < len(leaves) or sum(len(one.cells) for one in used) > len(
            frozenset().union(*(one.cells for one in used))
        ):
            self.unproved.append(Unproved(place, int(people.leaves[min(claims)])))

    def _is_made_up_for(self, place: int, leaf: int) -> bool:
        """Return whether the others in a leaf make up for an error, without the largest of them."""
        people, knowledge = self.one.respondents, self.one.knowledge
        size = people.holdings[place][leaf]
        others = [other for other, who in people.contributors[leaf] if who != place]
        most = min(knowledge.coalition, len(people) - 1)
        return knowledge.error(size) <= knowledge.q * sum(others[most:])


def judge_respondents(claim: Claim, tables: WitnessJudge, problem: Risk) -> list[RespondentJudge]:
    """Return what the judge finds by every rule of a problem.

    Guarantee: where nothing is unproved, for every coalition and every respondent who is to be protected there are
    tables that satisfy every relation, agree with everything published, with what the coalition contributes and with
    all other contributions within q percent, for every combination of p percent more and less in his cells.
    """
    criteria = criteria_of(problem.table, problem.respondents)
    joint = joint_cells_of(problem.table)
    opened = None if joint is None else open_joint_claim(claim, joint)
    given = [*claim.contributors, *([()] * len(criteria))]
    if opened is not None:
        claim, tables = opened, WitnessJudge(opened)
    elif joint is not None or claim.joint is not None:  # the certificate speaks of other joint cells, or of none
        given = [()] * len(criteria)
    decimals = problem.table.decimals
    return [RespondentJudge(claim, tables, one, own, decimals) for one, own in zip(criteria, given, strict=False)]


def unproved_respondents(claim: Claim, tables: WitnessJudge, problem: Risk) -> Iterator[Problem]:
    """Yield that the certificate does not show some respondents to be protected from others, where it does not."""
    label = add_joint_cells(problem.table).label
    for found in judge_respondents(claim, tables, problem):
        if found.unproved:
            kind = found.one.respondents.kind
            many = len(np.unique([one.place for one in found.unproved]))
            where = min(label(one.cell) for one in found.unproved)
            seen = f"no tables show that {pluralise(many, kind)} cannot be found too closely, the first in {where}"
            yield Problem("respondents", f"{seen} ({found.one.rule.words}).", _AGAIN)
