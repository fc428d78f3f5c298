"""What a solver must offer to be used here, and how it says what it can do.

A new back end is one module with a `Backend` and a `Model`, and a line in `celosia.solve.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Flag, auto
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError

if TYPE_CHECKING:
    from celosia.solve.problem import LinearProgram
    from celosia.solve.solution import Solution

Method = Literal["auto", "primal", "dual", "afresh", "interior", "barrier"]
"""Which simplex method solves an LP: auto takes the primal where only costs changed since the last solve.

Afresh is the dual one from the basis of slacks, without presolving: the best start where bounds and costs have changed
all over, and nothing costs less than nothing.

The interior-point method returns no vertex and leaves no basis behind; barrier is the same with a crossover, which ends
at a vertex, whatever basis there was. A back end without one takes another.
"""


class Capability(Flag):
    """What a back end can solve.

    LAZY means that `Model.solve_lazily` adds its rows inside one branch-and-bound tree. Without it the method is
    there all the same, gives the same optimum, and solves a new tree after each round of rows.
    """

    LP = auto()
    MIP = auto()
    QP = auto()
    LAZY = auto()


class Row(NamedTuple):
    """One row of a problem: ``lower <= values @ x[columns] <= upper``.

    Parameters
    ----------
    columns
        Places of the entries, each once, ``(k,)``.
    values
        The entries, ``(k,)``.
    lower, upper
        -inf and inf where a side is open.
    """

    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    lower: float
    upper: float


Separate = Callable[[NDArray[np.float64]], Sequence[Row]]
"""Returns rows of the problem that a point violates, none where it violates none.

The point is feasible for the rows known so far, its integer columns hold whole numbers, and the question may come from
another thread than the caller's. Rows violated by no more than `celosia.tolerance.ROW_SATISFIED` count as satisfied, as
they would had they been in the model from the start.
"""


class Model(Protocol):
    """An open problem: it is changed in place, and an LP is solved again from its last basis."""

    @property
    def warm_solves(self) -> int:
        """How many runs of a solver started from a basis."""

    @property
    def cold_solves(self) -> int:
        """How many runs of a solver started from nothing, as all of a MIP or QP do."""

    def change_costs(self, columns: NDArray[np.int64], costs: NDArray[np.float64]) -> None:
        """Give some columns, each named once, new costs."""

    def change_bounds(self, columns: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Give some columns, each named once, new bounds."""

    def add_rows(self, rows: sp.csr_array, row_lower: NDArray[np.float64], row_upper: NDArray[np.float64]) -> None:
        """Append rows, ``(k, n)``. The basis stays."""

    def delete_rows(self, rows: NDArray[np.int64]) -> None:
        """Delete the rows at these places; the others close up, as in `numpy.delete`.

        The basis stays where all of them were slack.
        """

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
        """Return the solution of the problem as it stands.

        Parameters
        ----------
        time_limit
            Wall-clock seconds.
        gap, absolute_gap
            A MIP is solved when objective and bound are this close, relative to the objective or absolutely.
        method
            For an LP.
        duals
            Whether the duals and reduced costs of an LP or QP are wanted; leaving them out saves time.
        effort
            The share of the work on a MIP that goes into finding good points, where the back end has such an option.

        Raises
        ------
        SolverError
            If the solver's answer is not understood, twice.
        DeadlineError
            The last moment of the call has passed (`celosia.solve.deadline`): this is not a limit of one solve, and
            the model need not be of use afterwards.
        KeyboardInterrupt
            Soon after Ctrl-C. The model can be used again, unless the solver does not come back in
            `celosia.solve.interrupt.PATIENCE` seconds.
        """

    def solve_lazily(
        self,
        separate: Separate,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        absolute_gap: float = 0.0,
    ) -> Solution:
        """Return the solution of the problem with all the rows that `separate` knows; see `solve`.

        The rows that were found stay in the model, at its end. A point is only ever returned after `separate` found
        nothing against it. Without the rows the problem must be bounded.
        """


class Backend(Protocol):
    """A solver that is installed."""

    @property
    def name(self) -> str:
        """What a user calls it, in small letters."""

    @property
    def version(self) -> str:
        """Its version."""

    @property
    def capabilities(self) -> Capability:
        """What it can solve."""

    def open(self, problem: LinearProgram) -> Model:
        """Return a model of the problem; SolverError where the back end cannot solve such a thing."""


def needs(problem: LinearProgram) -> Capability:
    """Return what a back end must be capable of to solve a problem."""
    needed = Capability.LP
    if problem.has_integers:
        needed |= Capability.MIP
    if problem.has_squares:
        needed |= Capability.QP
    return needed


def refuse_unless_capable(backend: Backend, problem: LinearProgram) -> None:
    """Raise SolverError where a back end cannot solve a problem."""
    needed = needs(problem)
    if Capability.MIP in needed and Capability.QP in needed:
        raise SolverError.one("problem", "has integer columns and a quadratic objective: no back end solves both.")
    if missing := needed & ~backend.capabilities:
        raise SolverError.one("problem", f"needs {missing.name}, which {backend.name} cannot solve.", "Use another.")
