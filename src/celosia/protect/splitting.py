r"""The width model by splitting (ADMM): moves are projected on the relations, then clipped cell by cell.

The model is :math:`\min \sum_i w_i \max_p |D_{ip}|` over moves :math:`D_p` in the affine spaces
:math:`A_p = \{d : M d = 0,\ d_p = s_p\}`. Both halves have closed forms: the projection on :math:`A_p` is that on
:math:`\ker M` (`celosia.protect.product`) and a correction along :math:`g_p = P e_p`; the other half clips row i at the
:math:`\tau_i` with :math:`\sum_p (|v_{ip}| - \tau_i)^+ = w_i / \rho`. Every projected point gives safe widths
:math:`\max_p |X_{ip}|`, and every multiplier U gives cuts: its part in the span of :math:`e_p` and the relations,

.. math:: Y_p = U_p - P U_p + \theta_p g_p, \qquad \sum_i |Y_{ip}| W_i \ge \theta_p s_p,

which hold whatever the accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from celosia.protect.product import Product, gather, project

_RELAX = 1.7
"""Over-relaxation: between 1.5 and 1.8 it makes the method about a third faster."""

_CAP = 1e-4
"""Moves are clipped this much within the greatest widths, so that projected ones soon lie within them."""

_ROOM = 2e-3
"""Centres are shifted this much within an attacker's rooms, for the same reason."""

_ROUNDING = 1e-12
"""More than the rounding errors of a projection, relative to the largest entry."""

_SMALLEST = 1e-4
"""Multipliers that say less than this about their target, relative to the largest, make no cut."""

_STUCK = 1e-9
"""A cell that the projection moves by less, when it is pushed by one, does not move."""

_KERNEL = 1e-9
"""Singular values whose squares are below this, relative to the largest, are zero."""


Rooms = tuple[NDArray[np.float64], NDArray[np.float64]]
"""How far an attacker lets cells go down and up."""


