"""Branch and cut over any modes of publication: the cheapest safe point of a problem.

    cut        solve the relaxed master, separate its point, add the cuts, again
    dive       fix whole numbers one part after another, cutting in between, down to a safe point
    branch     the master with whole numbers; separate its solution; again until it violates no cut

Without whole numbers the first is all.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.integer_master import IntegerMaster
from celosia.protection.engine.master import Point
from celosia.protection.engine.modes.relaxation import ModeCuttingPlanes
from celosia.protection.engine.stop import TimeUpError
from celosia.solve.backend import Capability, Row
from celosia.solve.deadline import DeadlineError, Until, before, check
from celosia.solve.solution import Status
from celosia.tolerance import GAP_CLOSED, INTEGRAL, TREE_BOUND


class ModeSearch(ModeCuttingPlanes):
    """A search for the cheapest safe point of the modes of a problem, which can be left at any moment."""

    def begin(self, v: NDArray[np.float64], bound: float) -> None:
        """Start from the whole numbers of a point, where a safe one has them, and from a valid bound."""
        self.bound = bound
        with suppress(TimeUpError, DeadlineError), before(Until(lambda: self.run.clock.left)):
            self._complete(v)
        check()

    def solve(self) -> None:
        """Search until the incumbent is within the gap, or time is up, or a solver gives no clear answer.

        Raises
        ------
        SolverError, ArithmeticError
            A solver gave none, and there is no incumbent.
        """
        if self.done:
            return
        self.begin_warm()
        try:
            with before(Until(lambda: self.run.clock.left)):
                self._search()
        except (TimeUpError, DeadlineError):
            check()
            self._offer_in_haste()
        except (SolverError, ArithmeticError):  # an incumbent is as good as before, and bounds stay valid
            with suppress(SolverError, ArithmeticError):
                self._offer_in_haste()
            if self.best is None:
                raise

    def _search(self) -> None:
        if len(self._integer) and not len(self.separator.sides):
            self._search_without_requirements()
            return
        point = self._cut(whole=not len(self._integer))
        if point is None:
            self.impossible = self.best is None
        elif len(self._integer):
            self._round_hiding(point)
            self._dive_until_confirmed(point)
            self._branch()

    def _round_hiding(self, point: Point) -> None:
        """Hide the columns that a fractional point hides by more than a share, and what pays then, in a large table."""
        if len(self.modes.hiding) < self.parameters.hiding_columns or not bool((self.modes.hiding >= 0).any()):
            return
        self._hide_dear_ranges()
        for share in self.parameters.hiding_shares:
            v, before = point.x.copy(), self.cost
            v[self._integer] = np.where(v[self._integer] >= share, np.ceil(v[self._integer]), 0.0)
            self._complete(v)
            if self.cost < before:
                self._hide_dear_ranges()

    def _hide_dear_ranges(self) -> None:
        """Hide columns of the incumbent whose ranges cost no less, and complete it again as long as that is cheaper."""
        modes, cost = self.modes, self.modes.program.cost
        hides = np.flatnonzero(modes.hiding >= 0)
        while self.best is not None and not self.done:
            before, v = self.cost, self.best.copy()
            width = np.asarray((abs(modes.up) + abs(modes.down)) @ np.where(self._continuous, cost * v, 0.0))
            dear = hides[width[hides] >= cost[modes.hiding[hides]]]
            if bool((v[modes.hiding[dear]] >= 1.0).all()):
                return
            v[modes.hiding[dear]] = 1.0
            self._complete(v)
            if not self.cost < before * (1 - GAP_CLOSED):
                return

    @property
    def _continuous(self) -> NDArray[np.bool_]:
        """Which variables are no whole numbers."""
        out = np.ones(len(self.modes.program.cost), dtype=bool)
        out[self._integer] = False
        return out

    def _dive_until_confirmed(self, point: Point) -> None:
        """Dive again as long as the oracle adds requirements at the bottom: the next dive knows the cuts."""
        at: Point | None = point
        while at is not None:
            separator = self.separator
            self._dive(at)
            at = None if self.separator is separator else self._cut(whole=False)

    def _dive(self, point: Point) -> None:
        """Fix whole numbers, the surest first, and cut again, until all are fixed and the point is safe."""
        at: Point | None = point
        try:
            while at is not None:
                open_ = self._integer[self._master.lower[self._integer] < self._master.upper[self._integer]]
                if not len(open_):
                    self._cut(whole=True)
                    return
                self._master.fix(*self._choose_to_fix(open_, at.x[open_]))
                at = self._cut(whole=False)
        finally:
            self._master.release()

    def _choose_to_fix(
        self, columns: NDArray[np.int64], x: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return columns to fix, and their values: all far enough up, else some of the largest fractions."""
        down = np.floor(x + INTEGRAL)
        part = x - down
        fractional = np.flatnonzero(part > INTEGRAL)
        if not len(fractional):
            return columns, down
        chosen = np.flatnonzero(part >= self.parameters.dived)
        if not len(chosen):
            many = max(1, len(fractional) // self.parameters.dived_parts)
            chosen = fractional[np.argsort(-part[fractional], kind="stable")[:many]]
        return columns[chosen], down[chosen] + 1.0

    def _complete(self, v: NDArray[np.float64]) -> None:
        """Offer the cheapest safe point with the whole numbers of another, where there is one."""
        try:
            self._master.fix(self._integer, np.rint(v[self._integer]))
            self._cut(whole=True)
        finally:
            self._master.release()

    def _search_without_requirements(self) -> None:
        """Search where there are no subproblems: a tree over the few fractions of the relaxation, then one over all."""
        point = self._master.solve()
        if point is None:
            self.impossible = True
            return
        self._raise_bound(point.bound)
        x = point.x[self._integer]
        fractional = np.abs(x - np.rint(x)) > INTEGRAL
        if int(fractional.sum()) <= self.parameters.fractional * len(x):
            for free in (fractional, self._share_rows_with(fractional)):
                self._solve_with_fixed(self._integer[~free], np.rint(x[~free]))
                if self.best is not None:
                    break
        if not self.done:
            self._branch()

    def _share_rows_with(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which whole numbers share a row with some of these."""
        rows = abs(self.modes.program.rows[:, self._integer])
        return np.asarray(rows.T @ (rows @ columns.astype(np.float64)) > 0)

    def _solve_with_fixed(self, fixed: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Solve the master with whole numbers while some of them are fixed, and offer its solution."""
        try:
            self._master.fix(fixed, values)
            whole = IntegerMaster.of(self._master, self.cost - self.modes.constant)
        finally:
            self._master.release()
        allowed = self.run.gap * max(self.bound, 0.0) / whole.scale
        model = self.run.solver.open(whole.problem)
        solution = model.solve(time_limit=self.run.clock.left, absolute_gap=allowed / 2, effort=self.parameters.effort)
        if solution.x is not None:
            self._offer(whole.point(solution.x))

    def _branch(self) -> None:
        """Solve the master with whole numbers until its solution violates no cut."""
        lazy, exact = Capability.LAZY in self.run.solver.capabilities, not len(self.separator.sides)
        while not self.done:
            self._check_time()
            whole = IntegerMaster.of(self._master, self.cost - self.modes.constant)
            model = self.run.solver.open(whole.problem)
            if lazy and len(self.separator.sides):
                separate = partial(self._separate_lazily, whole)
                allowed = self._absolute_gap(self.run.gap) / whole.scale
                solution = model.solve_lazily(separate, time_limit=self.run.clock.left, absolute_gap=allowed)
            else:
                gap = self.run.gap if exact else self._gap_of_a_round()
                allowed = self._absolute_gap(gap) / whole.scale
                effort = None if len(self.separator.sides) else self.parameters.effort
                solution = model.solve(time_limit=self.run.clock.left, absolute_gap=allowed, effort=effort)
            if solution.status is Status.INFEASIBLE:
                self._conclude()
                return
            self._raise_bound(self._lower_by_tolerance(whole.bound(solution.bound)))
            if solution.x is None:
                raise TimeUpError
            v, separator = self.modes.tidy(whole.point(solution.x)), self.separator
            found = separator.separate(v)
            new = self._master.add(found.cuts)
            if found.safe:
                self._offer(v)
            grown = self.separator is not separator
            if grown:
                new += self._master.add(self.separator.separate(v).cuts)
            if solution.status is not Status.STOPPED and (not found.safe or grown):
                self._complete(v)
            if solution.status is Status.STOPPED:
                raise TimeUpError
            if not new and (lazy or exact):
                return
            exact = not new

    def _absolute_gap(self, gap: float) -> float:
        """Return how far a cost may lie above a bound; solvers do not see what is paid in any case."""
        return gap * max(self.bound, 0.0)

    def _gap_of_a_round(self) -> float:
        """Return how exactly a master is solved that will be cut again."""
        if self.best is None or not self.cost:
            return self.run.gap
        return max(self.run.gap, (self.cost - self.bound) / abs(self.cost) / self.parameters.round_gap_parts)

    def _lower_by_tolerance(self, bound: float) -> float:
        """Return the bound of a tree, lowered by what solvers' tolerances may have added."""
        return bound - TREE_BOUND * abs(bound + self.modes.constant)

    def _separate_lazily(self, whole: IntegerMaster, x: NDArray[np.float64]) -> list[Row]:
        """Return the cuts that a solution inside the solver's tree violates, as rows of its problem."""
        v, separator = self.modes.tidy(whole.point(x)), self.separator
        found = separator.separate(v)
        if found.safe:
            self._offer(v)
        cuts = found.cuts if self.separator is separator else self.separator.separate(v).cuts
        self.pool.add(cuts)
        return [whole.row(cut) for cut in cuts]

    def _conclude(self) -> None:
        """Conclude that the incumbent is optimal, or that there is no safe point."""
        if self.best is None:
            self.impossible = True
        elif not self._bound_final:
            self.bound = max(self.bound, self.cost - TREE_BOUND * abs(self.cost))
        self._listen(self)

    def forbid(self, v: NDArray[np.float64]) -> bool:
        """Exclude the whole numbers of a point by a no-good cut; return False where they are not all 0 or 1."""
        program = self.modes.program
        open_ = self._integer[program.lower[self._integer] < program.upper[self._integer]]
        if not len(open_) or bool((program.upper[open_] > 1.0).any()):
            return False
        ones = np.rint(v[open_]) > 0
        cut = Cut(open_, np.where(ones, -1.0, 1.0), 1.0 - float(ones.sum()))
        self._no_goods.add(cut.key)
        self._master.add([cut])
        self.best = None
        return True
