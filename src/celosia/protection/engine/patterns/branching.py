"""How integer masters of patterns are solved: to the optimum, quickly before anything else is tried, or for a turn."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.patterns.parameters import QUICK, QuickParameters
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.engine.tree.search import Plan
from celosia.solve.deadline import DeadlineError, Until, before, check
from celosia.tolerance import BELOW_ONE_STEP, HALF, HIDDEN_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import Cut
    from celosia.protection.engine.heuristics.primal import PrimalHeuristics
    from celosia.protection.engine.patterns.cutting_planes import PatternCuttingPlanes
    from celosia.protection.engine.patterns.oracle import LazyRequirements
    from celosia.solve.backend import Backend


@dataclass(frozen=True, slots=True, eq=False)
class IntegerPatterns:
    """Separates patterns that integer masters find, and accepts those that are safe.

    Parameters
    ----------
    cutting, requirements, heuristics
        The other parts of the search.
    tree
        Solves the master with integer variables.
    """

    cutting: PatternCuttingPlanes
    requirements: LazyRequirements
    heuristics: PrimalHeuristics
    tree: Backend

    @property
    def gap(self) -> float:
        """The gap of a tree: patterns that are closer cost the same."""
        return BELOW_ONE_STEP * self.cutting.incumbent.step.size

    def choose_solver(self, rounds: int) -> Backend:
        """Return the solver of the linear master for the first rounds, which opens faster than the tree's."""
        return self.cutting.relaxation.separator.backend if rounds < self.cutting.parameters.first_rounds else self.tree

    def separate(self, x: NDArray[np.float64]) -> list[Cut]:
        """Return cuts that separate a pattern of the tree, none where it is safe."""
        cuts = self.cutting.separate_pattern(x)
        if cuts and self.cutting.relaxation.separator.is_network:
            self.cutting.relaxation.pool.add(cuts)  # reverse delete learns from them
            weight = self.cutting.incumbent.problem.cost * (1.0 - x)
            self.heuristics.offer(np.maximum(x, self.cutting.relaxation.point.x) > HIDDEN_ZERO, weight)
        return cuts or self.requirements.cuts_from_oracle(x > HALF)

    def is_optimum(self, x: NDArray[np.float64]) -> bool:
        """Return whether nothing separates the cheapest pattern, which is accepted then."""
        return not self.cutting.add_violated_cuts(x, integer=True) and self.accept_optimum(x)

    def accept_optimum(self, x: NDArray[np.float64]) -> bool:
        """Accept the cheapest pattern, which nothing separates, and conclude; False where the oracle objects.

        It may miss a level by so little that no cut shows it in doubles: then the audit decides.
        """
        pattern = x > HALF
        if self.requirements.cuts_from_oracle(pattern):
            return False
        problem = self.cutting.incumbent.problem
        try:
            if bool((pattern & ~problem.forced & (problem.cost <= 0)).any()):  # these may be hidden in vain
                self.heuristics.offer(pattern, problem.cost)
        finally:  # there may be no time to attack it once more without what it hides in vain
            self.requirements.accept(pattern)
            self.cutting.incumbent.conclude()
        return True

    def complete_in_time(self, x: NDArray[np.float64], seconds: float) -> NDArray[np.bool_] | None:
        """Separate a solution of the integer master, and return a pattern made of it; None where that takes longer."""
        clock, pattern = self.cutting.stop.clock, x > HALF
        end = clock.seconds + seconds
        with contextlib.suppress(DeadlineError), before(Until(lambda: end - clock.seconds)):
            if not self.cutting.add_violated_cuts(x, integer=True, thorough=True):
                return pattern
            return self.heuristics.complete(pattern)
        check()
        return None


