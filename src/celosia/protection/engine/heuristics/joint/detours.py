"""Witnesses led round a group: sums of a witness and another move of the kernel, tried for many targets at once."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import kernel
from celosia.tolerance import WITNESS_ZERO

_Table = Annotated[NDArray[np.float64], 2]


class Limits(NamedTuple):
    """What makes a move a witness of a target, in parts of its level.

    Parameters
    ----------
    place, factor, sign
        The group of the target, by which it moves its cell, and in which direction, 0 for either, ``(t,)`` each.
    lower, upper
        How far groups may move down and up, ``(t, g)``.
    """

    place: NDArray[np.int64]
    factor: NDArray[np.float64]
    sign: NDArray[np.int64]
    lower: Annotated[NDArray[np.float64], 2]
    upper: Annotated[NDArray[np.float64], 2]


@kernel()
def lead_round(
    moves: _Table,
    targets: NDArray[np.int64],
    group: int,
    way: NDArray[np.float64],
    least: float,
    limits: Limits,
    known: bool,  # noqa: FBT001  (compiled code is called by position)
) -> NDArray[np.bool_]:
    """Replace moves of some targets by witnesses that leave a group where it is; return for whom that succeeds.

    Parameters
    ----------
    moves
        A witness of every target, ``(t, g)``, changed where the new one is a witness, too.
    targets
        The targets.
    group
        The group that must not move.
    way
        A move of the kernel that is added to each witness, as often as cancels the move of the group.
    least
        Part of its level that a sum keeps at least before it is scaled up to the level.
    limits
        What makes a move a witness.
    known
        Take the way itself in place of the sum: it does not move the group.
    """
    n_groups = moves.shape[1]
    done = np.zeros(len(targets), dtype=np.bool_)
    for k in range(len(targets)):
        target = targets[k]
        own, sign = limits.place[target], limits.sign[target]
        old, share = 1.0, 0.0
        if known:
            old, share = 0.0, 1.0
        else:
            share = -moves[target, group] / way[group]
        reached = (old * moves[target, own] + share * way[own]) * limits.factor[target]
        if sign == 0 and reached < 0:
            old, share, reached = -old, -share, -reached
        elif sign < 0:
            reached = -reached
        if reached < least:
            continue
        old, share = old / reached, share / reached
        fits = True
        for i in range(n_groups):
            move = old * moves[target, i] + share * way[i]
            if i != group and (
                move > limits.upper[target, i] + WITNESS_ZERO or -move > limits.lower[target, i] + WITNESS_ZERO
            ):
                fits = False
                break
        if not fits:
            continue
        done[k] = True
        for i in range(n_groups):
            move = old * moves[target, i] + share * way[i]
            moves[target, i] = move if abs(move) > WITNESS_ZERO and i != group else 0.0
    return done
