r"""One respondent under attack: how coalitions are judged, and whom a proof leaves suspect.

A proof for a coalition S is a table, or one for every corner of the target's box, that S must take for possible and in
which the target contributes p percent more or less. It holds for any other coalition that takes no more from the leaves
than the table leaves open; so only those who contribute to leaves where it does not can be a danger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.attack.respondents.boxes import BoxTarget, Cover
from celosia.attack.respondents.judgement import Coalition, Judgement
from celosia.tolerance import ENDLESS

if TYPE_CHECKING:
    from celosia.attack.respondents.problem import RespondentProblem
    from celosia.attack.respondents.witness import WitnessMoves


class Target(Protocol):
    """A respondent under attack, in the leaves of one component."""

    @property
    def place(self) -> int:
        """The respondent, by his place among all."""

    @property
    def leaves(self) -> tuple[int, ...]:
        """The leaves in which he is to be protected."""

    def judge(self, members: Coalition, spare: int, most: dict[int, int]) -> Judgement:
        """Return whether a coalition comes too close.

        `spare` members may still join: where that costs nothing, a proof covers the level they would need.
        """

    def clears(self, most: dict[int, int]) -> bool:
        """Return whether coalitions that contribute at most `most` to every leaf do not come too close."""

    def level(self, members: Coalition) -> int | None:
        """Return how far the target's cell must move, None where there are several."""