class PatternBranching:
    """Solves integer masters to the optimum until nothing separates the cheapest pattern.

    As long as that is quick, cutting planes run again after every solution; then a tree with lazy cuts takes the rest,
    where the solver has them.
    """

    def __init__(self, patterns: IntegerPatterns) -> None:
        self._patterns = patterns
        self._rounds, self._lazily = 0, False

    def plan(self, *, lazily: bool) -> Plan:
        """Return how the next master is solved: lazily after many, or when its share of the time is up."""
        patterns, p = self._patterns, self._patterns.cutting.parameters
        left, solver = patterns.cutting.stop.left, patterns.choose_solver(self._rounds)
        late = left < (1 - p.rounds_share) * (left + patterns.cutting.stop.clock.seconds)
        self._lazily = lazily and (late or self._rounds >= p.most_rounds)
        self._rounds += 1
        if self._lazily:
            return Plan(patterns.tree, patterns.gap, patterns.cutting.incumbent.cutoff, left, patterns.separate)
        return Plan(solver, patterns.gap, patterns.cutting.incumbent.cutoff, left)

    def take(self, x: NDArray[np.float64] | None, *, stopped: bool) -> bool:
        """Accept the optimum; else repair the pattern, and run cutting planes again."""
        patterns = self._patterns
        if stopped or x is None:
            if x is not None:
                patterns.heuristics.offer(x > HALF, patterns.cutting.incumbent.problem.cost)
            raise TimeUpError
        if self._lazily:  # it is cut inside the tree
            patterns.accept_optimum(x)
            return False
        if patterns.is_optimum(x):
            return False
        patterns.heuristics.repair(x)
        patterns.cutting.run(deep=False, zero_half=not patterns.cutting.relaxation.separator.is_network)
        return True


class QuickBranching:
    """Solves integer masters, and completes their solutions to patterns, as long as that is quick.

    Where integer masters are that easy, rounds of them close the gap long before heuristics and deep cuts do. None is
    solved much more closely than the gap that is left.
    """

    def __init__(self, patterns: IntegerPatterns, parameters: QuickParameters = QUICK) -> None:
        self._patterns, self._parameters = patterns, parameters
        self._rounds, self._gap = 0, 0.0
        self._known: tuple[float, float, int] | None = None

    def plan(self, *, lazily: bool) -> Plan | None:  # noqa: ARG002  (a `Branching`)
        """Return how the next master is solved, None where the last one has brought nothing."""
        patterns, q = self._patterns, self._parameters
        found, relaxation = patterns.cutting.incumbent, patterns.cutting.relaxation
        before_round, self._known = self._known, (found.cost, found.bound, len(relaxation.pool))
        if before_round == self._known:
            return None
        small = np.count_nonzero(relaxation.master.lower < relaxation.master.upper) <= q.small_master
        solver = patterns.choose_solver(self._rounds) if small else patterns.tree
        self._rounds += 1
        left = min(found.cost - found.bound, q.first_gap * found.bound)
        self._gap = q.part * left if left > q.closing_gap * found.bound else 0.0
        seconds = min(q.share * patterns.cutting.stop.left, q.seconds)
        return Plan(solver, max(self._gap, patterns.gap), np.inf, seconds)  # the cutoff's dense row makes it harder

    def take(self, x: NDArray[np.float64] | None, *, stopped: bool) -> bool:
        """Accept the pattern, completed where it is not safe; return whether the master was quick."""
        patterns = self._patterns
        pattern = (
            None
            if x is None
            else patterns.complete_in_time(x, min(patterns.cutting.stop.left, self._parameters.seconds))
        )
        if x is None or pattern is None:
            return False
        exact = not stopped and not self._gap and np.array_equal(pattern, x > HALF)
        if exact and patterns.accept_optimum(x):
            return False
        patterns.heuristics.accept_extended(pattern, patterns.cutting.incumbent.problem.cost)
        patterns.cutting.run(deep=False)
        return not stopped


class TimedBranching:
    """Solves integer masters one after another for the seconds of a turn; the last one is left where it stands.

    A master that was not solved is begun again in a later turn, which takes twice as long for it.
    """

    def __init__(self, patterns: IntegerPatterns) -> None:
        self._patterns = patterns
        self._turn = self._longer = self._until = 0.0

    def begin_turn(self, seconds: float) -> TimedBranching:
        """Take so many seconds from now, or longer where a master needs them."""
        self._turn = max(seconds, self._longer)
        self._until = self._patterns.cutting.stop.clock.seconds + self._turn
        return self

    def plan(self, *, lazily: bool) -> Plan | None:  # noqa: ARG002  (a `Branching`)
        """Return how the next master is solved, None where the turn is over."""
        patterns = self._patterns
        left = min(self._until - patterns.cutting.stop.clock.seconds, patterns.cutting.stop.left)
        return Plan(patterns.tree, patterns.gap, patterns.cutting.incumbent.cutoff, left) if left > 0 else None

    def take(self, x: NDArray[np.float64] | None, *, stopped: bool) -> bool:
        """Accept the optimum, or go on; a master that was not solved ends the turn."""
        if stopped or x is None:
            self._longer = 2.0 * self._turn
            return False
        if self._patterns.is_optimum(x):
            return False
        self._longer = 0.0
        return True
