"""Which cells can move without end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.blocks import Blocks, UnsolvedError, solve_model
from celosia.solve.backend import Backend, Model
from celosia.tolerance import ENDLESS, RAY_ZERO


def find_unbounded_cells(
    blocks: Blocks, backend: Backend, may_fall: NDArray[np.bool_], may_rise: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which cells can move down, and up, without end, ``(n,)`` each.

    They are the ones that move along a ray, with every finite bound set to zero and every infinite one to one.

    Parameters
    ----------
    blocks
        The components.
    backend
        Solves.
    may_fall, may_rise
        Of which cells that is to be found out, ``(n,)`` each.
    """
    free_down, free_up = blocks.down >= ENDLESS, blocks.up >= ENDLESS
    falls, rises = np.zeros(len(free_down), dtype=bool), np.zeros(len(free_up), dtype=bool)
    ask_down, ask_up = may_fall & free_down, may_rise & free_up
    if not (ask_down.any() or ask_up.any()):
        return falls, rises
    model = blocks.model(backend, free_down.astype(np.float64), free_up.astype(np.float64))
    for found, open_, sign in ((falls, ask_down, 1.0), (rises, ask_up, -1.0)):
        _follow_rays(model, blocks, found, open_, sign)
    return falls, rises


def _follow_rays(model: Model, blocks: Blocks, found: NDArray[np.bool_], open_: NDArray[np.bool_], sign: float) -> None:
    """Enter which cells move in one direction along a ray.

    First all together: maximise the sum of moves, settle what moved, and repeat until nothing does. Cells can hold each
    other in balance there, so the rest is solved one by one, a cell of each block at a time.
    """
    everyone = np.arange(len(open_))
    together = True
    while open_.any():
        pushed = open_.copy()
        if not together:
            first = np.array([_first(open_[blocks.place(block)]) for block in range(len(blocks))])
            pushed[:] = False
            pushed[(blocks.starts[:-1] + first)[first >= 0]] = True
        model.change_costs(everyone, np.where(pushed, sign, 0.0))
        try:
            moved = -sign * solve_model(model)[0] > RAY_ZERO
        except UnsolvedError:  # what is not known to have no end is followed to one
            return
        found |= moved & open_
        if together:
            together = bool((moved & open_).any())
        else:
            open_ &= ~pushed
        open_ &= ~moved


def _first(wanted: NDArray[np.bool_]) -> int:
    return int(np.argmax(wanted)) if wanted.any() else -1
