"""Ranges next to hidden cells and other numbers, placed at random at the same cost.

Where a relation has both, ranges cannot be moved by themselves (`celosia.protect.shifting`): hidden cells would have to
move with them, and have no room to spare. But points with the same whole numbers that are safe and cost no more than
the best are a convex set: vertices of it, drawn from a secret seed, are averaged. Any of them may be cut off by
attackers, and is drawn again with that cut.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protect.mode_search import ModeSearch
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram

_SAME = 1e-7
"""By this part of the cost points may be dearer: what doubles make of the same."""

_CLOSE = 1e-6
"""A point that misses levels by less than this part is safe but for doubles: it is widened by as much."""

_DRAWS = 5
"""So many vertices are averaged."""

_ROUNDS = 40
"""So many points are attacked; of the draws those count that are safe by then."""


def spread(
    search: ModeSearch, backend: Backend, clock: Clock, random: np.random.Generator
) -> NDArray[np.float64] | None:
    """Return a point as cheap as the best one, drawn at random; None where there was no time, or none was found.

    Parameters
    ----------
    search
        A search that has found a point; its whole numbers stay.
    backend
        The solver.
    clock
        When to stop.
    random
        Draws the point.
    """
    program, best = search.modes.program, search.best
    if best is None:
        return None
    whole = np.zeros(len(best), dtype=bool) if program.integer is None else program.integer
    lower, upper = (np.where(whole, np.rint(best), ends) for ends in (program.lower, _ends(search)))
    n = len(program.cost)
    cuts = search.pool.cuts
    starts = np.cumsum([0, *(len(cut.columns) for cut in cuts)])
    columns = np.concatenate([np.zeros(0, dtype=np.int64), *(cut.columns for cut in cuts)])
    values = np.concatenate([np.zeros(0), *(cut.values for cut in cuts)])
    known = sp.csr_array((values, columns, starts), shape=(len(cuts), n))
    scale = float(np.abs(program.cost).max(initial=1.0)) or 1.0
    limit = float(program.cost @ best) / scale
    model = backend.open(
        LinearProgram(
            sp.csr_array(sp.vstack([program.rows, known, sp.csr_array(program.cost[None, :] / scale)])),
            np.concatenate([program.row_lower, [cut.right for cut in cuts], [-np.inf]]),
            np.concatenate([program.row_upper, np.full(len(cuts), np.inf), [limit + _SAME * abs(limit)]]),
            lower,
            upper,
            np.zeros(n),
        )
    )
    rounds = _ROUNDS
    drawn: list[NDArray[np.float64]] = []
    while len(drawn) < _DRAWS:
        model.change_costs(np.arange(n), random.normal(size=n))
        while True:
            x = model.solve(duals=False).x if clock.left > 0 and rounds > 0 else None
            if x is None:
                break
            rounds -= 1
            x = np.clip(x, lower, upper)
            found = search.press.attack(x, missing=_CLOSE, effort="enough")
            if found.least >= 1 - _CLOSE:
                break
            rows = [sp.csr_array((cut.values, cut.columns, [0, len(cut.columns)]), shape=(1, n)) for cut in found.cuts]
            rights = np.array([cut.right for cut in found.cuts])
            model.add_rows(sp.csr_array(sp.vstack(rows)), rights, np.full(len(rows), np.inf))
        if x is None:
            break
        drawn.append(x)
    if not drawn:
        return None
    point = np.mean(drawn, axis=0)
    least = min(1.0, search.press.attack(point, missing=_CLOSE).least)
    return np.where(whole, np.rint(best), point / least)


def _ends(search: ModeSearch) -> NDArray[np.float64]:
    """Return upper ends of the variables, finite ones: no random cost leads to infinity."""
    upper = search.modes.program.upper
    furthest = float(search.press.sides.levels.max(initial=1.0)) * len(search.press.sides)
    return np.where(np.isfinite(upper), upper, furthest)
