"""Requirements by side: one attacker's subproblem for every level up, and one for every level down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ColumnRequirements


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
    """Return the sides that no other one implies.

    A cell that can be pushed to a level against an attacker can be pushed there against all whose bounds are no
    narrower anywhere: the same move lies within their bounds.

    Parameters
    ----------
    sides
        The sides.
    up, down
        The attackers' bounds, ``(k, n)`` each.
    """
    groups: dict[tuple[int, bool, bool, bool], list[int]] = {}
    told_apart = (sides.columns, sides.upward, sides.sliding, sides.certain)
    keys = zip(*(one.tolist() for one in told_apart), strict=True)
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    known: dict[tuple[int, int], bool] = {}

    def is_narrower(first: int, second: int) -> bool:
        if (first, second) not in known:
            known[first, second] = bool((up[first] <= up[second]).all() and (down[first] <= down[second]).all())
        return known[first, second]

    def implies(first: int, second: int) -> bool:
        """Return whether one side implies another; of two that imply each other the earlier does."""
        a, b = int(sides.attackers[first]), int(sides.attackers[second])
        if a == b or sides.levels[first] < sides.levels[second] or not is_narrower(a, b):
            return False
        return first < second or sides.levels[first] > sides.levels[second] or not is_narrower(b, a)

    kept = np.ones(len(sides), dtype=bool)
    for places in groups.values():
        for place in places if len(places) > 1 else ():
            kept[place] = not any(implies(other, place) for other in places)
    return sides if bool(kept.all()) else sides.take(kept)
