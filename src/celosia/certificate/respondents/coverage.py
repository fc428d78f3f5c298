r"""Whether tables protect one target from every coalition: by dominance, in whole numbers, without a solver.

A table y protects a target t from a coalition S if it moves no leaf l further than :math:`q\,(T_l - \sum_{r \in S}
x_l^r)`, and t's own leaves no further than that from his error. Two things make a few tables a proof against all:

- A table that holds when the members M of a coalition and the s largest of the others take what they contribute, leaf
  by leaf, holds against every coalition of M and s others. Where it does not, it fails in some leaves only: whoever
  could join M with success contributes to one of them. So coalitions grow by these suspects, and each is asked again.
- Of suspects who contribute to one and the same leaf only, among those that any table moves, the largest takes most.

Where t has one leaf, a table is scaled down to what the coalition leaves to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from celosia.risk.respondents.knowledge import Knowledge, Respondents

Members = frozenset[int]
Signs = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class CoverMoves:
    """Tables for some corners of a box, as moves of leaves in counts of what is known, times a denominator.

    Parameters
    ----------
    number
        Which one it is.
    signs
        Signs by leaf; leaves that are not named have any.
    middle
        How far the table moves each leaf.
    steps
        By leaf of the target how far its step moves each leaf.
    denominator
        What moves are divided by.
    """

    number: int
    signs: Mapping[int, int]
    middle: Mapping[int, int]
    steps: Mapping[int, Mapping[int, int]]
    denominator: int

    def opposite(self) -> CoverMoves:
        """Return the same for the opposite corners."""
        signs = {leaf: -sign for leaf, sign in self.signs.items()}
        return CoverMoves(
            self.number, signs, {leaf: -move for leaf, move in self.middle.items()}, self.steps, self.denominator
        )

    @property
    def leaves(self) -> set[int]:
        """Which leaves move."""
        return {*self.middle, *(leaf for step in self.steps.values() for leaf in step)}

    def ends(self, leaf: int, sign: int) -> tuple[int, int]:
        """Return between what a leaf moves over all corners, its own sign given."""
        middle, spread = self.middle.get(leaf, 0), 0
        for own, step in self.steps.items():
            if own == leaf:
                middle += sign * step.get(leaf, 0)
            else:
                spread += abs(step.get(leaf, 0))
        return middle - spread, middle + spread


@dataclass(slots=True, eq=False)
class TargetCoverage:
    """The coalitions from which some tables protect a target.

    Parameters
    ----------
    people, knowledge
        The respondents, and what they know.
    target, leaves
        Who, and in which of his leaves.
    covers
        Tables, each of which satisfies all relations and what is published.
    """

    people: Respondents
    knowledge: Knowledge
    target: int
    leaves: tuple[int, ...]
    covers: Sequence[CoverMoves]
    _near: set[int] = field(init=False)
    _known: dict[tuple[Members, int, Signs], frozenset[int] | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._near = set(self.leaves).union(*(cover.leaves for cover in self.covers))

    def prove(self) -> frozenset[int] | None:
        """Return the numbers of covers that protect the target from all coalitions, None where they do not."""
        most = min(self.knowledge.coalition, len(self.people) - 1)
        return self._prove(frozenset(), most, frozenset())

    def _prove(self, members: Members, spare: int, signs: Signs) -> frozenset[int] | None:
        """Return covers for all corners with some signs against members and any others, so many of them."""
        key = (members, spare, signs)
        if key not in self._known:
            self._known[key] = self._find(members, spare, signs)
        return self._known[key]

    def _find(self, members: Members, spare: int, signs: Signs) -> frozenset[int] | None:
        worst = {leaf: self._taken(leaf, members, spare) for leaf in self._near}
        if all(self._level(leaf, worst[leaf]) <= 0 for leaf in self.leaves):
            return frozenset()
        taken = {leaf: self._taken(leaf, members, 0) for leaf in self._near} if spare else worst
        fitting = [cover for cover in self.covers if cover.signs.items() <= signs]
        ranked = []
        for cover in fitting:
            failed = self._failures(cover, taken, worst)
            if failed is not None:
                ranked.append((len(suspects := self._suspects(failed, members)), cover.number, suspects))
        for _, number, suspects in sorted(ranked):
            used = frozenset({number})
            for place in suspects:
                more = self._prove(members | {place}, spare - 1, signs) if spare else None
                if more is None:
                    break
                used |= more
            else:
                return used
        return self._split(members, spare, signs)

    def _split(self, members: Members, spare: int, signs: Signs) -> frozenset[int] | None:
        """Return covers for the corners with one more sign, and for those with the other."""
        given = dict(signs)
        open_ = {leaf for cover in self.covers for leaf in cover.signs if leaf in self.leaves} - given.keys()
        if not open_:
            return None
        leaf = min(open_)
        used: frozenset[int] = frozenset()
        for sign in (1, -1):
            more = self._prove(members, spare, signs | {(leaf, sign)})
            if more is None:
                return None
            used |= more
        return used

    def _taken(self, leaf: int, members: Members, spare: int) -> int:
        """Return what members contribute to a leaf, and the largest others, so many of them."""
        inside = sum(self.people.holdings[place].get(leaf, 0) for place in members)
        for size, place in self.people.contributors[leaf]:
            if not spare:
                break
            if place != self.target and place not in members:
                inside += size
                spare -= 1
        return inside

    def _own(self, leaf: int) -> int:
        return self.people.holdings[self.target][leaf] if leaf in self.leaves else 0

    def _room(self, leaf: int, taken: int) -> int:
        """Return how far wrong a leaf can be without the target, when a coalition contributes so much to it."""
        return self.knowledge.q * (int(self.people.totals[leaf]) - taken - self._own(leaf))

    def _level(self, leaf: int, taken: int) -> int:
        """Return how far a leaf of the target must move because the others do not make up for his error."""
        return self.knowledge.error(self._own(leaf)) - self._room(leaf, taken)

    def _failures(self, cover: CoverMoves, taken: Mapping[int, int], worst: Mapping[int, int]) -> set[int] | None:
        """Return the leaves that those contribute to who could join with success; None where none need to."""
        if len(self.leaves) == 1 and not cover.steps:
            return self._failures_of_cell(cover, taken, worst)
        if not all(self._holds(cover, leaf, taken[leaf]) for leaf in self._near):
            return None
        return {leaf for leaf in self._near if not self._holds(cover, leaf, worst[leaf])}

    def _holds(self, cover: CoverMoves, leaf: int, taken: int) -> bool:
        """Return whether tables for all corners of a cover move a leaf no further than a coalition must believe."""
        room = self._room(leaf, taken)
        error = self.knowledge.error(self._own(leaf)) if leaf in self.leaves else 0
        sign = cover.signs.get(leaf, 0)
        if leaf not in self.leaves:
            cases = [(0, 0)]
        elif leaf in cover.steps:
            cases = [(1, error), (-1, -error)]
        else:
            cases = [(sign, sign * error)] if sign else [(0, error), (0, -error)]
        for own, middle in cases:
            low, high = cover.ends(leaf, own)
            if low < (middle - room) * cover.denominator or high > (middle + room) * cover.denominator:
                return False
        return True

    def _failures_of_cell(
        self, cover: CoverMoves, taken: Mapping[int, int], worst: Mapping[int, int]
    ) -> set[int] | None:
        """Return the same for a table that pushes the target's one leaf, and is scaled down to what is needed.

        Who joins in the leaf itself raises what is needed, and with it what all others must leave.
        """
        (own,) = self.leaves
        pushed = cover.signs.get(own, 0) * cover.middle.get(own, 0)
        others = [leaf for leaf in cover.middle if leaf != own]
        least, most = self._level(own, taken[own]), self._level(own, worst[own])

        def exceeds(leaf: int, level: int, leaves: Mapping[int, int]) -> bool:
            return level > 0 and abs(cover.middle[leaf]) * level > self._room(leaf, leaves[leaf]) * pushed

        if pushed < least * cover.denominator or any(exceeds(leaf, least, taken) for leaf in others):
            return None
        inside = pushed < most * cover.denominator or any(exceeds(leaf, most, taken) for leaf in others)
        level = least if inside else most
        return ({own} if inside else set()) | {leaf for leaf in others if exceeds(leaf, level, worst)}

    def _suspects(self, failed: set[int], members: Members) -> list[int]:
        """Return who contributes to leaves in which a table fails; of those who contribute to one alone the largest."""
        return sorted({place for leaf in failed for place in self._next_contributors(leaf, members)})

    def _next_contributors(self, leaf: int, members: Members) -> Iterator[int]:
        single = False
        for _, place in self.people.contributors[leaf]:
            if place == self.target or place in members:
                continue
            alone = len(self.people.holdings[place].keys() & self._near) == 1
            if not alone or not single:
                yield place
            single = single or alone
