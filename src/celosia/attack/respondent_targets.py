r"""One respondent under attack: how coalitions are judged, and whom a proof leaves suspect.

A proof for a coalition S is a table, or one for every corner of the target's box, that S must take for possible and in
which the target contributes p percent more or less. It holds for any other coalition that takes no more from the leaves
than the table leaves open; so only those who contribute to leaves where it does not can be a danger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from celosia.attack.pushes import Moves
from celosia.attack.respondent_stage import Stage

Coalition = frozenset[int]

_MOST_CORNERS = 4096  # programs for one coalition against a target in many cells; beyond, it is not shown safe


class Proof(Protocol):
    """Shows that a coalition does not come too close."""

    def fails(self, leaf: int, taken: int, level: int | None) -> bool:
        """Return whether it shows nothing for coalitions that take so much of a leaf."""


class Target(Protocol):
    """Somebody under attack, in the leaves of one component."""

    @property
    def place(self) -> int:
        """Who."""

    @property
    def leaves(self) -> tuple[int, ...]:
        """Where."""

    def judged(self, members: Coalition, spare: int) -> tuple[Proof | None, int, int]:
        """Return a proof against a coalition, None where it comes too close; its reach and the level.

        `spare` members may still join: where that costs nothing, the proof covers the level they would need.
        """

    def cleared(self, most: dict[int, int]) -> bool:
        """Return whether a coalition that takes so much of every leaf would not come too close."""

    def level(self, members: Coalition) -> int | None:
        """Return how far the target's cell must move, None where there are several."""

    def excluded(self, members: Coalition) -> tuple[int, ...]:
        """Return a corner of the box of a target in several leaves that a coalition can exclude."""


@dataclass(frozen=True, slots=True, eq=False)
class CellProof:
    """Tables that push the target's cell up and down.

    Parameters
    ----------
    stage, leaf
        Where.
    tables
        One for each direction, or one for both.
    reach
        How far the least of them pushes it, rounded down.
    """

    stage: Stage
    leaf: int
    tables: tuple[Moves, ...]
    reach: int

    def fails(self, leaf: int, taken: int, level: int | None) -> bool:
        """Return whether the tables, scaled down to a level, need more of a leaf than is left."""
        assert level is not None  # noqa: S101  (the target has one cell)
        if level <= 0:
            return False
        if leaf == self.leaf:
            return self.reach < level
        column = int(self.stage.column[leaf])
        if column < 0:
            return False
        room = int(self.stage.capacity[leaf]) - self.stage.q * taken
        own = int(self.stage.column[self.leaf])
        for table in self.tables:
            move, pushed = abs(table.of(column)), abs(table.of(own))
            if move and move * level > room * pushed:
                return True
        return False


