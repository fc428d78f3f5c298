"""TreeSearch: the master with integer variables, solved until nothing separates its solution."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.integer_master import IntegerMaster
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.patterns.parameters import QUICK, QuickParameters
from celosia.protection.engine.stop import Stop, TimeUpError
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.deadline import DeadlineError, Until, before, check
from celosia.solve.solution import Solution, Status
from celosia.tolerance import BELOW_ONE_STEP, HALF, HIDDEN_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import Cut
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.heuristics.primal import PrimalHeuristics
    from celosia.protection.engine.incumbent import PatternIncumbent
    from celosia.protection.engine.patterns.cutting_planes import PatternCuttingPlanes
    from celosia.protection.engine.patterns.oracle import LazyRequirements
    from celosia.protection.engine.relaxation import Relaxation


class TreeSearch:
    """Solves integer masters.

    Parameters
    ----------
    incumbent, stop, relaxation, cutting, requirements, heuristics
        The other parts of the search.
    tree
        Solves the master with integer variables.
    parameters
        How many masters are solved before a tree takes the rest.
    quick
        How long masters may take that are solved before anything else is tried.
    """

    def __init__(
        self,
        incumbent: PatternIncumbent,
        stop: Stop,
        relaxation: Relaxation[Separator],
        cutting: PatternCuttingPlanes,
        requirements: LazyRequirements,
        heuristics: PrimalHeuristics,
        tree: Backend,
        parameters: EngineParameters = PARAMETERS,
        quick: QuickParameters = QUICK,
    ) -> None:
        self._incumbent, self._stop, self._relaxation = incumbent, stop, relaxation
        self._cutting, self._requirements, self._heuristics = cutting, requirements, heuristics
        self._tree, self._parameters, self._quick = tree, parameters, quick
        self._longer = 0.0

    def run(self) -> None:
        """Solve the master with integer variables until nothing separates its solution.

        As long as that is quick, cutting planes run again after every solution; then a tree with lazy cuts takes the
        rest, where the solver has them.
        """
        lazy, rounds, relaxation, stop = Capability.LAZY in self._tree.capabilities, 0, self._relaxation, self._stop
        while not stop.reached:
            stop.check()
            late = stop.left < (1 - self._parameters.rounds_share) * (stop.left + stop.clock.seconds)
            if lazy and (late or rounds >= self._parameters.most_rounds):
                self._solve_lazily()
                return
            solver = relaxation.separator.backend if rounds < self._parameters.first_rounds else self._tree
            rounds += 1
            master = self._master()
            solution = solver.open(master.problem).solve(time_limit=stop.left, absolute_gap=self._absolute_gap())
            x = self._conclude_from(master, solution)
            if x is None:
                return
            if not self._cutting.add_violated_cuts(x, integer=True) and self._accept_optimum(x):
                return
            self._heuristics.repair(x)
            self._cutting.run(deep=False, zero_half=not relaxation.separator.is_network)

    def run_while_quick(self) -> None:
        """Solve integer masters, and complete their solutions to patterns, as long as that is quick.

        Where integer masters are that easy, rounds of them close the gap long before heuristics and deep cuts do. None
        is solved much more closely than the gap that is left.
        """
        found, relaxation, stop, q = self._incumbent, self._relaxation, self._stop, self._quick
        quick, rounds, before_round = True, 0, None
        while quick and not stop.reached and before_round != (known := (found.cost, found.bound, len(relaxation.pool))):
            stop.check()
            before_round, seconds = known, min(q.share * stop.left, q.seconds)
            master = IntegerMaster.of(relaxation.master, np.inf)  # easier without the dense row of the cutoff
            few = rounds < self._parameters.first_rounds and len(master.columns) <= q.small_master
            solver, rounds = relaxation.separator.backend if few else self._tree, rounds + 1
            gap = self._quick_gap()
            solution = solver.open(master.problem).solve(
                time_limit=seconds, absolute_gap=max(gap / master.scale, self._absolute_gap())
            )
            bound = master.bound(solution.bound)
            if solution.status is Status.INFEASIBLE or found.step.raise_bound(bound) > found.cutoff:
                found.conclude()
                return
            found.raise_bound(bound)
            if solution.x is None:
                return
            x, quick = master.point(solution.x), solution.status is not Status.STOPPED
            pattern = self._complete_in_time(x, min(stop.left, q.seconds))
            if pattern is None:
                return
            exact = quick and not gap and np.array_equal(pattern, x > HALF)
            if exact and self._accept_optimum(x):
                return
            self._heuristics.accept_extended(pattern, found.problem.cost)
            self._cutting.run(deep=False)

    def _complete_in_time(self, x: NDArray[np.float64], seconds: float) -> NDArray[np.bool_] | None:
        """Separate a solution of the integer master, and return a pattern made of it; None where that takes longer."""
        clock, pattern = self._stop.clock, x > HALF
        end = clock.seconds + seconds
        with contextlib.suppress(DeadlineError), before(Until(lambda: end - clock.seconds)):
            if not self._cutting.add_violated_cuts(x, integer=True, thorough=True):
                return pattern
            return self._heuristics.complete(pattern)
        check()
        return None

    def _quick_gap(self) -> float:
        """Return to which gap integer masters are solved: a part of the one that is left, none where that is small."""
        found, q = self._incumbent, self._quick
        left = min(found.cost - found.bound, q.first_gap * found.bound)
        return q.part * left if left > q.closing_gap * found.bound else 0.0

    def run_for(self, seconds: float) -> None:
        """Solve integer masters one after another for so many seconds; the last one is left where it stands.

        A master that was not solved is begun again in a later call, which takes twice as long for it.
        """
        stop = self._stop
        until = stop.clock.seconds + max(seconds, self._longer)
        while not stop.reached and stop.clock.seconds < until:
            stop.check()
            master, slice_ = self._master(), min(until - stop.clock.seconds, stop.left)
            solution = self._tree.open(master.problem).solve(time_limit=slice_, absolute_gap=self._absolute_gap())
            if solution.status is Status.INFEASIBLE:
                self._incumbent.conclude()
                return
            self._incumbent.raise_bound(master.bound(solution.bound))
            if solution.status is Status.STOPPED or solution.x is None:
                self._longer = 2.0 * max(seconds, self._longer)
                return
            x = master.point(solution.x)
            if not self._cutting.add_violated_cuts(x, integer=True) and self._accept_optimum(x):
                return
            self._longer = 0.0

    def _master(self) -> IntegerMaster:
        """Return the integer master of patterns that are cheaper than the best."""
        return IntegerMaster.of(self._relaxation.master, self._incumbent.cutoff)

    def _absolute_gap(self) -> float:
        return BELOW_ONE_STEP * self._incumbent.step.size / self._relaxation.master.scale

    def _conclude_from(self, master: IntegerMaster, solution: Solution) -> NDArray[np.float64] | None:
        """Take the bound of an integer master; return its point, None where it has none, which ends the search."""
        if solution.status is Status.INFEASIBLE:
            self._incumbent.conclude()
            return None
        self._incumbent.raise_bound(master.bound(solution.bound))
        point = None if solution.x is None else master.point(solution.x)
        if solution.status is Status.STOPPED or point is None:
            if point is not None:
                self._heuristics.offer(point > HALF, self._incumbent.problem.cost)
            raise TimeUpError
        return point

    def _solve_lazily(self) -> None:
        """Let the solver branch, and separate every pattern that it finds."""
        master = self._master()

        def separate(x: NDArray[np.float64]) -> list[Row]:
            return [master.row(cut) for cut in self._separate(master.point(x))]

        model = self._tree.open(master.problem)
        solution = model.solve_lazily(separate, time_limit=self._stop.left, absolute_gap=self._absolute_gap())
        x = self._conclude_from(master, solution)
        if x is not None:
            self._accept_optimum(x)

    def _separate(self, x: NDArray[np.float64]) -> list[Cut]:
        """Return cuts that separate a pattern of the tree, none where it is safe."""
        cuts = self._cutting.separate_pattern(x)
        self._relaxation.pool.add(cuts)
        if cuts and self._relaxation.separator.is_network:
            weight = self._incumbent.problem.cost * (1.0 - x)
            self._heuristics.offer(np.maximum(x, self._relaxation.point.x) > HIDDEN_ZERO, weight)
        return cuts or self._requirements.cuts_from_oracle(x > HALF)

    def _accept_optimum(self, x: NDArray[np.float64]) -> bool:
        """Accept the cheapest pattern, which nothing separates, and conclude; False where the oracle objects.

        It may miss a level by so little that no cut shows it in doubles: then the audit decides.
        """
        pattern = x > HALF
        if self._requirements.cuts_from_oracle(pattern):
            return False
        problem = self._incumbent.problem
        try:
            if bool((pattern & ~problem.forced & (problem.cost <= 0)).any()):  # these may be hidden in vain
                self._heuristics.offer(pattern, problem.cost)
        finally:  # there may be no time to attack it once more without what it hides in vain
            self._requirements.accept(pattern)
            self._incumbent.conclude()
        return True
