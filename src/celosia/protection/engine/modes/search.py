"""Branch and cut over any modes of publication: the cheapest safe point of a problem.

    cut        solve the relaxed master, separate its point, add the cuts, again      `engine.modes.cutting_planes`
    widen      make a point safe whose whole numbers are fixed                        `engine.heuristics.widening`
    dive       fix whole numbers one part after another, cutting in between           `engine.heuristics.diving`
    flip       change single whole numbers of 0 or 1 of the incumbent                 `engine.heuristics.flipping`
    branch     the master with whole numbers; separate its solution; again            `engine.modes.branching`

The loop is `celosia.protection.engine.branch_and_cut`; relaxation and tree search are those of every method
(`engine.relaxation`, `engine.tree.search`). Components that share nothing are searched apart
(`engine.modes.components`), by an executor where there is one. Without whole numbers the first two steps are all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.branch_and_cut import BranchAndCut
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.heuristics.diving import Diving
from celosia.protection.engine.heuristics.flipping import Flipping
from celosia.protection.engine.heuristics.widening import Widening
from celosia.protection.engine.incumbent import Incumbent, Outcome
from celosia.protection.engine.master import Point
from celosia.protection.engine.modes.branching import ModeBranching
from celosia.protection.engine.modes.components import ModeComponent, split_components
from celosia.protection.engine.modes.cutting_planes import ModeCuttingPlanes
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.oracle import PointRequirements
from celosia.protection.engine.modes.parameters import SEARCH, ModeSearchParameters
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import Extend, Extension, ProtectionProblem
from celosia.protection.engine.relaxation import Relaxation
from celosia.protection.engine.stop import Stop, TimeUpError
from celosia.protection.engine.tree.search import TreeSearch
from celosia.protection.engine.warm_start import cuts_of_search, pack_cuts
from celosia.protection.engine.workers import run_by_workers
from celosia.protection.run import Run
from celosia.protection.state.file import PackedCuts
from celosia.protection.state.fingerprint import digest_of
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.deadline import DeadlineError
from celosia.solve.registry import backends
from celosia.tolerance import GAP_CLOSED, TREE_BOUND


class ModeSearch(BranchAndCut[np.float64, CapacitySeparator]):
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
    root
        The fractional point that capacity cuts leave before anything is fixed; None before, and without whole numbers.
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
        self.root: NDArray[np.float64] | None = None
        self._point: Point | None = None
        self._is_first = True
        accuracy = TREE_BOUND if len(self._integer) else GAP_CLOSED / 2
        found = Incumbent[np.float64](
            modes.cost,
            modes.constant,
            modes.cost_step,
            lambda: listen(self),
            accuracy=accuracy,
            keeps=len(self._integer) > 0,
        )
        found.bound = modes.least_cost
        stop = Stop(found, run.clock, grace=0.0)
        stop.begin(max(run.gap, 2 * accuracy), np.inf)
        separator = CapacitySeparator(problem, modes, backend, parameters.separation)
        relaxation = Relaxation(modes.program, separator, found, stop, backend, parameters.most_steps)
        super().__init__(found, stop, relaxation)
        self._cutting = cutting = ModeCuttingPlanes(modes, found, stop, relaxation, self._touch, parameters)
        self.requirements = PointRequirements(oracle, modes, found, relaxation, stop)
        self._widening = Widening(cutting, self.requirements)
        self._diving = Diving(cutting, self._widening)
        self._flipping = Flipping(cutting, self._diving)
        self._tree = TreeSearch(found, stop, relaxation, run.solver)

    def learn(self, cuts: list[Cut], bound: float, v: NDArray[np.float64] | None) -> None:
        """Take over valid cuts, a bound, and a safe point as the incumbent."""
        self.relaxation.master.add(cuts)
        self.incumbent.bound = max(self.bound, bound)
        self.incumbent.best = v

    def begin(self, v: NDArray[np.float64], bound: float) -> None:
        """Start from the whole numbers of a point, where a safe one has them, and from a valid bound."""
        self.incumbent.bound = bound
        with self._in_time():
            self._diving.complete(v)

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
        return pack_cuts(self.valid_cuts, most)

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
            parts = self._split()
            self._run_in_time(partial(self._search_apart, parts) if len(parts) > 1 else self._search)
        except (SolverError, ArithmeticError):  # an incumbent is as good as before, and bounds stay valid
            with suppress(SolverError, ArithmeticError):
                self._offer_in_haste()
            if self.best is None:
                raise

    def go_on(self, clock: Clock) -> None:
        """Search on, where a search has ended, until another clock leaves no time."""
        self.run, self._stop.clock = replace(self.run, clock=clock), clock
        self.solve()

    def cut_beside(self, v: NDArray[np.float64], clock: Clock) -> NDArray[np.float64] | None:
        """Return what cuts leave beside the whole numbers of a point, until another clock leaves no time.

        None where nothing with these whole numbers is cheaper than the incumbent.
        """
        self._stop.clock, master = clock, self.relaxation.master
        try:
            with self._in_time():
                master.fix(self._integer, np.rint(v[self._integer]))
                point = self._cutting.cut()
                return None if point is None else point.x
        finally:
            master.release()
        return None if (last := self.relaxation.last) is None else last.x

    def flip(self, clock: Clock) -> None:
        """Search around the incumbent, also where it is within the gap, until another clock leaves no time."""
        self._stop.clock = clock
        self._stop.begin(0.0, np.inf)
        with self._in_time():
            self._flipping.run()

    def branch(self, clock: Clock) -> None:
        """Raise the bound by a tree, also where the incumbent is within the gap, until another clock leaves no time."""
        self._stop.clock = clock
        self._stop.begin(0.0, np.inf)
        with self._in_time(), suppress(SolverError, ArithmeticError):
            self._tree.run(self._branching(0.0))

    def _begin(self) -> None:
        self._is_first = True
        if self.separator.is_hopeless:
            self.incumbent.conclude()

    def _cut(self) -> bool:
        if not len(self._integer):
            self._cutting.cut(self._widening.repair)
            return False
        if not len(self.separator.sides):
            self._branching(self.run.gap).offer_near_relaxation()
            self._branch()
            return False
        self._point = self._cutting.cut()
        if self._point is not None and self._is_first:
            self.root = self._point.x
            self._point = self._cutting.cut_by_rounding(self._point)
        return self._point is not None

    def _round(self) -> None:
        if self._point is None:
            return
        if self._is_first:
            self._diving.round_hiding(self._point)
        self._is_first = False
        self._diving.dive(self._point)
        self._flipping.run()

    def _strengthen(self) -> None:
        """Do nothing: mixed-integer rounding follows the first cuts at once, for the sake of dives."""

    def _branch(self) -> None:
        self._tree.run(self._branching(self.run.gap))

    def _branching(self, gap: float) -> ModeBranching:
        """Return how integer masters are solved to a gap."""
        return ModeBranching(self._cutting, self.requirements, self._diving, self.run.solver, gap)

    def _offer_in_haste(self) -> None:
        self._widening.offer_in_haste()

    def _split(self) -> list[ModeComponent]:
        """Return the components; none where no-good cuts, or requirements that an oracle adds, may connect them."""
        if self.requirements.extend is not None or self.incumbent.refuted:
            return []
        return split_components(self.separator.problem, self.modes)

    def _search_apart(self, parts: list[ModeComponent]) -> None:
        """Search every component by itself, by the executor's workers or one after another, and join what is found."""
        found, run, whole = self.incumbent, self.run, self.outcome()
        outcomes = [part.restrict_outcome(whole) for part in parts]
        order = np.argsort(np.concatenate([part.variables for part in parts]))
        searches = [
            partial(solve_component, part, known, run.gap, self.parameters)
            for part, known in zip(parts, outcomes, strict=True)
        ]

        def hear(k: int, outcome: Outcome[np.float64]) -> None:
            outcomes[k] = outcome
            self.relaxation.master.add(parts[k].spread_cuts(outcome.cuts))
            found.impossible = found.impossible or outcome.impossible
            points = [one.best for one in outcomes if one.best is not None]
            if len(points) == len(parts):
                found.improve(np.concatenate(points)[order])
            found.raise_bound(math.fsum(one.bound for one in outcomes) - found.base)
            self._touch()

        for k, outcome in enumerate(run_by_workers(run, searches)):
            hear(k, outcome)
        for k, search in enumerate(searches if run.executor is None else ()):
            sizes = [len(part.variables) for part in parts[k:]]
            clock = run.clock.share_of_rest(sizes[0] / sum(sizes))
            hear(k, search(clock, run.solver, partial(hear, k)))
        if found.best is None and not found.impossible:
            raise TimeUpError

    def forbid(self, v: NDArray[np.float64]) -> bool:
        """Exclude the whole numbers of a point by a no-good cut; return False where they are not all 0 or 1."""
        program = self.modes.program
        open_ = self._integer[program.lower[self._integer] < program.upper[self._integer]]
        if not len(open_) or bool((program.upper[open_] > 1.0).any()):
            return False
        ones = np.rint(v[open_]) > 0
        cut = Cut(open_, np.where(ones, -1.0, 1.0), 1.0 - float(ones.sum()))
        self.relaxation.reset()
        self.relaxation.master.add([cut])
        self.incumbent.withdraw([cut])
        return True


def solve_component(
    part: ModeComponent,
    known: Outcome[np.float64],
    gap: float,
    parameters: ModeSearchParameters,
    clock: Clock,
    solver: Backend,
    listen: Callable[[Outcome[np.float64]], None] = lambda _: None,
) -> Outcome[np.float64]:
    """Return what the search of a component finds; every better point or bound is heard of."""
    run = Run(clock, gap, solver, 0, integer=None)

    def hear(search: ModeSearch) -> None:
        listen(replace(search.outcome(), cuts=[]))

    search = ModeSearch(part.problem, part.modes, backends()[0], run, hear, parameters=parameters)
    search.learn(known.cuts, known.bound, known.best)
    with suppress(DeadlineError):
        search.solve()
    return search.outcome()
