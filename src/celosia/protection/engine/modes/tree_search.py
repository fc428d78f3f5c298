"""ModeTree: the master of any modes with whole numbers, solved until nothing separates its solution."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.integer_master import IntegerMaster
from celosia.protection.engine.stop import Stop, TimeUpError
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.solution import Solution, Status
from celosia.tolerance import INTEGRAL, TREE_BOUND

if TYPE_CHECKING:
    from celosia.protection.engine.heuristics.diving import Diving
    from celosia.protection.engine.incumbent import Incumbent
    from celosia.protection.engine.modes.cutting_planes import ModeCuttingPlanes
    from celosia.protection.engine.modes.oracle import PointRequirements


class ModeTree:
    """Solves masters with whole numbers.

    Parameters
    ----------
    incumbent, stop, cutting, requirements, diving
        The other parts of the search.
    solver
        Solves them.
    gap
        How far a cost may lie above a bound, as a share.
    """

    def __init__(
        self,
        incumbent: Incumbent[np.float64],
        stop: Stop,
        cutting: ModeCuttingPlanes,
        requirements: PointRequirements,
        diving: Diving,
        solver: Backend,
        gap: float,
    ) -> None:
        self._incumbent, self._stop, self._relaxation = incumbent, stop, cutting.relaxation
        self._requirements, self._diving, self._solver, self._gap = requirements, diving, solver, gap
        self._cuts_lazily = Capability.LAZY in solver.capabilities
        self._modes, self._parameters, self._integer = (
            cutting.modes,
            cutting.parameters,
            cutting.modes.integers,
        )

    def run_without_requirements(self) -> None:
        """Search where there are no subproblems: a tree over the few fractions of the relaxation, then one over all."""
        point = self._relaxation.solve()
        if point is None:
            return
        x = point.x[self._integer]
        fractional = np.abs(x - np.rint(x)) > INTEGRAL
        if int(fractional.sum()) <= self._parameters.fractional * len(x):
            for free in (fractional, self._share_rows_with(fractional)):
                self._solve_with_fixed(self._integer[~free], np.rint(x[~free]))
                if self._incumbent.best is not None:
                    break
        if not self._stop.reached:
            self.run()

    def _share_rows_with(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which whole numbers share a row with some of these."""
        rows = abs(self._modes.program.rows[:, self._integer])
        return np.asarray(rows.T @ (rows @ columns.astype(np.float64)) > 0)

    def _solve_with_fixed(self, fixed: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Solve the master with whole numbers while some of them are fixed, and offer its solution."""
        master = self._relaxation.master
        try:
            master.fix(fixed, values)
            whole = self._integer_master()
        finally:
            master.release()
        allowed = self._absolute_gap(self._gap, whole) / 2
        model = self._solver.open(whole.problem)
        solution = model.solve(time_limit=self._stop.left, absolute_gap=allowed, effort=self._parameters.effort)
        if solution.x is not None:
            self._requirements.accept(whole.point(solution.x))

    def _integer_master(self) -> IntegerMaster:
        """Return the integer master of points that are cheaper than the incumbent, or no dearer where costs are any."""
        self._relaxation.fix_by_reduced_costs()
        return IntegerMaster.of(self._relaxation.master, self._incumbent.limit)

    def run(self, gap: float | None = None) -> None:
        """Solve the master with whole numbers until its solution violates no cut, on request to another gap."""
        self._gap = self._gap if gap is None else gap
        exact = not len(self._relaxation.separator.sides)
        while not self._stop.reached:
            self._stop.check()
            whole = self._integer_master()
            solution = self._solve(whole, exactly=exact)
            if solution.status is Status.INFEASIBLE:
                self._incumbent.conclude()
                return
            self._relaxation.raise_bound(self._lower_by_tolerance(whole.bound(solution.bound)))
            if solution.x is None:
                raise TimeUpError
            v, separator = self._modes.tidy(whole.point(solution.x)), self._relaxation.separator
            found = separator.separate(v)
            new = self._relaxation.master.add(found.cuts)
            if found.safe:
                self._requirements.accept(v)
            grown = self._relaxation.separator is not separator
            if grown:
                new += self._relaxation.master.add(self._relaxation.separator.separate(v).cuts)
            if solution.status is not Status.STOPPED and (not found.safe or grown):
                self._diving.complete(v)
            if solution.status is Status.STOPPED:
                raise TimeUpError
            if not new and (self._cuts_lazily or exact):
                return
            exact = not new

    def _solve(self, whole: IntegerMaster, *, exactly: bool) -> Solution:
        """Return the solution of an integer master, cut inside the tree, or as it is where the solver cannot do that.

        Where the solver takes a cut for satisfied that is not, by its tolerance, cuts are rows of masters from then on.
        """
        attacked = len(self._relaxation.separator.sides) > 0
        if self._cuts_lazily and attacked:
            allowed, separate = self._absolute_gap(self._gap, whole), partial(self._separate_lazily, whole)
            try:
                model = self._solver.open(whole.problem)
                return model.solve_lazily(separate, time_limit=self._stop.left, absolute_gap=allowed)
            except SolverError:
                self._cuts_lazily = False
        allowed = self._absolute_gap(self._gap if exactly else self._gap_of_a_round(), whole)
        effort = None if attacked else self._parameters.effort
        model = self._solver.open(whole.problem)
        return model.solve(time_limit=self._stop.left, absolute_gap=allowed, effort=effort)

    def _absolute_gap(self, gap: float, whole: IntegerMaster) -> float:
        """Return how far a cost may lie above a bound; solvers do not see what is paid in any case."""
        return gap * max(self._incumbent.bound, 0.0) / whole.scale

    def _gap_of_a_round(self) -> float:
        """Return how exactly a master is solved that will be cut again."""
        if self._incumbent.best is None or not self._incumbent.cost:
            return self._gap
        return max(
            self._gap,
            (self._incumbent.cost - self._incumbent.bound)
            / abs(self._incumbent.cost)
            / self._parameters.round_gap_parts,
        )

    def _lower_by_tolerance(self, bound: float) -> float:
        """Return the bound of a tree, lowered by what solvers' tolerances may have added."""
        return bound - TREE_BOUND * abs(bound + self._modes.constant)

    def _separate_lazily(self, whole: IntegerMaster, x: NDArray[np.float64]) -> list[Row]:
        """Return the cuts that a solution inside the solver's tree violates, as rows of its problem."""
        v, separator = self._modes.tidy(whole.point(x)), self._relaxation.separator
        found = separator.separate(v)
        if found.safe:
            self._requirements.accept(v)
        cuts = found.cuts if self._relaxation.separator is separator else self._relaxation.separator.separate(v).cuts
        self._relaxation.pool.add(cuts)
        return [whole.row(cut) for cut in cuts]
