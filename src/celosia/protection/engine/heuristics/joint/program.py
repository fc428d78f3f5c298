r"""The joint program: the cheapest move that takes every sensitive class in a given direction at once.

.. math:: \min \sum_i c_i |y_i| \quad\text{s.t.}\quad y = N z,\; s_p y_p \ge l_p,\; |y_i| \le b_i

in kernel coordinates z. Its support is hidden, so the costs that count are those of cells that are not. It is solved in
its dual form, with a row for every degree of freedom and a boxed column for every class; bounds on classes are columns
that are opened when a move exceeds them. The program for one target alone is the least-cost program of Kelly, Golden
and Assad (1992).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS, JointParameters
from celosia.solve.problem import LinearProgram
from celosia.tolerance import MOVE_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.solve.backend import Backend, Method, Model


class JointProgram:
    """The open program of one problem.

    Parameters
    ----------
    coordinates
        Kernel coordinates of the classes.
    bounds
        How far every class may move, ``(n,)``, infinite for no end.
    backend
        Solves it.
    parameters
        Say by which method.
    """

    def __init__(
        self,
        coordinates: KernelCoordinates,
        bounds: NDArray[np.float64],
        backend: Backend,
        parameters: JointParameters = PARAMETERS,
    ) -> None:
        self._combinations = sp.csr_array(coordinates.combinations, dtype=np.float64)
        self._bounds, self._backend, self._parameters = bounds, backend, parameters
        d = coordinates.degrees_of_freedom
        self._method: Method = "afresh" if d <= parameters.most_simplex else "barrier"
        self._interior = d > parameters.most_crossed
        if self._interior:
            self._method = "interior"
        self._limited = np.zeros(0, dtype=np.int64)
        self._model = self._open()

    def _open(self) -> Model:
        """Return the dual form: a column for every class, then for the bounds above and below of limited ones."""
        n, d = self._combinations.shape
        limited = self._combinations[self._limited].T
        rows = sp.csr_array(sp.hstack([self._combinations.T, -limited, limited]))
        zero, none = np.zeros(d), np.zeros(n)
        ends = np.full(2 * len(self._limited), np.inf)
        upper = np.concatenate([none, ends])
        return self._backend.open(LinearProgram(rows, zero, zero, np.zeros(len(upper)), upper, np.zeros(len(upper))))

    def solve(
        self,
        cost: NDArray[np.float64],
        required: NDArray[np.float64],
        most_rounds: int = 20,
        shortfall: float = np.inf,
    ) -> NDArray[np.float64] | None:
        """Return the cheapest move, None where none does all that is required within the bounds.

        Parameters
        ----------
        cost
            What moving each class costs by unit, ``(n,)``.
        required
            How far classes must move at least, negative for down, zero where nothing is required, ``(n,)``.
        most_rounds
            Times that bounds are added; a move that exceeds others after that is returned as it is.
        shortfall
            What a unit costs by which a class falls short of what is required; with a finite price there is always a
            move.
        """
        asked, every = required != 0, np.arange(len(cost))
        unit = float(np.median(np.abs(required[asked])))
        lower = np.where(asked, np.where(required > 0, 0.0, -shortfall), -cost)
        upper = np.where(asked, np.where(required > 0, shortfall, 0.0), cost)
        limit = self._bounds / unit
        if self._interior:  # which takes hardly longer with bounds than without
            self._limit_more(self._bounds < self._parameters.near_bounds * np.abs(required).max())
        self._model.change_costs(every, np.where(asked, -required / unit, 0.0))
        self._model.change_bounds(every, lower, upper)
        for _ in range(most_rounds):
            self._limit(limit)
            found = self._model.solve(method=self._method)
            if found.duals is None:  # unbounded: the move would have no end
                return None
            move = -(self._combinations @ found.duals)
            over = np.abs(move) > limit * (1 + MOVE_ZERO) + MOVE_ZERO
            over[self._limited] = False
            if not bool(over.any()):
                break
            self._limit_more(over)
            self._model.change_costs(every, np.where(asked, -required / unit, 0.0))
            self._model.change_bounds(every, lower, upper)
        move[np.abs(move) <= MOVE_ZERO] = 0.0
        return np.asarray(move * unit)

    def _limit_more(self, classes: NDArray[np.bool_]) -> None:
        """Open the program with the bounds of more classes."""
        limited = np.union1d(self._limited, np.flatnonzero(classes))
        if len(limited) > len(self._limited):
            self._limited = limited
            self._model = self._open()

    def _limit(self, limit: NDArray[np.float64]) -> None:
        """Tell the program how far limited classes may move."""
        n, k = len(self._bounds), len(self._limited)
        if k:
            own = limit[self._limited]
            self._model.change_costs(np.arange(n, n + 2 * k), np.concatenate([own, own]))
