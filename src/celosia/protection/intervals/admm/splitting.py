r"""Ranges by splitting (ADMM): tables are projected on the relations, then clipped cell by cell.

Ranges from :math:`-D_i` to :math:`U_i` around the truth are safe when every sensitive cell p has two tables
:math:`X_p, X'_p` of moves in them (Salazar 2002, Figure 6) with

.. math:: M X_p = M X'_p = 0, \qquad X_{pp} - X'_{pp} = s_p, \quad\text{or}\quad X_{pp} = u_p,\ X'_{pp} = -l_p,

for a sliding level :math:`s_p`, or separate ones. The cheapest ranges minimise :math:`\sum_i c_i U_i + c'_i D_i`, where
:math:`U_i` is the greatest of all moves of cell i up, and :math:`D_i` down. Both halves of the method have closed
forms: the projection is that on :math:`\ker M` (`celosia.protection.intervals.admm.product`) and a correction along
:math:`g_p = P e_p`; the other half clips the moves V of cell i at the :math:`U_i` with :math:`\sum (V - U_i)^+ = c_i /
\rho`, no further than the attacker's room, and in the same way below. Every projected point gives safe ranges where it
keeps to the rooms, and all multipliers give cuts: their part in the span of the relations and :math:`e_p` is :math:`Y_p
= V_p - P V_p + \theta_p g_p`, and

.. math:: \sum_i (Y_{pi})^+ U_i + (Y_{pi})^- D_i \ge \theta_p X_{pp}, \quad\text{whatever the accuracy.}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.intervals.admm.product import Product, gather, project
from celosia.solve import deadline

_RELAX = 1.7
"""Over-relaxation: between 1.5 and 1.8 it makes the method about a third faster."""

_STIFFNESS = 0.8
"""The penalty, relative to mean costs over mean levels."""

_CAP = 1e-3
"""Moves are clipped this much within the attacker's rooms, so that projected ones soon lie within them."""

_ROUNDING = 1e-12
"""More than the rounding errors of a projection, relative to the largest entry."""

_SMALLEST = 1e-4
"""Multipliers that say less than this about their target, relative to the largest, make no cut."""

_STUCK = 1e-9
"""A cell that the projection moves by less, when it is pushed by one, does not move."""

_SECONDS_OF_CUBE = 2e-9
"""Seconds that eigenvectors take, as a part of the cube of how many there are."""

_KERNEL = 1e-9
"""Singular values whose squares are below this, relative to the largest, are zero."""