@dataclass(frozen=True, slots=True, eq=False)
class CellProof:
    """Tables that push the target's cell up and down.

    Parameters
    ----------
    problem, leaf
        The respondents, and the leaf whose cell is pushed.
    tables
        One for each direction, or one for both.
    reach
        How far the least of them pushes it, rounded down.
    """

    problem: RespondentProblem
    leaf: int
    tables: tuple[WitnessMoves, ...]
    reach: int

    @property
    def columns(self) -> NDArray[np.int64]:
        """Which columns the tables move."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(table.columns for table in self.tables)])

    def fails(self, leaf: int, taken: int, level: int | None) -> bool:
        """Return whether the tables, scaled down to a level, need more of a leaf than is left."""
        assert level is not None  # noqa: S101  (the target has one cell)
        if level <= 0:
            return False
        if leaf == self.leaf:
            return self.reach < level
        column = int(self.problem.column[leaf])
        if column < 0:
            return False
        bound = int(self.problem.capacity[leaf]) - self.problem.q * taken
        own = int(self.problem.column[self.leaf])
        for table in self.tables:
            move, pushed = abs(table.of(column)), abs(table.of(own))
            if move and move * level > bound * pushed:
                return True
        return False


@dataclass(frozen=True, slots=True, eq=False)
class CellTarget:
    r"""A target with a contribution to one leaf of a component: what he contributes is known as well as his cell.

    With a coalition S the cell must move by :math:`p\,x_t - q\,(T - x_t - \sum_S x_r)`, up and down.

    Parameters
    ----------
    problem, place, leaf
        Who and where.
    """

    problem: RespondentProblem
    place: int
    leaf: int

    @property
    def leaves(self) -> tuple[int, ...]:
        """Where."""
        return (self.leaf,)

    def level(self, members: Coalition) -> int:
        """Return how far the cell must move."""
        return self.level_of(self.problem.contribution_of(members, self.leaf))

    def level_of(self, taken: int) -> int:
        """Return how far the cell must move when attackers contribute so much to it."""
        problem, own = self.problem, self.problem.holdings[self.place][self.leaf]
        return problem.error(own) + problem.q * (own + taken) - int(problem.capacity[self.leaf])

    def judge(self, members: Coalition, spare: int, most: dict[int, int]) -> Judgement:
        """Return tables that push the cell as far as is needed, and how far they do."""
        problem = self.problem
        inside = problem.contribution_of(members, self.leaf)
        level = self.level_of(inside)
        others = [
            size for size, place in problem.attackers_in[self.leaf] if place != self.place and place not in members
        ]
        limit = self.level_of(inside + sum(others[:spare]))
        if limit <= 0:
            return Judgement(CellProof(problem, self.leaf, (), 0), 0, level)
        taken = {
            leaf: problem.contribution_of(members, leaf)
            for place in members
            for leaf in problem.holdings[place]
            if leaf != self.leaf and problem.component[leaf] == problem.component[self.leaf]
        }
        outside = self.level_of(inside + sum(others[: max(spare - 1, 0)]))
        tables, reach = self._push_sparingly(taken, limit, most, outside) or self._push_both_ways(taken, limit)
        if reach < level:
            return Judgement(None, reach, level)
        self._keep(tables)
        return Judgement(CellProof(problem, self.leaf, tables, reach), reach, level)

    def clears(self, most: dict[int, int]) -> bool:
        """Return whether the cell moves far enough when attackers contribute at most `most` to every leaf."""
        level = self.level_of(most.get(self.leaf, 0))
        if level <= 0:
            return True
        column = int(self.problem.column[self.leaf])
        if column < 0:
            return False
        up, down = self.problem.bounds({leaf: size for leaf, size in most.items() if leaf != self.leaf})
        tables = []
        for upward in self._directions:
            if level > int((up if upward else down)[column]):
                return False
            table = self.problem.pushes.find_move(column, level, up, down, upward=upward)
            if table is None:
                return False
            tables.append(table)
        self._keep(tables)
        return True

    def _keep(self, tables: Iterable[WitnessMoves]) -> None:
        """Keep tables that push the cell, where tables are kept."""
        column = int(self.problem.column[self.leaf])
        for table in tables:
            sign = 1 if table.of(column) > 0 else -1
            self.problem.keep(self.place, self.leaves, Cover({self.leaf: sign}, table, {}))

    def is_cleared_by_proposals(self, most: dict[int, int]) -> bool:
        """Return whether, of moves that a search proposed, one is a proof against every single respondent.

        A move that leaves what the largest contributor takes of a leaf untouched is a proof against all who contribute
        to that leaf alone. So whoever contributes to no leaf in which a move goes further does not come too close; and
        nobody does where several moves go further in leaves that have no contributor in common.

        Parameters
        ----------
        most
            What the largest of the others contributes to every leaf of the component.
        """
        problem, column = self.problem, int(self.problem.column[self.leaf])
        level = self.level_of(most.get(self.leaf, 0))
        if column < 0 or level <= 0:
            return level <= 0
        up, down = problem.bounds({})
        taken = problem.bounds({leaf: size for leaf, size in most.items() if leaf != self.leaf})
        for upward in self._directions:
            tables = problem.pushes.proposals(column, level, up, down, upward=upward)
            if level > int((up if upward else down)[column]) or self._find_suspects(tables, *taken) != set():
                return False
        return True

    def _find_suspects(
        self, tables: Iterable[WitnessMoves], up: NDArray[np.int64], down: NDArray[np.int64]
    ) -> set[int] | None:
        """Return who contributes, in every table, to a leaf that exceeds given bounds; None without a table."""
        problem, suspects = self.problem, None
        for table in tables:
            moves, above, below = table.moves, up[table.columns], down[table.columns]
            over = (above < ENDLESS) & (-(-moves // table.denominator) > above)
            over |= (below < ENDLESS) & (-(moves // table.denominator) > below)
            leaves = [leaf for leaf in problem.leaf_of[table.columns[over]].tolist() if leaf != self.leaf]
            if min(leaves, default=0) < 0:  # a total that moves too far for everybody
                continue
            own = {place for leaf in leaves for _, place in problem.attackers_in[leaf]} - {self.place}
            suspects = own if suspects is None else suspects & own
            if not suspects:
                break
        return suspects

    @property
    def _directions(self) -> tuple[bool, ...]:
        """Up and down; up alone where down is the same."""
        return (True,) if self.problem.symmetric else (True, False)

    def _push_sparingly(
        self, taken: dict[int, int], limit: int, most: dict[int, int], level: int
    ) -> tuple[tuple[WitnessMoves, ...], int] | None:
        """Return tables that push the cell up and down and use little of what any coalition takes; None without.

        Scaled down to a level they are a proof against coalitions that are not in the cell.
        """
        problem, column = self.problem, int(self.problem.column[self.leaf])
        component = int(problem.component[self.leaf])
        if column < 0 or component >= len(problem.parts) or problem.parts.network[component]:  # flows are quicker
            return None
        up, down = problem.bounds(taken)
        wished = np.minimum(*problem.bounds(most))
        if limit > level > 0:
            wished = np.minimum(wished * (limit / level), ENDLESS).astype(np.int64)
        tables = []
        for upward in self._directions:
            if limit > int((up if upward else down)[column]):
                return None
            lower, upper = -down, up.copy()
            lower[column] = upper[column] = limit if upward else -limit
            table = problem.pushes.between(component, lower, upper, wished)
            if table is None:
                return None
            tables.append(table)
        return tuple(tables), limit

    def _push_both_ways(self, taken: dict[int, int], limit: int) -> tuple[tuple[WitnessMoves, ...], int]:
        """Return tables that push the cell up and down, and how far the least of them does, rounded down."""
        problem, column = self.problem, int(self.problem.column[self.leaf])
        if column < 0:
            return (), 0
        up, down = problem.bounds(taken)
        tables, reach = [], limit
        for upward in self._directions:
            bound = int(up[column] if upward else down[column])
            table = problem.pushes.push(column, min(limit, bound), up, down, upward=upward)
            reach = min(reach, abs(table.of(column)) // table.denominator)
            tables.append(table)
        return tuple(tables), reach


def find_targets(problem: RespondentProblem, coalition: int) -> list[list[Target]]:
    """Return the targets that some coalition of this size may come too close to, in groups, the worst of a group first.

    A respondent who contributes less to the same leaf, and nothing elsewhere, is attacked no better: a group ends with
    the first that no coalition comes too close to. Contributions that others in their leaf make up for, even without
    the largest of them, are no targets.

    Where only some attack, those who do and those who do not are groups apart: that the larger of two attacks the
    smaller is no worse than the other way round, but then the smaller must attack, too.
    """
    groups: dict[tuple[int, bool], list[Target]] = {}
    boxes: list[list[Target]] = []
    for leaf, own in enumerate(problem.contributors):
        sizes = [size for size, _ in own[: coalition + 1]]
        if not sizes or problem.error(sizes[0]) + problem.q * sum(sizes) <= int(problem.capacity[leaf]):
            continue
        component = int(problem.component[leaf])
        for size, place in own:
            leaves = problem.protected_leaves(place, component)
            if leaf not in leaves:
                continue
            if problem.is_single(place, leaf):
                attacks = problem.attackers is None or place in problem.attackers
                groups.setdefault((leaf, attacks), []).append(CellTarget(problem, place, leaf))
            elif len(leaves) == 1:
                boxes.append([CellTarget(problem, place, leaf)])
            elif _may_be_exposed(problem, place, leaf, size, coalition) and leaf == min(
                other
                for other in leaves
                if _may_be_exposed(problem, place, other, problem.holdings[place][other], coalition)
            ):
                boxes.append([BoxTarget(problem, place, tuple(leaves))])
    return [*(groups[key] for key in sorted(groups)), *boxes]


def _may_be_exposed(problem: RespondentProblem, place: int, leaf: int, size: int, coalition: int) -> bool:
    """Return whether the others in a leaf do not make up for a contribution, without the largest of them."""
    others = [other for other, who in problem.contributors[leaf] if who != place][:coalition]
    return problem.error(size) + problem.q * (size + sum(others)) > int(problem.capacity[leaf])


def largest_others(problem: RespondentProblem, target: Target, members: Coalition, number: int) -> dict[int, int]:
    """Return what the largest of the other attackers contribute to every leaf of the target's component.

    Members are left out.
    """
    leaves = problem.members[int(problem.component[target.leaves[0]])]
    out = dict(zip(leaves.tolist(), problem.largest_sums(number)[leaves].tolist(), strict=True))
    apart = {target.place, *members}
    for leaf in {leaf for place in apart for leaf in problem.holdings[place]} & out.keys():
        out[leaf] = sum([size for size, place in problem.attackers_in[leaf] if place not in apart][:number])
    return out
