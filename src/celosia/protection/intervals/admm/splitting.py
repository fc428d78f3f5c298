r"""The splitting method (ADMM) for ranges: tables are projected on the relations, then clipped cell by cell.

Ranges from :math:`-D_i` to :math:`U_i` around the truth are safe when every sensitive cell p has two tables
:math:`X_p, X'_p` of moves in them (Salazar 2002, Figure 6) with

.. math:: M X_p = M X'_p = 0, \qquad X_{pp} - X'_{pp} = s_p, \quad\text{or}\quad X_{pp} = u_p,\ X'_{pp} = -l_p,

for a sliding level :math:`s_p`, or separate ones. The cheapest ranges minimise :math:`\sum_i c_i U_i + c'_i D_i`, where
:math:`U_i` is the greatest of all moves of cell i up, and :math:`D_i` down. Both halves of the method have closed
forms: the projection is that on :math:`\ker M` (`celosia.protection.intervals.admm.product`) and a correction along
:math:`g_p = P e_p`; the other half clips the moves V of cell i at the :math:`U_i` with :math:`\sum (V - U_i)^+ = c_i /
\rho`, no further than the attacker's bounds, and in the same way below. Every projected point gives safe ranges where
it keeps to these bounds, and all multipliers give cuts: their part in the span of the relations and :math:`e_p` is
:math:`Y_p = V_p - P V_p + \theta_p g_p`, and

.. math:: \sum_i (Y_{pi})^+ U_i + (Y_{pi})^- D_i \ge \theta_p X_{pp}, \quad\text{whatever the accuracy.}
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.intervals.admm.model import SplittingCuts, SplittingModel
from celosia.protection.intervals.admm.parameters import SPLITTING, SplittingParameters
from celosia.protection.intervals.admm.projection import BasisProjector, ProductProjector
from celosia.solve import deadline
from celosia.tolerance import DOUBLE_ROUNDING, PROJECTION_ZERO


class AlternatingDirections:
    """The iterates of the splitting method: two tables of moves for every target, and their multipliers.

    Parameters
    ----------
    model
        Costs, bounds and levels.
    projector
        Projects on the moves.
    parameters
        How the method goes.

    Attributes
    ----------
    ends
        The cheapest safe ranges so far, down and up, None where there are none.
    reach
        How far projected moves reach down and up: safe ranges where that is within the attacker's bounds.
    clipped
        Where cells are clipped, down and up.
    stuck
        The targets that are determined by the relations.
    """

    def __init__(
        self,
        model: SplittingModel,
        projector: ProductProjector | BasisProjector,
        parameters: SplittingParameters = SPLITTING,
    ) -> None:
        self.model, self.projector, self.parameters = model, projector, parameters
        n, q = len(model.up), len(model.targets)
        self._own = np.arange(q)
        self._g = np.zeros((n, q))
        self._g[model.targets, self._own] = 1.0
        projector.apply(self._g)
        self._pivot = self._g[model.targets, self._own]
        self.stuck = np.flatnonzero(self._pivot < PROJECTION_ZERO)
        self._pivot = np.maximum(self._pivot, PROJECTION_ZERO)
        self._aims = model.aims
        mean = (model.down_cost + model.up_cost)[model.targets].mean() / np.abs(self._aims).sum(axis=0).mean()
        self._rho = parameters.penalty * float(mean) / 2
        self._v = np.ascontiguousarray((self._aims / self._pivot) * self._g[:, None, :])
        self._t = self._v.copy()
        far = np.abs(self._v).max(axis=(1, 2))
        self.clipped, self.reach = (far.copy(), far.copy()), (far.copy(), far.copy())
        inside = 1 - parameters.clip_margin
        self._caps = model.down * inside, model.up * inside
        self.ends: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self.steps = 0

    @property
    def cost(self) -> float:
        """What the best ranges cost."""
        return np.inf if self.ends is None else self.model.cost(*self.ends)

    def advance(self, steps: int) -> None:
        """Take some steps, and keep the ranges of the last projection where they are safe and cheaper."""
        model, relaxation = self.model, self.parameters.relaxation
        weights = model.down_cost / self._rho, model.up_cost / self._rho
        for _ in range(steps):
            deadline.check()
            self.projector.apply(self._t)
            correction = self._couple(self._aims - self._at_targets(self._t)) / self._pivot
            _clip(self._t, self._g, self._v, correction, weights, self._caps, self.clipped, self.reach, relaxation)
            self.steps += 1
        fits = not any(bool((excess > 0).any()) for excess in self._excess)
        if fits and model.cost(*self.reach) < self.cost:
            self.ends = self.reach[0].copy(), self.reach[1].copy()

    @property
    def _excess(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How far projected moves exceed the attacker's bounds, zero where they do not."""
        bounds = self.model.down, self.model.up
        down, up = (
            np.maximum(end - bound * (1 + DOUBLE_ROUNDING), 0.0) for end, bound in zip(self.reach, bounds, strict=True)
        )
        return down, up

    def tighten(self) -> None:
        """Clip cells further inside the attacker's bounds where projected moves exceed them."""
        down, up = self._excess
        self._caps = np.maximum(self._caps[0] - down, 0.0), np.maximum(self._caps[1] - up, 0.0)

    def _at_targets(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the moves of the targets in their own tables, ``(2, q)``."""
        return np.asarray(x[self.model.targets, :, self._own].T)

    def _couple(self, moves: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the part of the moves of targets that their levels restrict: differences where levels slide."""
        half = (moves[0] - moves[1]) / 2
        return np.where(self.model.sliding > 0, np.stack([half, -half]), moves)

    def cuts(self) -> SplittingCuts:
        """Return a cut for every target.

        Guarantee: safe ranges satisfy all of them, whatever the accuracy of the multipliers.
        """
        model, (down, up) = self.model, self.clipped
        u = self._v - np.clip(self._v, -down[:, None, None], up[:, None, None])
        n = u.copy()
        self.projector.apply(n)
        theta = self._couple(self._at_targets(n)) / self._pivot
        right = (theta * self._aims).sum(axis=0)
        useful = right > self.parameters.least_multiplier * right.max(initial=0.0)
        y = u - n + theta * self._g[:, None, :]
        y[:, :, ~useful] = 0.0
        size = DOUBLE_ROUNDING * np.abs(y).max(axis=(0, 1), initial=0.0)
        if isinstance(self.projector, ProductProjector):
            plain = y.copy()
            plain[model.targets, :, self._own] -= np.where(useful, theta, 0.0).T
            size = size + self.projector.residuals(plain).sum(axis=1)
        return SplittingCuts(
            (np.maximum(-y, 0.0).sum(axis=1) + size) * self._rho,
            (np.maximum(y, 0.0).sum(axis=1) + size) * self._rho,
            np.where(useful, right, 0.0) * self._rho,
        )

    def restrict(self, places: NDArray[np.int64], matrix: sp.csr_array) -> AlternatingDirections:
        """Return the iterates on some places only, among which are all targets."""
        own = sp.csr_array(matrix[:, places])
        own = sp.csr_array(own[np.flatnonzero(np.diff(own.indptr) > 0)])
        out = AlternatingDirections(self.model.restrict(places), BasisProjector(own, self.parameters), self.parameters)
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