class Projector:
    """The orthogonal projection on the moves of a product of trees, for many tables at once, ``(n, ...)``."""

    def __init__(self, product: Product) -> None:
        self._trees = product.arrays()
        self._leaves = product.leaves()

    def apply(self, x: NDArray[np.float64]) -> None:
        """Project in place."""
        project(x.reshape(-1), self._trees, x.size // len(x))

    def missed(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much multipliers are not combinations of relations, to be added to their sizes."""
        y = y.copy()
        gather(y.reshape(-1), self._trees, y.size // len(y))
        y[~self._leaves] = 0.0
        return np.asarray(np.abs(y))


class Basis:
    """The same by an orthonormal basis of the moves, for relations of any kind on few cells.

    Raises
    ------
    DeadlineError
        It would not be known in time: nothing interrupts the search for it.
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        if deadline.left() < _SECONDS_OF_CUBE * float(matrix.shape[1]) ** 3:
            raise deadline.run_out()
        gram = (matrix.T @ matrix).toarray()
        values, vectors = np.linalg.eigh(gram)
        self._basis = np.ascontiguousarray(vectors[:, values < _KERNEL * max(1.0, float(values[-1]))])

    def apply(self, x: NDArray[np.float64]) -> None:
        """Project in place."""
        flat = x.reshape(len(x), -1)
        flat[...] = self._basis @ (self._basis.T @ flat)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """What ranges cost and must leave open, in the places of a product or in some of them; all in mean levels.

    Parameters
    ----------
    down_cost, up_cost
        What a mean level below and above the truth costs, ``(n,)`` each.
    down, up
        The attacker's rooms, infinite where there is no end, zero where a place is no range, ``(n,)`` each.
    targets
        The sensitive places, ``(q,)``.
    lower, upper, sliding
        Their levels: a sliding one, or separate ones where that is zero, ``(q,)`` each.
    """

    down_cost: NDArray[np.float64]
    up_cost: NDArray[np.float64]
    down: NDArray[np.float64]
    up: NDArray[np.float64]
    targets: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    sliding: NDArray[np.float64]

    def among(self, places: NDArray[np.int64], members: NDArray[np.int64] | None = None) -> Split:
        """Return the same of some places, and of some targets, which are among them; by default of all targets."""
        of = np.full(len(self.up), -1, dtype=np.int64)
        of[places] = np.arange(len(places))
        some = np.arange(len(self.targets)) if members is None else members
        return Split(
            self.down_cost[places],
            self.up_cost[places],
            self.down[places],
            self.up[places],
            of[self.targets[some]],
            self.lower[some],
            self.upper[some],
            self.sliding[some],
        )

    @property
    def aims(self) -> NDArray[np.float64]:
        """How far the tables of every target take it up and down, ``(2, q)``; only their difference if it slides."""
        slides = self.sliding > 0
        return np.stack(
            [np.where(slides, self.sliding / 2, self.upper), -np.where(slides, self.sliding / 2, self.lower)]
        )

    def cost(self, down: NDArray[np.float64], up: NDArray[np.float64]) -> float:
        """Return what ranges cost."""
        return float(self.down_cost @ down + self.up_cost @ up)

    def weak(self, down: NDArray[np.float64], up: NDArray[np.float64], worth: float) -> float:
        """Return the bound by weak duality from a combination of cuts: its coefficients and its right side."""
        left = self.down_cost - down, self.up_cost - up
        rooms = self.down, self.up
        low = 0.0
        for reduced, room in zip(left, rooms, strict=True):
            short = (reduced < 0) & (room > 0)
            if bool(np.isinf(room[short]).any()):
                return -np.inf
            low += float(reduced[short] @ room[short])
        below, above = (np.maximum(reduced[self.targets], 0.0) for reduced in left)
        slides = self.sliding > 0
        own = float(
            np.where(slides, np.minimum(below, above) * self.sliding, below * self.lower + above * self.upper).sum()
        )
        return worth + low + own - 1e-9 * (worth - low + own)


@dataclass(frozen=True, slots=True, eq=False)
class SplitCuts:
    """A cut for every target: coefficients down and up, ``(n, q)`` each, and right sides, ``(q,)``; zero for none."""

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    right: NDArray[np.float64]


class Splitting:
    """The method at work.

    Parameters
    ----------
    model
        What ranges cost and must leave open.
    projector
        Projects on the moves.

    Attributes
    ----------
    ends
        The cheapest safe ranges so far, down and up, None where there are none.
    reach
        How far projected moves reach down and up, safe where that is within the rooms.
    clipped
        Where cells are clipped, down and up.
    stuck
        The targets that do not move at all.
    """

    def __init__(self, model: Split, projector: Projector | Basis) -> None:
        self.model = model
        self.projector = projector
        n, q = len(model.up), len(model.targets)
        self._own = np.arange(q)
        self._g = np.zeros((n, q))
        self._g[model.targets, self._own] = 1.0
        projector.apply(self._g)
        self._pivot = self._g[model.targets, self._own]
        self.stuck = np.flatnonzero(self._pivot < _STUCK)
        self._pivot = np.maximum(self._pivot, _STUCK)
        self._aims = model.aims
        mean = (model.down_cost + model.up_cost)[model.targets].mean() / np.abs(self._aims).sum(axis=0).mean()
        self._rho = _STIFFNESS * float(mean) / 2
        self._v = np.ascontiguousarray((self._aims / self._pivot) * self._g[:, None, :])
        self._t = self._v.copy()
        far = np.abs(self._v).max(axis=(1, 2))
        self.clipped, self.reach = (far.copy(), far.copy()), (far.copy(), far.copy())
        self._caps = model.down * (1 - _CAP), model.up * (1 - _CAP)
        self.ends: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self.steps = 0

    @property
    def cost(self) -> float:
        """What the best ranges cost."""
        return np.inf if self.ends is None else self.model.cost(*self.ends)

    def advance(self, steps: int) -> None:
        """Go some steps."""
        model = self.model
        weights = model.down_cost / self._rho, model.up_cost / self._rho
        for _ in range(steps):
            deadline.check()
            self.projector.apply(self._t)
            correction = self._coupled(self._aims - self._at_targets(self._t)) / self._pivot
            _clip(self._t, self._g, self._v, correction, weights, self._caps, self.clipped, self.reach, _RELAX)
            self.steps += 1
        fits = not any(bool((beyond > 0).any()) for beyond in self._beyond)
        if fits and model.cost(*self.reach) < self.cost:
            self.ends = self.reach[0].copy(), self.reach[1].copy()

    @property
    def _beyond(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How far projected moves go beyond the attacker's rooms, zero where they do not."""
        rooms = self.model.down, self.model.up
        down, up = (np.maximum(end - room * (1 + _ROUNDING), 0.0) for end, room in zip(self.reach, rooms, strict=True))
        return down, up

    def tighten(self) -> None:
        """Clip cells further inside the attacker's rooms where projected moves go beyond them."""
        down, up = self._beyond
        self._caps = np.maximum(self._caps[0] - down, 0.0), np.maximum(self._caps[1] - up, 0.0)

    def _at_targets(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the moves of the targets in their own tables, ``(2, q)``."""
        return np.asarray(x[self.model.targets, :, self._own].T)

    def _coupled(self, moves: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the part of moves of targets that their requirements speak of: differences where levels slide."""
        half = (moves[0] - moves[1]) / 2
        return np.where(self.model.sliding > 0, np.stack([half, -half]), moves)

    def cuts(self) -> SplitCuts:
        """Return a cut for every target.

        Guarantee: safe ranges satisfy all of them, whatever the accuracy of the multipliers.
        """
        model, (down, up) = self.model, self.clipped
        u = self._v - np.clip(self._v, -down[:, None, None], up[:, None, None])
        n = u.copy()
        self.projector.apply(n)
        theta = self._coupled(self._at_targets(n)) / self._pivot
        right = (theta * self._aims).sum(axis=0)
        useful = right > _SMALLEST * right.max(initial=0.0)
        y = u - n + theta * self._g[:, None, :]
        y[:, :, ~useful] = 0.0
        size = _ROUNDING * np.abs(y).max(axis=(0, 1), initial=0.0)
        if isinstance(self.projector, Projector):
            plain = y.copy()
            plain[model.targets, :, self._own] -= np.where(useful, theta, 0.0).T
            size = size + self.projector.missed(plain).sum(axis=1)
        return SplitCuts(
            (np.maximum(-y, 0.0).sum(axis=1) + size) * self._rho,
            (np.maximum(y, 0.0).sum(axis=1) + size) * self._rho,
            np.where(useful, right, 0.0) * self._rho,
        )

    def restricted(self, places: NDArray[np.int64], matrix: sp.csr_array) -> Splitting:
        """Return the method on some places only, as far as it has come; all targets are among them."""
        own = sp.csr_array(matrix[:, places])
        own = sp.csr_array(own[np.flatnonzero(np.diff(own.indptr) > 0)])
        out = Splitting(self.model.among(places), Basis(own))
        out._rho = self._rho
        out.clipped = self.clipped[0][places], self.clipped[1][places]
        out._v, out._t = (np.ascontiguousarray(x[places]) for x in (self._v, self._t))
        return out


@kernel(fastmath=True)
def _clip(  # noqa: C901  (one loop, compiled)
    t: Annotated[NDArray[np.float64], 3],
    g: Annotated[NDArray[np.float64], 2],
    v: Annotated[NDArray[np.float64], 3],
    correction: Annotated[NDArray[np.float64], 2],
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    caps: tuple[NDArray[np.float64], NDArray[np.float64]],
    clipped: tuple[NDArray[np.float64], NDArray[np.float64]],
    reach: tuple[NDArray[np.float64], NDArray[np.float64]],
    relax: float,
) -> None:
    """Finish the projection of t, clip every cell, and set up the next projection, cell by cell.

    Numbers and multipliers are kept as their sum v: the numbers are v clipped, the multipliers what is left.
    """
    n, layers, q = t.shape
    tables = np.empty((layers, q))
    x = tables.reshape(-1)
    below = np.empty(layers * q)
    for i in range(n):
        for layer in range(layers):
            own, along, line, push = t[i, layer], g[i], tables[layer], correction[layer]
            for p in range(q):
                line[p] = own[p] + push[p] * along[p]
        least, most = 0.0, 0.0
        for p in range(len(x)):
            least = min(least, x[p])
            most = max(most, x[p])
        reach[0][i], reach[1][i] = -least, most
        both, low, high = v[i].reshape(-1), -clipped[0][i], clipped[1][i]
        for p in range(len(x)):
            both[p] += relax * (x[p] - min(max(both[p], low), high))
        under, over = 0.0, 0.0
        for p in range(len(x)):
            under -= min(both[p], 0.0)
            over += max(both[p], 0.0)
        high = 0.0
        if over > weights[1][i]:
            high = min(_threshold(both, weights[1][i], clipped[1][i]), caps[1][i])
        low = 0.0
        if under > weights[0][i]:
            for p in range(len(x)):
                below[p] = -both[p]
            low = min(_threshold(below, weights[0][i], clipped[0][i]), caps[0][i])
        clipped[0][i], clipped[1][i] = low, high
        following = t[i].reshape(-1)
        for p in range(len(x)):
            following[p] = 2.0 * min(max(both[p], -low), high) - both[p]


@inner(fastmath=True)
def _threshold(v: NDArray[np.float64], weight: float, start: float) -> float:
    """Return the level above which numbers exceed it by a weight in all; they exceed zero by more.

    By Newton's method, from the last level: what exceeds it is convex in it, so one step leads to its left, and all
    others come nearer from there.
    """
    level = start
    for _ in range(60):
        more, count = 0.0, 0.0
        for p in range(len(v)):
            over = v[p] - level
            more += max(over, 0.0)
            count += 1.0 if over > 0.0 else 0.0
        if count == 0.0:
            level = 0.0
            continue
        last = level
        level = max(level + (more - weight) / count, 0.0)
        if abs(level - last) <= 1e-9 * level:
            break
    return level
