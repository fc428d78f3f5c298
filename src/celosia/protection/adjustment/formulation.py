r"""The model of controlled tabular adjustment, in whole numbers.

Published values lie on a grid: :math:`x_i = g (A_i + d_i)` with whole :math:`d_i`, where :math:`g A_i` is the true
value rounded down to the grid and :math:`f_i \in [0, 1)` is what that leaves over. Wanted is

.. math:: \min \sum_i w_i |d_i - f_i|^k \quad\text{s.t.}\quad M d = r,\ l \le d \le u,

and for cells that are *split* :math:`d_i \le -\mathrm{down}_i` or :math:`d_i \ge \mathrm{up}_i`: (5) of Baena, Castro
and González, who write (6) with a binary :math:`y_i` for the side (`celosia.protection.adjustment.steps`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.redundancy import find_implied_rows
from celosia.errors import DataError, InfeasibleError, SpecError, list_items
from celosia.pattern.arithmetic import minus, plus
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.table.relations import label_components
from celosia.table.table import Table
from celosia.tolerance import LARGEST_MOVE

if TYPE_CHECKING:
    from celosia.protection.adjustment.method import Adjust


@dataclass(frozen=True, slots=True, eq=False)
class AdjustmentProblem:
    """Cells that may move, the relations between them, and where they may go.

    Parameters
    ----------
    cells
        The cells of the table, ``(n,)``.
    matrix, right
        M and r: relations, those that follow from others left out, ``(m, n)`` and ``(m,)``.
    implied
        The relations that were left out and have a right side of zero, ``(k, n)``.
    lower, upper
        l and u, ``(n,)``; at least `LARGEST_MOVE` in size where there is no end.
    down, up
        The sides of split cells, ``(n,)``; both zero where a cell is not split.
    weight
        w, per unit of the grid to the power k, ``(n,)``.
    offset
        f, ``(n,)``.
    norm
        k: 1 or 2.
    """

    cells: NDArray[np.int64]
    matrix: sp.csr_array
    right: NDArray[np.int64]
    implied: sp.csr_array
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    norm: int

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def split(self) -> NDArray[np.bool_]:
        """Which cells have two sides to go to, ``(n,)``."""
        return np.asarray(self.up + self.down > 0)

    def costs(self, moves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what moves cost, cell by cell."""
        return np.asarray(self.weight * np.abs(moves - self.offset) ** self.norm)

    def admits(self, moves: NDArray[np.int64]) -> bool:
        """Return whether moves add up and go only where they may. Exact."""
        inside = (self.lower <= moves) & (moves <= self.upper)
        sides = ~self.split | (moves <= -self.down) | (moves >= self.up)
        return bool(inside.all() and sides.all() and np.array_equal(self.matrix @ moves, self.right))

    def choose_sides(self, upward: NDArray[np.bool_], free: NDArray[np.bool_] | None = None) -> AdjustmentProblem:
        """Return the problem in which split cells have chosen a side, but for those that are free to choose.

        Parameters
        ----------
        upward
            The side of every split cell, ``(n,)``.
        free
            Cells that stay split, ``(n,)``.
        """
        chosen = self.split if free is None else self.split & ~free
        return replace(
            self,
            lower=np.where(chosen & upward, self.up, self.lower),
            upper=np.where(chosen & ~upward, -self.down, self.upper),
            down=np.where(chosen, 0, self.down),
            up=np.where(chosen, 0, self.up),
        )

    def tighten(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> AdjustmentProblem:
        """Return the problem with bounds that may be narrower; a split cell that loses a side is split no more."""
        low, high = np.maximum(lower, self.lower), np.minimum(upper, self.upper)
        no_up, no_down = self.split & (high < self.up), self.split & (low > -self.down)
        low = np.where(no_down & ~no_up, np.maximum(low, self.up), low)
        high = np.where(no_up & ~no_down, np.minimum(high, -self.down), high)
        nowhere = no_up & no_down
        low, high = np.where(nowhere, 1, low), np.where(nowhere, 0, high)
        whole = self.split & ~no_up & ~no_down
        return replace(self, lower=low, upper=high, down=np.where(whole, self.down, 0), up=np.where(whole, self.up, 0))

    def mirror(self) -> AdjustmentProblem | None:
        """Return the problem with bounds so wide that the mirror image of every table is one, too.

        None where levels, sums or offsets differ by side, so that no bounds will do. Every table of the problem is one
        of the wider problem, which can prove bounds.
        """
        still = bool((self.lower <= 0).all() and (self.upper >= 0).all())
        if not still or self.right.any() or self.offset.any() or not np.array_equal(self.up, self.down):
            return None
        return replace(self, lower=np.minimum(self.lower, -self.upper), upper=np.maximum(self.upper, -self.lower))

    def restrict_to(self, columns: NDArray[np.int64]) -> AdjustmentProblem:
        """Return the problem of some columns that share no relation with the others."""
        matrix, implied = (sp.csr_array(rows[:, columns]) for rows in (self.matrix, self.implied))
        rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
        return AdjustmentProblem(
            self.cells[columns],
            sp.csr_array(matrix[rows]),
            self.right[rows],
            sp.csr_array(implied[np.diff(implied.indptr) > 0]),
            self.lower[columns],
            self.upper[columns],
            self.down[columns],
            self.up[columns],
            self.weight[columns],
            self.offset[columns],
            self.norm,
        )

    def split_components(self) -> list[NDArray[np.int64]]:
        """Return the columns of every connected part of the problem."""
        _, own = label_components(self.matrix)
        order = np.argsort(own, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(own))[:-1])
        return [part for part in parts if len(part)]


