"""How integer masters of any modes are solved: lazily where the solver can, else one after another, ever closer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.stop import TimeUpError
from celosia.protection.engine.tree.integer_master import IntegerMaster
from celosia.protection.engine.tree.search import Plan
from celosia.tolerance import INTEGRAL

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import Cut
    from celosia.protection.engine.heuristics.diving import Diving
    from celosia.protection.engine.modes.cutting_planes import ModeCuttingPlanes
    from celosia.protection.engine.modes.oracle import PointRequirements
    from celosia.solve.backend import Backend


@dataclass(eq=False)
class ModeBranching:
    """Solves integer masters until nothing separates the solution of one that was solved to the gap.

    Parameters
    ----------
    cutting, requirements, diving
        The other parts of the search.
    solver
        Solves them.
    gap
        How far a cost may lie above a bound, as a share.
    """

    cutting: ModeCuttingPlanes
    requirements: PointRequirements
    diving: Diving
    solver: Backend
    gap: float
    _lazily: bool = False

    def __post_init__(self) -> None:
        self._modes, self._relaxation = self.cutting.modes, self.cutting.relaxation
        self._incumbent, self._stop = self.cutting.incumbent, self.cutting.stop
        self._exactly = not self._is_attacked

    @property
    def _is_attacked(self) -> bool:
        """Whether there are subproblems."""
        return len(self._relaxation.separator.sides) > 0

    def plan(self, *, lazily: bool) -> Plan:
        """Return how the next master is solved."""
        self._lazily = lazily and self._is_attacked
        gap = self.gap if self._lazily or self._exactly else self._gap_of_a_round()
        effort = None if self._is_attacked else self.cutting.parameters.effort
        separate = (lambda x: self._separate(self._modes.tidy(x))[0]) if self._lazily else None
        return Plan(self.solver, self._absolute(gap), self._incumbent.limit, self._stop.left, separate, effort)

    def _absolute(self, gap: float) -> float:
        """Return how far a cost may lie above a bound; solvers do not see what is paid in any case."""
        return gap * max(self._incumbent.bound, 0.0)

    def _gap_of_a_round(self) -> float:
        """Return how exactly a master is solved that will be cut again."""
        found = self._incumbent
        if found.best is None or not found.cost:
            return self.gap
        return max(self.gap, (found.cost - found.bound) / abs(found.cost) / self.cutting.parameters.round_gap_parts)

    def take(self, x: NDArray[np.float64] | None, *, stopped: bool) -> bool:
        """Accept the solution where it is safe, else complete its whole numbers; return whether to go on."""
        if x is None:
            raise TimeUpError
        v = self._modes.tidy(x)
        cuts, accepted = self._separate(v)
        new = self._relaxation.master.add(cuts)
        if stopped:
            raise TimeUpError
        if not accepted:
            self.diving.complete(v)
        done = not new and (self._lazily or self._exactly)
        self._exactly = not new
        return not done

    def _separate(self, v: NDArray[np.float64]) -> tuple[list[Cut], bool]:
        """Return cuts that a solution violates, and whether it is safe, and the oracle has added nothing."""
        separator = self._relaxation.separator
        found = separator.separate(v)
        if found.safe:
            self.requirements.accept(v)
        now = self._relaxation.separator
        if now is separator:
            return found.cuts, found.safe
        return [*found.cuts, *now.separate(v).cuts], False

    def offer_near_relaxation(self) -> None:
        """Search trees over the fractions of the relaxation, where these are few, then over what shares rows with them.

        That is quick where there are no subproblems.
        """
        point, integers = self._relaxation.solve(), self._modes.integers
        if point is None:
            return
        x = point.x[integers]
        fractional = np.abs(x - np.rint(x)) > INTEGRAL
        if int(fractional.sum()) > self.cutting.parameters.fractional * len(x):
            return
        for free in (fractional, self._share_rows_with(fractional)):
            self._solve_with_fixed(integers[~free], np.rint(x[~free]))
            if self._incumbent.best is not None:
                return

    def _share_rows_with(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which whole numbers share a row with some of these."""
        rows = abs(self._modes.program.rows[:, self._modes.integers])
        return np.asarray(rows.T @ (rows @ columns.astype(np.float64)) > 0)

    def _solve_with_fixed(self, fixed: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Solve the master with whole numbers while some of them are fixed, and offer its solution."""
        master = self._relaxation.master
        try:
            master.fix(fixed, values)
            whole = IntegerMaster.of(master, self._incumbent.limit)
        finally:
            master.release()
        allowed, model = self._absolute(self.gap) / whole.scale / 2, self.solver.open(whole.problem)
        solution = model.solve(time_limit=self._stop.left, absolute_gap=allowed, effort=self.cutting.parameters.effort)
        if solution.x is not None:
            self.requirements.accept(whole.point(solution.x))
