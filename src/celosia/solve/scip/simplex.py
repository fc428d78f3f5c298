"""LPs by the simplex method of SCIP (SoPlex), from basis to basis.

The interface below SCIP's tree keeps Python's lock while it runs, so a solve is cut into slices of some hundred
iterations: between two of them Python sees Ctrl-C and the clock.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyscipopt
import scipy.sparse as sp
from numpy.typing import NDArray
from pyscipopt.scip import PY_SCIP_LPPARAM

from celosia.errors import SolverError
from celosia.solve import deadline
from celosia.solve.backend import Method, Separate
from celosia.solve.clock import Clock
from celosia.solve.lazy import solve_in_rounds
from celosia.solve.open_problem import OpenProblem
from celosia.solve.problem import LinearProgram, tidy
from celosia.solve.solution import Solution, Status

SLICE = 500
"""Simplex iterations between two looks at the clock."""


class ScipSimplex:
    """An LP that is open in SoPlex; see `celosia.solve.backend.Model`.

    Parameters
    ----------
    problem
        The problem at the start.
    """

    def __init__(self, problem: LinearProgram) -> None:
        self._problem = OpenProblem(problem)
        self._lp = pyscipopt.LP()
        self._lp.setIntParam(PY_SCIP_LPPARAM.LPITLIM, SLICE)
        self._only_costs_changed = self._has_basis = False
        self._warm = self._cold = 0
        now = self._problem
        self._lp.addCols([[]] * now.n_columns, now.cost.tolist(), self._finite(now.lower), self._finite(now.upper))
        self._append(tidy(problem.rows), now.row_lower, now.row_upper)

    @property
    def warm_solves(self) -> int:
        """How many runs started from a basis."""
        return self._warm

    @property
    def cold_solves(self) -> int:
        """How many runs started from nothing."""
        return self._cold

    def change_costs(self, columns: NDArray[np.int64], costs: NDArray[np.float64]) -> None:
        """Give some columns new costs."""
        places, new = self._problem.change_costs(columns, costs)
        for place, cost in zip(places.tolist(), new.tolist(), strict=True):
            self._lp.chgObj(place, cost)

    def change_bounds(self, columns: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Give some columns new bounds."""
        places, below, above = self._problem.change_bounds(columns, lower, upper)
        # Bounds that cross never reach SoPlex: `OpenProblem` answers for them.
        floors = self._finite(np.minimum(below, above))
        for place, floor, ceiling in zip(places.tolist(), floors, self._finite(above), strict=True):
            self._lp.chgBound(place, floor, ceiling)
        self._only_costs_changed = False

    def add_rows(self, rows: sp.csr_array, row_lower: NDArray[np.float64], row_upper: NDArray[np.float64]) -> None:
        """Append rows."""
        self._append(*self._problem.add_rows(rows, row_lower, row_upper))
        self._only_costs_changed = False

    def delete_rows(self, rows: NDArray[np.int64]) -> None:
        """Delete rows, the last first, so that the others keep their places meanwhile."""
        places = self._problem.delete_rows(rows)
        if self._has_basis and len(places) > 0:
            basic = {-1 - place for place in self._lp.getBasisInds() if place < 0}
            self._has_basis = basic.issuperset(places.tolist())
        for place in places[::-1].tolist():
            self._lp.delRows(place, place)
        self._only_costs_changed = False

    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,  # noqa: ARG002 - an LP has none
        absolute_gap: float = 0.0,  # noqa: ARG002
        method: Method = "auto",
        duals: bool = True,
        effort: float | None = None,  # noqa: ARG002 - SCIP chooses
    ) -> Solution:
        """Return the solution of the problem as it stands."""
        clock = Clock(time_limit)
        if (answer := self._problem.answer_without_solver(clock.seconds)) is not None:
            return answer
        if method == "auto":
            method = "primal" if self._has_basis and self._only_costs_changed else "dual"
        status = self._run(clock, dual=method != "primal")
        if status is Status.INFEASIBLE:
            return Solution.infeasible(clock.seconds)
        if status is Status.UNBOUNDED:
            return Solution.unbounded(clock.seconds)
        if status is Status.STOPPED:
            return Solution.stopped(-np.inf, clock.seconds)
        x = np.array(self._lp.getPrimal(), dtype=np.float64)
        objective = self._problem.objective(x)
        y = np.array(self._lp.getDual(), dtype=np.float64) if duals else None
        reduced_costs = np.array(self._lp.getRedcost(), dtype=np.float64) if duals else None
        return Solution(status, objective, objective, x, y, reduced_costs, clock.seconds)

    def solve_lazily(
        self, separate: Separate, *, time_limit: float | None = None, gap: float = 0.0, absolute_gap: float = 0.0
    ) -> Solution:
        """Return the solution with all lazy rows, in rounds: an LP has no tree."""
        return solve_in_rounds(self, separate, time_limit=time_limit, gap=gap, absolute_gap=absolute_gap)

    def _run(self, clock: Clock, *, dual: bool) -> Status:
        """Run SoPlex; from scratch and with the other method if it gives no clear answer."""
        self._warm += self._has_basis
        self._cold += not self._has_basis
        status = self._run_slice(clock, dual=dual)
        if status is None:
            self._cold += 1
            self._lp.setIntParam(PY_SCIP_LPPARAM.FROMSCRATCH, 1)
            try:
                status = self._run_slice(clock, dual=not dual)
            finally:
                self._lp.setIntParam(PY_SCIP_LPPARAM.FROMSCRATCH, 0)
        if status is None:
            raise SolverError.one("SCIP", "its simplex method ended without an answer, twice.", "Scale the problem.")
        self._has_basis = self._only_costs_changed = True
        return status

    def _run_slice(self, clock: Clock, *, dual: bool) -> Status | None:
        """Return the status of one run, None where there is no clear one."""
        while True:
            deadline.check()
            try:
                self._lp.solve(dual)
            except Exception:  # noqa: BLE001 - whatever PySCIPOpt makes of a failure
                return None
            if self._lp.isOptimal():
                return Status.OPTIMAL
            if self._lp.getDualRay() is not None:
                return Status.INFEASIBLE
            if self._lp.getPrimalRay() is not None:
                return Status.UNBOUNDED
            if self._lp.getNIterations() < SLICE:
                return None
            if clock.left <= 0:
                return Status.STOPPED

    def _append(self, rows: sp.csr_array, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        if rows.shape[0] == 0:
            return
        entries = list(zip(rows.indices.tolist(), rows.data.tolist(), strict=True))
        starts = rows.indptr.tolist()
        split = [entries[begin:end] for begin, end in pairwise(starts)]
        self._lp.addRows(split, self._finite(np.minimum(lower, upper)), self._finite(upper))

    def _finite(self, values: NDArray[np.float64]) -> list[float]:
        """Return bounds with SoPlex's number for infinity."""
        most = self._lp.infinity()
        return [float(value) for value in np.clip(values, -most, most)]
