r"""Separation in kernel coordinates: the dual of the attackers' subproblem with a row for every degree of freedom.

Any v with :math:`N'v = 0` is a combination of relations, so :math:`\sum v_i d_i = 0` for every move. With
:math:`v_p = 1` that bounds the move of class p by those of the others; the v that bounds it most at a point x of the
master is the solution of :math:`\min \sum x_i c_i |v_i|`, where c are the attacker's bounds in parts of the level. For
a sensitive class that gives a capacity cut. For any other it says that a class which is hidden alone among those in the
support of v is hidden in vain, because it cannot move.

Points are separated on the way from the mean of the earlier ones to the last (in-out separation): cuts there are
deeper, and the master swings less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut, Reach, round_multipliers
from celosia.protection.engine.parameters import PARAMETERS, CutParameters
from celosia.solve.problem import LinearProgram
from celosia.tolerance import CUT_VIOLATED, HIDDEN_ZERO, MULTIPLIER_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.subproblems.requirements import SideRequirements


class KernelSeparator:
    """Separates points of the master of one problem in kernel coordinates.

    Parameters
    ----------
    separator
        Has the requirements and builds cuts.
    coordinates
        Kernel coordinates of the columns.
    parameters
        How much effort separation is worth.
    """

    def __init__(
        self, separator: Separator, coordinates: KernelCoordinates, parameters: CutParameters = PARAMETERS.cuts
    ) -> None:
        self._builder, self._parameters = separator.builder, parameters
        self._sides = _one_of_equal_sides(separator.sides.take(~separator.sides.sliding), separator)
        self._combinations = sp.csr_array(coordinates.combinations, dtype=np.float64)
        self._own = coordinates.cells
        self._own_sign = coordinates.own.astype(np.float64)
        self._random = np.random.default_rng(0)
        rows = sp.csr_array(sp.hstack([self._combinations.T, -self._combinations.T]))
        n, d = self._combinations.shape
        zero, nothing = np.zeros(d), np.zeros(2 * n)
        program = LinearProgram(rows, zero, zero, nothing, nothing + np.inf, nothing.copy())
        self._model = separator.backend.open(program)
        self._mean: NDArray[np.float64] | None = None
        self._misses = np.zeros(len(self._sides))
        self._fixed = 0
        most = parameters.kernel_work // max(n * d, 1)
        self._n_sides = int(np.clip(most, parameters.least_programs, parameters.sides_a_round))
        self._n_columns = int(np.clip(most, parameters.least_programs, parameters.columns_a_round))

    def separate(self, x: NDArray[np.float64], check: Callable[[], None]) -> list[Cut]:
        """Return cuts that a point violates: of the requirements that were missed lately, and of some other columns.

        Parameters
        ----------
        x
            By how much every column is hidden, ``(n,)``.
        check
            Is called after every program; what it raises ends the separation.
        """
        p = self._parameters
        self._mean = x if self._mean is None else self._mean + (x - self._mean) * p.mean_weight
        inside = (1.0 - p.inward) * x + p.inward * self._mean + p.least_share
        cuts = []
        for k in self._choose_sides().tolist():
            check()
            cut = self._separate_requirement(k, inside)
            violated = cut is not None and cut.violation(x) > CUT_VIOLATED
            self._misses[k] = 1.0 if violated else self._misses[k] / 2
            if violated and cut is not None:
                cuts.append(cut)
        for column in self._choose_columns(x).tolist():
            check()
            cut = self._separate_column(column, inside)
            if cut is not None and cut.violation(x) > CUT_VIOLATED:
                cuts.append(cut)
        return cuts

    def _choose_sides(self) -> NDArray[np.int64]:
        """Return the requirements to be tried: those missed lately first, then any."""
        rank = self._misses + 1e-3 * self._random.random(len(self._sides)) + 0.1
        return np.argsort(-rank, kind="stable")[: self._n_sides]

    def _choose_columns(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return columns that are partly hidden and not forced, drawn by what that costs."""
        problem = self._builder.problem
        weight = np.where(problem.forced | (x <= HIDDEN_ZERO), 0.0, problem.cost * x)
        n = min(int((weight > 0).sum()), self._n_columns)
        if not n:
            return np.zeros(0, dtype=np.int64)
        return self._random.choice(len(x), size=n, replace=False, p=weight / weight.sum())

    def _separate_requirement(self, k: int, x: NDArray[np.float64]) -> Cut | None:
        """Return the capacity cut of a requirement that is tightest at a point."""
        sides, builder = self._sides, self._builder
        column, who, level = int(sides.columns[k]), int(sides.attackers[k]), float(sides.levels[k])
        up, down = builder.up[who], builder.down[who]
        if not sides.upward[k]:
            up, down = down, up
        # d_p = sum of -v_i d_i over the others: a positive v_i needs a move down
        cost_up, cost_down = x * np.minimum(down / level, 1.0), x * np.minimum(up / level, 1.0)
        v = self._solve(column, cost_up, cost_down)
        if v is None:
            return None
        capacity = np.where(v > 0, down, up)
        used = np.flatnonzero((v != 0) & (capacity > 0))
        used = used[used != column]
        return builder.build_cut([Reach(used, np.abs(v[used]) * capacity[used])], level, column)

    def _separate_column(self, column: int, x: NDArray[np.float64]) -> Cut | None:
        """Return the inequality that a column is not hidden alone in the combination of relations tightest for it."""
        v = self._solve(column, x, x)
        if v is None:
            return None
        columns = np.flatnonzero(v)
        if bool(self._builder.problem.forced[columns].any()):
            return None
        return Cut(columns, np.where(columns == column, -1.0, 1.0), 0.0, lean=True)

    def _solve(
        self, column: int, cost_up: NDArray[np.float64], cost_down: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Return a combination of relations with coefficient 1 of a column, exactly; None where none is found."""
        n = len(cost_up)
        self._model.change_bounds(np.array([self._fixed, n + self._fixed]), np.zeros(2), np.full(2, np.inf))
        self._model.change_bounds(np.array([column, n + column]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
        self._fixed = column
        self._model.change_costs(np.arange(2 * n), np.concatenate([cost_up, cost_down]))
        found = self._model.solve(method="afresh", duals=False)
        if found.x is None:
            return None
        v = found.x[:n] - found.x[n:]
        v[np.abs(v) <= MULTIPLIER_ZERO] = 0.0
        return self._repair(v, column)

    def _repair(self, v: NDArray[np.float64], column: int) -> NDArray[np.float64] | None:
        """Return v with N'v = 0 exactly: the rest is taken from the coordinates' own columns, whose rows are units."""
        rounded = round_multipliers(v)
        if rounded is None:
            return None
        rounded[self._own] -= (self._combinations.T @ rounded) / self._own_sign
        if rounded[column] == 0 or bool((self._combinations.T @ rounded).any()):
            return None
        return np.asarray(rounded / rounded[column])


def _one_of_equal_sides(sides: SideRequirements, separator: Separator) -> SideRequirements:
    """Return the requirements without the sides whose cuts are those of another side of the same column.

    Where an attacker's bounds are the same up and down, the higher of the two levels gives the stronger cut.
    """
    up, down = separator.builder.up, separator.builder.down
    same = (up == down).all(axis=1)[sides.attackers]
    pairs = np.stack([sides.columns, sides.attackers])
    _, place = np.unique(pairs, axis=1, return_inverse=True)
    order = np.lexsort((-sides.levels, place.ravel()))
    first = np.ones(len(sides), dtype=bool)
    first[order[1:]] = np.diff(place.ravel()[order]) > 0
    return sides.take(first | ~same)
