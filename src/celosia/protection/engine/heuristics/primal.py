"""Primal heuristics: turn fractional points of the master into safe patterns.

Where the hidden cells form networks or small components, the support of a point is reduced by reverse delete; else
patterns are constructed by linear programs, and improved by large neighbourhood search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.heuristics.cheapest_paths import construct_by_paths
from celosia.protection.engine.heuristics.construction import Construction
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS as JOINT
from celosia.protection.engine.heuristics.joint.parameters import JointParameters, has_few_coordinates
from celosia.protection.engine.heuristics.neighbourhood import NeighbourhoodSearch, price_columns, split_sliding_levels
from celosia.protection.engine.heuristics.reverse_delete import ReverseDelete
from celosia.protection.engine.master import CutPool, Point
from celosia.protection.engine.parameters import PARAMETERS, HeuristicParameters
from celosia.protection.engine.patterns.coalition import unite_attackers
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.tolerance import HIDDEN_ZERO

if TYPE_CHECKING:
    from celosia.attack.subproblems.proposals import ProposedWitnesses
    from celosia.protection.engine.heuristics import kernel_reduction
    from celosia.protection.engine.heuristics.joint import heuristic as joint_search
    from celosia.protection.engine.heuristics.joint.heuristic import JointHeuristic
    from celosia.protection.engine.heuristics.kernel_reduction import KernelReduction
    from celosia.protection.engine.incumbent import PatternIncumbent
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.patterns.oracle import LazyRequirements
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.engine.relaxation import Relaxation
    from celosia.protection.engine.stop import Stop
    from celosia.protection.engine.subproblems.requirements import SideRequirements
else:
    joint_search = OnFirstUse("celosia.protection.engine.heuristics.joint.heuristic")
    kernel_reduction = OnFirstUse("celosia.protection.engine.heuristics.kernel_reduction")


class PrimalHeuristics:
    """Turn fractional points of the master into safe patterns.

    Parameters
    ----------
    incumbent
        What has been found.
    stop
        When to end.
    relaxation
        Has the point.
    requirements
        Accepts patterns, or adds requirements that they violate.
    seed
        Of the random numbers.
    parameters
        How much effort heuristics are worth.
    coordinates
        Kernel coordinates of the columns, where they are known.
    joint
        How much effort joint moves are worth.
    jointly
        Whether patterns come from joint moves where kernel coordinates are few, or requirement by requirement.
    """

    def __init__(
        self,
        incumbent: PatternIncumbent,
        stop: Stop,
        relaxation: Relaxation[Separator],
        requirements: LazyRequirements,
        seed: int,
        parameters: HeuristicParameters = PARAMETERS.heuristics,
        coordinates: KernelCoordinates | None = None,
        joint: JointParameters = JOINT,
        *,
        jointly: bool = True,
    ) -> None:
        self._incumbent, self._stop = incumbent, stop
        self._relaxation, self._requirements = relaxation, requirements
        self._random = np.random.default_rng(seed)
        self._parameters = parameters
        self._construct_until, self._first_seconds = np.inf, 0.0
        self._rough = False
        self._joint: JointHeuristic | None = None
        self._kernel_reduction: KernelReduction | None = None
        separator = relaxation.separator
        if coordinates is None or not requirements.complete or not has_few_coordinates(separator, coordinates, joint):
            return
        if jointly:
            self._joint = joint_search.JointHeuristic(
                separator, coordinates, stop, requirements.accept, self._random, joint
            )
        else:
            sides = split_sliding_levels(separator.sides, separator.builder)
            self._kernel_reduction = kernel_reduction.KernelReduction(separator, sides, coordinates, joint)

    @property
    def _problem(self) -> ProtectionProblem:
        return self._incumbent.problem

    @property
    def _reverse_delete(self) -> ReverseDelete:
        return ReverseDelete(self._relaxation.separator, self._relaxation.pool, self._is_late, self._parameters)

    @property
    def _weight(self) -> NDArray[np.float64]:
        """What cells cost, less where the point hides them: the heaviest are shown first."""
        return np.asarray(self._problem.cost * (1.0 - self._relaxation.point.x))

    def _is_late(self) -> bool:
        """Return whether patterns must do as they are: the time, or that for constructing them, is up."""
        late = self._incumbent.pattern is not None and self._stop.clock.seconds > self._construct_until
        return self._stop.left <= 0 or late

    @property
    def moves_jointly(self) -> bool:
        """Whether patterns come from joint moves."""
        return self._joint is not None

    def propose_witnesses(self) -> ProposedWitnesses | None:
        """Return witnesses in whole numbers of the best pattern, None where it does not come from joint moves."""
        best = self._incumbent.pattern
        return None if self._joint is None or best is None else self._joint.propose(best)

    def move_jointly(self) -> None:
        """Find a first pattern by a joint move, where kernel coordinates are few."""
        if self._joint is not None:
            self._joint.start()

    def round_point(self, *, early: bool = False) -> None:
        """Make patterns of the point; one that was extended in haste is reduced first, for a while.

        Parameters
        ----------
        early
            The point is one before the deepest cuts: a first pattern is constructed around it, and no others.
        """
        if self._joint is not None:
            self._joint.run(self._stop.left * self._parameters.joint_share)
            return
        best = self._incumbent.pattern
        if early and best is not None:
            return
        if self._rough and best is not None and not self._stop.reached:
            self._rough = False
            self._construct_until = self._stop.clock.seconds + self._parameters.cleaning_share * self._stop.left
            self.offer(best, self._weight)
            self._construct_until = np.inf
        if self._stop.reached:
            return
        support = self._relaxation.point.x > HIDDEN_ZERO
        if not self._reduces_quickly(support):
            self._construct(self._count_constructions(early=early), early=early)
            return
        self._reduce_support(support)
        if self._incumbent.pattern is None and not self._relaxation.separator.is_network:
            self._construct(self._parameters.later_constructions)

    def _count_constructions(self, *, early: bool) -> int:
        """Return how many constructions in a row may bring nothing: few where deep cuts or a tree bring more."""
        p, found = self._parameters, self._incumbent
        if early:
            return 0
        closed = found.pattern is not None and found.cost - found.bound <= p.small_gap * found.cost
        return p.later_constructions if closed else p.constructions

    def repair(self, x: NDArray[np.float64]) -> None:
        """Make a pattern of a solution of the integer master, where that is quick."""
        if self._joint is not None:
            self._joint.run(self._stop.left * self._parameters.later_joint_share)
            return
        together = np.maximum(x, self._relaxation.point.x) > HIDDEN_ZERO
        if self._reduces_quickly(together):
            self.offer(together, self._problem.cost * (1.0 - x))
            if self._builds_by_paths:
                return
            self._restart(self._weight, together, self._parameters.later_restarts)
        else:
            self._construct(self._parameters.later_constructions)

    def reduce_everything(self, weight: NDArray[np.float64]) -> None:
        """Make a pattern of a network by reverse delete from all cells: where that is not safe, nothing is.

        Where there are many attackers, the first pattern is one that is safe against all of them together.
        """
        if self._builds_by_paths:
            self._offer_united(weight)
            if self._incumbent.pattern is not None:
                return
        self.offer_everything(weight)
        if self._incumbent.pattern is None and not self._incumbent.rows and not self._incumbent.refuted:
            self._incumbent.impossible = True

    @property
    def _builds_by_paths(self) -> bool:
        """Whether patterns are built by cheapest paths: reverse delete from all cells takes long for many attackers."""
        return self._relaxation.separator.sparing

    def _offer_united(self, weight: NDArray[np.float64]) -> None:
        """Offer a pattern of cheapest paths that is safe against all attackers together, reduced, where there is one.

        Where there is none, requirements that such a pattern misses are met one after another.
        """
        separator = self._relaxation.separator
        one = Separator.of(
            unite_attackers(separator.problem, separator.sides.join(self._requirements.waiting.sides)),
            separator.backend,
        )
        sides = split_sliding_levels(one.sides, one.builder)
        sides = sides.take(np.argsort(-sides.levels, kind="stable"))
        built = self._construct_by_paths(one, sides, self._problem.forced, weight)
        if built is None:
            self._offer_paths(weight)
            return
        reduced = ReverseDelete(one, CutPool(), self._is_late, self._parameters).reduce(built, weight)
        self.accept_extended(built if reduced is None else reduced, weight)

    def _offer_paths(self, prices: NDArray[np.float64]) -> None:
        """Offer a pattern of cheapest paths for all requirements that do not wait, reduced."""
        separator = self._relaxation.separator
        sides = split_sliding_levels(separator.sides, separator.builder)
        sides = sides.take(np.argsort(-sides.levels, kind="stable"))
        built = self._construct_by_paths(separator, sides, self._problem.forced, prices)
        if built is not None:
            self.offer(built, prices)

    def _construct_by_paths(
        self,
        separator: Separator,
        sides: SideRequirements,
        hidden: NDArray[np.bool_],
        prices: NDArray[np.float64],
    ) -> NDArray[np.bool_] | None:
        """Return a pattern that hides more, by cheapest paths for requirements; None where it is not found."""
        wide, n = separator.builder.padded_with_forced, len(hidden)
        usable = wide(self._relaxation.master.upper > 0)
        built = construct_by_paths(separator, sides, wide(hidden), usable, wide(prices), self._parameters)
        return None if built is None else built[:n]

    def offer_everything(self, weight: NDArray[np.float64]) -> None:
        """Offer the pattern that hides all cells, reduced."""
        self.offer(np.ones(len(self._problem), dtype=bool), weight)

    def accept_everything(self) -> None:
        """Accept the pattern that hides all cells but those that would miss their width, where it is safe."""
        everything = np.ones(len(self._problem), dtype=bool)
        self._requirements.accept(self._reverse_delete.show_narrow_cells(everything))

    def offer(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Reduce a pattern, and accept it where it is the best so far; return it, None where it is not safe."""
        pattern = pattern | self._problem.forced
        reduced = self._reverse_delete.reduce(pattern, weight)
        if reduced is None:
            return None
        used = self.accept_extended(reduced, weight)
        return self.accept_extended(self._reverse_delete.show_narrow_cells(pattern), weight) if used is None else used

    def accept_extended(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Accept a pattern, with more hidden while the oracle objects; return it, None where it is not allowed."""
        now = pattern | self._problem.forced
        while not self._requirements.accept(now):
            self._stop.check()
            more = self.extend_pattern(now | self._problem.forced, weight)
            if more is None or np.array_equal(more, now):  # it is refused for other reasons
                return None
            now = more
        return now

    def complete(self, pattern: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return a pattern that hides more, at least cost, and meets all requirements; None where it is not found."""
        return self._extend(pattern | self._problem.forced, self._relaxation.separator)

    def extend_pattern(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Return a pattern that hides more where the newest requirements are missed; None where it is not found.

        It is reduced where that is quick.
        """
        more = self._extend(pattern, self._requirements.newest)
        if more is None or np.array_equal(more, pattern):
            return more
        self._rough = not self._reduces_quickly(more)
        return more if self._rough else self._reverse_delete.reduce(more, weight)

    def _extend(self, pattern: NDArray[np.bool_], separator: Separator) -> NDArray[np.bool_] | None:
        """Return a pattern that hides more at least cost where requirements are missed; None where it is not found."""
        builder, sides = separator.builder, separator.sides
        missed = separator.find_missed(pattern, self._is_up)
        split = split_sliding_levels(sides.take(np.isin(sides.requirements, missed)), builder)
        if not len(split):
            return pattern
        if self._builds_by_paths:
            price = price_columns(self._problem, self._relaxation.point, self._parameters)
            return self._construct_by_paths(separator, split, pattern, price)
        backend = self._relaxation.separator.backend
        construction = Construction.of(builder, split, np.arange(len(builder.problem)), backend, self._parameters)
        order = np.argsort(-split.levels, kind="stable")
        price = builder.padded_with_forced(price_columns(self._problem, self._relaxation.point, self._parameters))
        built = construction.construct(builder.padded_with_forced(pattern), price, order, self._is_up)
        return None if built is None else built.pattern[: len(pattern)]

    def _is_up(self) -> bool:
        """Return whether the time is up; a pattern that the oracle objects to is of no use before it is extended."""
        return self._stop.left <= 0

    def _reduces_quickly(self, pattern: NDArray[np.bool_]) -> bool:
        """Return whether the support falls into networks and small components, or is too large for construction."""
        separator = self._relaxation.separator
        if separator.is_network:
            return True
        parts = SupportGraph.of(separator.problem, np.flatnonzero(separator.builder.padded_with_forced(pattern))).parts
        sizes = np.diff(parts.starts)[~parts.network]
        largest = int(sizes.max(initial=0))
        return largest <= self._parameters.small_part or len(self._candidates()) > self._parameters.most_built

    def _reduce_support(self, support: NDArray[np.bool_]) -> None:
        """Apply reverse delete to the support of the point, with its weights first, then with perturbed ones."""
        weight = self._weight
        if self._builds_by_paths:
            completed = self.complete(support)
            support = support if completed is None else completed
        if self.offer(support, weight) is None:
            if self._incumbent.pattern is not None:
                self.offer(self._incumbent.pattern, weight)
            elif self._relaxation.separator.is_network:
                self.reduce_everything(weight)
        if not self._builds_by_paths:
            self._restart(weight, support, self._parameters.restarts)

    def _restart(self, weight: NDArray[np.float64], support: NDArray[np.bool_], most: int) -> None:
        """Apply reverse delete with perturbed weights, until so many restarts in a row found nothing better."""
        idle = 0
        while idle < most and not self._stop.reached:
            self._stop.check()
            before = self._incumbent.cost
            noise = np.exp(self._parameters.spread * self._random.standard_normal(len(weight)))
            is_network = self._relaxation.separator.is_network
            self.offer(self._relaxation.master.upper > 0 if is_network else support, weight * noise)
            idle = 0 if self._incumbent.cost < before else idle + 1

    def _candidates(self) -> NDArray[np.int64]:
        """Return the columns that a good pattern may hide: not those whose reduced cost is too high."""
        point = self._relaxation.point
        cheap = point.reduced < self._parameters.dear * max(point.bound, 0.0)
        return np.flatnonzero(self._problem.forced | (cheap & (self._relaxation.master.upper > 0)))

    def _construct(self, most: int, *, early: bool = False) -> None:
        """Construct patterns around the point for a while, until so many in a row are no better.

        An early point, like one around which nothing can be constructed, says little about which columns a pattern
        needs: then all of them may be hidden.
        """
        seconds = self._stop.left * self._parameters.construction_share
        if self._reduces_further(seconds):
            return
        columns, everything = self._candidates(), np.flatnonzero(self._relaxation.master.upper > 0)
        if len(columns) > self._parameters.most_built:
            return
        more = everything if len(everything) <= self._parameters.most_built else columns
        columns = more if early else columns
        self._construct_until, idle = self._stop.clock.seconds + seconds, 0
        patterns = self._construct_around(columns)
        while True:
            before, separator = self._incumbent.cost, self._relaxation.separator
            begin, first = self._stop.clock.seconds, self._incumbent.pattern is None
            found = next(patterns)
            if first and found is not None:
                self._first_seconds = self._stop.clock.seconds - begin
            if found is not None:
                self.accept_extended(found, self._problem.cost)
            elif self._incumbent.pattern is None and len(columns) < len(more):
                columns = more
                patterns = self._construct_around(columns)
                continue
            idle = 0 if self._incumbent.cost < before else idle + 1
            if self._stop.reached or idle >= most or self._is_late():
                break
            if self._relaxation.separator is not separator:  # requirements were added
                patterns = self._construct_around(columns)
        self._construct_until = np.inf

    def _reduces_further(self, seconds: float) -> bool:
        """Reduce the best pattern further where that was left, or where there is no time to construct another."""
        kernel, best = self._kernel_reduction, self._incumbent.pattern
        if kernel is None or best is None or not (kernel.is_unfinished or seconds < 2 * self._first_seconds):
            return False
        self._construct_until = self._stop.clock.seconds + seconds
        found = kernel.resume(best, self._is_late)
        self._construct_until = np.inf
        if found is not None:
            self.accept_extended(found, self._problem.cost)
        return found is not None

    def _construct_around(self, columns: NDArray[np.int64]) -> Iterator[NDArray[np.bool_] | None]:
        """Return patterns of some columns without end, each None where the construction fails."""
        separator, point, n = self._relaxation.separator, self._relaxation.point, len(self._problem)
        wide, best = separator.builder.padded_with_forced, self._incumbent.pattern
        wider = Point(wide(point.x), point.bound, wide(point.reduced))
        among = np.concatenate([columns, np.arange(n, len(wider.x))])
        search = NeighbourhoodSearch.of(
            *(self._reverse_delete, wider, among, separator.backend, self._random, self._parameters),
            kernel_reduction=self._kernel_reduction,
        )
        start = None if best is None else wide(best)
        return (None if found is None else found[:n] for found in search.patterns(start))
