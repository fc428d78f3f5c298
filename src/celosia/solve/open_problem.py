"""The vectors of an open model, as they stand after all changes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError
from celosia.solve.problem import LinearProgram, check_bounds, check_entries, check_numbers, numbers, tidy
from celosia.solve.solution import Solution, Status


class OpenProblem:
    """Checks changes and keeps costs and bounds, so that every back end judges them alike.

    The matrix of rows is the back end's own affair.

    Parameters
    ----------
    problem
        The problem at the start.
    """

    def __init__(self, problem: LinearProgram) -> None:
        found = Problems()
        check_numbers(found, "cost", problem.cost, len(problem.cost))
        found.raise_as(SpecError)
        self.cost = problem.cost.astype(np.float64)
        self.lower = problem.lower.astype(np.float64)
        self.upper = problem.upper.astype(np.float64)
        self.row_lower = problem.row_lower.astype(np.float64)
        self.row_upper = problem.row_upper.astype(np.float64)
        self.integer = problem.integer if problem.has_integers else None
        self.quadratic = problem.quadratic if problem.has_squares else None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.cost)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.row_lower)

    @property
    def is_linear(self) -> bool:
        """Whether this is an LP, which has a basis and duals."""
        return self.integer is None and self.quadratic is None

    def change_costs(self, columns: ArrayLike, costs: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Take over new costs, and return them checked."""
        found = Problems()
        places, new = _places(found, "columns", columns, self.n_columns), numbers(costs)
        check_numbers(found, "costs", new, len(places))
        found.raise_as(SpecError)
        self.cost[places] = new
        return places, new

    def change_bounds(
        self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """Take over new bounds, and return them checked."""
        found = Problems()
        places, below, above = _places(found, "columns", columns, self.n_columns), numbers(lower), numbers(upper)
        check_bounds(found, ("lower", "upper"), below, above, len(places))
        found.raise_as(SpecError)
        self.lower[places] = below
        self.upper[places] = above
        return places, below, above

    def add_rows(
        self, rows: sp.csr_array, row_lower: ArrayLike, row_upper: ArrayLike
    ) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.float64]]:
        """Take over the sides of new rows, and return all of them checked."""
        found = Problems()
        below, above = numbers(row_lower), numbers(row_upper)
        if rows.shape[1] != self.n_columns:
            found.add("rows", f"have {rows.shape[1]} columns, not {self.n_columns}.")
        check_entries(found, "rows", rows)
        check_bounds(found, ("row_lower", "row_upper"), below, above, rows.shape[0])
        found.raise_as(SpecError)
        self.row_lower = np.concatenate([self.row_lower, below])
        self.row_upper = np.concatenate([self.row_upper, above])
        return tidy(rows), below, above

    def delete_rows(self, rows: ArrayLike) -> NDArray[np.int32]:
        """Forget the sides of some rows, and return their places in order."""
        found = Problems()
        places = np.sort(_places(found, "rows", rows, self.n_rows))
        found.raise_as(SpecError)
        self.row_lower = np.delete(self.row_lower, places)
        self.row_upper = np.delete(self.row_upper, places)
        return places

    def round_integers(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a point with whole numbers in its integer columns: what a MIP solver means within its tolerance."""
        return x if self.integer is None else np.where(self.integer, np.rint(x), x)

    def objective(self, x: NDArray[np.float64]) -> float:
        """Return the objective at a point."""
        value = float((self.cost * x).sum())  # a product of vectors would wake threads, which wait for more
        return value if self.quadratic is None else value + float(x @ (self.quadratic @ x)) / 2

    def answer_without_solver(self, seconds: float) -> Solution | None:
        """Return the solution where it is plain to see, None elsewhere.

        Solvers disagree on bounds that cross and on problems without columns (HiGHS calls the latter empty even where a
        row asks for more than nothing).
        """
        if bool((self.lower > self.upper).any() or (self.row_lower > self.row_upper).any()):
            return Solution.infeasible(seconds)
        if self.n_columns > 0:
            return None
        if bool((self.row_lower > 0).any() or (self.row_upper < 0).any()):
            return Solution.infeasible(seconds)
        duals = np.zeros(self.n_rows) if self.integer is None else None
        return Solution(Status.OPTIMAL, 0.0, 0.0, np.zeros(0), duals, np.zeros(0), seconds)


def _places(found: Problems, name: str, places: ArrayLike, length: int) -> NDArray[np.int32]:
    """Return places as solvers want them, and note those that do not exist or come twice."""
    wanted = np.asarray(places)
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        found.add(name, "must be whole numbers in one dimension.")
        return np.zeros(0, dtype=np.int32)
    if wanted.size and (int(wanted.min()) < 0 or int(wanted.max()) >= length):
        found.add(name, f"must lie between 0 and {length - 1}.")
    elif wanted.size > 1 and not np.diff(np.sort(wanted)).all():
        found.add(name, "must be named once each.")
    return np.ascontiguousarray(wanted, dtype=np.int32)
