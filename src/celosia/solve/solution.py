"""What a solver answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray


class Status(Enum):
    """How a solve ended; whatever else a solver may say is a `celosia.errors.SolverError`."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    r"""The answer to one solve.

    Parameters
    ----------
    status
        How it ended. OPTIMAL means within the gap; STOPPED means out of time.
    objective
        The objective at `x`, computed from `x` and not taken from the solver; inf without a point, -inf where the
        problem is unbounded.
    bound
        No feasible point has a lower objective. For an LP or QP that is the objective itself, to the solver's
        tolerance (recompute it from the duals where a proof needs it), and -inf if the solve was stopped.
    x
        The best feasible point, ``(n,)``; whole numbers in integer columns. None where there is none.
    duals
        y, ``(m,)``, of an LP or QP that was solved to the end: :math:`c + Qx - A'y` are the reduced costs,
        :math:`y_i \ge 0` where row i lies at its lower side, :math:`y_i \le 0` where it lies at its upper side, and
        :math:`y_i = 0` in between.
    reduced_costs
        :math:`c + Qx - A'y`, ``(n,)``, with the same signs at lower and upper bounds.
    seconds
        Wall-clock time.
    """

    status: Status
    objective: float
    bound: float
    x: NDArray[np.float64] | None
    duals: NDArray[np.float64] | None
    reduced_costs: NDArray[np.float64] | None
    seconds: float

    @classmethod
    def infeasible(cls, seconds: float) -> Solution:
        """Return the answer that no point is feasible."""
        return cls(Status.INFEASIBLE, np.inf, np.inf, None, None, None, seconds)

    @classmethod
    def unbounded(cls, seconds: float) -> Solution:
        """Return the answer that the objective has no lower bound."""
        return cls(Status.UNBOUNDED, -np.inf, -np.inf, None, None, None, seconds)

    @classmethod
    def stopped(cls, bound: float, seconds: float) -> Solution:
        """Return the answer that time ran out before there was a feasible point."""
        return cls(Status.STOPPED, np.inf, bound, None, None, None, seconds)
