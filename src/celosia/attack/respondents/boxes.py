r"""A target with contributions to several leaves of a component: no corner of his box may be excluded.

An aggregation with coefficients :math:`\lambda` is sensitive (5.3) if :math:`q \sum_{r \ne s,t} \sum_l |\lambda_l
x_l^r| < p \sum_l |\lambda_l x_l^t|`. The right side is the largest of :math:`\sum_l \sigma_l \lambda_l p\,x_l^t` over
all signs :math:`\sigma`; for each of them, by duality, no aggregation is sensitive if the others' errors can make up
for the errors :math:`\sigma_l\,p\,x_l^t`. There are as many corners as combinations of signs, but few need a table of
their own:

- Where the others in a leaf make up for his error there, one table must serve both signs. That is exact:
  where there is none, the multipliers that show it exclude the corner with the opposite signs.
- Of the other leaves each is given a table of its own that moves it as far as it must, and no two of them use the same
  capacity. Added up with signs, they are a table for every corner (`Cover`). Only where no such tables are found, the
  search branches on the sign of a leaf.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.attack.respondents.judgement import Coalition, Judgement
from celosia.tolerance import ENDLESS

if TYPE_CHECKING:
    from celosia.attack.respondents.problem import RespondentProblem
    from celosia.attack.respondents.witness import WitnessMoves

_MOST_PROGRAMS = 4096  # for one coalition against a target in many cells; beyond, he is not shown safe


@dataclass(frozen=True, eq=False)
class Cover:
    """Tables for all corners of a box that have some signs.

    Parameters
    ----------
    signs
        Signs by leaf. The other leaves have any.
    table
        For all of these corners, but for leaves that have steps.
    steps
        By leaf a table that is added or subtracted, as its sign is.
    """

    signs: dict[int, int]
    table: WitnessMoves
    steps: dict[int, WitnessMoves]

    @cached_property
    def denominator(self) -> int:
        """In which fraction of a count `ends` are."""
        return lcm(self.table.denominator, *(step.denominator for step in self.steps.values()))

    def ends(self, column: int, own: int, sign: int) -> tuple[int, int]:
        """Return between what a column moves over the corners, times the denominator.

        `own` is the leaf of the column, which has this sign; other leaves have any.
        """
        middle = self._scale(self.table, column)
        spread = 0
        for leaf, step in self.steps.items():
            move = self._scale(step, column)
            if leaf == own:
                middle += sign * move
            else:
                spread += abs(move)
        return middle - spread, middle + spread

    def _scale(self, table: WitnessMoves, column: int) -> int:
        return table.of(column) * (self.denominator // table.denominator)


@dataclass(frozen=True, slots=True, eq=False)
class BoxProof:
    """Tables for all corners of a target's box.

    Parameters
    ----------
    target
        The target.
    covers
        The tables.
    """

    target: BoxTarget
    covers: tuple[Cover, ...]

    @property
    def columns(self) -> NDArray[np.int64]:
        """Which columns the tables move."""
        tables = [table for cover in self.covers for table in (cover.table, *cover.steps.values())]
        return np.unique(np.concatenate([table.columns for table in tables]))

    def fails(self, leaf: int, taken: int, level: int | None) -> bool:
        """Return whether some table moves a leaf further than its bounds when attackers contribute `taken` to it."""
        del level
        column = int(self.target.problem.column[leaf])
        if column < 0:
            return False
        for cover in self.covers:
            for sign in (-1, 1) if leaf in cover.steps else (cover.signs.get(leaf, 0),):
                low, high = self.target.between(leaf, taken, {leaf: sign} if sign else {})
                least, most = cover.ends(column, leaf, sign)
                if least < low * cover.denominator or most > high * cover.denominator:
                    return True
        return False


@dataclass(frozen=True, slots=True, eq=False)
class BoxTarget:
    r"""A target with contributions to several leaves of a component.

    Parameters
    ----------
    problem, place, leaves
        Who and where.
    known
        The last table that was found for each leaf: against another coalition it may do, too.
    """

    problem: RespondentProblem
    place: int
    leaves: tuple[int, ...]
    known: dict[int, WitnessMoves] = field(default_factory=dict)

    def level(self, members: Coalition) -> None:
        """Return None: corners of a box are levels of several cells at once."""
        del members

    def judge(self, members: Coalition, spare: int, most: dict[int, int]) -> Judgement:
        """Return tables for all corners, or a corner that a coalition can exclude."""
        del spare
        component = int(self.problem.component[self.leaves[0]])
        near = {leaf for place in members for leaf in self.problem.leaves_of(place, component)}
        search = _Corners(self, {leaf: self.problem.contribution_of(members, leaf) for leaf in near}, most)
        covers = search.covers()
        if covers is None:
            return Judgement(None, signs=tuple(search.excluded.items()), late=search.late)
        return Judgement(BoxProof(self, tuple(covers)), 1)

    def clears(self, most: dict[int, int]) -> bool:
        """Return whether tables for all corners are found when attackers contribute at most `most` to every leaf."""
        return _Corners(self, most, most).cover() is not None

    def between(self, leaf: int, taken: int, signs: dict[int, int]) -> tuple[int, int]:
        """Return the bounds of a leaf's move for some signs when attackers contribute `taken`; they may cross."""
        problem, column = self.problem, int(self.problem.column[leaf])
        own = problem.holdings[self.place][leaf] if leaf in self.leaves else 0
        rest = int(problem.capacity[leaf]) - problem.q * (taken + own)
        middle = signs.get(leaf, 0) * problem.error(own)
        spread = rest - (problem.error(own) if leaf in self.leaves and leaf not in signs else 0)
        return (
            max(middle - spread, -int(problem.published_down[column])),
            min(middle + spread, int(problem.published_up[column])),
        )


