"""Requirements by side: one attacker's subproblem for every level up, and one for every level down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.tolerance import HIDDEN_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ColumnRequirements


_COMPARED_FIRST = 64
"""Columns by which two attackers' bounds are compared before all others: they tell most of them apart."""


@dataclass(frozen=True, slots=True, eq=False)
class SideRequirements:
    """One-sided requirements, ``(s,)`` each: an attacker must be able to push a cell in one direction to a level.

    Parameters
    ----------
    requirements
        The requirement to which the side belongs, as its place among `ProtectionProblem.requirements`.
    columns, attackers
        The cell and the attacker.
    upward
        Whether the cell is pushed up.
    levels
        How far.
    sliding
        The level is one of both sides together. Such sides stand in pairs, up and then down.
    conditional
        The side counts only if its cell is not shown; None for none.
    """

    requirements: NDArray[np.int64]
    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    upward: NDArray[np.bool_]
    levels: NDArray[np.float64]
    sliding: NDArray[np.bool_]
    conditional: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.requirements)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Which sides count in any case, ``(s,)``."""
        return np.ones(len(self), dtype=bool) if self.conditional is None else ~self.conditional

    def take(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> SideRequirements:
        """Return some of the sides."""
        return SideRequirements(
            self.requirements[places],
            self.columns[places],
            self.attackers[places],
            self.upward[places],
            self.levels[places],
            self.sliding[places],
            None if self.conditional is None else self.conditional[places],
        )

    def join(self, others: SideRequirements) -> SideRequirements:
        """Return these sides, and others after them."""
        plain = self.conditional is None and others.conditional is None
        return SideRequirements(
            np.concatenate([self.requirements, others.requirements]),
            np.concatenate([self.columns, others.columns]),
            np.concatenate([self.attackers, others.attackers]),
            np.concatenate([self.upward, others.upward]),
            np.concatenate([self.levels, others.levels]),
            np.concatenate([self.sliding, others.sliding]),
            None if plain else ~np.concatenate([self.certain, others.certain]),
        )


def split_sides(requirements: ColumnRequirements) -> SideRequirements:
    """Return the sides of all requirements in their order; sliding levels that the others imply have none."""
    up, down, sliding = requirements.up, requirements.down, requirements.sliding
    both = np.where(sliding > up + down, sliding, 0)
    levels = np.stack([up, down, both, both])
    kind, requirement = np.nonzero(levels)
    order = np.lexsort((kind, requirement))
    kind, requirement = kind[order], requirement[order]
    return SideRequirements(
        requirement,
        requirements.columns[requirement],
        requirements.attackers[requirement],
        kind % 2 == 0,
        levels[kind, requirement].astype(np.float64),
        kind >= 2,  # noqa: PLR2004  (after up and down)
        None if requirements.conditional is None else requirements.conditional[requirement],
    )


def drop_implied_sides(sides: SideRequirements, up: NDArray[np.int64], down: NDArray[np.int64]) -> SideRequirements:
    r"""Return the sides that no other one implies.

    Let A and B be attackers with :math:`U^A \le U^B` and :math:`L^A \le L^B` in every cell: A knows at least what B
    knows. A move d that shows that cell p reaches a level against A satisfies :math:`M d = 0` and
    :math:`-L^A x \le d \le U^A x`, so :math:`-L^B x \le d \le U^B x`, for every pattern x: it shows the same against
    B. So a side of A implies the side of B about the same cell and direction where the level of B is no higher, and in
    the same way that of a sliding level, whose two moves both lie within B's bounds. Which attacker implies which is
    asked cell by cell, because levels may be attackers' own.

    Parameters
    ----------
    sides
        The sides.
    up, down
        The attackers' bounds, ``(k, n)`` each.
    """
    narrower = _NarrowerBounds(up, down, np.unique(sides.attackers))
    kept = np.ones(len(sides), dtype=bool)
    known: dict[tuple[bytes, bytes], NDArray[np.bool_]] = {}  # most cells have the same attackers, and one level
    for places in list_alternatives(sides):
        who, levels = sides.attackers[places], sides.levels[places]
        as_high = levels[:, None] >= levels
        key = who.tobytes(), as_high.tobytes()
        if key not in known:
            known[key] = _find_kept(who, as_high, narrower)
        kept[places] = known[key]
    return sides if bool(kept.all()) else sides.take(kept)


def _find_kept(who: NDArray[np.int64], as_high: NDArray[np.bool_], narrower: _NarrowerBounds) -> NDArray[np.bool_]:
    """Return which sides of one cell no other one implies, by attackers and whether one level is as high as another."""
    if bool((who == who[0]).all()):
        return np.ones(len(who), dtype=bool)
    implies = as_high & (who[:, None] != who) & narrower.among(who)
    both = implies & implies.T  # of two that imply each other the earlier does
    implies &= ~both | np.triu(np.ones_like(both))
    return np.asarray(~implies.any(axis=0))


def list_alternatives(sides: SideRequirements) -> list[NDArray[np.int64]]:
    """Return the sides that differ in attacker and level alone, as places, increasing; those with others only."""
    if not len(sides):
        return []
    keys = (sides.certain, sides.sliding, sides.upward, sides.columns)
    order = np.lexsort(keys)
    other = np.logical_or.reduce([np.diff(key[order].astype(np.int64)) != 0 for key in keys])
    return [places for places in np.split(order, np.flatnonzero(other) + 1) if len(places) > 1]


def choose_worst(sides: SideRequirements, shortfall: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Return the sides that are missed by most, at most so many of those that differ in the attacker alone, ``(s,)``.

    Both sides of a sliding level, which miss the same, are chosen together.
    """
    missed = shortfall > HIDDEN_ZERO
    chosen = missed.copy()
    for places in list_alternatives(sides):
        worst = places[np.argsort(-shortfall[places], kind="stable")]
        chosen[worst[most:]] = False
    return chosen


class _NarrowerBounds:
    """Knows which attackers' bounds are no wider than those of others, in any cell; pairs are compared once.

    Parameters
    ----------
    up, down
        The attackers' bounds, ``(k, n)`` each.
    who
        The attackers that will be asked about.
    """

    def __init__(self, up: NDArray[np.int64], down: NDArray[np.int64], who: NDArray[np.int64]) -> None:
        self._up, self._down, self._who = up, down, who
        few = np.linspace(0, max(up.shape[1] - 1, 0), min(_COMPARED_FIRST, up.shape[1])).astype(np.int64)
        self._first = np.concatenate([up[who][:, few], down[who][:, few]], axis=1)
        self._known = np.full((len(who), len(who)), -1, dtype=np.int8)

    def among(self, attackers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the first of two attackers' bounds are no wider than the second's, ``(q, q)``."""
        own = np.searchsorted(self._who, attackers)
        square = np.ix_(own, own)
        for row in np.unique(own[(self._known[square] < 0).any(axis=1)]).tolist():
            ask = np.unique(own[self._known[row, own] < 0])
            self._known[row, ask] = self._compare(row, ask)
        return np.asarray(self._known[square] > 0)

    def _compare(self, row: int, others: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the others' bounds one attacker's are no wider than: some columns tell most apart."""
        found = np.asarray((self._first[row] <= self._first[others]).all(axis=1))
        mine = self._who[row]
        for place in np.flatnonzero(found).tolist():
            other = self._who[others[place]]
            found[place] = bool(
                (self._up[mine] <= self._up[other]).all() and (self._down[mine] <= self._down[other]).all()
            )
        return found
