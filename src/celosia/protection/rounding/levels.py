"""Which protection levels the rounding of a cell itself can meet, and the base that could."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.tolerance import ENDLESS

_TRIED = 20_000
"""So many larger bases are tried one by one."""


def within_reach(
    task: ProtectionProblem,
    truth: NDArray[np.int64],
    base: NDArray[np.int64],
    grain: NDArray[np.int64],
    extra: int,
    scale: int,
    *,
    signed: bool = False,
) -> NDArray[np.bool_]:
    """Return which goals some multiple of the base next to the truth meets, as far as the cell itself goes, ``(q,)``.

    Parameters
    ----------
    task
        Its goals are asked about.
    truth, base, grain
        Of the cells of the goals, in units, ``(q,)``; the grain is the smallest difference between values of a cell.
    extra
        How many multiples further values may go.
    scale
        How many counts of the task are one unit.
    signed
        Negative numbers may be published.
    """
    goals = task.goals
    room_up, room_down = (room[goals.attackers, goals.columns] for room in (task.up, task.down))
    remainder = truth % base
    reach = base * (extra + 1) - grain
    met = np.zeros(len(goals), dtype=bool)
    for steps in range(-extra, extra + 2):
        moved = steps * base - remainder  # how far the published value lies above the truth
        allowed = (moved + truth >= 0) | signed
        if steps == extra + 1:
            allowed &= remainder > 0
        up, down = (
            np.minimum(np.minimum(slack * scale, ENDLESS), room)
            for slack, room in ((reach + moved, room_up), (reach - moved, room_down))
        )
        met |= allowed & (up >= goals.up) & (down >= goals.down) & (up + down >= goals.sliding)
    return met


def larger_base(
    task: ProtectionProblem,
    truth: NDArray[np.int64],
    base: NDArray[np.int64],
    grain: NDArray[np.int64],
    extra: int,
    scale: int,
) -> int:
    """Return a base with which all goals are within reach, the smallest if it is not far away, in units.

    With a base of at least UPL + LPL + 2 grains, and half of SPL and a grain, one of the two multiples next to any
    truth meets all levels.
    """
    goals, coarse = task.goals, int(grain.max(initial=1))
    wanted = np.maximum(goals.up + goals.down + 2 * scale * grain, -(-goals.sliding // 2) + scale * grain)
    enough = max(int(-(-wanted.max(initial=0) // scale)), int(base.max(initial=1)))
    enough = -(-enough // coarse) * coarse
    first = (int(base.min(initial=enough)) // coarse + 1) * coarse
    for tried in range(first, min(enough, first + _TRIED * coarse), coarse):
        if bool(within_reach(task, truth, np.full(len(truth), tried), grain, extra, scale).all()):
            return tried
    return enough
