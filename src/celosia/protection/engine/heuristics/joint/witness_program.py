r"""The program of one target in the kernel of a pattern: how far its class moves within the bounds.

.. math:: \max\ s\,y_p \quad\text{s.t.}\quad y = B u,\; -l \le y \le m

is solved in its dual form, which has a row for each of the few coordinates u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.solve.problem import LinearProgram
from celosia.tolerance import LONGEST_MOVE, WITNESS_REACHED

if TYPE_CHECKING:
    from celosia.solve.backend import Backend, Model


@dataclass(frozen=True, slots=True, eq=False)
class WitnessProgram:
    """The open program of one pattern: columns for the bounds above, then for those below.

    Parameters
    ----------
    rows
        The groups whose bounds are in it, as rows of the basis, increasing, ``(r,)``.
    model
        Its dual form.
    """

    rows: NDArray[np.int64]
    model: Model

    @classmethod
    def of(cls, basis: NDArray[np.float64], rows: NDArray[np.int64], backend: Backend) -> WitnessProgram:
        """Return the program of the kernel of a pattern with the bounds of some groups."""
        half = sp.csr_array(basis[rows].T)
        nothing, zero = np.zeros(2 * len(rows)), np.zeros(basis.shape[1])
        both = sp.csr_array(sp.hstack([half, -half]))
        return cls(rows, backend.open(LinearProgram(both, zero, zero, nothing, nothing + np.inf, nothing.copy())))

    def find(
        self,
        place: int,
        sign: float,
        level: float,
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
        still: int | None = None,
    ) -> NDArray[np.float64] | None:
        """Return coordinates of a move that takes a group to a level, None where there is none.

        Parameters
        ----------
        place
            The group, as a row of the basis.
        sign
            1 for up, -1 for down.
        level
            How far it must move.
        bounds
            How far all groups may move down and up, ``(h,)`` each.
        still
            A group that must not move.
        """
        h = len(self.rows)
        below, above = (np.minimum(bound[self.rows], LONGEST_MOVE) for bound in bounds)
        place = int(np.searchsorted(self.rows, place))
        cost = np.concatenate([above, below])
        own, other = (place, h + place) if sign > 0 else (h + place, place)
        lower, upper = np.zeros(2 * h), np.full(2 * h, np.inf)
        lower[other] = upper[other] = 1.0
        cost[own], cost[other] = level, 0.0
        if still is not None:
            still = int(np.searchsorted(self.rows, still))
            cost[[still, h + still]] = 0.0
        everyone = np.arange(2 * h)
        self.model.change_costs(everyone, cost)
        self.model.change_bounds(everyone, lower, upper)
        found = self.model.solve(method="afresh")
        if found.duals is None or found.objective < level * (1.0 - WITNESS_REACHED):
            return None
        return found.duals

    def find_common(
        self,
        places: NDArray[np.int64],
        levels: NDArray[np.float64],
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
        still: int | None = None,
    ) -> NDArray[np.float64] | None:
        """Return coordinates of a move that falls short of levels of several groups as little as possible.

        Parameters
        ----------
        places
            The groups, as rows of the basis, each once.
        levels
            How far they should move, negative for down: the shares by which they fall short are added.
        bounds
            How far all groups may move down and up, ``(h,)`` each.
        still
            A group that must not move.
        """
        h = len(self.rows)
        below, above = (np.minimum(bound[self.rows], LONGEST_MOVE) for bound in bounds)
        cost = np.concatenate([above, below])
        lower, upper = np.zeros(2 * h), np.full(2 * h, np.inf)
        wanted = np.searchsorted(self.rows, places) + np.where(levels > 0, h, 0)
        cost[wanted], upper[wanted] = -np.abs(levels), 1.0 / np.abs(levels)
        if still is not None:
            still = int(np.searchsorted(self.rows, still))
            cost[[still, h + still]] = 0.0
        everyone = np.arange(2 * h)
        self.model.change_costs(everyone, cost)
        self.model.change_bounds(everyone, lower, upper)
        return self.model.solve(method="afresh").duals
