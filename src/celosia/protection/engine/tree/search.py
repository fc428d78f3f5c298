"""TreeSearch: solve the master with integer variables until nothing separates its solution; one for every method.

How each master is solved, and what is made of its solution, is said by a `Branching`: for patterns
`engine.patterns.branching`, for any modes of publication `engine.modes.branching`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.tree.integer_master import IntegerMaster
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.solution import Solution, Status

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import Cut
    from celosia.protection.engine.incumbent import Incumbent, Scalar
    from celosia.protection.engine.relaxation import AnySeparator, Relaxation
    from celosia.protection.engine.stop import Stop


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How one integer master is solved.

    Parameters
    ----------
    solver
        The solver.
    gap
        How far a cost may lie above the bound.
    limit
        The highest cost, what is paid in any case left out, of its solutions; infinite for none.
    seconds
        The time for it.
    separate
        Returns cuts that a solution inside the tree violates, none where it is safe; None where that is done outside.
    effort
        Share of the solver's work that goes into primal heuristics, 0 to 1; None for the usual one.
    """

    solver: Backend
    gap: float
    limit: float
    seconds: float
    separate: Callable[[NDArray[np.float64]], list[Cut]] | None = None
    effort: float | None = None


class Branching(Protocol):
    """How integer masters are solved one after another, and what is made of their solutions."""

    def plan(self, *, lazily: bool) -> Plan | None:
        """Return how the next master is solved, inside one tree only where that works; None to end."""

    def take(self, x: NDArray[np.float64] | None, *, stopped: bool) -> bool:
        """Separate a solution, None where there is none, and accept it, or make others of it; return whether to go on.

        Where the solver was stopped, the master was not solved to its gap.
        """


class TreeSearch:
    """Solves integer masters.

    Parameters
    ----------
    incumbent, stop, relaxation
        The other parts of the search.
    solver
        The one that branches.
    """

    def __init__(
        self, incumbent: Incumbent[Scalar], stop: Stop, relaxation: Relaxation[AnySeparator], solver: Backend
    ) -> None:
        self._incumbent, self._stop, self._relaxation = incumbent, stop, relaxation
        self._cuts_lazily = Capability.LAZY in solver.capabilities

    def run(self, branching: Branching) -> None:
        """Solve one integer master after another, and raise the bound by each, as long as that is planned.

        Where a solver takes a cut for satisfied that is not, by its tolerance, cuts are rows of masters from then on.
        """
        found, relaxation = self._incumbent, self._relaxation
        while not self._stop.reached:
            self._stop.check()
            plan = branching.plan(lazily=self._cuts_lazily)
            if plan is None:
                return
            relaxation.fix_by_reduced_costs()
            master = IntegerMaster.of(relaxation.master, plan.limit)
            try:
                solution = self._solve(master, plan)
            except SolverError:
                if plan.separate is None:
                    raise
                self._cuts_lazily = False
                continue
            bound = master.bound(solution.bound)
            unlimited = not np.isfinite(plan.limit)
            if solution.status is Status.INFEASIBLE or (unlimited and found.step.raise_bound(bound) > found.cutoff):
                found.conclude()
                return
            relaxation.raise_bound(bound - found.accuracy * abs(bound + found.base))
            x = None if solution.x is None else master.point(solution.x)
            if not branching.take(x, stopped=solution.status is Status.STOPPED):
                return

    def _solve(self, master: IntegerMaster, plan: Plan) -> Solution:
        """Solve an integer master, and cut its solutions off inside the tree where that is planned."""
        model, gap, separate = plan.solver.open(master.problem), plan.gap / master.scale, plan.separate
        if separate is None:
            return model.solve(time_limit=plan.seconds, absolute_gap=gap, effort=plan.effort)

        def separate_lazily(x: NDArray[np.float64]) -> list[Row]:
            cuts = separate(master.point(x))
            self._relaxation.pool.add(cuts)
            return [master.row(cut) for cut in cuts]

        return model.solve_lazily(separate_lazily, time_limit=plan.seconds, absolute_gap=gap)
