"""How far cells of a component that is no network can move: linear programs, whose vertices are made exact."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.respondents.programs.refinement import refine_moves
from celosia.attack.respondents.programs.scaled_model import ScaledModel, choose_unit
from celosia.attack.respondents.programs.sparing import SparingModel
from celosia.attack.respondents.witness import WitnessMoves
from celosia.attack.system.exact import find_exact_moves
from celosia.solve.backend import Backend
from celosia.tolerance import ENDLESS

if TYPE_CHECKING:
    from celosia.attack.system.system import System


class MoveProgram:
    """The moves of a component, in models that stay open.

    Parameters
    ----------
    system
        The system, with the widest bounds over all attackers.
    columns
        Those of the component, increasing, ``(k,)``.
    backend
        Solves.
    """

    def __init__(self, system: System, columns: NDArray[np.int64], backend: Backend) -> None:
        part = sp.csr_array(system.matrix[:, columns])
        self._matrix = sp.csr_array(part[np.flatnonzero(np.diff(part.indptr) > 0)])
        self._columns = columns
        self._backend, self._finite = backend, (system.up[columns] < ENDLESS) & (system.down[columns] < ENDLESS)
        self._goal = np.zeros(len(columns))

    @cached_property
    def _model(self) -> ScaledModel:
        return ScaledModel(self._matrix, self._backend)

    @cached_property
    def _sparing(self) -> SparingModel:
        return SparingModel(self._matrix, self._finite, self._backend)

    def push(
        self, column: int, limit: int, up: NDArray[np.int64], down: NDArray[np.int64], *, upward: bool
    ) -> WitnessMoves | None:
        """Return a table in which a column moves as far as it can."""
        target = int(np.searchsorted(self._columns, column))
        upper, lower = up[self._columns], -down[self._columns]
        lower[target], upper[target] = (0, limit) if upward else (-limit, 0)
        self._set_goal({target: -1.0 if upward else 1.0})
        unit = choose_unit(limit)
        return self._find_exact_moves(self._model.solve(lower, upper, unit, "dual"), unit, lower, upper)

    def between(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], wished: NDArray[np.int64] | None
    ) -> WitnessMoves | None:
        """Return a table between bounds: any, or one that uses little beyond what is wished."""
        lower, upper = lower[self._columns], upper[self._columns]
        unit = choose_unit(int(np.maximum(lower, -upper).max(initial=0)))
        self._set_goal({})
        if wished is None:
            x = self._model.solve(lower, upper, unit, "dual")
        else:
            x = self._sparing.table(lower, upper, wished[self._columns], unit)
        return self._find_exact_moves(x, unit, lower, upper)

    def _set_goal(self, costs: dict[int, float]) -> None:
        """Set which columns have a cost in the model; the others have none."""
        for column in {*np.flatnonzero(self._goal).tolist(), *costs}:
            cost = costs.get(column, 0.0)
            if self._goal[column] != cost:
                self._goal[column] = cost
                self._model.change_cost(column, cost)

    def _find_exact_moves(
        self, x: NDArray[np.float64] | None, unit: float, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> WitnessMoves | None:
        """Return a table near a solver's moves, which are in a unit, in whole numbers."""
        if x is None:
            return None
        found = find_exact_moves(x * unit, self._matrix, upper, -lower)
        if found is None:
            found = refine_moves(x * unit, self._matrix, lower, upper, self._goal, self._backend)
        if found is None:
            return None
        moves, denominator = found
        used = np.flatnonzero(moves)
        return WitnessMoves(self._columns[used], moves[used], denominator)
