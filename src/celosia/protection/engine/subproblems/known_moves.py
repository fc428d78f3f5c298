"""Moves that attackers' programs have found: a move within the hidden cells of a pattern serves all levels it reaches.

Patterns that follow each other differ in few cells, so most requirements keep the witness that an earlier pattern gave
them, and one witness, scaled as far as the attacker's bounds allow, serves several requirements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.parameters import PARAMETERS, CutParameters
from celosia.tolerance import LEVEL_REACHED, WITNESS_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.subproblems.requirements import SideRequirements


@dataclass(eq=False)
class KnownMoves:
    """Moves of cells that keep all relations, the newest last.

    Parameters
    ----------
    builder
        Knows the attackers' bounds.
    parameters
        How many moves are kept, and by how much they are scaled up.
    """

    builder: CutBuilder
    parameters: CutParameters = PARAMETERS.cuts
    _columns: list[NDArray[np.int64]] = field(default_factory=list)
    _moves: list[NDArray[np.float64]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._columns)

    def add(self, columns: NDArray[np.int64], moves: NDArray[np.float64], level: float) -> None:
        """Keep a move, which changes these columns by so many parts of a level; those that hardly move stay still."""
        moving = np.abs(moves) > WITNESS_ZERO
        self._columns.append(columns[moving])
        self._moves.append(moves[moving] * level)
        if len(self) > self.parameters.most_moves:
            del self._columns[: len(self) // 2], self._moves[: len(self) // 2]

    def find_served(self, hidden: NDArray[np.bool_], sides: SideRequirements) -> NDArray[np.bool_]:
        """Return which requirements some known move within the hidden columns serves, ``(s,)``."""
        if not len(self):
            return np.zeros(len(sides), dtype=bool)
        starts = np.cumsum([0, *map(len, self._columns)])
        inside = np.logical_and.reduceat(np.append(hidden[np.concatenate(self._columns)], True), starts[:-1])
        inside &= np.diff(starts) > 0
        return self._find_served(np.flatnonzero(inside).tolist(), sides)

    def find_served_by_last(self, sides: SideRequirements) -> NDArray[np.bool_]:
        """Return which requirements the newest move serves, ``(s,)``; its columns are hidden."""
        return self._find_served([len(self) - 1] if len(self._columns[-1]) else [], sides)

    def _find_served(self, some: list[int], sides: SideRequirements) -> NDArray[np.bool_]:
        """Return which requirements some moves serve, turned to either direction."""
        served = np.zeros(len(sides), dtype=bool)
        if not some:
            return served
        columns, moves = (np.concatenate([kept[k] for k in some]) for kept in (self._columns, self._moves))
        starts = np.cumsum([0, *(len(self._columns[k]) for k in some)])
        number = np.repeat(np.arange(len(some)), np.diff(starts))
        order = np.argsort(columns, kind="stable")
        first, last = (np.searchsorted(columns[order], sides.columns, side=end) for end in ("left", "right"))
        touched = np.flatnonzero(last > first)
        for who in np.unique(sides.attackers[touched]).tolist():
            mine = touched[sides.attackers[touched] == who]
            sizes = last[mine] - first[mine]
            side = np.repeat(mine, sizes)
            entry = order[np.repeat(first[mine] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())]
            ahead = (moves[entry] > 0) == sides.upward[side]  # or the move is turned round
            forth, back = self._measure_room(columns, moves, starts, who)
            room = np.where(ahead, forth[number[entry]], back[number[entry]])
            reached = np.abs(moves[entry]) * room
            served[side[reached >= sides.levels[side] * (1.0 - LEVEL_REACHED)]] = True
        return served

    def _measure_room(
        self, columns: NDArray[np.int64], moves: NDArray[np.float64], starts: NDArray[np.int64], who: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how many times an attacker's bounds allow moves, as they are and turned round, within limits."""
        up, down, most = self.builder.up[who][columns], self.builder.down[who][columns], self.parameters.most_scaled
        rises, size = moves > 0, np.abs(moves)
        forth, back = (
            np.minimum(np.minimum.reduceat(bound / size, starts[:-1]), most)
            for bound in (np.where(rises, up, down), np.where(rises, down, up))
        )
        return forth, back
