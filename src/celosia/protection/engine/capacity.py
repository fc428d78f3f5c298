r"""Capacity cuts: what every safe pattern satisfies, from any multipliers of the relations.

For any multipliers :math:`\gamma` and :math:`g = M'\gamma` every move with :math:`M d = 0` has
:math:`\sum g_i d_i = 0`. So :math:`d_p = \sum_{i \ne p} r_i d_i` with :math:`r_i = -g_i / g_p`, and cell p moves up by
at most

.. math:: \sum_{i \ne p} c_i x_i, \qquad c_i = \max(r_i U_i, -r_i L_i),

where :math:`x_i` says that cell i is hidden (Salazar 2002, section 3). A safe pattern makes this at least the level.
The inequality is computed from the multipliers, so it holds whatever the accuracy of the solver that proposed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.solve.problem import float_bounds
from celosia.tolerance import COEFFICIENT_GRID, MULTIPLIER_GRID, MULTIPLIER_PARTS, PIVOT_ZERO, SUM_ROUNDING

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem

_Number = TypeVar("_Number", np.bool_, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    r"""An inequality :math:`\sum v_i x_i \ge r` over columns of a problem.

    Parameters
    ----------
    columns
        Columns that are not forced, increasing, ``(k,)``.
    values
        Their coefficients, no larger than 1 in size for capacity cuts, ``(k,)``.
    right
        The right side: 1 for capacity cuts.
    lean
        It may hold only for patterns that hide no cell in vain, as at least one optimal pattern does.
    rounded
        It follows from others in whole numbers, so only their relaxation needs it.
    """

    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    right: float = 1.0
    lean: bool = False
    rounded: bool = False

    def violation(self, x: NDArray[np.float64]) -> float:
        """Return by how much a point violates the inequality."""
        return self.right - float(self.values @ x[self.columns])

    @property
    def key(self) -> bytes:
        """What tells it from other cuts."""
        return self.columns.tobytes() + self.values.tobytes() + repr(self.right).encode()


def unit_cuts(columns: NDArray[np.int64]) -> list[Cut]:
    """Return cuts that say that each of some columns is at least 1: hidden, or open."""
    return [Cut(np.array([column]), np.ones(1)) for column in columns.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    r"""An upper bound :math:`\sum c_i x_i` on how far a cell can move in one direction, by some multipliers.

    Parameters
    ----------
    columns
        Columns other than the cell itself, ``(k,)``.
    values
        c, infinite where the attacker's bound is, ``(k,)``.
    """

    columns: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CutBuilder:
    """Builds capacity cuts of a problem from multipliers of its relations.

    Parameters
    ----------
    problem
        The problem.
    starts, columns, data
        The relations, compressed by rows.
    up, down
        The attackers' bounds U and L as doubles, infinite where there is no end, ``(k, n)``.
    """

    problem: ProtectionProblem
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    data: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]

    @classmethod
    def of(cls, problem: ProtectionProblem) -> CutBuilder:
        """Return the builder of a problem."""
        matrix = problem.matrix
        return cls(
            problem,
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data.astype(np.float64),
            float_bounds(problem.up),
            float_bounds(problem.down),
        )

    def capacities(self, columns: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return U and L of some columns, row by row in memory, as compiled code expects them."""
        return self.up.take(columns, axis=1), self.down.take(columns, axis=1)

    def padded_with_forced(self, hidden: NDArray[_Number]) -> NDArray[_Number]:
        """Return a pattern or point for all columns of the problem: those beyond the first ones given are forced."""
        more = len(self.problem) - len(hidden)
        return hidden if not more else np.concatenate([hidden, np.ones(more, dtype=hidden.dtype)])

    def ratios(
        self, rows: NDArray[np.int64], gamma: NDArray[np.float64], column: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Return r of the other columns by multipliers of some rows; None where they say nothing about the cell."""
        rounded = round_multipliers(gamma)
        if rounded is None:
            return None
        used = np.flatnonzero(rounded)
        columns, g = combine_rows(self.starts, self.columns, self.data, rows[used], rounded[used], len(self.problem))
        own = np.flatnonzero(columns == column)
        if not len(own) or abs(g[own[0]]) < PIVOT_ZERO:
            return None
        others = np.delete(np.arange(len(columns)), own[0])
        return columns[others], -g[others] / g[own[0]]

    def bound_move(
        self, rows: NDArray[np.int64], gamma: NDArray[np.float64], column: int, attacker: int, *, upward: bool
    ) -> Reach | None:
        """Return the bound on a cell's move by multipliers of some rows; None where they say nothing about it."""
        found = self.ratios(rows, gamma, column)
        if found is None:
            return None
        columns, r = found if upward else (found[0], -found[1])
        capacity = np.where(r > 0, self.up[attacker][columns], self.down[attacker][columns])
        moving = capacity > 0
        return Reach(columns[moving], np.abs(r[moving]) * capacity[moving])

    def build_cut(self, reaches: list[Reach], level: float, column: int) -> Cut | None:
        """Return the cut that says that these bounds together are at least the level; None where it says nothing.

        Forced cells are hidden anyway, so their terms move to the right side, and no coefficient need exceed it. A cell
        that is not forced must reach its level only if it is hidden: then its own column is the right side.
        """
        columns, values = reaches[0].columns, reaches[0].values
        if len(reaches) > 1:
            columns, values = _add_reaches(reaches)
        forced = self.problem.forced[columns]
        given = float(values[forced].sum())
        right = level - given - SUM_ROUNDING * (level + given)
        if not right > 0:
            return None
        free = ~forced
        columns = columns[free]
        scaled = (
            np.ceil(np.minimum(values[free] / right * (1 + SUM_ROUNDING), 1.0) / COEFFICIENT_GRID) * COEFFICIENT_GRID
        )
        scaled, side = np.minimum(scaled, 1.0), 1.0
        if not self.problem.forced[column]:
            columns, scaled, side = np.append(columns, column), np.append(scaled, -1.0), 0.0
        order = np.argsort(columns)
        return Cut(columns[order], scaled[order], side)


def build_cover(cut: Cut, x: NDArray[np.float64]) -> Cut | None:
    """Return the cover inequality of a cut that a point violates most, None where it is the cut itself.

    Columns whose coefficients sum to less than 1 cannot satisfy the cut alone, so one of the others is hidden. Those
    are left out that the point uses most for their coefficient.
    """
    small = cut.values < 1.0
    if cut.right < 1.0 or not small.any():
        return None
    values, point = cut.values[small], x[cut.columns[small]]
    order = np.argsort(-(point / values), kind="stable")
    fits = np.cumsum(values[order]) < 1.0 - SUM_ROUNDING
    if not fits.any():
        return None
    dropped = np.flatnonzero(small)[order[fits]]
    kept = np.delete(np.arange(len(cut.columns)), dropped)
    return Cut(cut.columns[kept], np.ones(len(kept)))


def round_multipliers(gamma: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return multipliers whose sums over relations are exact in doubles, None where there are none.

    Those of tables are mostly ratios of small whole numbers: then they are taken as whole numbers, for what cancels in
    truth must cancel here, too, where an attacker's bound is infinite.
    """
    sizes = np.abs(gamma)
    largest = float(sizes.max(initial=0.0))
    if not largest > 0:
        return None
    scaled = gamma / float(sizes[sizes > PIVOT_ZERO * largest].min())
    for factor in range(1, MULTIPLIER_PARTS + 1):
        whole = np.rint(scaled * factor)
        if bool(np.all(np.abs(scaled * factor - whole) <= PIVOT_ZERO)):
            return np.asarray(whole)
    return np.asarray(np.rint(gamma / (largest * MULTIPLIER_GRID)) * MULTIPLIER_GRID)


def _add_reaches(reaches: list[Reach]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    columns = np.concatenate([reach.columns for reach in reaches])
    values = np.concatenate([reach.values for reach in reaches])
    unique, place = np.unique(columns, return_inverse=True)
    total = np.zeros(len(unique))
    np.add.at(total, place, values)
    return unique, total


def combine_rows(
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    data: NDArray[np.float64],
    rows: NDArray[np.int64],
    gamma: NDArray[np.float64],
    n: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the non-zero entries of the combination of some rows: their columns and values."""
    lengths = starts[rows + 1] - starts[rows]
    places = np.arange(lengths.sum()) + np.repeat(starts[rows] - np.cumsum(lengths) + lengths, lengths)
    weights = np.repeat(gamma, lengths) * data[places]
    total = np.bincount(columns[places], weights, minlength=n).astype(np.float64, copy=False)
    found = np.flatnonzero(total)
    return found, total[found]
