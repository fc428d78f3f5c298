"""The search for the cheapest safe point of any modes of a task: cut, dive, branch.

    cut        solve the relaxed master, attack its point, add the cuts, again
    dive       fix whole numbers one part after another, cutting in between, down to a safe point
    branch     the master with whole numbers; attack its solution; again until nothing is found against it

Without whole numbers the first is all.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.integer_master import IntegerMaster
from celosia.protection.engine.master import Point
from celosia.protection.engine.modes.relaxation import BRANCHED, WHOLE, ModeCutting, TimeIsUpError
from celosia.protection.engine.modes.separation import REACHED
from celosia.solve.backend import Capability, Row
from celosia.solve.deadline import DeadlineError, Until, before, check
from celosia.solve.solution import Status

_HALF = 0.5

_QUARTER = 4

_GAP_OF_ROUNDS = 3
"""A master with whole numbers is solved to this part of the gap that is left."""

_FEW = 0.1
"""Where no more than this part of the whole numbers is broken in the relaxed master, they are tried alone first."""

_EFFORT = 0.3
"""The share of a solver's work that goes into finding points where nothing is attacked: six times the usual."""


class ModeSearch(ModeCutting):
    """A search for the cheapest safe point of the modes of a task, which can be left at any moment."""

    def begin(self, v: NDArray[np.float64], bound: float) -> None:
        """Begin with the whole numbers of a point, where a safe one has them, and a bound that is known."""
        self.bound = bound
        with suppress(TimeIsUpError, DeadlineError), before(Until(lambda: self.call.clock.left)):
            self._complete(v)
        check()

    def run(self) -> None:
        """Search until the best point is within the gap, or time is up."""
        if self.done:
            return
        try:
            with before(Until(lambda: self.call.clock.left)):
                self._search()
        except (TimeIsUpError, DeadlineError):
            check()
            self._offer_something()

    def _search(self) -> None:
        if len(self._integer) and not len(self.press.sides):
            self._without_levels()
            return
        point = self._cut_off(whole=not len(self._integer))
        if point is None:
            self.impossible = self.best is None
        elif len(self._integer):
            self._dive_safely(point)
            self._branch()

    def _dive_safely(self, point: Point) -> None:
        """Dive again as long as more is asked for at the bottom: the cuts are known, and nobody opposes the last."""
        at: Point | None = point
        while at is not None:
            press = self.press
            self._dive(at)
            at = None if self.press is press else self._cut_off(whole=False)

    def _dive(self, point: Point) -> None:
        """Fix whole numbers, the surest first, and cut again, until all are fixed and the point is safe."""
        at: Point | None = point
        try:
            while at is not None:
                open_ = self._integer[self._master.lower[self._integer] < self._master.upper[self._integer]]
                if not len(open_):
                    self._cut_off(whole=True)
                    return
                self._master.fix(*_surest(open_, at.x[open_]))
                at = self._cut_off(whole=False)
        finally:
            self._master.release()

    def _complete(self, v: NDArray[np.float64]) -> None:
        """Make a safe point with the whole numbers of another, where there is one."""
        try:
            self._master.fix(self._integer, np.rint(v[self._integer]))
            self._cut_off(whole=True)
        finally:
            self._master.release()

    def _without_levels(self) -> None:
        """Search where nothing is attacked: a tree over the few fractions of the relaxed master, then one over all."""
        point = self._master.solve()
        if point is None:
            self.impossible = True
            return
        self._raise_bound(point.bound)
        x = point.x[self._integer]
        broken = np.abs(x - np.rint(x)) > WHOLE
        if int(broken.sum()) <= _FEW * len(x):
            for nearby in (broken, self._beside(broken)):
                self._among(self._integer[~nearby], np.rint(x[~nearby]))
                if self.best is not None:
                    break
        if not self.done:
            self._branch()

    def _beside(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which whole numbers share a row with some of them."""
        rows = abs(self.modes.program.rows[:, self._integer])
        return np.asarray(rows.T @ (rows @ columns.astype(np.float64)) > 0)

    def _among(self, fixed: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Solve the master with whole numbers while some of them are fixed."""
        try:
            self._master.fix(fixed, values)
            whole = IntegerMaster.of(self._master, self.cost - self.modes.constant)
        finally:
            self._master.release()
        allowed = self.call.gap * max(self.bound, 0.0) / whole.scale
        model = self.call.solver.open(whole.problem)
        solution = model.solve(time_limit=self.call.clock.left, absolute_gap=allowed / 2, effort=_EFFORT)
        if solution.x is not None:
            self._offer(whole.point(solution.x))

    def _branch(self) -> None:
        """Solve the master with whole numbers until nothing is found against its solution."""
        lazy, exact = Capability.LAZY in self.call.solver.capabilities, not len(self.press.sides)
        while not self.done:
            self._check_time()
            whole = IntegerMaster.of(self._master, self.cost - self.modes.constant)
            model = self.call.solver.open(whole.problem)
            if lazy and len(self.press.sides):
                attack = partial(self._separate, whole)
                allowed = self._allowed(self.call.gap) / whole.scale
                solution = model.solve_lazily(attack, time_limit=self.call.clock.left, absolute_gap=allowed)
            else:
                gap = self.call.gap if exact else self._gap_of_a_round()
                allowed = self._allowed(gap) / whole.scale
                effort = None if len(self.press.sides) else _EFFORT
                solution = model.solve(time_limit=self.call.clock.left, absolute_gap=allowed, effort=effort)
            if solution.status is Status.INFEASIBLE:
                self._conclude()
                return
            self._raise_bound(_lowered(whole.bound(solution.bound), self.modes.constant))
            if solution.x is None:
                raise TimeIsUpError
            v, press = self.modes.tidied(whole.point(solution.x)), self.press
            found = self.press.attack(v)
            new = self._master.add(found.cuts)
            if found.least >= 1 - REACHED:
                self._offer(v)
            if self.press is not press:
                new += self._master.add(self.press.attack(v).cuts)
            if solution.status is not Status.STOPPED and (found.least < 1 - REACHED or self.press is not press):
                self._complete(v)
            if solution.status is Status.STOPPED:
                raise TimeIsUpError
            if not new and (lazy or exact):
                return
            exact = not new

    def _allowed(self, gap: float) -> float:
        """Return how far a cost may lie above a bound; solvers do not see what is paid in any case."""
        return gap * max(self.bound, 0.0)

    def _gap_of_a_round(self) -> float:
        """Return how exactly a master is solved that will be cut again."""
        if self.best is None or not self.cost:
            return self.call.gap
        return max(self.call.gap, (self.cost - self.bound) / abs(self.cost) / _GAP_OF_ROUNDS)

    def _separate(self, whole: IntegerMaster, x: NDArray[np.float64]) -> list[Row]:
        v, press = self.modes.tidied(whole.point(x)), self.press
        found = press.attack(v)
        if found.least >= 1 - REACHED:
            self._offer(v)
        cuts = found.cuts if self.press is press else self.press.attack(v).cuts
        self.pool.add(cuts)
        return [whole.row(cut) for cut in cuts]

    def _conclude(self) -> None:
        """Conclude that the best point is optimal, or that there is none."""
        if self.best is None:
            self.impossible = True
        elif not self._frozen:
            self.bound = max(self.bound, self.cost - BRANCHED * abs(self.cost))
        self._listen(self)

    def forbid(self, v: NDArray[np.float64]) -> bool:
        """Forget a point and never come back to it; return False where its whole numbers are not all 0 or 1."""
        program = self.modes.program
        open_ = self._integer[program.lower[self._integer] < program.upper[self._integer]]
        if not len(open_) or bool((program.upper[open_] > 1.0).any()):
            return False
        ones = v[open_] > _HALF
        self._master.add([Cut(open_, np.where(ones, -1.0, 1.0), 1.0 - float(ones.sum()))])
        self.best = None
        return True


def _lowered(bound: float, constant: float) -> float:
    return bound - BRANCHED * abs(bound + constant)


def _surest(columns: NDArray[np.int64], x: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return columns to fix, and their values: all that are half or more up, else some of the largest fractions."""
    down = np.floor(x + WHOLE)
    part = x - down
    broken = np.flatnonzero(part > WHOLE)
    if not len(broken):
        return columns, down
    chosen = np.flatnonzero(part >= _HALF)
    if not len(chosen):
        chosen = broken[np.argsort(-part[broken], kind="stable")[: max(1, len(broken) // _QUARTER)]]
    return columns[chosen], down[chosen] + 1.0
