"""From a risk to the task of adjustment."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.redundancy import find_implied_rows
from celosia.errors import DataError, InfeasibleError, SpecError, listed
from celosia.pattern.arithmetic import minus, plus
from celosia.protection.adjustment.formulation import ENDLESS, AdjustTask
from celosia.protection.adjustment.method import Adjust
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
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
    def of(cls, table: Table, decimals: int) -> Grid:
        """Return the grid of so many decimals.

        Raises
        ------
        DataError
            Values have too many digits for it.
        """
        floor = _lowered(table.amounts, decimals)
        over = minus(table.amounts, Fixed(floor, decimals)).floats * 10.0**decimals
        return cls(decimals, floor, over, np.where(table.is_count, 10**decimals, 1).astype(np.int64))

    def lower(self, ends: Fixed) -> NDArray[np.int64]:
        """Return the first moves that reach lower ends; minus `ENDLESS` where there is none."""
        return np.where(ends.infinite, -ENDLESS, -((self.floor - _raised(ends, self.decimals)) // self.grain))

    def upper(self, ends: Fixed) -> NDArray[np.int64]:
        """Return the last moves that keep below upper ends; `ENDLESS` where there is none."""
        return np.where(ends.infinite, ENDLESS, (_lowered(ends, self.decimals) - self.floor) // self.grain)

    def relations(
        self, matrix: sp.csr_array, right: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> tuple[sp.csr_array, NDArray[np.int64]]:
        """Return relations of some cells, ``matrix @ moves == right``, over their smallest moves, without factors."""
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


def adjust_task(risk: Risk, method: Adjust, *, integer: bool | None) -> tuple[AdjustTask, Grid]:
    """Return the task of a risk to which the method was applied, and the grid of published values.

    Raises
    ------
    SpecError
        A sensitive cell has no upper or lower level; kept cells, or the relations, do not lie on the grid.
    InfeasibleError
        Levels lie beyond what everybody knows of a cell.
    DataError
        Numbers have too many digits.
    """
    table = risk.table
    grid = Grid.of(table, 0 if integer and method.decimals is None else _or(method.decimals, table.decimals))
    frozen = method.frozen(risk)
    _refuse_off_grid(risk, grid, frozen)
    known = Attacker.together(risk.attackers) if risk.attackers else Attacker.external(table)
    lower, upper = grid.lower(known.lower), grid.upper(known.upper)
    down, up = _sides(risk, grid)
    sensitive = risk.sensitive
    climbs, sinks = sensitive & (up > 0) & (up <= upper), sensitive & (down >= 0) & (-down >= lower)
    _refuse_beyond(risk, sensitive & ~climbs & ~sinks)
    lower = np.where(climbs & ~sinks, up, lower)
    upper = np.where(sinks & ~climbs, -down, upper)
    split = climbs & sinks & (up + down > 1)
    moving = np.flatnonzero(~frozen & ((lower < upper) | (lower != 0) | (grid.offset != 0)))
    follows = find_implied_rows(table.relations.matrix)
    right = _exact_right(table, grid)
    matrix, right = grid.relations(sp.csr_array(table.relations.matrix[:, moving]), right, moving)
    used = np.diff(matrix.indptr) > 0
    rows = np.flatnonzero(used & ~follows)
    aside = np.flatnonzero(used & follows & (right == 0))
    task = AdjustTask(
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
    return task, grid


def _sides(risk: Risk, grid: Grid) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how far down and up sensitive cells must go at least, -1 where that side is closed."""
    levels, truth = risk.levels, risk.table.amounts
    opens_up, opens_down = (np.asarray(level.counts > 0) & risk.sensitive for level in (levels.upper, levels.lower))
    bare = np.flatnonzero(risk.sensitive & ~opens_up & ~opens_down)
    if len(bare):
        said = f"are missing or only sliding for sensitive cells: {_labels(risk.table, bare)}."
        raise SpecError.one("levels", said, "Adjustment needs an upper or a lower level above zero.")
    up = -((grid.floor - _raised(plus(truth, levels.upper), grid.decimals)) // grid.grain)
    down = -((_lowered(minus(truth, levels.lower), grid.decimals) - grid.floor) // grid.grain)
    return np.where(opens_down, down, -1), np.where(opens_up, up, -1)


def _refuse_beyond(risk: Risk, cells: NDArray[np.bool_]) -> None:
    places = np.flatnonzero(cells)
    if len(places):
        raise InfeasibleError.one(
            "levels",
            f"lead out of what everybody knows about sensitive cells: {_labels(risk.table, places)}.",
            "Lower the levels, or widen the attackers' bounds.",
        )


def _refuse_off_grid(risk: Risk, grid: Grid, frozen: NDArray[np.bool_]) -> None:
    table = risk.table
    off = np.flatnonzero(frozen & (grid.offset != 0))
    if len(off):
        said = f"is {grid.decimals}, but cells to be kept have more: {_labels(table, off)}."
        raise SpecError.one("decimals", said, f"Say decimals={table.decimals}.")


def _exact_right(table: Table, grid: Grid) -> NDArray[np.int64]:
    """Return ``b - M A`` on the grid."""
    scale = Fraction(10) ** (grid.decimals - table.decimals)
    right = [Fraction(int(entry)) * scale for entry in table.relations.right]
    odd = [row for row, entry in enumerate(right) if entry.denominator != 1]
    if odd:
        said = f"is {grid.decimals}, but relations hold up to finer rounding only: {table.equation(odd[0])}."
        raise SpecError.one("decimals", said, f"Say decimals={table.decimals}.")
    exact = np.array([int(entry) for entry in right], dtype=np.int64)
    return np.asarray(exact - table.relations.matrix @ grid.floor, dtype=np.int64)


def _raised(numbers: Fixed, decimals: int) -> NDArray[np.int64]:
    """Return numbers in counts of a decimal, rounded up; infinite ones come out as zero."""
    finite = Fixed(np.where(numbers.infinite, 0, numbers.counts), numbers.decimals).rounded_up(decimals).counts
    if np.abs(finite).max(initial=0) >= ENDLESS // 4:
        raise DataError.one("values", f"have more than 14 digits with {decimals} decimals.", "Use a larger unit.")
    return np.asarray(finite, dtype=np.int64)


def _lowered(numbers: Fixed, decimals: int) -> NDArray[np.int64]:
    return -_raised(Fixed(-numbers.counts, numbers.decimals), decimals)


def _or(value: int | None, instead: int) -> int:
    return instead if value is None else value


def _labels(table: Table, cells: NDArray[np.int64]) -> str:
    return listed([table.label(int(cell)) for cell in cells])
