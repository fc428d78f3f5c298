r"""Separation in kernel coordinates: combinations of relations with a row for every degree of freedom.

Any v with :math:`N'v = 0` is a combination of relations (`cuts.combinations`). The one that bounds the move of class p
most at a point x of the master is the solution of :math:`\min \sum x_i c_i |v_i|` with :math:`v_p = 1`, where c are the
attacker's bounds in parts of the level. Its vertices are rows of tableaux, and tableaux come first
(`cuts.tableau_separation`); linear programs tell what they have missed.

Points are separated on the way from the mean of the earlier ones to the last (in-out separation): cuts there are
deeper, and the master swings less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.protection.engine.capacity import Cut, build_cover
from celosia.protection.engine.cuts.combinations import Combinations
from celosia.protection.engine.cuts.tableau_separation import TableauSeparation
from celosia.protection.engine.parameters import PARAMETERS, CutParameters
from celosia.solve.problem import LinearProgram
from celosia.tolerance import CUT_VIOLATED, HIDDEN_ZERO, MULTIPLIER_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.cuts import relation_sums
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.subproblems.requirements import SideRequirements
    from celosia.solve.backend import Model
else:
    relation_sums = OnFirstUse("celosia.protection.engine.cuts.relation_sums")


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
        self._builder, self._backend, self._parameters = separator.builder, separator.backend, parameters
        self._sides = _one_of_equal_sides(separator.sides.take(~separator.sides.sliding), separator)
        self._combinations = Combinations(separator.builder, coordinates)
        n, d = coordinates.combinations.shape
        self._has_tableaux = self._combinations.has_units and n * d <= parameters.largest_tableau
        self._sums: relation_sums.SumSeparator | None = None
        self._random = np.random.default_rng(0)
        self._opened: Model | None = None
        self._fixed = 0
        self._share = parameters.even_share
        self._mean: NDArray[np.float64] | None = None
        self._misses = np.zeros(len(self._sides))
        most = parameters.kernel_work // max(n * d, 1)
        rows = parameters.tableau_work // max(n * d, 1)
        self._n_rows = int(np.clip(rows, parameters.least_rows, parameters.sides_a_round))
        self._n_sides = int(np.clip(most, parameters.least_programs, parameters.sides_a_round))
        self._n_columns = int(np.clip(most, parameters.least_programs, parameters.columns_a_round))

    def separate_by_sums(self, x: NDArray[np.float64], check: Callable[[], None]) -> list[Cut]:
        """Return cuts that a point violates from sums of few relations; see `separate`."""
        if self._sums is None:
            self._sums = relation_sums.SumSeparator(self._combinations, self._sides, self._parameters)
        return self._sums.separate(x, check)

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
        inside = (1.0 - p.inward) * x + p.inward * self._mean
        while self._has_tableaux:
            cuts = self._separate_by_tableaux(x, inside + self._share, check)
            last = self._share <= p.least_share
            if len(cuts) < p.few_cuts and not last:
                self._share = max(self._share / 2, p.least_share)
            if cuts:
                return cuts
            if last:
                break
            self._mean = inside = x
        return self._separate_by_programs(x, inside + p.least_share, check)

    def _separate_by_tableaux(
        self, x: NDArray[np.float64], inside: NDArray[np.float64], check: Callable[[], None]
    ) -> list[Cut]:
        """Return cuts that a point violates from rows of tableaux, the deepest first."""
        p = self._parameters
        search = TableauSeparation(self._combinations, self._sides, x, inside, p)
        search.separate_rows()
        order, n_tried = self._rank_sides(), 0
        while n_tried < len(order) and (n_tried == 0 or not search.cuts):
            search.separate_requirements(order[n_tried : n_tried + self._n_rows], check)
            n_tried += self._n_rows
        search.separate_rows()
        search.separate_columns(self._choose_columns(x, min(self._n_rows, p.columns_a_round)), check)
        self._misses[order[:n_tried]] /= 2
        self._misses[search.missed] = 1.0
        return search.deepest

    def _separate_by_programs(
        self, x: NDArray[np.float64], inside: NDArray[np.float64], check: Callable[[], None]
    ) -> list[Cut]:
        """Return cuts that a point violates from linear programs."""
        cuts: list[Cut] = []
        for tried, k in enumerate(self._rank_sides().tolist()):
            if tried >= self._n_sides and cuts:
                break
            check()
            cut = self._separate_requirement(k, inside)
            found = [one for one in (cut, None if cut is None else build_cover(cut, x)) if one is not None]
            violated = [one for one in found if one.violation(x) > CUT_VIOLATED]
            self._misses[k] = 1.0 if violated else self._misses[k] / 2
            cuts += violated
        for column in self._choose_columns(x, self._n_columns).tolist():
            check()
            cut = self._separate_column(column, inside)
            if cut is not None and cut.violation(x) > CUT_VIOLATED:
                cuts.append(cut)
        return cuts

    def _rank_sides(self) -> NDArray[np.int64]:
        """Return the order in which requirements are tried: those missed lately first, the others at random."""
        rank = self._misses + 1e-3 * self._random.random(len(self._sides))
        return np.argsort(-rank, kind="stable")

    def _choose_columns(self, x: NDArray[np.float64], most: int) -> NDArray[np.int64]:
        """Return columns that are partly hidden and not forced, drawn by what that costs."""
        problem = self._builder.problem
        weight = np.where(problem.forced | (x <= HIDDEN_ZERO), 0.0, problem.cost * x)
        n = min(int((weight > 0).sum()), most)
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
        return None if v is None else self._combinations.build_capacity_cut(v, sides, k)

    def _separate_column(self, column: int, x: NDArray[np.float64]) -> Cut | None:
        """Return the inequality that a column is not hidden alone in the combination of relations tightest for it."""
        v = self._solve(column, x, x)
        return None if v is None else self._combinations.build_isolation_cut(v, column)

    def _solve(
        self, column: int, cost_up: NDArray[np.float64], cost_down: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Return a combination of relations with coefficient 1 of a column, exactly; None where none is found."""
        n, model = len(cost_up), self._model
        model.change_bounds(np.array([self._fixed, n + self._fixed]), np.zeros(2), np.full(2, np.inf))
        model.change_bounds(np.array([column, n + column]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
        self._fixed = column
        model.change_costs(np.arange(2 * n), np.concatenate([cost_up, cost_down]))
        found = model.solve(method="afresh", duals=False)
        if found.x is None:
            return None
        v = found.x[:n] - found.x[n:]
        v[np.abs(v) <= MULTIPLIER_ZERO] = 0.0
        return self._combinations.repair(v, column)

    @property
    def _model(self) -> Model:
        """The open program: two columns for every column of the problem, a row for every degree of freedom."""
        if self._opened is None:
            transposed = self._combinations.matrix.T
            rows = sp.csr_array(sp.hstack([transposed, -transposed]))
            zero, nothing = np.zeros(rows.shape[0]), np.zeros(rows.shape[1])
            self._opened = self._backend.open(
                LinearProgram(rows, zero, zero, nothing, nothing + np.inf, nothing.copy())
            )
        return self._opened


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
