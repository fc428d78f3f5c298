r"""Shifts of ranges to another place around the truth, at the same cost.

Whatever an attacker must not rule out, moved by a shift :math:`c` with :math:`M c = 0`, lies in ranges that are moved
by c as well. So with ranges from :math:`-D_i` to :math:`U_i` around the truth, and bounds :math:`L_i` and :math:`R_i`
of the attacker, every shift with

.. math:: \max(-U_i,\ D_i - L_i) \le c_i \le \min(D_i,\ R_i - U_i)

keeps every sliding level, and the truth within its range. It does not keep separate lower and upper levels.

Without a shift the truth is the middle of many ranges, and taking averages discloses it (Baena, Castro and Gonzalez,
Table 4). A vertex of these shifts puts it at ends instead; so several vertices, drawn from a secret seed, are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.parameters import INTERVALS
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.table.relations import label_components
from celosia.tolerance import ENDLESS, SHIFT_FEASIBLE, SHIFT_MARGIN


@dataclass(frozen=True, slots=True, eq=False)
class Shifts:
    """The shifts of some ranges that keep their levels and their cost, all in widest ranges.

    Parameters
    ----------
    rows
        The relations, and one row for costs where those up and down differ; a shift adds up to zero along each.
    low, high
        How far every range may be moved, ``(m,)`` each.
    draws
        Vertices that are averaged.
    """

    rows: sp.csr_array
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    draws: int = INTERVALS.shift_draws

    def draw(self, backend: Backend, random: np.random.Generator) -> NDArray[np.float64] | None:
        """Return the average of some vertices, component by component; None where there is no shift."""
        out = np.zeros(len(self.low))
        _, label = label_components(self.rows)
        order = np.argsort(label, kind="stable")
        ends = np.flatnonzero(np.diff(label[order])) + 1
        for columns in np.split(order, ends):
            own = Shifts(_drop_empty(self.rows[:, columns]), self.low[columns], self.high[columns], self.draws)
            drawn = own._average_vertices(backend, random)
            if drawn is None:
                return None
            out[columns] = drawn
        return out

    def _average_vertices(self, backend: Backend, random: np.random.Generator) -> NDArray[np.float64] | None:
        """Return the average of some vertices, of one component; None where there is no shift."""
        n = len(self.low)
        total = np.zeros(n)
        model = backend.open(LinearProgram.of_moves(self.rows, self.low, self.high))
        for _ in range(self.draws):
            model.change_costs(np.arange(n), random.normal(size=n))
            x = model.solve(method="primal", duals=False).x
            if x is None:
                return None
            total += x
        return np.asarray(total / self.draws)

    def draw_whole(self, backend: Backend, random: np.random.Generator) -> NDArray[np.float64] | None:
        """Return a sum of vertices of random boxes with whole ends, drawn one by one; None where one is not whole."""
        n = len(self.low)
        low, high = (np.floor(np.maximum(side, 0.0) + SHIFT_FEASIBLE) for side in (-self.low, self.high))
        total, columns = np.zeros(n), np.arange(n)
        model = backend.open(LinearProgram.of_moves(self.rows, -low, high))
        for _ in range(self.draws):
            below, above = (np.floor(random.random(n) * (side + 1)) for side in (low + total, high - total))
            model.change_bounds(columns, -below, above)
            model.change_costs(columns, random.normal(size=n))
            x = model.solve(duals=False).x
            if x is None or bool((self.rows @ np.rint(x)).any()):
                return None
            total += np.rint(x)
        return total

    def find_least(self, backend: Backend) -> NDArray[np.float64] | None:
        """Return the shift that moves ranges the least in all; None where there is none."""
        m, n = self.rows.shape
        rows = sp.csr_array(
            sp.vstack([sp.hstack([self.rows, -self.rows]), sp.hstack([sp.eye_array(n), -sp.eye_array(n)])])
        )
        none = np.zeros(m)
        program = LinearProgram(
            rows,
            np.concatenate([none, self.low]),
            np.concatenate([none, self.high]),
            np.zeros(2 * n),
            np.full(2 * n, np.inf),
            np.ones(2 * n),
        )
        x = backend.open(program).solve(duals=False).x
        return None if x is None else x[:n] - x[n:]


def shift_ranges(
    problem: ProtectionProblem,
    slacks: RangeSlacks,
    costs: tuple[NDArray[np.float64], NDArray[np.float64]],
    backend: Backend,
    random: np.random.Generator | None,
    *,
    among: NDArray[np.bool_] | None = None,
    freely: bool = False,
    step: int | None = None,
    draws: int = INTERVALS.shift_draws,
) -> RangeSlacks | None:
    """Return ranges shifted at the same cost; None where no shift keeps all levels.

    Parameters
    ----------
    problem, slacks
        The ranges. With one attacker they may exceed his bounds, if shifts bring them back.
    costs
        What a unit costs down and up, by columns.
    backend
        The solver.
    random
        Draws the shift; None for none if that is possible, otherwise for the one that moves ranges the least.
    among
        Which ranges are moved, ``(n,)``, those of all columns that relations tie together or of none; by default all.
    freely
        Values of cells that are hidden or published as other numbers, whose ranges stay where they are, may be moved in
        them as well. Whether that keeps all levels is not known: the result must be audited.
    step
        Ends are multiples of so many counts, and so is the shift, because that is what attackers know of values.
    draws
        Vertices that are averaged.
    """
    still = slacks.no_ranges(problem.cells)
    own = np.ones(len(problem), dtype=bool) if among is None else among
    ranges = (slacks.down + slacks.up > 0) & ~still & own
    moving = np.flatnonzero(ranges | (still & own) if freely else ranges)
    if not bool(ranges.any()):
        return slacks
    relations = sp.csr_array(problem.matrix[~problem.implied][:, moving], dtype=np.float64)
    down, up, fixed = slacks.down[moving], slacks.up[moving], still[moving]
    unit, dearer = float(step or np.max((down + up)[~fixed])), np.where(fixed, 0.0, (costs[1] - costs[0])[moving])
    adds_up = bool(np.all(np.abs(relations @ (up - down)) <= SHIFT_FEASIBLE * unit))
    if (
        adds_up and not freely and step is None and problem.n_attackers == 1 and not bool(dearer.any())
    ):  # ends are rounder numbers
        down = up = (down + up) / 2
    low, high = (
        np.maximum(-up, -_growth(problem.down[:, moving], down)),
        np.minimum(down, _growth(problem.up[:, moving], up)),
    )
    if freely:
        far, hidden = unit * len(moving), np.zeros_like(fixed) if slacks.hidden is None else slacks.hidden[moving]
        below, above = (
            np.minimum(np.where(hidden, bounds[:, moving].min(axis=0), slack), far)
            for bounds, slack in ((problem.down, down), (problem.up, up))
        )
        low, high = np.where(fixed, -below, low), np.where(fixed, above, high)
    if random is None and bool(np.all((low <= 0) & (high >= 0))):
        found: NDArray[np.float64] | None = np.zeros(len(moving))
    else:
        priced = [sp.csr_array(dearer[None, :] / np.abs(dearer).max())] if bool(dearer.any()) else []
        shifts = Shifts(
            _drop_empty(sp.vstack([relations, *priced])), low / unit - SHIFT_MARGIN, high / unit + SHIFT_MARGIN, draws
        )
        if random is None:
            found = shifts.find_least(backend)
        else:
            found = shifts.draw(backend, random) if step is None else shifts.draw_whole(backend, random)
    if found is None:
        return None
    shift = np.where(fixed, 0.0, np.clip(found * unit, low, high))
    ends = slacks.down.copy(), slacks.up.copy()
    ends[0][moving], ends[1][moving] = down - shift, up + shift
    return RangeSlacks(*ends, slacks.hidden, slacks.numbers)


def _growth(bounds: NDArray[np.int64], slack: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much slacks may grow within the bounds of attackers, ``(attackers, m)``.

    Where there are several attackers and a slack exceeds the bound of one, it need not shrink: the growth is zero.
    """
    left = np.where(bounds >= ENDLESS, np.inf, bounds - slack)
    return np.asarray(left.min(axis=0) if len(left) == 1 else np.maximum(left, 0.0).min(axis=0))


def _drop_empty(rows: sp.csr_array) -> sp.csr_array:
    """Return rows that are not empty."""
    rows = sp.csr_array(rows)
    return sp.csr_array(rows[np.flatnonzero(np.diff(rows.indptr) > 0)])
