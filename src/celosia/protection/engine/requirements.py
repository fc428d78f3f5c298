"""Goals as one-sided questions: how far up, how far down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.problem import Goals


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """One-sided questions, ``(s,)`` each.

    Parameters
    ----------
    goals
        The goal that asks.
    columns, attackers
        Of whom.
    upward
        In which direction.
    levels
        How far.
    sliding
        The level is one of both sides together. Such questions stand in pairs, up and then down.
    """

    goals: NDArray[np.int64]
    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    upward: NDArray[np.bool_]
    levels: NDArray[np.float64]
    sliding: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.goals)

    def take(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Sides:
        """Return some of the questions."""
        return Sides(
            self.goals[places],
            self.columns[places],
            self.attackers[places],
            self.upward[places],
            self.levels[places],
            self.sliding[places],
        )


def sides_of(goals: Goals) -> Sides:
    """Return the questions of all goals, each goal's together; sliding levels that the others imply ask nothing."""
    asked = np.stack([goals.up, goals.down, *[np.where(goals.sliding > goals.up + goals.down, goals.sliding, 0)] * 2])
    kind, goal = np.nonzero(asked)
    order = np.lexsort((kind, goal))
    kind, goal = kind[order], goal[order]
    return Sides(
        goal,
        goals.columns[goal],
        goals.attackers[goal],
        kind % 2 == 0,
        asked[kind, goal].astype(np.float64),
        kind >= 2,  # noqa: PLR2004  (after up and down)
    )