@dataclass(frozen=True, slots=True, eq=False)
class PublicationGrid:
    """Where published values lie.

    Parameters
    ----------
    decimals
        Of published values.
    floor
        The true values rounded down, ``(n_cells,)``, counted in these decimals.
    offset
        What that leaves over, as a share of a unit, ``(n_cells,)``.
    grain
        The smallest move of each cell in these decimals, ``(n_cells,)``: 1, or a whole count. Moves are so many.
    """

    decimals: int
    floor: NDArray[np.int64]
    offset: NDArray[np.float64]
    grain: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, decimals: int) -> PublicationGrid:
        """Return the grid of so many decimals.

        Raises
        ------
        DataError
            Values have too many digits for it.
        """
        floor = _round_down(table.amounts, decimals)
        over = minus(table.amounts, Fixed(floor, decimals)).floats * 10.0**decimals
        return cls(decimals, floor, over, np.where(table.is_count, 10**decimals, 1).astype(np.int64))

    def lower(self, ends: Fixed) -> NDArray[np.int64]:
        """Return the first moves that reach lower ends; minus `LARGEST_MOVE` where there is none."""
        return np.where(ends.infinite, -LARGEST_MOVE, -((self.floor - _round_up(ends, self.decimals)) // self.grain))

    def upper(self, ends: Fixed) -> NDArray[np.int64]:
        """Return the last moves that keep below upper ends; `LARGEST_MOVE` where there is none."""
        return np.where(ends.infinite, LARGEST_MOVE, (_round_down(ends, self.decimals) - self.floor) // self.grain)

    def relations(
        self, matrix: sp.csr_array, right: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> tuple[sp.csr_array, NDArray[np.int64]]:
        """Return relations ``matrix @ moves == right`` in units of the smallest moves, common factors divided."""
        if bool((self.grain[cells] == 1).all()):
            return matrix, right
        coarse = sp.csr_array(matrix @ sp.diags_array(self.grain[cells], dtype=np.int64), dtype=np.int64)
        used = np.flatnonzero(np.diff(coarse.indptr) > 0)
        factor = np.ones(coarse.shape[0], dtype=np.int64)
        if len(used):
            factor[used] = np.gcd.reduceat(coarse.data, coarse.indptr[used])
        factor = np.where(right % factor == 0, factor, 1)
        coarse.data //= np.repeat(factor, np.diff(coarse.indptr))
        return coarse, right // factor


def formulate(risk: Risk, method: Adjust, *, integer: bool | None) -> tuple[AdjustmentProblem, PublicationGrid]:
    """Return the problem of a risk to which the method was applied, and the grid of published values.

    Raises
    ------
    SpecError
        A sensitive cell has no upper or lower level; kept cells, or the relations, do not lie on the grid.
    InfeasibleError
        Levels lie beyond what every attacker knows of a cell.
    DataError
        Numbers have too many digits.
    """
    table = risk.table
    decimals = (0 if integer else table.decimals) if method.decimals is None else method.decimals
    grid = PublicationGrid.of(table, decimals)
    frozen = method.frozen(risk)
    _refuse_off_grid(risk, grid, frozen)
    known = Attacker.together(risk.attackers) if risk.attackers else Attacker.external(table)
    lower, upper = grid.lower(known.lower), grid.upper(known.upper)
    down, up = _distances_to_sides(risk, grid)
    sensitive = risk.sensitive
    climbs, sinks = sensitive & (up > 0) & (up <= upper), sensitive & (down >= 0) & (-down >= lower)
    _refuse_beyond(risk, sensitive & ~climbs & ~sinks)
    lower = np.where(climbs & ~sinks, up, lower)
    upper = np.where(sinks & ~climbs, -down, upper)
    split = climbs & sinks & (up + down > 1)
    moving = np.flatnonzero(~frozen & ((lower < upper) | (lower != 0) | (grid.offset != 0)))
    follows = find_implied_rows(table.relations.matrix)
    right = _right_side(table, grid)
    matrix, right = grid.relations(sp.csr_array(table.relations.matrix[:, moving]), right, moving)
    used = np.diff(matrix.indptr) > 0
    rows = np.flatnonzero(used & ~follows)
    aside = np.flatnonzero(used & follows & (right == 0))
    problem = AdjustmentProblem(
        moving,
        sp.csr_array(matrix[rows]),
        right[rows],
        sp.csr_array(matrix[aside]),
        lower[moving],
        upper[moving],
        np.where(split, down, 0)[moving],
        np.where(split, up, 0)[moving],
        (method.weights(table) * (grid.grain / 10.0**grid.decimals) ** method.norm)[moving],
        grid.offset[moving],
        method.norm,
    )
    return problem, grid


def _distances_to_sides(risk: Risk, grid: PublicationGrid) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how far down and up sensitive cells must go at least, -1 where that side is closed."""
    levels, truth = risk.largest_levels, risk.table.amounts
    opens_up, opens_down = (np.asarray(level.counts > 0) & risk.sensitive for level in (levels.upper, levels.lower))
    bare = np.flatnonzero(risk.sensitive & ~opens_up & ~opens_down)
    if len(bare):
        said = f"are missing or only sliding for sensitive cells: {_labels(risk.table, bare)}."
        raise SpecError.one("levels", said, "Adjustment needs an upper or a lower level above zero.")
    up = -((grid.floor - _round_up(plus(truth, levels.upper), grid.decimals)) // grid.grain)
    down = -((_round_down(minus(truth, levels.lower), grid.decimals) - grid.floor) // grid.grain)
    return np.where(opens_down, down, -1), np.where(opens_up, up, -1)


def _refuse_beyond(risk: Risk, cells: NDArray[np.bool_]) -> None:
    places = np.flatnonzero(cells)
    if len(places):
        raise InfeasibleError.one(
            "levels",
            f"lead out of what everybody knows about sensitive cells: {_labels(risk.table, places)}.",
            "Lower the levels, or widen the attackers' bounds.",
        )


def _refuse_off_grid(risk: Risk, grid: PublicationGrid, frozen: NDArray[np.bool_]) -> None:
    table = risk.table
    off = np.flatnonzero(frozen & (grid.offset != 0))
    if len(off):
        said = f"is {grid.decimals}, but cells to be kept have more: {_labels(table, off)}."
        raise SpecError.one("decimals", said, f"Say decimals={table.decimals}.")


def _right_side(table: Table, grid: PublicationGrid) -> NDArray[np.int64]:
    """Return ``b - M A`` on the grid."""
    scale = Fraction(10) ** (grid.decimals - table.decimals)
    right = [Fraction(int(entry)) * scale for entry in table.relations.right]
    odd = [row for row, entry in enumerate(right) if entry.denominator != 1]
    if odd:
        said = f"is {grid.decimals}, but relations hold up to finer rounding only: {table.equation(odd[0])}."
        raise SpecError.one("decimals", said, f"Say decimals={table.decimals}.")
    exact = np.array([int(entry) for entry in right], dtype=np.int64)
    return np.asarray(exact - table.relations.matrix @ grid.floor, dtype=np.int64)


def _round_up(numbers: Fixed, decimals: int) -> NDArray[np.int64]:
    """Return numbers in counts of a decimal, rounded up; infinite ones come out as zero."""
    finite = Fixed(np.where(numbers.infinite, 0, numbers.counts), numbers.decimals).round_up(decimals).counts
    if np.abs(finite).max(initial=0) >= LARGEST_MOVE // 4:
        raise DataError.one("values", f"have more than 14 digits with {decimals} decimals.", "Use a larger unit.")
    return np.asarray(finite, dtype=np.int64)


def _round_down(numbers: Fixed, decimals: int) -> NDArray[np.int64]:
    return -_round_up(Fixed(-numbers.counts, numbers.decimals), decimals)


def _labels(table: Table, cells: NDArray[np.int64]) -> str:
    return list_items([table.label(int(cell)) for cell in cells])
