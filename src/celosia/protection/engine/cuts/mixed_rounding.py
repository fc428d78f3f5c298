r"""Mixed-integer rounding cuts of one or two rows of a master with binary and continuous variables.

A row :math:`\sum_j a_j y_j + s \ge b` with whole :math:`y \ge 0` and :math:`s \ge 0` gives, for any :math:`\delta > 0`
and :math:`f = b / \delta - \lfloor b / \delta \rfloor > 0`,

.. math:: \sum_j G(a_j / \delta)\, y_j + \frac{s}{\delta f} \ge \lceil b / \delta \rceil, \qquad
          G(\alpha) = \lfloor \alpha \rfloor + \min\left(\frac{\alpha - \lfloor \alpha \rfloor}{f}, 1\right)

(Marchand and Wolsey 2001). First a continuous variable is put down as its distance from a lower bound that depends on
a binary one, as *hidden or at least as wide as its level*, :math:`z \ge l - c x`: a row of two variables is such a
bound. Binary variables near one are complemented, and divisors are the coefficients of fractional ones. Two rows are
combined so that a continuous variable of both cancels out; the slack of the second is a continuous variable then.

Rows of ranges that serve several cells hide a part of a cell for each of them; these cuts add up what it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.cuts.parameters import ROUNDING, RoundingCutParameters
from celosia.protection.engine.master import scales_of
from celosia.solve.problem import SMALLEST_ENTRY, LinearProgram
from celosia.tolerance import CUT_SATISFIED, INTEGRAL, ROUNDED_COEFFICIENT

Floats = NDArray[np.float64]


def mixed_rounding_cuts(
    rows: sp.csr_array,
    right: Floats,
    x: Floats,
    program: LinearProgram,
    parameters: RoundingCutParameters = ROUNDING,
) -> list[Cut]:
    """Return mixed-integer rounding cuts of some rows that a point violates, the most violated first.

    Guarantee: they hold for every point of the program with whole numbers that satisfies the rows.

    Parameters
    ----------
    rows, right
        Inequalities ``rows @ x >= right``.
    x
        The point.
    program
        Bounds of the variables, and which are whole numbers.
    parameters
        How many rows, divisors and cuts are tried.
    """
    if program.integer is None:
        return []
    slack = (rows @ x - right) * scales_of(right)
    signed = np.asarray(abs(rows) @ (program.lower < 0).astype(np.float64)) > 0
    tight = np.flatnonzero((slack <= CUT_SATISFIED) & ~signed)
    tight = tight[np.argsort(slack[tight], kind="stable")[: parameters.most_rows]]
    chosen = sp.csr_array(rows[tight])
    columns = np.unique(chosen.indices)
    whole = program.integer[columns]
    fractional = whole & (np.abs(x[columns] - np.rint(x[columns])) > INTEGRAL)
    if not bool(fractional.any()) or len(tight) * len(columns) > parameters.most_entries:
        return []
    dense, sides = chosen[:, columns].toarray(), right[tight]
    rounder = _Rounder(
        x[columns],
        whole,
        whole & (program.upper[columns] <= 1.0),
        np.flatnonzero(fractional),
        _bounds_by_binaries(rows, right, x, program, columns),
        parameters,
    )
    found = list(rounder.round(_AggregatedRows(dense, sides)))
    for pairs in _pair_rows(dense, sides, x[columns], whole, parameters):
        found += rounder.round(pairs)
    found.sort(key=lambda one: -one[2])
    return [_cut(values, side, columns) for values, side, _ in found[: parameters.most_cuts]]


@dataclass(frozen=True, slots=True, eq=False)
class _AggregatedRows:
    """Rows ``values @ x >= right``, and of pairs what is added back for each unit of slack of the second row.

    Parameters
    ----------
    values, right
        The rows, ``(m, k)`` and ``(m,)``.
    times, second, second_right
        How many times the second row was subtracted, ``(m,)``, and that row; None for single rows.
    """

    values: Floats
    right: Floats
    times: Floats | None = None
    second: Floats | None = None
    second_right: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _BinaryBounds:
    """Lower bounds l - c x of continuous variables, at most one for each.

    Parameters
    ----------
    columns
        The continuous variables, ``(q,)``.
    least, part, binary
        l, c, and the variable x, ``(q,)`` each.
    """

    columns: NDArray[np.int64]
    least: Floats
    part: Floats
    binary: NDArray[np.int64]


def _bounds_by_binaries(
    rows: sp.csr_array, right: Floats, x: Floats, program: LinearProgram, columns: NDArray[np.int64]
) -> _BinaryBounds:
    """Return for each continuous variable of some columns the largest of its lower bounds at a point, if above zero."""
    whole = np.zeros(len(x), dtype=bool) if program.integer is None else program.integer
    place = np.full(len(x), -1, dtype=np.int64)
    place[columns] = np.arange(len(columns))
    best: dict[int, tuple[float, float, float, int]] = {}
    for j in columns[~whole[columns] & (program.lower[columns] > 0)].tolist():
        best[j] = (float(program.lower[j]), float(program.lower[j]), 0.0, j)
    for row in np.flatnonzero(np.diff(rows.indptr) == 2).tolist():  # noqa: PLR2004  (a pair)
        start = rows.indptr[row]
        (first, second), values = rows.indices[start : start + 2].tolist(), rows.data[start : start + 2].tolist()
        if whole[first]:
            first, second, values = second, first, values[::-1]
        if whole[first] or not whole[second] or not values[0] > 0 or place[first] < 0 or place[second] < 0:
            continue
        least, part = float(right[row]) / values[0], values[1] / values[0]
        at = least - part * float(x[second])
        if at > max(best.get(first, (0.0,))[0], 0.0):
            best[first] = (at, least, part, second)
    chosen = sorted(best)
    return _BinaryBounds(
        place[np.array(chosen, dtype=np.int64)],
        np.array([best[j][1] for j in chosen], dtype=np.float64),
        np.array([best[j][2] for j in chosen], dtype=np.float64),
        place[np.array([best[j][3] for j in chosen], dtype=np.int64)],
    )


def _pair_rows(
    rows: Floats, right: Floats, x: Floats, whole: NDArray[np.bool_], parameters: RoundingCutParameters
) -> Iterator[_AggregatedRows]:
    """Yield differences of rows that have much of their continuous variables in common, in batches."""
    slack = sp.csr_array(np.where(whole, 0.0, rows * x))
    open_ = sp.csr_array((np.where(whole, 0.0, rows) > 0).astype(np.float64))
    common = (slack @ open_.T).toarray()  # of what the first row has, how much lies in variables of the second
    own = common.diagonal().copy()
    np.fill_diagonal(common, 0.0)
    share = common / np.where(own > 0, own, 1.0)[:, None]
    partner = np.argsort(-share, axis=1, kind="stable")[:, : parameters.partners]
    near = np.take_along_axis(share, partner, axis=1) > parameters.least_common
    firsts, seconds = np.nonzero(near)[0], partner[near]
    for start in range(0, len(firsts), parameters.pairs_at_once):
        a, b = (side[start : start + parameters.pairs_at_once] for side in (firsts, seconds))
        both = np.where((rows[a] > 0) & (rows[b] > 0) & ~whole, rows[a] * x, -1.0)
        pivot = both.argmax(axis=1)
        times = rows[a, pivot] / rows[b, pivot]
        difference = rows[a] - times[:, None] * rows[b]
        difference[np.arange(len(a)), pivot] = 0.0
        yield _AggregatedRows(difference, right[a] - times * right[b], times, rows[b], right[b])


@dataclass(frozen=True, slots=True, eq=False)
class _Rounder:
    """Rounds rows at a point.

    Parameters
    ----------
    x
        The point, ``(k,)``.
    whole, binary
        Which variables are whole numbers, and which of them 0 or 1, ``(k,)`` each.
    fractional
        The whole numbers that have fractions at the point.
    bounds
        Lower bounds of continuous variables.
    parameters
        How many divisors are tried, and which cuts are kept.
    """

    x: Floats
    whole: NDArray[np.bool_]
    binary: NDArray[np.bool_]
    fractional: NDArray[np.int64]
    bounds: _BinaryBounds
    parameters: RoundingCutParameters

    def round(self, rows: _AggregatedRows) -> Iterator[tuple[Floats, float, float]]:
        """Yield the most violated cut of each row: coefficients, right side, and its distance from the point."""
        values, right = self._substitute(rows)
        columns = np.flatnonzero(self.whole)
        whole, continuous = values[:, columns], np.where(self.whole, 0.0, np.maximum(values, 0.0))
        far, squares = (continuous * self._rest).sum(axis=1), (continuous**2).sum(axis=1)
        best = np.full(len(right), self.parameters.least_distance)
        found: dict[int, tuple[Floats, float]] = {}
        for divisor in self._divisors(whole, np.searchsorted(columns, self.fractional)):
            for complemented in self._complements:
                up, x = complemented[columns], self.x[columns]
                wanted = (right - whole[:, up].sum(axis=1)) / divisor
                wanted -= ROUNDED_COEFFICIENT * (1.0 + np.abs(wanted))  # a smaller right side keeps a row valid
                floor = np.floor(wanted)
                part = wanted - floor
                usable = np.flatnonzero((part >= self.parameters.least_part) & np.isfinite(divisor))
                if not len(usable):
                    continue
                rounded = self._round_coefficients(whole[usable] / divisor[usable, None], part[usable], up)
                scale = 1.0 / (divisor[usable] * part[usable])
                reach = rounded @ np.where(up, 1.0 - x, x) + far[usable] * scale
                size = np.sqrt((rounded**2).sum(axis=1) + squares[usable] * scale**2)
                distance = (floor[usable] + 1.0 - reach) / np.maximum(size, 1.0)
                for place in np.flatnonzero(distance > best[usable]).tolist():
                    row = int(usable[place])
                    best[row] = distance[place]
                    cut = continuous[row] * scale[place]
                    cut[columns] = rounded[place]
                    side = floor[row] + 1.0 - float(cut[complemented].sum())
                    restored = np.where(complemented, -cut, cut)
                    found[row] = self._restore(restored, side, rows, row, float(scale[place]))
        for cut, side in found.values():
            distance = (side - float(cut @ self.x)) / max(float(np.sqrt((cut**2).sum())), 1e-300)
            if distance > self.parameters.least_distance:
                yield cut, side, float(distance)

    def _substitute(self, rows: _AggregatedRows) -> tuple[Floats, Floats]:
        """Return rows over distances of continuous variables from their lower bounds; negative terms have none."""
        own = self.bounds
        values = rows.values.copy()
        taken = np.maximum(values[:, own.columns], 0.0)
        np.subtract.at(values.T, own.binary, (taken * own.part).T)
        values[:, own.columns] = np.maximum(rows.values[:, own.columns], 0.0)
        return values, rows.right - (taken * own.least).sum(axis=1)

    @property
    def _rest(self) -> Floats:
        """How far continuous variables lie above their lower bounds at the point."""
        rest = np.where(self.whole, 0.0, np.maximum(self.x, 0.0))
        own = self.bounds
        rest[own.columns] = np.maximum(self.x[own.columns] - own.least + own.part * self.x[own.binary], 0.0)
        return rest

    @property
    def _complements(self) -> tuple[NDArray[np.bool_], ...]:
        """Which variables are complemented, one way after the other: those above a half, those that are one."""
        return self.binary & (self.x > 0.5), self.binary & (self.x >= 1.0 - INTEGRAL)  # noqa: PLR2004  (a half)

    def _divisors(self, whole: Floats, fractional: NDArray[np.int64]) -> Iterator[Floats]:
        """Yield a divisor for every row: coefficients of the most fractional variables, and parts of them."""
        size = np.abs(whole[:, fractional])
        least = self.parameters.least_divisor * np.abs(whole).max(axis=1, initial=0.0)
        size = np.where(size > least[:, None], size, 0.0)
        away = np.minimum(self.x[self.fractional] % 1.0, 1.0 - self.x[self.fractional] % 1.0)
        order = np.argsort(np.where(size > 0, -away, 1.0), axis=1, kind="stable")[:, : self.parameters.divisors]
        for place in range(order.shape[1]):
            own = np.take_along_axis(size, order[:, place : place + 1], axis=1)[:, 0]
            for parts in self.parameters.divisor_parts:
                yield np.where(own > 0, own / parts, np.inf)

    def _round_coefficients(self, ratio: Floats, part: Floats, up: NDArray[np.bool_]) -> Floats:
        """Return G of coefficients, which are raised by what doubles may have lost: all variables are zero or more."""
        signed = np.where(up, -ratio, ratio)
        signed = np.where(ratio == 0.0, 0.0, signed + ROUNDED_COEFFICIENT * (1.0 + np.abs(signed)))
        floor = np.floor(signed)
        return np.asarray(floor + np.minimum((signed - floor) / part[:, None], 1.0))

    def _restore(self, cut: Floats, side: float, rows: _AggregatedRows, row: int, scale: float) -> tuple[Floats, float]:
        """Return a cut over the variables themselves."""
        own = self.bounds
        restored, right = cut.copy(), side + float(cut[own.columns] @ own.least)
        np.add.at(restored, own.binary, cut[own.columns] * own.part)
        if rows.times is not None and rows.second is not None and rows.second_right is not None:
            more = float(rows.times[row]) * scale
            restored, right = restored + more * rows.second[row], right + more * float(rows.second_right[row])
        return restored, right


def _cut(values: Floats, right: float, columns: NDArray[np.int64]) -> Cut:
    """Return a cut whose largest coefficient is one, weakened by what doubles may have lost."""
    scale = float(np.abs(values).max())
    ratio = values / scale
    ratio = ratio + ROUNDED_COEFFICIENT * np.abs(ratio)
    small = np.abs(ratio) <= 2 * SMALLEST_ENTRY
    ratio = np.where(small, np.where(ratio > 0, 2 * SMALLEST_ENTRY, 0.0), ratio)
    kept = np.flatnonzero(ratio)
    lost = ROUNDED_COEFFICIENT * (np.abs(right / scale) + float(np.abs(ratio).sum()))
    return Cut(columns[kept], ratio[kept], right / scale - lost, rounded=True)
