"""Linear programs over moves, in units in which a solver's tolerance is small beside what is asked.

Solvers compare doubles with an absolute tolerance of 1e-7. Counts of real tables are as large as 1e17: there the
distance between two doubles is larger than the tolerance, and a solver that is told of them ends without an answer.
So bounds are divided by a power of two, which loses nothing, so that the largest move that is asked for becomes about
`SCALED_LEVEL`. What is still wrong is repaired in exact arithmetic (`celosia.attack.respondents.programs.refinement`).
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.solve.backend import Backend, Method, Model
from celosia.solve.problem import LinearProgram, float_bounds
from celosia.solve.solution import Status
from celosia.tolerance import CAPACITY_IN_LEVELS, SCALED_LEVEL


class ScaledModel:
    """A program over moves whose bounds and costs change from question to question, in a model that stays open.

    Parameters
    ----------
    rows
        Relations, ``(m, n)``.
    backend
        Solves.
    cost
        What moves cost, ``(n,)``; without it any of them will do.
    right
        What the relations add up to, in the units of `solve`, ``(m,)``; by default nothing.
    """

    def __init__(
        self,
        rows: sp.csr_array,
        backend: Backend,
        cost: NDArray[np.float64] | None = None,
        right: NDArray[np.float64] | None = None,
    ) -> None:
        n_rows, n_columns = rows.shape
        self._lower, self._upper = np.zeros(n_columns), np.zeros(n_columns)
        sums = np.zeros(n_rows) if right is None else right
        costs = np.zeros(n_columns) if cost is None else cost
        entries = sp.csr_array(rows, dtype=np.float64)
        program = LinearProgram(entries, sums, sums, self._lower.copy(), self._upper.copy(), costs)
        self._model: Model = backend.open(program)

    def change_cost(self, column: int, cost: float) -> None:
        """Give one column another cost."""
        self._model.change_costs(np.array([column]), np.array([cost]))

    def solve(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], unit: float, method: Method
    ) -> NDArray[np.float64] | None:
        """Return moves between bounds at the least cost, None where there are none or no method finds them.

        Parameters
        ----------
        lower, upper
            Bounds in counts, ``(n,)`` each. Bounds that no move comes near are left out: whoever asks checks them.
        unit
            Of the solver's numbers, in counts; see `choose_unit`. Moves are returned in it.
        method
            The simplex method that is tried first; the others follow where it has no answer.
        """
        low, high = -_bounds_in_units(-lower, unit), _bounds_in_units(upper, unit)
        changed = np.flatnonzero((low != self._lower) | (high != self._upper))
        if len(changed):
            self._model.change_bounds(changed, low[changed], high[changed])
            self._lower, self._upper = low, high
        methods: list[Method] = ["dual", "primal", "afresh"]
        for one in sorted(methods, key=lambda other: other != method):
            with suppress(SolverError):  # no clear answer: the next method may have one
                found = self._model.solve(method=one, duals=False)
                return found.x if found.status is Status.OPTIMAL else None
        return None


def choose_unit(level: int) -> float:
    """Return the unit of a program in which something moves by a level, in counts: a power of two, no less than one."""
    return max(1.0, 2.0 ** (int(level).bit_length() - SCALED_LEVEL.bit_length()))


def _bounds_in_units(bounds: NDArray[np.int64], unit: float) -> NDArray[np.float64]:
    """Return upper bounds as the solver is told them: infinite beyond what moves of the level come near."""
    scaled = float_bounds(bounds) / unit
    scaled[scaled > SCALED_LEVEL * CAPACITY_IN_LEVELS] = np.inf
    return scaled
