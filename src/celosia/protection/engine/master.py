"""The master problem: publish at least cost subject to the cuts found so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.protection.engine.capacity import Cut
from celosia.solve.backend import Backend
from celosia.solve.problem import SMALLEST_ENTRY, LinearProgram
from celosia.solve.solution import Status
from celosia.tolerance import (
    CUT_SATISFIED,
    CUT_VIOLATED,
    CUT_VIOLATED_NEARBY,
    LARGEST_COST,
    LARGEST_USUAL_SIDE,
    MOST_SCALING_BITS,
    SMALLEST_USUAL_SIDE,
    SUM_ROUNDING,
)

if TYPE_CHECKING:
    from celosia.protection.engine.first_order import hybrid_gradient
else:
    hybrid_gradient = OnFirstUse("celosia.protection.engine.first_order.hybrid_gradient")

Places = list[int] | NDArray[np.int64] | slice

EVERY = slice(None)
"""The places of all cuts."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A solution of the relaxed master.

    Parameters
    ----------
    x
        The value of every column, ``(n,)``.
    bound
        Nothing that satisfies the cuts costs less: from the duals, whatever their accuracy.
    reduced
        What a column adds to the bound at least, by unit above its lower bound; negative for what it adds by unit below
        its upper one, ``(n,)``.
    """

    x: NDArray[np.float64]
    bound: float
    reduced: NDArray[np.float64]


@dataclass(eq=False)
class CutPool:
    """All cuts ever found, each once, whether they are in the master or not.

    Attributes
    ----------
    cuts
        The cuts.
    """

    cuts: list[Cut] = field(default_factory=list)
    _place: dict[bytes, int] = field(default_factory=dict)
    _rows: sp.csr_array | None = None
    _right: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.cuts)

    def add(self, cuts: Iterable[Cut]) -> list[int]:
        """Return the places of cuts, which enter where they are new."""
        places = []
        for cut in cuts:
            place = self._place.setdefault(cut.key, len(self.cuts))
            if place == len(self.cuts):
                self.cuts.append(cut)
            places.append(place)
        return places

    def right(self, places: Places) -> NDArray[np.float64]:
        """Return the right sides of some cuts."""
        new = self.cuts[len(self._right) :]
        if new:
            self._right = np.concatenate([self._right, [cut.right for cut in new]])
        return np.asarray(self._right[places])

    def matrix(self, places: Places, n: int) -> sp.csr_array:
        """Return some cuts as rows over `n` columns."""
        known = 0 if self._rows is None else self._rows.shape[0]
        if self._rows is None or known < len(self.cuts):
            self._rows = _append_rows(self._rows, self.cuts[known:], n)
        every = isinstance(places, slice) or np.array_equal(places, np.arange(len(self.cuts)))
        return self._rows if every else _take_rows(self._rows, np.asarray(places, dtype=np.int64))


def _append_rows(rows: sp.csr_array | None, cuts: list[Cut], n: int) -> sp.csr_array:
    """Return rows over `n` columns with further cuts below them; scipy takes several times as long for few cuts."""
    sizes = [len(cut.columns) for cut in cuts]
    values, columns, starts = np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    if rows is not None:
        values, columns, starts = rows.data, rows.indices, rows.indptr
    return sp.csr_array(
        (
            np.concatenate([values, *(cut.values for cut in cuts)]),
            np.concatenate([columns, *(cut.columns for cut in cuts)]).astype(columns.dtype),
            np.concatenate([starts, starts[-1] + np.cumsum(sizes)]).astype(starts.dtype),
        ),
        shape=(len(starts) - 1 + len(cuts), n),
    )


def _take_rows(rows: sp.csr_array, places: NDArray[np.int64]) -> sp.csr_array:
    """Return some rows, with their entries as they are."""
    starts = rows.indptr[places]
    ends = np.cumsum(rows.indptr[places + 1] - starts)
    first = np.concatenate([[0], ends[:-1]])
    taken = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - first, ends - first)
    starts = np.concatenate([[0], ends]).astype(rows.indptr.dtype)
    return sp.csr_array((rows.data[taken], rows.indices[taken], starts), shape=(len(places), rows.shape[1]))


class Master:
    """The linear relaxation of the master, an open model of a solver.

    Parameters
    ----------
    base
        What holds before any cut: costs, bounds, which columns are whole numbers, and rows.
    backend
        The solver.
    pool
        Where cuts are kept.
    """

    def __init__(self, base: LinearProgram, backend: Backend, pool: CutPool) -> None:
        self.base = base
        self.cost, self.lower, self.upper = base.cost, base.lower.copy(), base.upper.copy()
        self.pool = pool
        priced = self.cost[(self.lower < self.upper) & (self.cost > 0)]
        self._scale = float(np.median(priced)) if len(priced) else 1.0
        self._inside = np.zeros(0, dtype=np.int64)
        self._idle = np.zeros(0, dtype=np.int64)
        self._multipliers, self._near, self._weight = np.zeros(0), self.lower.copy(), 0.0
        relaxed = replace(base, cost=lower_costs(self.cost / self._scale), integer=None)
        self._model = backend.open(replace(relaxed, lower=self.lower.copy(), upper=self.upper.copy()))

    def __len__(self) -> int:
        return len(self._inside)

    def add(self, cuts: Iterable[Cut]) -> int:
        """Add cuts; return how many were not in the master."""
        return self._insert(np.array(sorted(set(self.pool.add(cuts))), dtype=np.int64))

    def _insert(self, places: NDArray[np.int64]) -> int:
        outside = np.ones(len(self.pool), dtype=bool)
        outside[self._inside] = False
        new = places[outside[places]]
        if len(new):
            rows, right = self.pool.matrix(new, len(self.cost)), self.pool.right(new)
            scale = scales_of(right)
            self._model.add_rows(scale_rows(rows, scale), right * scale, np.full(len(new), np.inf))
            self._inside = np.concatenate([self._inside, new])
            self._idle = np.concatenate([self._idle, np.zeros(len(new), dtype=np.int64)])
        return len(new)

    @property
    def needed(self) -> NDArray[np.int64]:
        """The places of the cuts that the integer master needs: all but rounded ones that are not in the relaxation."""
        wanted = np.array([not cut.rounded for cut in self.pool.cuts], dtype=bool)
        wanted[self._inside] = True
        return np.flatnonzero(wanted)

    @property
    def inside(self) -> tuple[sp.csr_array, NDArray[np.float64]]:
        """The cuts that are in the master: rows and their right sides."""
        return self.pool.matrix(self._inside, len(self.cost)), self.pool.right(self._inside)

    def recall(self, x: NDArray[np.float64]) -> int:
        """Add cuts of the pool that a point violates and that had left; return how many."""
        if len(self._inside) == len(self.pool):
            return 0
        return self._insert(
            np.flatnonzero(
                (self.pool.right(EVERY) - self.pool.matrix(EVERY, len(self.cost)) @ x)
                * scales_of(self.pool.right(EVERY))
                > CUT_VIOLATED
            )
        )

    def fix(self, columns: NDArray[np.int64], values: NDArray[np.float64] | float) -> None:
        """Give some columns a value from now on."""
        at = np.broadcast_to(np.asarray(values, dtype=np.float64), len(columns)).copy()
        self.lower[columns] = self.upper[columns] = at
        self._model.change_bounds(columns, at, at)

    def tighten(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Let columns, none of which is fixed now, have other bounds for good, ``(n,)`` each."""
        columns = np.flatnonzero((lower != self.base.lower) | (upper != self.base.upper))
        if len(columns):
            self.base = replace(self.base, lower=lower, upper=upper)
            self.lower, self.upper = lower.copy(), upper.copy()
            self._model.change_bounds(columns, lower[columns], upper[columns])

    @property
    def is_restricted(self) -> bool:
        """Whether columns are fixed, so that its bound may not hold for all points."""
        return bool(((self.lower != self.base.lower) | (self.upper != self.base.upper)).any())

    def release(self) -> None:
        """Leave every column open again that was fixed."""
        columns = np.flatnonzero((self.lower != self.base.lower) | (self.upper != self.base.upper))
        self.lower[columns], self.upper[columns] = self.base.lower[columns], self.base.upper[columns]
        self._model.change_bounds(columns, self.lower[columns], self.upper[columns])

    def solve(self) -> Point | None:
        """Return the cheapest point, None where no point satisfies the cuts.

        Guarantee: the bound is computed from the duals by weak duality, and holds for any duals.
        """
        solution = self._model.solve(method="dual")
        if solution.status is Status.INFEASIBLE:
            return None
        if solution.x is None or solution.duals is None:
            raise ArithmeticError(f"the master ended with {solution.status}")
        rows, right = self.pool.matrix(self._inside, len(self.cost)), self.pool.right(self._inside)
        duals = solution.duals * self._scale
        duals[self.base.rows.shape[0] :] *= scales_of(right)
        bound, reduced = self._bound(rows, right, duals)
        x = np.clip(solution.x, self.lower, self.upper)
        self._count_slack_rounds((rows @ x - right) * scales_of(right))
        return Point(x, bound, reduced)

    def approach(self, steps: int) -> Point:
        """Return a point that is nearly the cheapest, by so many steps from the last one (`engine.first_order`).

        Guarantee: the bound is that of the best multipliers on the way, by weak duality, and holds as that of `solve`.
        There must be cuts only, and finite bounds.
        """
        places, n = self._inside, len(self.cost)
        rows, right = self.pool.matrix(places, n), self.pool.right(places)
        scale = scales_of(right)
        program = hybrid_gradient.Program.of(
            scale_rows(rows, scale), right * scale, lower_costs(self.cost / self._scale), self.lower, self.upper
        )
        known = np.zeros(len(self.pool))
        known[: len(self._multipliers)] = self._multipliers
        now = hybrid_gradient.start_iterate(program, self._near, known[places], self._weight)
        hybrid_gradient.take_steps(program, now, steps)
        self._near, self._weight = now.x, float(now.weight[0])
        self._multipliers = np.zeros(len(self.pool))
        self._multipliers[places] = now.y
        bound, reduced = self._bound(rows, right, now.best * self._scale * scale)
        slack = (rows @ now.x - right) * scale
        self._idle = np.where((slack > CUT_VIOLATED_NEARBY) & (now.y <= 0.0), self._idle + 1, 0)
        return Point(now.x.copy(), bound, reduced)

    def _bound(
        self, rows: sp.csr_array, right: NDArray[np.float64], duals: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the bound that any duals prove by weak duality, and its reduced costs.

        Where a column without an upper bound has a negative reduced cost, the duals are taken a little smaller.
        """
        given = self.base.rows.shape[0]
        side = np.where(duals[:given] > 0, self.base.row_lower, self.base.row_upper)
        base = np.where(np.isfinite(side), duals[:given], 0.0)
        side = np.where(np.isfinite(side), side, 0.0)
        cuts = np.maximum(duals[given:], 0.0)
        terms = self.base.rows.T @ base + rows.T @ cuts
        over = np.isinf(self.upper) & (terms > self.cost)
        part = float((self.cost[over] / terms[over]).min(initial=1.0))
        reduced = self.cost - part * terms
        reduced[over] = np.maximum(reduced[over], 0.0)
        ends = np.where(reduced < 0, np.where(np.isinf(self.upper), 0.0, self.upper), self.lower)
        ends[reduced == 0] = 0.0  # also of columns without any bound
        products = np.concatenate([part * base * side, part * cuts * right, reduced * ends])
        return float(products.sum()) - SUM_ROUNDING * float(np.abs(products).sum()), reduced

    def _count_slack_rounds(self, slack: NDArray[np.float64]) -> None:
        """Count how long each cut has been slack."""
        self._idle = np.where(slack > CUT_SATISFIED, self._idle + 1, 0)

    def purge(self, patience: int) -> None:
        """Remove cuts that have been slack in so many solutions in a row; they stay in the pool."""
        leaving = np.flatnonzero(self._idle >= patience)
        if len(leaving):
            self._model.delete_rows(leaving + self.base.rows.shape[0])
            self._inside, self._idle = np.delete(self._inside, leaving), np.delete(self._idle, leaving)

    @property
    def scale(self) -> float:
        """The number by which costs are divided for the solver."""
        return self._scale


def scales_of(right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by which powers of two cuts are multiplied for a solver: one where their right sides are of usual size.

    Solvers satisfy a row to an absolute tolerance. Levels of one unit beside those of 10^15 would be no more than that;
    rows whose right sides are about one are satisfied to a share of their level. A small side below zero is no level,
    but what rounding takes off a side of zero.
    """
    size = np.abs(right)
    unusual = ((right > 0) & (size < SMALLEST_USUAL_SIDE)) | (size > LARGEST_USUAL_SIDE)
    if not unusual.any():
        return np.ones(len(right))
    exponent = -np.floor(np.log2(np.where(unusual, size, 1.0)))
    return np.where(unusual, 2.0 ** np.clip(exponent, -MOST_SCALING_BITS, MOST_SCALING_BITS), 1.0)


def scale_rows(rows: sp.csr_array, scale: NDArray[np.float64]) -> sp.csr_array:
    """Return rows times their scales; coefficients smaller than solvers take are raised, which keeps cuts valid."""
    if bool((scale == 1.0).all()):
        return rows
    scaled = sp.csr_array(sp.diags_array(scale) @ rows)
    small = np.abs(scaled.data) <= SMALLEST_ENTRY
    scaled.data = np.where(small, np.where(scaled.data > 0, 2 * SMALLEST_ENTRY, 0.0), scaled.data)
    return scaled


def lower_costs(cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs no larger than solvers take beside one: columns are never negative, so bounds stay valid."""
    return np.minimum(cost, LARGEST_COST)
