"""Branch and cut over any modes of publication: the cheapest safe point of a problem.

    cut        solve the relaxed master, separate its point, add the cuts, again      `engine.modes.relaxation`
    widen      make a point safe whose whole numbers are fixed                        `engine.heuristics.widening`
    dive       fix whole numbers one part after another, cutting in between           `engine.heuristics.diving`
    branch     the master with whole numbers; separate its solution; again until it violates no cut

Without whole numbers the first two are all. An oracle may add requirements while a search runs, as in
`celosia.protection.engine.oracle`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.heuristics.diving import Diving
from celosia.protection.engine.heuristics.widening import Widening
from celosia.protection.engine.incumbent import Incumbent
from celosia.protection.engine.integer_master import IntegerMaster
from celosia.protection.engine.master import CutPool
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.parameters import SEARCH, ModeSearchParameters
from celosia.protection.engine.modes.relaxation import ModeRelaxation, PointRequirements
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import Extend, Extension, ProtectionProblem
from celosia.protection.engine.stop import Stop, TimeUpError
from celosia.protection.engine.warm_start import cuts_of_search, pack_cuts
from celosia.protection.run import Run
from celosia.protection.state.file import PackedCuts
from celosia.protection.state.fingerprint import digest_of
from celosia.risk.cost_step import CostStep
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.deadline import DeadlineError, before, check
from celosia.solve.solution import Status
from celosia.tolerance import GAP_CLOSED, INTEGRAL, TREE_BOUND


class ModeSearch:
    """A search for the cheapest safe point of the modes of a problem, which can be left at any moment.

    Parameters
    ----------
    problem, modes
        The requirements, and what may be published.
    backend
        Solves masters and attackers' linear programs.
    run
        When to stop, and the solver of masters with whole numbers.
    listen
        Hears of every better incumbent or bound.
    oracle
        Attacks points; None where the requirements of the problem are all.
    parameters
        How the search goes.

    Attributes
    ----------
    incumbent
        What has been found.
    relaxation
        The master with its cuts.
    requirements
        Accepts points, or adds requirements.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        modes: Modes,
        backend: Backend,
        run: Run,
        listen: Callable[[ModeSearch], None],
        oracle: Extend | None = None,
        parameters: ModeSearchParameters = SEARCH,
    ) -> None:
        self.modes, self.run, self.parameters = modes, run, parameters
        self._integer = modes.integers
        accuracy = TREE_BOUND if len(self._integer) else GAP_CLOSED / 2
        self.incumbent = found = Incumbent[np.float64](
            modes.cost,
            modes.constant,
            CostStep(0.0),
            lambda: listen(self),
            accuracy=accuracy,
            keeps=len(self._integer) > 0,
        )
        found.bound = modes.least_cost
        self._stop = stop = Stop(found, run.clock, grace=0.0)
        stop.begin(max(run.gap, 2 * accuracy), np.inf)
        self.relaxation = ModeRelaxation(problem, modes, backend, found, stop, self._touch, parameters)
        self.requirements = PointRequirements(oracle, found, self.relaxation, stop)
        self._widening = Widening(found, self.relaxation, self.requirements)
        self._diving = Diving(found, stop, self.relaxation, self._widening)

    @property
    def best(self) -> NDArray[np.float64] | None:
        """The cheapest safe point so far, None where there is none."""
        return self.incumbent.best

    @property
    def cost(self) -> float:
        """What the incumbent costs, infinite where there is none."""
        return self.incumbent.cost

    @property
    def bound(self) -> float:
        """No safe point costs less."""
        return self.incumbent.bound

    @property
    def impossible(self) -> bool:
        """Whether there is no safe point."""
        return self.incumbent.impossible

    @property
    def confirmed(self) -> bool:
        """Whether there is an incumbent, and the oracle, if there is one, has nothing against it."""
        return self.requirements.confirmed

    @property
    def separator(self) -> CapacitySeparator:
        """What separates capacity cuts of the requirements so far."""
        return self.relaxation.separator

    @property
    def pool(self) -> CutPool:
        """All cuts so far."""
        return self.relaxation.pool

    def learn(self, cuts: list[Cut], bound: float, v: NDArray[np.float64] | None) -> None:
        """Take over valid cuts, a bound, and a safe point as the incumbent."""
        self.relaxation.master.add(cuts)
        self.incumbent.bound = max(self.bound, bound)
        self.incumbent.best = v

    def begin(self, v: NDArray[np.float64], bound: float) -> None:
        """Start from the whole numbers of a point, where a safe one has them, and from a valid bound."""
        self.incumbent.bound = bound
        with suppress(TimeUpError, DeadlineError), before(self._stop.deadline):
            self._diving.complete(v)
        check()

    def suggest(self, v: NDArray[np.float64]) -> None:
        """Make a point the incumbent where rows allow it, it is safe, and cheaper."""
        self._widening.suggest(v)

    def require(self, problem: ProtectionProblem, *, necessary: bool) -> None:
        """Add the requirements that others have learnt from the oracle."""
        if self.requirements.extend is not None and self.separator.problem is not problem:
            self.requirements.add(Extension(problem, necessary))

    @cached_property
    def _name(self) -> str:
        """What tells this search from others: its variables and its requirements."""
        problem = self.separator.problem
        asked = problem.matrix, problem.up, problem.down, problem.requirements, problem.whole
        return digest_of((self.modes, asked))

    def _begin_warm(self) -> None:
        """Begin with the cuts of the same search in another run, and have those of this one kept.

        Not where an oracle adds requirements: bounds may not use all of these.
        """
        if self.requirements.extend is not None or (self.run.warm_start is None and self.run.keeper is None):
            return
        if self.run.warm_start is not None:
            self.relaxation.master.add(cuts_of_search(self.run.warm_start, self._name, len(self.modes.program.cost)))
        if self.run.keeper is not None:
            self.run.keeper.keep_cuts(self._name, self._pack_cuts)

    def _pack_cuts(self, most: int) -> PackedCuts:
        """Return all cuts but no-good cuts, which may not be proved."""
        refuted = {cut.key for cut in self.incumbent.refuted}
        return pack_cuts((cut for cut in tuple(self.pool.cuts) if cut.key not in refuted), most)

    def _touch(self) -> None:
        """Have new cuts written, where that is due."""
        if self.run.keeper is not None and self.requirements.extend is None:
            self.run.keeper.touch()

    def solve(self) -> None:
        """Search until the incumbent is within the gap, or time is up, or a solver gives no clear answer.

        Raises
        ------
        SolverError, ArithmeticError
            A solver gave none, and there is no incumbent.
        """
        if self._stop.reached:
            return
        self._begin_warm()
        try:
            with before(self._stop.deadline):
                self._search()
        except (TimeUpError, DeadlineError):
            check()
            self._widening.offer_in_haste()
        except (SolverError, ArithmeticError):  # an incumbent is as good as before, and bounds stay valid
            with suppress(SolverError, ArithmeticError):
                self._widening.offer_in_haste()
            if self.best is None:
                raise

    def _search(self) -> None:
        if len(self._integer) and not len(self.separator.sides):
            self._search_without_requirements()
            return
        point = self.relaxation.cut(None if len(self._integer) else self._widening.repair)
        if point is None:
            if self.best is None:
                self.incumbent.conclude()
        elif len(self._integer):
            self._diving.round_hiding(point)
            self._diving.dive_until_confirmed(point)
            self._branch()

    def _search_without_requirements(self) -> None:
        """Search where there are no subproblems: a tree over the few fractions of the relaxation, then one over all."""
        point = self.relaxation.master.solve()
        if point is None:
            self.incumbent.conclude()
            return
        self.relaxation.raise_bound(point.bound)
        x = point.x[self._integer]
        fractional = np.abs(x - np.rint(x)) > INTEGRAL
        if int(fractional.sum()) <= self.parameters.fractional * len(x):
            for free in (fractional, self._share_rows_with(fractional)):
                self._solve_with_fixed(self._integer[~free], np.rint(x[~free]))
                if self.best is not None:
                    break
        if not self._stop.reached:
            self._branch()

    def _share_rows_with(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which whole numbers share a row with some of these."""
        rows = abs(self.modes.program.rows[:, self._integer])
        return np.asarray(rows.T @ (rows @ columns.astype(np.float64)) > 0)

    def _solve_with_fixed(self, fixed: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Solve the master with whole numbers while some of them are fixed, and offer its solution."""
        master = self.relaxation.master
        try:
            master.fix(fixed, values)
            whole = self._integer_master()
        finally:
            master.release()
        allowed = self._absolute_gap(self.run.gap, whole) / 2
        model = self.run.solver.open(whole.problem)
        solution = model.solve(time_limit=self._stop.left, absolute_gap=allowed, effort=self.parameters.effort)
        if solution.x is not None:
            self.requirements.accept(whole.point(solution.x))

    def _integer_master(self) -> IntegerMaster:
        """Return the integer master of points that are no dearer than the incumbent."""
        return IntegerMaster.of(self.relaxation.master, self.cost - self.modes.constant)

    def _branch(self) -> None:
        """Solve the master with whole numbers until its solution violates no cut."""
        lazy, exact = Capability.LAZY in self.run.solver.capabilities, not len(self.separator.sides)
        while not self._stop.reached:
            self._stop.check()
            whole = self._integer_master()
            model = self.run.solver.open(whole.problem)
            if lazy and len(self.separator.sides):
                allowed = self._absolute_gap(self.run.gap, whole)
                separate = partial(self._separate_lazily, whole)
                solution = model.solve_lazily(separate, time_limit=self._stop.left, absolute_gap=allowed)
            else:
                allowed = self._absolute_gap(self.run.gap if exact else self._gap_of_a_round(), whole)
                effort = None if len(self.separator.sides) else self.parameters.effort
                solution = model.solve(time_limit=self._stop.left, absolute_gap=allowed, effort=effort)
            if solution.status is Status.INFEASIBLE:
                self.incumbent.conclude()
                return
            self.relaxation.raise_bound(self._lower_by_tolerance(whole.bound(solution.bound)))
            if solution.x is None:
                raise TimeUpError
            v, separator = self.modes.tidy(whole.point(solution.x)), self.separator
            found = separator.separate(v)
            new = self.relaxation.master.add(found.cuts)
            if found.safe:
                self.requirements.accept(v)
            grown = self.separator is not separator
            if grown:
                new += self.relaxation.master.add(self.separator.separate(v).cuts)
            if solution.status is not Status.STOPPED and (not found.safe or grown):
                self._diving.complete(v)
            if solution.status is Status.STOPPED:
                raise TimeUpError
            if not new and (lazy or exact):
                return
            exact = not new

    def _absolute_gap(self, gap: float, whole: IntegerMaster) -> float:
        """Return how far a cost may lie above a bound; solvers do not see what is paid in any case."""
        return gap * max(self.bound, 0.0) / whole.scale

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
            self.requirements.accept(v)
        cuts = found.cuts if self.separator is separator else self.separator.separate(v).cuts
        self.pool.add(cuts)
        return [whole.row(cut) for cut in cuts]

    def forbid(self, v: NDArray[np.float64]) -> bool:
        """Exclude the whole numbers of a point by a no-good cut; return False where they are not all 0 or 1."""
        program = self.modes.program
        open_ = self._integer[program.lower[self._integer] < program.upper[self._integer]]
        if not len(open_) or bool((program.upper[open_] > 1.0).any()):
            return False
        ones = np.rint(v[open_]) > 0
        cut = Cut(open_, np.where(ones, -1.0, 1.0), 1.0 - float(ones.sum()))
        self.relaxation.master.add([cut])
        self.incumbent.withdraw([cut])
        return True
