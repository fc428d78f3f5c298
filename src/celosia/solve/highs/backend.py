"""HiGHS: LPs that stay warm, MIPs, and QPs (by HiPO where `highspy[extras]` is installed)."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.solve.backend import Capability, Method, Separate, refuse_unless_capable
from celosia.solve.clock import Clock
from celosia.solve.highs.engine import HighsEngine, check
from celosia.solve.lazy import solve_in_rounds
from celosia.solve.open_problem import OpenProblem
from celosia.solve.problem import LinearProgram, tidy
from celosia.solve.solution import Solution, Status

_SIMPLEX_STRATEGY = {"dual": 1, "primal": 4, "afresh": 1}
_SHARP, _USUAL = 1e-10, 1e-8
"""Tolerances of the interior-point method: the usual one moves a point by 1e-4 where the objective is flat."""


_PARALLEL_ROWS_AND_COLUMNS = 1 << 13
"""The rule of HiGHS' presolve that merges them, as `presolve_rule_off` names it."""

_EFFORT = 0.05
"""The share of the work on a MIP that HiGHS puts into finding points by default."""


class HighsModel:
    """A problem that is open in HiGHS; see `celosia.solve.backend.Model`.

    Parameters
    ----------
    problem
        The problem at the start.
    """

    def __init__(self, problem: LinearProgram) -> None:
        self._problem = OpenProblem(problem)
        self._engine = HighsEngine()
        self._highs = self._engine.highs
        self._engine.adds_up = self._problem.integer is None
        self._only_costs_changed = False
        self._solver = "simplex"
        self._warm = self._cold = 0
        self._load(problem)

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
        self._engine.refuse_busy()
        places, new = self._problem.change_costs(columns, costs)
        check(self._highs.changeColsCost(len(places), places, new), "costs")

    def change_bounds(self, columns: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Give some columns new bounds."""
        self._engine.refuse_busy()
        places, below, above = self._problem.change_bounds(columns, lower, upper)
        check(self._highs.changeColsBounds(len(places), places, below, above), "bounds")
        self._only_costs_changed = False

    def add_rows(self, rows: sp.csr_array, row_lower: NDArray[np.float64], row_upper: NDArray[np.float64]) -> None:
        """Append rows."""
        self._engine.refuse_busy()
        new, below, above = self._problem.add_rows(rows, row_lower, row_upper)
        sides, starts = (np.minimum(below, above), above), new.indptr[:-1]
        check(self._highs.addRows(len(below), *sides, new.nnz, starts, new.indices, new.data), "rows")
        self._only_costs_changed = False

    def delete_rows(self, rows: NDArray[np.int64]) -> None:
        """Delete rows; HiGHS drops the basis if one of them was not slack."""
        self._engine.refuse_busy()
        places = self._problem.delete_rows(rows)
        check(self._highs.deleteRows(len(places), places), "deletion of rows")
        self._only_costs_changed = False

    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        absolute_gap: float = 0.0,
        method: Method = "auto",
        duals: bool = True,
        effort: float | None = None,
    ) -> Solution:
        """Return the solution of the problem as it stands."""
        clock = Clock(time_limit)
        if (answer := self._problem.answer_without_solver(clock.seconds)) is not None:
            return answer
        self._engine.option("mip_rel_gap", value=float(gap))
        self._engine.option("mip_abs_gap", value=float(absolute_gap))
        self._engine.option("mip_heuristic_effort", value=_EFFORT if effort is None else float(effort))
        status = self._run(clock, method)
        self._only_costs_changed = True
        if status is Status.INFEASIBLE:
            return Solution.infeasible(clock.seconds)
        if status is Status.UNBOUNDED:
            return Solution.unbounded(clock.seconds)
        return self._solution(status, clock, duals=duals)

    def solve_lazily(
        self, separate: Separate, *, time_limit: float | None = None, gap: float = 0.0, absolute_gap: float = 0.0
    ) -> Solution:
        """Return the solution with all lazy rows, in rounds: HiGHS takes no rows inside its tree."""
        return solve_in_rounds(self, separate, time_limit=time_limit, gap=gap, absolute_gap=absolute_gap)

    def _load(self, problem: LinearProgram) -> None:
        """Hand the problem over. Bounds that cross are kept from HiGHS: `OpenProblem` answers for them."""
        now, rows = self._problem, tidy(problem.rows)
        integer = np.zeros(now.n_columns, dtype=np.int32) if now.integer is None else now.integer.astype(np.int32)
        status = self._highs.passModel(
            *(now.n_columns, now.n_rows, rows.nnz),
            *(int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize), 0.0),
            *(now.cost, np.minimum(now.lower, now.upper), now.upper),
            *(np.minimum(now.row_lower, now.row_upper), now.row_upper),
            *(rows.indptr, rows.indices, rows.data, integer),
        )
        check(status, "problem")
        if now.quadratic is not None:
            self._load_squares(now.quadratic)

    def _load_squares(self, quadratic: sp.csc_array) -> None:
        """Hand Q over, and take HiPO where it is installed: the default is 50 times slower."""
        # HiGHS wants the lower triangle by columns, which is the upper one by rows: Q is symmetric.
        half = tidy(sp.csr_array(sp.triu(quadratic)))
        form = int(highspy.HessianFormat.kTriangular)
        check(
            self._highs.passHessian(len(self._problem.cost), half.nnz, form, half.indptr, half.indices, half.data), "Q"
        )
        if not self._engine.takes("solver", value="hipo"):
            self._engine.option("solver", value="choose")

    def _run(self, clock: Clock, method: Method) -> Status:
        """Run HiGHS; from scratch, with the other presolve and the usual tolerance, if it gives no clear answer."""
        if method in {"afresh", "barrier"}:
            check(self._highs.clearSolver(), "clearing")
        warm = self._problem.is_linear and bool(self._highs.getBasis().valid)
        if method == "auto":
            method = "primal" if warm and self._only_costs_changed else "dual"
        if self._problem.is_linear:
            self._choose(method if method in {"interior", "barrier"} else "simplex")
        self._engine.option("simplex_strategy", value=_SIMPLEX_STRATEGY.get(method, 1))
        self._engine.option("presolve", value="off" if warm or method == "afresh" else "on")
        self._engine.option("presolve_rule_off", value=self._rules_that_print)
        self._engine.option("ipm_optimality_tolerance", value=_USUAL if method == "barrier" else _SHARP)
        self._warm += warm
        self._cold += not warm
        status = self._engine.run(clock)
        if status is None:
            if self._problem.is_linear:
                self._choose("simplex")
            self._engine.option("presolve", value="on" if warm else "off")
            self._engine.option("ipm_optimality_tolerance", value=_USUAL)
            self._cold += 1
            status = self._engine.run_afresh(clock)
        return status

    @property
    def _rules_that_print(self) -> int:
        """Which rules of presolve may print bounds, whatever they are told: columns that become one without bounds."""
        now = self._problem
        endless = now.is_linear and bool(np.isinf(now.lower).any() or np.isinf(now.upper).any())
        return _PARALLEL_ROWS_AND_COLUMNS if endless else 0

    def _choose(self, solver: str) -> None:
        """Choose an interior-point method, HiPO without crossover or IPX with it, or the default of HiGHS."""
        if solver == self._solver:
            return
        self._solver = solver
        self._engine.option("run_crossover", value="off" if solver == "interior" else "on")
        if solver != "interior" or not self._engine.takes("solver", value="hipo"):
            self._engine.takes("solver", value="ipm" if solver == "barrier" else "choose")

    def _solution(self, status: Status, clock: Clock, *, duals: bool) -> Solution:
        """Return what HiGHS has found."""
        now, values = self._problem, self._highs.getSolution()
        bound = -np.inf if now.integer is None else self._engine.info("mip_dual_bound")
        feasible = int(highspy.SolutionStatus.kSolutionStatusFeasible)
        if status is Status.STOPPED and self._engine.info("primal_solution_status") != feasible:
            return Solution.stopped(bound, clock.seconds)
        x = now.round_integers(_array(values.col_value))
        objective = now.objective(x)
        if now.integer is not None or status is Status.STOPPED:
            return Solution(status, objective, min(bound, objective), x, None, None, clock.seconds)
        y, reduced_costs = (_array(values.row_dual), _array(values.col_dual)) if duals else (None, None)
        return Solution(status, objective, objective, x, y, reduced_costs, clock.seconds)


class HighsBackend:
    """HiGHS, which is always installed; see `celosia.solve.backend.Backend`."""

    name = "highs"
    capabilities = Capability.LP | Capability.MIP | Capability.QP

    @property
    def version(self) -> str:
        """The version of HiGHS."""
        return f"{highspy.HIGHS_VERSION_MAJOR}.{highspy.HIGHS_VERSION_MINOR}.{highspy.HIGHS_VERSION_PATCH}"

    def open(self, problem: LinearProgram) -> HighsModel:
        """Return a model of the problem."""
        refuse_unless_capable(self, problem)
        return HighsModel(problem)


def _array(values: list[float]) -> NDArray[np.float64]:
    """Return a list of floats as an array, the fast way."""
    return np.fromiter(values, dtype=np.float64, count=len(values))