class Projector:
    """The orthogonal projection on the moves of a product of trees, for many tables at once, ``(n, q)``."""

    def __init__(self, product: Product, together: int) -> None:
        self._product = product
        self._trees = product.arrays(together)
        self._together = together
        self._leaves = product.leaves()

    def apply(self, x: NDArray[np.float64]) -> None:
        """Project in place."""
        project(x.reshape(-1), self._trees, self._together)

    def alone(self) -> Projector:
        """Return the projection of one table."""
        return Projector(self._product, 1)

    def missed(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much multipliers are not combinations of relations, to be added to their sizes, ``(n, q)``."""
        y = y.copy()
        gather(y.reshape(-1), self._trees, self._together)
        y[~self._leaves] = 0.0
        return np.asarray(np.abs(y))


class Basis:
    """The same by an orthonormal basis of the moves, for relations of any kind on few cells."""

    def __init__(self, matrix: sp.csr_array) -> None:
        gram = (matrix.T @ matrix).toarray()
        values, vectors = np.linalg.eigh(gram)
        self._basis = np.ascontiguousarray(vectors[:, values < _KERNEL * max(1.0, float(values[-1]))])

    def alone(self) -> Basis:
        """Return the projection of one table."""
        return self

    def apply(self, x: NDArray[np.float64]) -> None:
        """Project in place."""
        x[...] = self._basis @ (self._basis.T @ x)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The width model in the places of a product, or on some of its cells.

    Parameters
    ----------
    cost, most
        As in `celosia.protect.widths.WidthTask`; places that are no columns have a greatest width of zero.
    targets, levels, floor
        As there.
    """

    cost: NDArray[np.float64]
    most: NDArray[np.float64]
    targets: NDArray[np.int64]
    levels: NDArray[np.float64]
    floor: NDArray[np.float64]

    @property
    def least(self) -> NDArray[np.float64]:
        """The least widths."""
        least = self.floor.copy()
        least[self.targets] = np.maximum(least[self.targets], self.levels)
        return least


class Splitting:
    """The method at work.

    Parameters
    ----------
    model
        The width model.
    projector
        Projects on the moves.
    stiffness
        The penalty, relative to mean costs over mean levels.

    Attributes
    ----------
    widths
        The cheapest safe widths so far, None where there are none.
    tau
        Where cells are clipped.
    rho
        The penalty.
    """

    def __init__(self, model: Split, projector: Projector | Basis, stiffness: float) -> None:
        self.model = model
        self.projector = projector
        n, q = len(model.cost), len(model.targets)
        self._own = np.arange(q)
        self._g = np.zeros((n, q))
        self._g[model.targets, self._own] = 1.0
        projector.apply(self._g)
        self._pivot = self._g[model.targets, self._own]
        self.stuck = np.flatnonzero(self._pivot < _STUCK)
        self.rho = stiffness * float(model.cost[model.targets].mean()) / float(model.levels.mean())
        self._cap = model.most * (1 - _CAP)
        self._z = self._g * (model.levels / np.maximum(self._pivot, _STUCK))
        self._u = np.zeros((n, q))
        self._t = self._z.copy()
        self.tau = np.abs(self._z).max(axis=1)
        self.reach = self.tau.copy()
        self.widths: NDArray[np.float64] | None = None
        self.steps = 0
        # Centres, which stay at the truth here.
        self._centre, self._shift, self._pull, self._aim = (np.zeros(n) for _ in range(4))
        self._inner: Rooms = (np.full(n, np.inf), np.full(n, np.inf))

    @property
    def cost(self) -> float:
        """What the best widths cost."""
        return np.inf if self.widths is None else float(self.model.cost @ self.widths)

    def advance(self, steps: int) -> None:
        """Go some steps."""
        model = self.model
        weight = model.cost / self.rho
        for _ in range(steps):
            self.projector.apply(self._t)
            correction = (model.levels - self._t[model.targets, self._own]) / self._pivot
            self._clip(correction, weight)
            self.steps += 1
        widths = self._safe()
        if widths is not None and float(model.cost @ widths) < self.cost:
            self.widths = widths

    def _clip(self, correction: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        """Finish the projection, clip every cell, and set up the next projection."""
        _clip(
            *(self._t, self._g, self._z, self._u, correction, weight, self._cap, self.tau, self.reach),
            *(self._centre, self._shift, self._pull, self._aim, *self._inner, _RELAX),
        )

    def _safe(self) -> NDArray[np.float64] | None:
        """Return the widths of the projected moves, None where they are too wide."""
        fits = self.reach <= self.model.most * (1 + 1e-12)
        return np.maximum(self.reach, self.model.least) if bool(fits.all()) else None

    def multipliers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients of cuts by their sizes, ``(n, q)``, and what each says about its target, ``(q,)``.

        Guarantee: for moves d of target p the sum of the coefficients times the sizes of d is at least the second
        number times the level.
        """
        model = self.model
        n = self._u.copy()
        self.projector.apply(n)
        theta = n[model.targets, self._own] / self._pivot
        y = self._u - n + theta * self._g
        useful = theta > _SMALLEST * theta.max(initial=0.0)
        theta = np.where(useful, theta, 0.0)
        y[:, ~useful] = 0.0
        plain = y.copy()
        plain[model.targets, self._own] -= theta
        size = np.abs(y) + self.projector.missed(plain) if isinstance(self.projector, Projector) else np.abs(y)
        size += _ROUNDING * np.abs(y).max(axis=0, initial=0.0)
        return size * self.rho, theta * self.rho

    def restricted(self, places: NDArray[np.int64], matrix: sp.csr_array, rooms: Rooms | None = None) -> Splitting:
        """Return the method on some places only, as far as it has come; all targets are among them.

        With the attacker's rooms down and up, ``(n,)`` each, the ranges that it finds can be placed.
        """
        model, of = self.model, np.full(len(self.model.cost), -1, dtype=np.int64)
        of[places] = np.arange(len(places))
        own = sp.csr_array(matrix[:, places])
        own = sp.csr_array(own[np.flatnonzero(np.diff(own.indptr) > 0)])
        some = Split(model.cost[places], model.most[places], of[model.targets], model.levels, model.floor[places])
        if rooms is None:
            out = Splitting(some, Basis(own), 1.0)
        else:
            out = PlacedSplitting(some, Basis(own), (rooms[0][places], rooms[1][places]))
        out.rho, out.tau = self.rho, self.tau[places].copy()
        for name in ("_z", "_u", "_t"):
            setattr(out, name, np.ascontiguousarray(getattr(self, name)[places]))
        return out

    def bound(self, size: NDArray[np.float64], theta: NDArray[np.float64]) -> float:
        """Return what any safe widths cost at least, by weak duality with the cuts as they are, scaled."""
        total, worth = size.sum(axis=1), float(theta @ self.model.levels)
        used = (self.model.most > 0) & (total > 0)
        tightest = float(np.min(self.model.cost[used] / total[used], initial=1.0))
        factors = [tightest, *np.linspace(0.9, 1.01, 12)]
        return max(_weak(self.model, total * factor, worth * factor) for factor in factors)


class PlacedSplitting(Splitting):
    """The method for ranges that can be placed: a shift of all centres is one table more (`celosia.protect.shifting`).

    Parameters
    ----------
    model, projector
        As for `Splitting`.
    rooms
        The attacker's rooms down and up, infinite where there is no end, ``(n,)`` each.
    """

    def __init__(self, model: Split, projector: Projector | Basis, rooms: Rooms) -> None:
        super().__init__(model, projector, 1.0)
        self._rooms = rooms
        self._alone = projector.alone()
        self._inner = rooms[0] * (1 - _ROOM), rooms[1] * (1 - _ROOM)
        self._cap = np.minimum(self._cap, self._inner[0] + self._inner[1])

    def _clip(self, correction: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        self._centre = self._aim.copy()
        self._alone.apply(self._centre)
        super()._clip(correction, weight)

    def _safe(self) -> NDArray[np.float64] | None:
        """Return the widths of the projected moves around the projected centres, None where they are too wide."""
        down, up = self._rooms
        widths = np.maximum(np.maximum(self.reach, 2 * np.abs(self._centre)), self.model.least)
        fits = (widths <= self.model.most * (1 + 1e-12)) & (widths / 2 + self._centre <= up)
        return widths if bool((fits & (widths / 2 - self._centre <= down)).all()) else None


def _weak(model: Split, total: NDArray[np.float64], worth: float) -> float:
    reduced = model.cost - total
    short = (reduced < 0) & (model.most > 0)
    if bool(np.isinf(model.most[short]).any()):
        return -np.inf
    low = float(reduced[short] @ model.most[short])
    high = float(np.maximum(reduced, 0.0) @ model.least)
    return worth + low + high - 1e-9 * (worth - low + high)


@njit(cache=True, nogil=True, fastmath=True)
def _clip(  # noqa: C901, PLR0912  (one loop, compiled)
    t: NDArray[np.float64],
    g: NDArray[np.float64],
    z: NDArray[np.float64],
    u: NDArray[np.float64],
    correction: NDArray[np.float64],
    weight: NDArray[np.float64],
    cap: NDArray[np.float64],
    tau: NDArray[np.float64],
    reach: NDArray[np.float64],
    centre: NDArray[np.float64],
    shift: NDArray[np.float64],
    pull: NDArray[np.float64],
    aim: NDArray[np.float64],
    down: NDArray[np.float64],
    up: NDArray[np.float64],
    relax: float,
) -> None:
    """Finish the projection, clip every cell at its threshold, and set up the next projection, cell by cell.

    With a threshold of W the shift of a centre lies between max(-W/2, W/2 - L) and min(W/2, U - W/2). The sum of
    squared distances is convex in W, so its slope has one root, which is looked for between two ends that close in.
    """
    n, q = t.shape
    v = np.empty(q)
    for i in range(n):
        furthest = 0.0
        for p in range(q):
            x = t[i, p] + correction[p] * g[i, p]
            furthest = max(furthest, abs(x))
            v[p] = relax * x + (1.0 - relax) * z[i, p] + u[i, p]
        reach[i] = furthest
        c = relax * centre[i] + (1.0 - relax) * shift[i] + pull[i]
        below, above = 0.0, cap[i]
        level = min(tau[i], cap[i])
        if np.abs(v).sum() + abs(c) / 2 <= weight[i]:
            level = above = 0.0
        for _ in range(60 if above > 0.0 else 0):
            slope, bend = weight[i], 0.0
            for p in range(q):
                more = abs(v[p]) - level
                if more > 0.0:
                    slope -= more
                    bend += 1.0
            low, high = max(-level / 2, level / 2 - down[i]), min(level / 2, up[i] - level / 2)
            if c > high:
                slope += (c - high) / 2 if high < level / 2 else (high - c) / 2
                bend += 0.25
            elif c < low:
                slope += (low - c) / 2 if low > -level / 2 else (c - low) / 2
                bend += 0.25
            if slope > 0.0:
                above = level
            else:
                below = level
            last = level
            level = level - slope / bend if bend > 0.0 else below
            if not below < level < above:
                level = (below + above) / 2 if bend > 0.0 or slope <= 0.0 else below
            if abs(level - last) <= 1e-9 * above or above - below <= 1e-9 * above:
                break
        tau[i] = level
        low, high = max(-level / 2, level / 2 - down[i]), min(level / 2, up[i] - level / 2)
        shift[i] = min(max(c, low), high)
        pull[i] = c - shift[i]
        aim[i] = 2.0 * shift[i] - c
        for p in range(q):
            clipped = min(max(v[p], -level), level)
            z[i, p] = clipped
            u[i, p] = v[p] - clipped
            t[i, p] = 2.0 * clipped - v[p]