@dataclass(frozen=True, slots=True, eq=False)
class CellTarget:
    r"""Somebody to be protected in one leaf of a component: what he contributes is known as well as his cell.

    With a coalition S the cell must move by :math:`p\,x_t - q\,(T - x_t - \sum_S x_r)`, up and down.

    Parameters
    ----------
    stage, place, leaf
        Who and where.
    """

    stage: Stage
    place: int
    leaf: int

    @property
    def leaves(self) -> tuple[int, ...]:
        """Where."""
        return (self.leaf,)

    def level(self, members: Coalition) -> int:
        """Return how far the cell must move."""
        return self._level(self.stage.taken(members, self.leaf))

    def excluded(self, members: Coalition) -> tuple[int, ...]:
        """Return nothing: both corners are asked for."""
        del members
        return ()

    def _level(self, taken: int) -> int:
        stage, own = self.stage, self.stage.holdings[self.place][self.leaf]
        return stage.p * own + stage.q * (own + taken) - int(stage.capacity[self.leaf])

    def judged(self, members: Coalition, spare: int) -> tuple[CellProof | None, int, int]:
        """Return tables that push the cell as far as is needed, and how far they do."""
        stage = self.stage
        inside = stage.taken(members, self.leaf)
        level = self._level(inside)
        others = [size for size, place in stage.contributors[self.leaf] if place != self.place and place not in members]
        limit = self._level(inside + sum(others[:spare]))
        if limit <= 0:
            return CellProof(stage, self.leaf, (), 0), 0, level
        taken = {
            leaf: stage.taken(members, leaf)
            for place in members
            for leaf in stage.holdings[place]
            if leaf != self.leaf and stage.component[leaf] == stage.component[self.leaf]
        }
        tables, reach = self._pushed(taken, limit)
        if reach < level:
            return None, reach, level
        return CellProof(stage, self.leaf, tables, reach), reach, level

    def cleared(self, most: dict[int, int]) -> bool:
        """Return whether the cell moves far enough with so much taken of every leaf."""
        level = self._level(most.get(self.leaf, 0))
        if level <= 0:
            return True
        taken = {leaf: size for leaf, size in most.items() if leaf != self.leaf}
        return self._pushed(taken, level)[1] >= level

    def _pushed(self, taken: dict[int, int], limit: int) -> tuple[tuple[Moves, ...], int]:
        """Return tables that push the cell up and down, and how far the least of them does, rounded down."""
        stage, column = self.stage, int(self.stage.column[self.leaf])
        if column < 0:
            return (), 0
        up, down = stage.rooms(taken)
        tables, reach = [], limit
        for upward in (True,) if stage.symmetric else (True, False):
            room = int(up[column] if upward else down[column])
            table = stage.pushes.pushed(column, min(limit, room), up, down, upward=upward)
            reach = min(reach, abs(table.of(column)) // table.denominator)
            tables.append(table)
        return tuple(tables), reach


@dataclass(frozen=True, slots=True, eq=False)
class BoxProof:
    """Tables for all corners of a target's box.

    Parameters
    ----------
    target
        The target.
    tables
        Signs by leaf, a leaf without one being good for both, and the table for them.
    """

    target: BoxTarget
    tables: tuple[tuple[dict[int, int], Moves], ...]

    def fails(self, leaf: int, taken: int, level: int | None) -> bool:
        """Return whether some table needs more of a leaf than is left."""
        del level
        stage = self.target.stage
        column = int(stage.column[leaf])
        if column < 0:
            return False
        for signs, table in self.tables:
            low, high = self.target.between(leaf, taken, signs)
            move = table.of(column)
            if not low * table.denominator <= move <= high * table.denominator:
                return True
        return False


@dataclass(frozen=True, slots=True, eq=False)
class BoxTarget:
    r"""Somebody to be protected in several leaves of a component: no corner of his box may be excluded.

    An aggregation with coefficients :math:`\lambda` is sensitive (5.3) if :math:`q \sum_{r \ne s,t} \sum_l |\lambda_l
    x_l^r| < p \sum_l |\lambda_l x_l^t|`. The right side is the largest of :math:`\sum_l \sigma_l \lambda_l p\,x_l^t`
    over all signs :math:`\sigma`; for each of them, by duality, no aggregation is sensitive if the others' errors can
    make up for the errors :math:`\sigma_l\,p\,x_l^t`. Where one table does for both signs of a leaf, they need not be
    told apart.

    Parameters
    ----------
    stage, place, leaves
        Who and where.
    """

    stage: Stage
    place: int
    leaves: tuple[int, ...]

    def level(self, members: Coalition) -> None:
        """Return nothing: there is no single level."""
        del members

    def judged(self, members: Coalition, spare: int) -> tuple[BoxProof | None, int, int]:
        """Return tables for all corners."""
        del spare
        tables, _ = self._corners(self._taken(members))
        return (None, 0, 1) if tables is None else (BoxProof(self, tuple(tables)), 1, 1)

    def cleared(self, most: dict[int, int]) -> bool:
        """Return whether all corners are possible with so much taken of every leaf."""
        return self._corners(most)[0] is not None

    def excluded(self, members: Coalition) -> tuple[int, ...]:
        """Return a corner that a coalition can exclude, leaf by leaf."""
        signs = self._corners(self._taken(members))[1]
        return tuple(signs.get(leaf, 1) for leaf in self.leaves)

    def _taken(self, members: Coalition) -> dict[int, int]:
        component = int(self.stage.component[self.leaves[0]])
        near = {leaf for place in members for leaf in self.stage.together(place, component)}
        return {leaf: self.stage.taken(members, leaf) for leaf in near}

    def between(self, leaf: int, taken: int, signs: dict[int, int]) -> tuple[int, int]:
        """Return between what a leaf can move with some signs and so much taken; it may be nothing."""
        stage, column = self.stage, int(self.stage.column[leaf])
        own = stage.holdings[self.place][leaf] if leaf in self.leaves else 0
        rest = int(stage.capacity[leaf]) - stage.q * (taken + own)
        middle = signs.get(leaf, 0) * stage.p * own
        spread = rest - (stage.p * own if leaf in self.leaves and leaf not in signs else 0)
        return (
            max(middle - spread, -int(stage.published_down[column])),
            min(middle + spread, int(stage.published_up[column])),
        )

    def _corners(self, taken: dict[int, int]) -> tuple[list[tuple[dict[int, int], Moves]] | None, dict[int, int]]:
        """Return tables for all corners; or None, and signs for which there is none, whatever the others are."""
        stage = self.stage
        first: dict[int, int] = {}
        if stage.symmetric:  # a corner and the opposite one have opposite tables
            first[max(self.leaves, key=lambda leaf: stage.holdings[self.place][leaf])] = 1
        up, down = stage.rooms(taken)
        waiting, found, asked = [first], [], 0
        while waiting:
            signs = waiting.pop()
            if any(self._narrow(leaf, taken, {leaf: sign}) for leaf, sign in signs.items()):
                return None, signs
            tight = [leaf for leaf in self.leaves if leaf not in signs and self._narrow(leaf, taken, {})]
            table = None
            if not tight:
                lower, upper = -down, up.copy()
                for leaf in self.leaves:
                    ends = self.between(leaf, taken.get(leaf, 0), signs)
                    lower[stage.column[leaf]], upper[stage.column[leaf]] = ends
                asked += 1
                component = int(stage.component[self.leaves[0]])
                table = stage.pushes.between(component, lower, upper)
            if table is not None:
                found.append((signs, table))
                continue
            left = tight or [leaf for leaf in self.leaves if leaf not in signs]
            if not left or asked > _MOST_CORNERS:
                return None, signs
            split = max(left, key=lambda leaf: stage.holdings[self.place][leaf])
            waiting += [signs | {split: -1}, signs | {split: 1}]
        return found, {}

    def _narrow(self, leaf: int, taken: dict[int, int], signs: dict[int, int]) -> bool:
        low, high = self.between(leaf, taken.get(leaf, 0), signs)
        return low > high


def targets_of(stage: Stage, coalition: int) -> list[list[Target]]:
    """Return the targets that some coalition of this size may come too close to, in groups, the worst of a group first.

    Whoever contributes less to the same leaf, and nothing elsewhere, is attacked no better: a group ends with the first
    that nobody comes too close to. Contributions that others in their leaf make up for, even without the largest of
    them, are no targets.
    """
    groups: dict[int, list[Target]] = {}
    boxes: list[list[Target]] = []
    for leaf, own in enumerate(stage.contributors):
        sizes = [size for size, _ in own[: coalition + 1]]
        if not sizes or stage.p * sizes[0] + stage.q * sum(sizes) <= int(stage.capacity[leaf]):
            continue
        component = int(stage.component[leaf])
        for size, place in own:
            leaves = stage.claimed(place, component)
            if leaf not in leaves:
                continue
            if stage.alone(place, leaf):
                groups.setdefault(leaf, []).append(CellTarget(stage, place, leaf))
            elif len(leaves) == 1:
                boxes.append([CellTarget(stage, place, leaf)])
            elif _exposed(stage, place, leaf, size, coalition) and leaf == min(
                other for other in leaves if _exposed(stage, place, other, stage.holdings[place][other], coalition)
            ):
                boxes.append([BoxTarget(stage, place, tuple(leaves))])
    return [*(groups[leaf] for leaf in sorted(groups)), *boxes]


def _exposed(stage: Stage, place: int, leaf: int, size: int, coalition: int) -> bool:
    """Return whether the others in a leaf do not make up for a contribution, without the largest of them."""
    others = [other for other, who in stage.contributors[leaf] if who != place][:coalition]
    return stage.p * size + stage.q * (size + sum(others)) > int(stage.capacity[leaf])


def largest_others(stage: Stage, target: Target, members: Coalition, number: int) -> dict[int, int]:
    """Return what the largest of the others contribute to every leaf of the target's component, beside members."""
    leaves = stage.members[int(stage.component[target.leaves[0]])]
    out = dict(zip(leaves.tolist(), stage.largest(number)[leaves].tolist(), strict=True))
    apart = {target.place, *members}
    for leaf in {leaf for place in apart for leaf in stage.holdings[place]} & out.keys():
        out[leaf] = sum([size for size, place in stage.contributors[leaf] if place not in apart][:number])
    return out