class _Corners:
    """The search for tables for all corners of a target's box.

    Parameters
    ----------
    target
        The target.
    taken
        How much the attackers take of leaves.
    wished
        How much any of them would take: a table that leaves it alone is a proof against all of them.
    """

    def __init__(self, target: BoxTarget, taken: dict[int, int], wished: dict[int, int]) -> None:
        self._target, self._problem = target, target.problem
        self._taken = taken
        self._component = int(target.problem.component[target.leaves[0]])
        self._up, self._down = target.problem.bounds(taken)
        self._wished = np.minimum(*target.problem.bounds(wished))
        self._either = {leaf: self._between(leaf) for leaf in target.leaves}
        self._one = {(leaf, sign): self._between(leaf, sign) for leaf in target.leaves for sign in (-1, 1)}
        self._size = {leaf: target.problem.holdings[target.place][leaf] for leaf in target.leaves}
        self._asked = 0
        self.late = False
        self.excluded: dict[int, int] = {}

    def cover(self) -> Cover | None:
        """Return tables for all corners at once, None where none are found."""
        if any(low > high for low, high in self._one.values()):
            return None
        return self._cover({}, [leaf for leaf in self._target.leaves if self._is_tight(leaf)])[0]

    def covers(self) -> list[Cover] | None:
        """Return tables for all corners; None where a corner has none, which is then `excluded`, or time is up."""
        for (leaf, sign), (low, high) in self._one.items():
            if low > high:
                self.excluded = {leaf: sign}
                return None
        waiting: list[dict[int, int]] = [{}]
        found = []
        while waiting:
            signs = self.excluded = waiting.pop()
            tight = [leaf for leaf in self._target.leaves if leaf not in signs and self._is_tight(leaf)]
            cover, stuck = self._cover(signs, tight)
            if cover is not None:
                found.append(cover)
                continue
            left = tight or [leaf for leaf in self._target.leaves if leaf not in signs]
            self.late = self._problem.late
            if self.late or not left or self._asked > _MOST_PROGRAMS:
                return None
            if tight and self._is_impossible(signs, tight):
                # Whatever signs these have, the corner is excluded: what is left is to find those of the others.
                signs = self.excluded = signs | dict.fromkeys(tight, 1)
                left = [leaf for leaf in self._target.leaves if leaf not in signs]
                if not left:
                    return None
            split = stuck if stuck in left else max(left, key=self._size.__getitem__)
            both = (1,) if self._problem.symmetric and not signs else (-1, 1)  # opposite corners have opposite tables
            waiting += [signs | {split: sign} for sign in both]
        return found

    def _between(self, leaf: int, sign: int = 0) -> tuple[int, int]:
        return self._target.between(leaf, self._taken.get(leaf, 0), {leaf: sign} if sign else {})

    def _is_tight(self, leaf: int) -> bool:
        """Return whether no table does for both signs of a leaf."""
        low, high = self._either[leaf]
        return low > high

    def _cover(self, signs: dict[int, int], tight: Collection[int]) -> tuple[Cover | None, int | None]:
        """Return tables for all corners with some signs; or nothing, and the leaf for which none was found."""
        lower, upper = self._bounds(signs, dict.fromkeys(tight, (0, 0)))
        table = self._table(lower, upper, self._wished)
        if table is None:
            return None, None
        wished = _less(self._wished, table)
        capacity = _left(lower, upper, table)
        steps: dict[int, WitnessMoves] = {}
        for leaf in sorted(tight, key=self._size.__getitem__, reverse=True):
            need, column = max(self._one[leaf, 1][0], -self._one[leaf, -1][1]), int(self._problem.column[leaf])
            if need > min(self._one[leaf, 1][1], -self._one[leaf, -1][0]):
                return None, leaf
            step = self._step(leaf, need, capacity, wished)
            if step is None:
                return None, leaf
            steps[leaf] = self._target.known[leaf] = step
            capacity, wished = _less(capacity, step), _less(wished, step)
            capacity[column] = 0
        found = Cover(signs, table, steps)
        self._problem.keep(self._target.place, self._target.leaves, found)
        return found, None

    def _step(
        self, leaf: int, need: int, capacity: NDArray[np.int64], wished: NDArray[np.int64]
    ) -> WitnessMoves | None:
        """Return a table that moves a leaf as far as it must."""
        column = int(self._problem.column[leaf])
        lower, upper = -capacity, capacity.copy()
        lower[column] = upper[column] = need
        known = self._target.known.get(leaf)
        if known is not None and known.inside(lower, upper):
            return known
        return self._table(lower, upper, wished)

    def _is_impossible(self, signs: dict[int, int], tight: Collection[int]) -> bool:
        """Return whether there is no table for some signs, whatever those of some leaves are."""
        ends = {leaf: (self._one[leaf, -1][0], self._one[leaf, 1][1]) for leaf in tight}
        return self._table(*self._bounds(signs, ends), self._wished) is None

    def _bounds(
        self, signs: dict[int, int], ends: dict[int, tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bounds of all columns, with some of those of the target's leaves given."""
        lower, upper = -self._down, self._up.copy()
        for leaf in self._target.leaves:
            own = self._one[leaf, signs[leaf]] if leaf in signs else self._either[leaf]
            column = self._problem.column[leaf]
            lower[column], upper[column] = ends.get(leaf, own)
        return lower, upper

    def _table(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], wished: NDArray[np.int64]
    ) -> WitnessMoves | None:
        self._asked += 1
        return self._problem.pushes.between(self._component, lower, upper, wished)


def _left(lower: NDArray[np.int64], upper: NDArray[np.int64], table: WitnessMoves) -> NDArray[np.int64]:
    """Return the capacity that a table leaves in every column, either way, ``(n,)``."""
    above, below = upper.copy(), -lower
    columns, moves = table.columns, table.moves
    above[columns] -= (-(-moves // table.denominator)).astype(np.int64)
    below[columns] += (moves // table.denominator).astype(np.int64)
    above[upper >= ENDLESS] = below[-lower >= ENDLESS] = ENDLESS
    return np.minimum(above, below)


def _less(capacity: NDArray[np.int64], step: WitnessMoves) -> NDArray[np.int64]:
    """Return capacities less what a step uses, either way, ``(n,)``."""
    out = capacity.copy()
    out[step.columns] -= (-(-np.abs(step.moves) // step.denominator)).astype(np.int64)
    return np.where(capacity >= ENDLESS, capacity, out)
