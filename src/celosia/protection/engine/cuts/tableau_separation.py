"""Separation by tableaux: every row of one is a cut, so that a basis which suits a point separates it many times.

In the basis of least weight every class is a combination of classes that the point hides no more than itself. Rows that
are of interest are then made cheaper by pivots, each of which changes other rows as well. A few hundred pivots cost as
much as one linear program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut, build_cover
from celosia.protection.engine.cuts.tableau import RowPrices, Tableau, shorten_row, sum_rows, take_lightest_basis
from celosia.tolerance import CUT_SATISFIED, CUT_VIOLATED

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.combinations import Combinations
    from celosia.protection.engine.parameters import CutParameters
    from celosia.protection.engine.subproblems.requirements import SideRequirements


class TableauSeparation:
    """Cuts of one point from tableaux.

    Parameters
    ----------
    combinations
        Makes rows exact, and builds cuts.
    sides
        The requirements, none of them sliding.
    x
        The point, ``(n,)``.
    inside
        A point nearby whose cuts are deeper, ``(n,)``.
    parameters
        How much effort separation is worth.

    Attributes
    ----------
    cuts
        The cuts that the point violates, by their keys.
    missed
        Which requirements have one, ``(s,)``.
    """

    def __init__(
        self,
        combinations: Combinations,
        sides: SideRequirements,
        x: NDArray[np.float64],
        inside: NDArray[np.float64],
        parameters: CutParameters,
    ) -> None:
        self._combinations, self._sides, self._parameters = combinations, sides, parameters
        self._x, self._inside = x, inside
        self._forced = combinations.builder.problem.forced
        self.cuts: dict[bytes, Cut] = {}
        self.missed = np.zeros(len(sides), dtype=bool)
        self._tableau = self._take_basis()

    def _take_basis(self) -> Tableau:
        """Return the tableau of the basis of least weight; forced classes, which spoil rows of others, come last."""
        own, n = self._combinations.own, len(self._x)
        place = np.full(n, -1, dtype=np.int64)
        place[own] = np.arange(len(own))
        tableau = Tableau(self._combinations.matrix.toarray() / self._combinations.own_factor, own.copy(), place)
        weight = self._weigh(self._inside)
        take_lightest_basis(tableau, np.argsort(weight, kind="stable"), weight)
        return tableau

    def _weigh(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what classes weigh in rows of classes that are not sensitive: forced ones too much for any cut."""
        return np.where(self._forced, self._parameters.weight_of_forced, x)

    def separate_rows(self) -> None:
        """Add the cuts of rows of the tableau as it is: of classes hidden alone in theirs, and of requirements."""
        total = sum_rows(self._tableau, self._weigh(self._x))
        missing = np.where(self._forced, 0.0, self._x - total)
        rows = np.argsort(-missing, kind="stable")[: self._parameters.rows_a_tableau]
        rows = rows[missing[rows] > CUT_VIOLATED]
        for row, v in zip(rows.tolist(), self._repair(rows), strict=True):
            self._add(None if v is None else self._combinations.build_isolation_cut(v, row))
        places = np.flatnonzero(total[self._sides.columns] < 1.0 - CUT_VIOLATED)
        for k, v in zip(places.tolist(), self._repair(self._sides.columns[places]), strict=True):
            self._add_capacity_cuts(v, k)

    def separate_requirements(self, places: NDArray[np.int64], check: Callable[[], None]) -> None:
        """Make the rows of some requirements cheaper, and add their cuts."""
        builder, sides = self._combinations.builder, self._sides
        weight = np.where(self._forced, 1.0, self._inside)
        for k in places.tolist():
            check()
            column, who = int(sides.columns[k]), int(sides.attackers[k])
            if self._tableau.place[column] >= 0:
                continue
            up, down = builder.up[who], builder.down[who]
            prices = RowPrices(weight, *((up, down) if sides.upward[k] else (down, up)), float(sides.levels[k]))
            self._shorten(column, prices)
            if shorten_row(self._tableau, column, prices._replace(weight=self._x), 0, 0.0) < 1.0:
                self._add_capacity_cuts(self._repair(np.array([column]))[0], k)

    def separate_columns(self, columns: NDArray[np.int64], check: Callable[[], None]) -> None:
        """Make the rows of some classes that are not sensitive cheaper, and add their cuts."""
        weight, nothing = self._weigh(self._inside), np.zeros(0)
        prices = RowPrices(weight, nothing, nothing, 0.0)
        for column in columns.tolist():
            check()
            if self._tableau.place[column] >= 0:
                continue
            self._shorten(column, prices)
            total = shorten_row(self._tableau, column, prices._replace(weight=self._weigh(self._x)), 0, 0.0)
            if total < self._x[column]:
                v = self._repair(np.array([column]))[0]
                self._add(None if v is None else self._combinations.build_isolation_cut(v, column))

    def _shorten(self, column: int, prices: RowPrices) -> None:
        """Make a row cheaper by exchanges, as long as a few of them make it so by much."""
        p, before = self._parameters, np.inf
        for _ in range(p.exchanges):
            now = shorten_row(self._tableau, column, prices, p.exchanges_at_once, CUT_SATISFIED)
            if now > p.least_fall * before:
                break
            before = now

    def _repair(self, rows: NDArray[np.int64]) -> list[NDArray[np.float64] | None]:
        return self._combinations.repair_rows(rows, self._tableau.basis, self._tableau.table[rows])

    def _add_capacity_cuts(self, v: NDArray[np.float64] | None, k: int) -> None:
        cut = None if v is None else self._combinations.build_capacity_cut(v, self._sides, k)
        if cut is not None:
            added = self._add(cut)
            self.missed[k] |= self._add(build_cover(cut, self._x)) or added

    def _add(self, cut: Cut | None) -> bool:
        """Add a cut where the point violates it; return whether it does."""
        violated = cut is not None and cut.violation(self._x) > CUT_VIOLATED
        if violated and cut is not None:
            self.cuts[cut.key] = cut
        return violated

    @property
    def deepest(self) -> list[Cut]:
        """The cuts from which the point is farthest, as many as a round adds."""
        far = sorted(self.cuts.values(), key=lambda cut: -cut.violation(self._x) / float(np.linalg.norm(cut.values)))
        return far[: self._parameters.cuts_a_round]
