"""Branch and cut for the cheapest safe pattern of one problem (Fischetti and Salazar 2000, section 4).

    cut        solve the relaxed master, separate its point, add the cuts, again      `engine.patterns.cutting_planes`
    round      reduce the point's support, or construct around it, to a safe pattern  `engine.heuristics.primal`
    fix        fix columns whose reduced cost says that no cheaper pattern has them   `engine.relaxation`
    branch     the master with integer variables; separate its solution; again        `engine.patterns.branching`

Every pattern has a witness for each requirement. The loop is `celosia.protection.engine.branch_and_cut`; relaxation and
tree search are those of every method (`engine.relaxation`, `engine.tree.search`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.protection.engine.branch_and_cut import BranchAndCut
from celosia.protection.engine.cuts.initial import initial_cuts
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS as JOINT
from celosia.protection.engine.heuristics.joint.parameters import JointParameters, has_few_coordinates
from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES
from celosia.protection.engine.heuristics.moves.suitability import may_begin_with_moves
from celosia.protection.engine.heuristics.primal import PrimalHeuristics
from celosia.protection.engine.incumbent import Outcome, PatternIncumbent
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.patterns.branching import (
    IntegerPatterns,
    PatternBranching,
    QuickBranching,
    TimedBranching,
)
from celosia.protection.engine.patterns.cutting_planes import PatternCuttingPlanes, open_relaxation
from celosia.protection.engine.patterns.oracle import LazyRequirements
from celosia.protection.engine.patterns.parameters import QUICK, QuickParameters
from celosia.protection.engine.patterns.waiting import WaitingRequirements, has_alternatives
from celosia.protection.engine.stop import Effort, Stop, TimeUpError, Turns
from celosia.protection.engine.tree.search import TreeSearch
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock

if TYPE_CHECKING:
    from celosia.attack.subproblems.proposals import ProposedWitnesses
    from celosia.protection.engine.capacity import Cut
    from celosia.protection.engine.heuristics.moves import start as moves
    from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.problem import Extend, ProtectionProblem
else:
    moves = OnFirstUse("celosia.protection.engine.heuristics.moves.start")


class PatternSearch(BranchAndCut[np.bool_, Separator]):
    """A search for the cheapest safe pattern, which can be left at any moment.

    Parameters
    ----------
    problem
        The problem, or one component of it.
    backend
        Solves the linear masters and the attackers' subproblems.
    tree
        Solves the master with integer variables.
    clock
        When to stop.
    listen
        Is called after every better pattern or bound.
    rows
        Further rows of the master, such as a greatest number of hidden cells.
    seed
        Of the random numbers.
    extend
        The requirement oracle; None where the requirements of the problem are all.
    audit_if_due
        Is called now and then: the best pattern so far may be audited.
    parameters
        How effort is divided.
    coordinates
        Kernel coordinates of the columns, where they are known.
    joint
        How much effort joint moves are worth.
    quick
        How long integer masters may take that are solved before anything else is tried.
    executor
        Whose workers protect the blocks of a large table; None for one block after the other.

    Attributes
    ----------
    incumbent, relaxation
        What has been found, and the master with its cuts.
    cutting
        Cuts its points off.
    requirements
        Accepts patterns, or adds requirements.
    waiting
        Requirements that are separated once a point misses them.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        backend: Backend,
        tree: Backend,
        clock: Clock,
        listen: Callable[[], None] = lambda: None,
        rows: Sequence[Cut] = (),
        seed: int = 0,
        extend: Extend | None = None,
        audit_if_due: Callable[[], None] = lambda: None,
        parameters: EngineParameters = PARAMETERS,
        coordinates: KernelCoordinates | None = None,
        joint: JointParameters = JOINT,
        quick: QuickParameters = QUICK,
        executor: Executor | None = None,
    ) -> None:
        self._parameters, self._quick, self._seed, self._executor = parameters, quick, seed, executor
        found = PatternIncumbent(problem, rows, lambda: self._hear(listen))
        stop = Stop(found, clock, audit_if_due, parameters.grace)
        self._turns = Turns(stop, parameters.turn_share, parameters.least_turns, parameters.turn_memory)
        relaxation = open_relaxation(found, stop, backend, parameters)
        super().__init__(found, stop, relaxation)
        self.incumbent: PatternIncumbent = found
        self.waiting = waiting = WaitingRequirements(relaxation, parameters)
        if self._has_many_attackers:
            waiting.separate_lazily()
        self.cutting = cutting = PatternCuttingPlanes(found, stop, relaxation, waiting, parameters)
        self.requirements = lazy = LazyRequirements(extend, found, relaxation, waiting)
        if coordinates is not None and lazy.complete and has_few_coordinates(relaxation.separator, coordinates, joint):
            cutting.separate_in_kernel(coordinates, nearby=self._is_sparsely_required(coordinates))
        self._heuristics = heuristics = PrimalHeuristics(
            *(found, stop, relaxation, lazy, seed, parameters.heuristics, coordinates, joint),
            jointly=self._is_sparsely_required(coordinates),
        )
        self._tree = TreeSearch(found, stop, relaxation, tree)
        self._integer = IntegerPatterns(cutting, lazy, heuristics, tree)
        self._cutting_turns = Effort(
            lambda seconds: cutting.run(deep=True, zero_half=True, seconds=seconds),
            lambda: -relaxation.point.bound,  # where integer masters have raised the bound, their relaxations follow
        )
        self._moving_turns = Effort(lambda _: heuristics.repair(relaxation.point.x), self._measure_gap)
        self._propose: Callable[[], ProposedWitnesses] | None = None
        self._moved: MoveSearch | None = None
        self._begun = False

    def _hear(self, listen: Callable[[], None]) -> None:
        """Tell of a better pattern or bound."""
        self._turns.note()
        listen()

    def _measure_gap(self) -> float:
        return self.cost - self.bound

    def _is_sparsely_required(self, coordinates: KernelCoordinates | None) -> bool:
        """Return whether one joint move can serve the requirements: there are few of them for the freedom there is.

        Where nearly every second column is free, least-cost moves are short, and a joint one is no shorter.
        """
        if coordinates is None:
            return False
        n, d = coordinates.combinations.shape
        required, p = len(np.unique(self.relaxation.separator.sides.columns)), self._parameters
        return bool(required <= p.most_required * d and d <= p.most_freedom * n)

    @property
    def _has_many_attackers(self) -> bool:
        """Whether requirements of attackers wait until they are missed: the problem is a large network, with several.

        Where a cell need not be hidden nothing waits: what it must keep if it is hidden counts from the first.
        """
        separator = self.relaxation.separator
        certain = bool((self.problem.forced[separator.sides.columns] & separator.sides.certain).all())
        return certain and self._has_many_subproblems and separator.is_network and has_alternatives(separator.sides)

    @property
    def problem(self) -> ProtectionProblem:
        """The problem, with what the oracle's requirements force."""
        return self.incumbent.problem

    @property
    def is_slow(self) -> bool:
        """Whether the first pattern takes long: there are many subproblems, no flows, and no joint moves."""
        quick = self.relaxation.separator.is_network or self._heuristics.moves_jointly
        return not quick and self._has_many_subproblems

    @property
    def _has_many_subproblems(self) -> bool:
        return len(self.problem) * len(self.relaxation.separator.sides) > self._parameters.many_subproblems

    def run(self, gap: float, time_limit: float = np.inf) -> None:
        """Search until the pattern is optimal, or closer to the bound than the gap, or time is up.

        If no pattern is known by then, everything is hidden: where that is not safe, nothing is.
        """
        self._stop.begin(gap, time_limit)
        self.begin_with_moves()
        self._run_in_time(self._search)

    def begin_with_moves(self) -> None:
        """Find a first pattern by moves of few cells where the table is a product and no network, once."""
        if self._begun or not may_begin_with_moves(self.relaxation.separator, self._parameters):
            return
        self._begun = True
        with self._in_time():
            self._moved = moves.begin_with_moves(self.separator, self._stop, self._accept_moved, self._parameters)

    def _accept_moved(self, pattern: NDArray[np.bool_], propose: Callable[[], ProposedWitnesses]) -> None:
        self._heuristics.accept_extended(pattern, self.problem.cost)
        self._propose = propose

    def propose_witnesses(self) -> ProposedWitnesses | None:
        """Return witnesses in whole numbers of the best pattern, by columns, for the audit; None for none."""
        known = self._heuristics.propose_witnesses()
        return self._propose() if known is None and self._propose is not None else known

    def _begin(self) -> None:
        self._stop.check()
        self.relaxation.master.add(self.incumbent.rows)
        self.relaxation.master.add(initial_cuts(self.separator))
        if self.separator.is_network and self._has_many_subproblems:
            self._heuristics.reduce_everything(self.problem.cost)
        with self._turns.count(self._moving_turns):
            self._heuristics.move_jointly()
        if self._constructs_in_kernel and not self._has_many_subproblems:
            self._round_point(early=True)
        if self.is_in_blocks:
            self.cutting.run(deep=False)
        else:
            self._branch_while_quick()
        self._improve_moved()

    @property
    def is_in_blocks(self) -> bool:
        """Whether the problem is a product table, no network, that is protected block by block."""
        return may_begin_with_moves(self.separator, self._parameters) and len(self.problem) > JOINT_MOVES.most_columns

    def _branch_while_quick(self) -> None:
        """Branch before anything else where the problem is large, and its integer masters seem to be easy."""
        others = self.separator.is_network or self.cutting.separates_in_kernel  # are searched in other ways
        if others or not self._has_many_subproblems:
            return
        self.cutting.run(deep=False)
        q = self._quick
        most = q.most_fractional if self.requirements.complete else q.most_fractional_with_oracle
        if self.cutting.fractional_share <= most:
            self._tree.run(QuickBranching(self._integer, q))

    def _improve_moved(self) -> None:
        """Improve the pattern of moves by joint moves, unless a better one is known, or an oracle is to be asked."""
        first, self._moved, found = self._moved, None, self.incumbent
        close = self._stop.reached or found.is_closed_at(found.cost, self._quick.moved_gap)
        if first is None or close or not self.requirements.complete or not self._has_many_subproblems:
            return
        moves.improve_by_joint_moves(
            *(first, self.separator, self._stop, self._accept_moved, self._seed, self._parameters),
            executor=self._executor,
        )

    def _cut(self) -> bool:
        self.cutting.run(deep=False)  # what deep cuts bring is another matter: their first turn will tell
        return True

    @property
    def _constructs_in_kernel(self) -> bool:
        """Whether kernel coordinates are few, and patterns constructed requirement by requirement all the same."""
        return self.cutting.separates_in_kernel and not self._heuristics.moves_jointly

    def _round(self) -> None:
        first = self.incumbent.pattern is None and not self.separator.is_network
        self._round_point(early=first or self._constructs_in_kernel)

    def _round_point(self, *, early: bool = False) -> None:
        if self._parameters.round_points:
            with self._turns.count(self._moving_turns):
                self._heuristics.round_point(early=early)

    def _strengthen(self) -> None:
        if self._heuristics.moves_jointly:  # cutting and branching take turns
            return
        is_network = self.separator.is_network
        if not self.incumbent.one_step_left or not is_network:
            self.cutting.run(deep=not is_network, zero_half=True)
            self._round_point()

    def _branch(self) -> None:
        if self.cutting.separates_in_kernel:
            self._take_turns()
        else:
            self._tree.run(PatternBranching(self._integer))

    def _offer_in_haste(self) -> None:
        if self.incumbent.pattern is None and self.requirements.complete:
            self._heuristics.accept_everything()

    def _take_turns(self) -> None:
        """Let cutting planes, integer masters and joint moves take turns until the gap is closed, or time is up."""
        timed = TimedBranching(self._integer)
        branching = Effort(lambda seconds: self._tree.run(timed.begin_turn(seconds)), self._measure_gap)
        moving = [self._moving_turns] if self._parameters.round_points else []
        self._turns.run([branching, self._cutting_turns, *moving])

    def begin(self, cuts: Iterable[Cut], pattern: NDArray[np.bool_] | None, new: NDArray[np.int64]) -> None:
        """Begin with valid cuts and a pattern, which is extended where it misses one of the new requirements.

        Parameters
        ----------
        cuts
            What safe patterns satisfy.
        pattern
            A pattern that meets the other requirements, ``(n,)``; None where none is known.
        new
            Those requirements that it may miss.
        """
        self.relaxation.master.add(cuts)
        if pattern is None:
            return
        self.requirements.treat_as_new(new)
        cost = self.problem.cost
        with self._in_time():
            safe = self._heuristics.extend_pattern(pattern, cost)
            if safe is not None:
                self._heuristics.accept_extended(safe, cost)

    def forbid(self, missed: NDArray[np.int64], *, proved: bool) -> None:
        """Go back to an earlier pattern, or none: the audit says that the best one misses these columns' levels.

        What was fixed because of the pattern's cost is free again.
        """
        if self.incumbent.pattern is not None:
            self.relaxation.reset()
            self.relaxation.master.add(self.incumbent.refute(missed, proved=proved))

    def hide_everything(self) -> None:
        """Offer the pattern that hides all cells, reduced, without regard to time."""
        with suppress(TimeUpError):  # the oracle may have no time
            self._heuristics.offer_everything(self.problem.cost)

    def outcome(self) -> Outcome[np.bool_]:
        """Return what was found, to be sent to another process."""
        return replace(super().outcome(), witnesses=self.propose_witnesses())

    def adopt(self, found: Outcome[np.bool_]) -> None:
        """Take over what another process found."""
        if found.best is not None:
            self.requirements.accept(found.best)
        self.incumbent.take_over(found)
        witnesses = found.witnesses
        self._propose = None if witnesses is None else lambda: witnesses
        self.relaxation.master.add(found.cuts)

    @property
    def known(self) -> tuple[list[Cut], list[Cut]]:
        """The cuts so far, and the no-good cuts of refuted patterns; for `learn`."""
        return self.cuts, self.incumbent.refuted

    def learn(self, cuts: Sequence[Cut], refuted: Sequence[Cut]) -> None:
        """Take over cuts that another process found, and no-good cuts of patterns that were refuted there."""
        self.incumbent.refuted += refuted
        self.relaxation.master.add([*cuts, *refuted])
