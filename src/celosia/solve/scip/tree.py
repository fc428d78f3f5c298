"""MIPs by the branch and bound of SCIP, with lazy rows inside the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyscipopt
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.solve import deadline
from celosia.solve.backend import Method, Row, Separate
from celosia.solve.clock import Clock
from celosia.solve.interrupt import Interruptible
from celosia.solve.lazy import stack_rows, unbounded_error
from celosia.solve.open_problem import OpenProblem
from celosia.solve.problem import LinearProgram, tidy
from celosia.solve.scip.lazy import LazyRows, add_row
from celosia.solve.solution import Solution, Status

_STATUS = {
    "optimal": Status.OPTIMAL,
    "gaplimit": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "timelimit": Status.STOPPED,
}
_PARAMETERS: dict[str, bool | int] = {
    "misc/catchctrlc": False,  # `Interruptible` does
    "timing/clocktype": 2,  # wall clock, as everywhere here
}
_LAZY_PARAMETERS: dict[str, bool | int] = {
    # Whatever SCIP concludes from the rows it knows may be wrong with those it does not know.
    "misc/usesymmetry": 0,
    "misc/allowstrongdualreds": False,
    "misc/allowweakdualreds": False,
    "constraints/components/maxprerounds": 0,
    "constraints/components/propfreq": -1,
    "presolving/maxrestarts": 0,
}
_LAST = -10_000_000
"""Priority below that of every handler of SCIP, so that only points that satisfy all known rows are separated."""


class ScipTree:
    """A MIP for SCIP; see `celosia.solve.backend.Model`.

    SCIP keeps nothing from one solve to the next, so every solve builds the problem anew.

    Parameters
    ----------
    problem
        The problem at the start.
    """

    def __init__(self, problem: LinearProgram) -> None:
        self._problem = OpenProblem(problem)
        self._rows = tidy(problem.rows)
        self._cold = 0

    @property
    def warm_solves(self) -> int:
        """None: a tree has no basis to start from."""
        return 0

    @property
    def cold_solves(self) -> int:
        """How many trees were built."""
        return self._cold

    def change_costs(self, columns: NDArray[np.int64], costs: NDArray[np.float64]) -> None:
        """Give some columns new costs."""
        self._problem.change_costs(columns, costs)

    def change_bounds(self, columns: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Give some columns new bounds."""
        self._problem.change_bounds(columns, lower, upper)

    def add_rows(self, rows: sp.csr_array, row_lower: NDArray[np.float64], row_upper: NDArray[np.float64]) -> None:
        """Append rows."""
        new, _, _ = self._problem.add_rows(rows, row_lower, row_upper)
        self._rows = sp.csr_array(sp.vstack([self._rows, new], format="csr"))

    def delete_rows(self, rows: NDArray[np.int64]) -> None:
        """Delete rows."""
        kept = np.delete(np.arange(self._problem.n_rows), self._problem.delete_rows(rows))
        self._rows = sp.csr_array(self._rows[kept])

    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        absolute_gap: float = 0.0,
        method: Method = "auto",  # noqa: ARG002 - for LPs
        duals: bool = True,  # noqa: ARG002 - a MIP has none
        effort: float | None = None,  # noqa: ARG002 - SCIP chooses
    ) -> Solution:
        """Return the solution of the problem as it stands."""
        return self._solve(None, Clock(time_limit), gap, absolute_gap)

    def solve_lazily(
        self, separate: Separate, *, time_limit: float | None = None, gap: float = 0.0, absolute_gap: float = 0.0
    ) -> Solution:
        """Return the solution with all lazy rows, which are added inside one tree."""
        return self._solve(separate, Clock(time_limit), gap, absolute_gap)

    def _solve(self, separate: Separate | None, clock: Clock, gap: float, absolute_gap: float) -> Solution:
        if (answer := self._problem.answer_without_solver(clock.seconds)) is not None:
            return answer
        if self._some_empty_row_fails():
            return Solution.infeasible(clock.seconds)
        scip, columns = self._build(self._problem.cost)
        scip.setParams({"limits/gap": gap, "limits/absgap": absolute_gap})
        if separate is None:
            return self._solution(scip, columns, self._run(scip, clock), clock)
        lazy = LazyRows(self._problem, columns, separate)
        _watch(scip, lazy)
        try:
            return self._lazy_solution(scip, columns, lazy, clock)
        finally:
            self.add_rows(*stack_rows(lazy.found, self._problem.n_columns))

    def _lazy_solution(self, scip: pyscipopt.Model, columns: list[Any], lazy: LazyRows, clock: Clock) -> Solution:
        status = self._run(scip, clock, lazy)
        try:
            if status is Status.UNBOUNDED:
                raise unbounded_error()
            solution = self._solution(scip, columns, status, clock)
            if solution.x is not None and not lazy.accepts(solution.x):
                raise SolverError.one("SCIP", "returned a point that its own callback refused.", "Report this.")
            return solution
        finally:
            lazy.release()

    def _build(self, cost: NDArray[np.float64]) -> tuple[pyscipopt.Model, list[Any]]:
        """Return the problem in SCIP, with these costs, and its variables."""
        now, scip = self._problem, pyscipopt.Model()
        scip.hideOutput()
        scip.setParams(_PARAMETERS)
        kinds = ["C"] * now.n_columns if now.integer is None else np.where(now.integer, "I", "C").tolist()
        columns = [
            scip.addVar(vtype=kind, obj=price, lb=floor, ub=ceiling)
            for kind, price, floor, ceiling in zip(
                kinds, cost.tolist(), _or_none(now.lower), _or_none(now.upper), strict=True
            )
        ]
        starts = self._rows.indptr.tolist()
        sides = zip(now.row_lower.tolist(), now.row_upper.tolist(), strict=True)
        for begin, end, (lower, upper) in zip(starts[:-1], starts[1:], sides, strict=True):
            if begin < end and (lower > -np.inf or upper < np.inf):
                add_row(scip, columns, Row(self._rows.indices[begin:end], self._rows.data[begin:end], lower, upper))
        return scip, columns

    def _some_empty_row_fails(self) -> bool:
        """Return whether a row without entries asks for more than nothing; SCIP takes no such rows."""
        empty = np.diff(self._rows.indptr) == 0
        return bool((self._problem.row_lower[empty] > 0).any() or (self._problem.row_upper[empty] < 0).any())

    def _run(self, scip: pyscipopt.Model, clock: Clock, lazy: LazyRows | None = None) -> Status:
        """Run SCIP and return the status."""
        self._cold += 1
        own, last = clock.left, deadline.left()
        scip.setParam("limits/time", min(own, last, 1e20))
        try:
            Interruptible(scip.interruptSolve).run(scip.optimizeNogil)
        except deadline.DeadlineError:
            raise
        except Exception as failure:
            if lazy is not None and lazy.failure is not None:  # what ended it says more than how it ended
                raise lazy.failure from None
            raise SolverError.one("SCIP", f"failed: {failure}", "Scale the problem.") from failure
        if lazy is not None and lazy.failure is not None:
            lazy.release()
            raise lazy.failure
        said = scip.getStatus()
        if said == "timelimit" and last < own - deadline.SAME:
            raise deadline.run_out()
        if said == "userinterrupt":
            raise KeyboardInterrupt
        if said == "inforunbd":
            return self._decide(clock)
        if said not in _STATUS:
            raise SolverError.one("SCIP", f"ended with the status {said!r}.", "Scale the problem.")
        return _STATUS[said]

    def _decide(self, clock: Clock) -> Status:
        """Return whether the problem is infeasible or unbounded: without its objective it can only be the one."""
        scip, _ = self._build(np.zeros(self._problem.n_columns))
        status = self._run(scip, clock)
        return Status.UNBOUNDED if status is Status.OPTIMAL else status

    def _solution(self, scip: pyscipopt.Model, columns: list[Any], status: Status, clock: Clock) -> Solution:
        """Return what SCIP has found."""
        if status is Status.INFEASIBLE:
            return Solution.infeasible(clock.seconds)
        if status is Status.UNBOUNDED:
            return Solution.unbounded(clock.seconds)
        bound = float(scip.getDualbound())
        bound = -np.inf if bound <= -scip.infinity() else bound
        best = scip.getBestSol() if scip.getNSols() > 0 else None
        if best is None:
            return Solution.stopped(bound, clock.seconds)
        x = self._problem.round_integers(np.array([best[column] for column in columns], dtype=np.float64))
        objective = self._problem.objective(x)
        return Solution(status, objective, min(bound, objective), x, None, None, clock.seconds)


def _watch(scip: pyscipopt.Model, lazy: LazyRows) -> None:
    """Have SCIP ask about every candidate."""
    scip.setParams(_LAZY_PARAMETERS)
    scip.includeConshdlr(
        lazy, "lazy", "rows given when violated", enfopriority=_LAST, chckpriority=_LAST, sepafreq=1, needscons=False
    )


def _or_none(bounds: NDArray[np.float64]) -> list[float | None]:
    """Return bounds with None for infinity, as PySCIPOpt has it."""
    return [bound if np.isfinite(bound) else None for bound in bounds.tolist()]
