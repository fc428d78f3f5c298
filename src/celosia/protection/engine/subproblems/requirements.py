"""Requirements by side: one attacker's subproblem for every level up, and one for every level down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from celosia.protection.engine.problem import Goals


@dataclass(frozen=True, slots=True, eq=False)
class SideRequirements:
    """One-sided requirements, ``(s,)`` each: an attacker must be able to push a cell in one direction to a level.

    Parameters
    ----------
    goals
        The requirement to which the side belongs, as its place among `ProtectionProblem.goals`.
    columns, attackers
        The cell and the attacker.
    upward
        Whether the cell is pushed up.
    levels
        How far.
    sliding
        The level is one of both sides together. Such sides stand in pairs, up and then down.
    """

    goals: NDArray[np.int64]
    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    upward: NDArray[np.bool_]
    levels: NDArray[np.float64]
    sliding: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.goals)

    def take(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> SideRequirements:
        """Return some of the sides."""
        return SideRequirements(
            self.goals[places],
            self.columns[places],
            self.attackers[places],
            self.upward[places],
            self.levels[places],
            self.sliding[places],
        )


def split_sides(goals: Goals) -> SideRequirements:
    """Return the sides of all requirements in their order; sliding levels that the others imply have none."""
    asked = np.stack([goals.up, goals.down, *[np.where(goals.sliding > goals.up + goals.down, goals.sliding, 0)] * 2])
    kind, goal = np.nonzero(asked)
    order = np.lexsort((kind, goal))
    kind, goal = kind[order], goal[order]
    return SideRequirements(
        goal,
        goals.columns[goal],
        goals.attackers[goal],
        kind % 2 == 0,
        asked[kind, goal].astype(np.float64),
        kind >= 2,  # noqa: PLR2004  (after up and down)
    )
