"""Searches for ranges: cutting planes and branch and cut over the modes of a problem, heard by the whole run.

A search hands its incumbents to the run's fallback, asks the oracle of respondents about them, and begins with what
other searches have learnt; where none finds safe ranges in time, requirements are met one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, SolverError
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import Extension
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.intervals.descent import RangeDescent
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.publish.publication import RangePublisher
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.widen import widen_ranges
from celosia.protection.run import Run, ViolatedRequirements
from celosia.solve import deadline
from celosia.solve.clock import Clock
from celosia.solve.deadline import DeadlineError
from celosia.solve.registry import backends
from celosia.tolerance import LEVEL_REACHED

RangesT = TypeVar("RangesT", bound=RangeProblem)


@dataclass(eq=False)
class RangeSearches(Generic[RangesT]):
    """The searches of one run for ranges.

    Parameters
    ----------
    ranges
        What is to be published.
    publisher
        Makes audited ranges of what is found.
    run
        When to stop, who listens, and who attacks.
    told
        The requirements that the oracle told last.
    """

    ranges: RangesT
    publisher: RangePublisher
    run: Run
    told: ViolatedRequirements | None = None
    _descents: dict[bool, RangeDescent] = field(default_factory=dict)

    def open(
        self, modes: Modes, run: Run | None = None, hear: Callable[[ModeSearch], None] | None = None
    ) -> ModeSearch:
        """Return a search whose points are both ends of every range; respondents, if they attack, are its oracle."""
        oracle = None if self.run.oracle is None else partial(self._ask_respondents, modes)
        problem, parameters, run = self.ranges.problem, self.ranges.parameters, run or self.run
        if self.descends:
            run = replace(run, clock=run.clock.share(parameters.cuts_share))
        return ModeSearch(problem, modes, backends()[0], run, hear or self.hear, oracle, parameters.search)

    @property
    def descends(self) -> bool:
        """Whether ranges are found by a descent over moves; not where respondents add levels while a search runs."""
        return self.run.oracle is None and self.ranges.descends

    def can_descend(self, search: ModeSearch) -> bool:
        """Return whether a descent can offer its ranges to a search, whose variables are both ends of every range."""
        return self.descends and _has_ends(search.modes)

    def finish(self, search: ModeSearch) -> None:
        """Run a search to its end, or until Ctrl-C stops the clock; where that suits, between descents over moves."""
        self.update_requirements(search)
        by_ends = self.can_descend(search)
        clock = search.run.clock.whole
        try:
            if by_ends and search.best is None:
                self.descend(search, clock, once=True)
            search.solve()
            if by_ends:
                self.descend(search, clock)
        except KeyboardInterrupt:
            self.run.clock.stop()

    def descend(
        self, search: ModeSearch, clock: Clock, among: NDArray[np.bool_] | None = None, *, once: bool = False
    ) -> None:
        """Offer ranges of a descent over moves, which goes on where the last one ended.

        A search for ranges alone has a point near the cheapest ones, from which another descent begins.

        Parameters
        ----------
        search
            Gets the ranges.
        clock
            When to stop.
        among
            The columns that may be ranges; None for all that may be.
        once
            One move for each level is enough.
        """
        hides = bool((search.modes.hiding >= 0).any())
        with suppress(TimeUpError, DeadlineError, SolverError, ArithmeticError):
            if search.is_done or clock.left <= 0:
                return
            enough = np.inf if once or search.run.gap >= 1 else search.bound / (1 - search.run.gap)
            known = self._descents.get(hides)
            if among is not None or known is None:
                known = self._begin_descent(clock, enough, among=among, hides=hides)
            else:
                known.clock = clock
                known.go_on(enough)
            if known is not None and among is None:
                self._descents[hides] = known = known if once else self._begin_nearby(search, clock, enough, known)
            if known is not None:
                search.offer(_point_of(search.modes, known.slacks))

    def _begin_nearby(self, search: ModeSearch, clock: Clock, enough: float, known: RangeDescent) -> RangeDescent:
        """Return a descent from what a search has reached without fixing anything, if that is cheaper than a known one.

        Of columns that may be hidden, those are that a fractional point hides by more than a share.
        """
        modes = search.modes
        point = search.relaxation.last if search.root is None else search.root
        if point is None:
            return known
        hidden = modes.hidden_shares(point) >= self.ranges.parameters.hidden_share
        start = replace(self.ranges.read(modes, point), hidden=hidden)
        other = self._begin_descent(clock, enough, start, hides=known.hiding is not None)
        return other if other is not None and other.cost < known.cost else known

    def descend_alone(self, start: RangeSlacks | None, enough: float) -> tuple[RangeSlacks, float] | None:
        """Return ranges of a descent over moves, and their cost; None where there are none in time."""
        with suppress(DeadlineError, SolverError, ArithmeticError):
            found = self._begin_descent(self.run.clock, enough, start)
            return None if found is None else (found.slacks, found.cost)
        return None

    def _begin_descent(
        self,
        clock: Clock,
        enough: float,
        start: RangeSlacks | None = None,
        among: NDArray[np.bool_] | None = None,
        *,
        hides: bool = False,
    ) -> RangeDescent | None:
        """Return a descent at its end, None where a level has no move, or there is no time."""
        ranges = self.ranges
        closed = ranges.most <= 0 if among is None else (ranges.most <= 0) | ~among
        hiding = ranges.hiding if hides else None
        descent = RangeDescent(ranges.problem, ranges.prices, closed, hiding, backends()[0], clock, ranges.parameters)
        return descent if descent.run(start, enough) else None

    def read(self, search: ModeSearch) -> tuple[RangeSlacks, float]:
        """Return the ranges of the incumbent, and the bound; without an incumbent, ranges widened one by one."""
        best = search.best
        return (self.widen_one_by_one() if best is None else self.ranges.read(search.modes, best)), search.bound

    def _ask_respondents(self, modes: Modes, v: NDArray[np.float64]) -> Extension | None:
        """Return the problem with the requirements that would have stopped an attack on a point, None where it is safe.

        Raises
        ------
        NewColumnsError
            The new problem has other columns or counts, or ranges may be wider.
        InfeasibleError
            No ranges would have stopped the attack.
        """
        if self.run.oracle is None:
            return None
        told = self.run.oracle.violated(self.publisher.draft(self.ranges.read(modes, v)))
        if told is None:
            return None
        self.told = told
        return self.ranges.extend(told)

    def update_requirements(self, search: ModeSearch) -> None:
        """Add the requirements that other searches have learnt from the oracle since this one was made."""
        search.require(self.ranges.problem, necessary=self.ranges.necessary)

    def widen_one_by_one(self, slacks: RangeSlacks | None = None) -> RangeSlacks:
        """Return slacks widened until all requirements are met, one requirement after the other.

        Raises
        ------
        InfeasibleError
            Some cannot be protected.
        """
        ranges, parameters = self.ranges, self.ranges.parameters
        problem = replace(ranges.problem, whole=np.zeros(len(ranges.problem), dtype=bool))  # placing makes ends whole
        down, up = (np.zeros(len(problem)), np.zeros(len(problem))) if slacks is None else (slacks.down, slacks.up)
        hopeless, prices = [], (ranges.prices.down, ranges.prices.up)
        for requirement in self._find_unmet(down, up).tolist():
            try:
                more = widen_ranges(
                    problem,
                    requirement,
                    parameters.single_step,
                    (down, up),
                    prices,
                    ranges.most,
                    self.run,
                    parameters.least_cost,
                )
                down, up = down + more[0], up + more[1]
            except InfeasibleError:
                hopeless.append(requirement)
        if hopeless:
            raise ranges.refusal(problem.requirements.columns[hopeless])
        return RangeSlacks(down, up)

    def _find_unmet(self, down: NDArray[np.float64], up: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the requirements that ranges do not meet."""
        modes = self.ranges.formulate_by_ends()
        parameters = self.ranges.parameters.search.separation
        separator = CapacitySeparator(self.ranges.problem, modes, backends()[0], parameters)
        reached = separator.separate(np.concatenate([up, down]) / modes.unit).reached
        return np.unique(separator.sides.requirements[reached < 1.0 - LEVEL_REACHED])

    def hear(
        self,
        search: ModeSearch,
        bound: float | None = None,
        read: Callable[[Modes, NDArray[np.float64]], RangeSlacks] | None = None,
    ) -> None:
        """Note incumbent and bound of a search; another bound is given where its own does not hold for all ranges."""
        least, best = search.bound if bound is None else bound, search.best
        self.note(search.cost if search.confirmed else None, least, len(search.pool.cuts))
        if best is not None and search.confirmed:
            self.insure(lambda: (read or self.ranges.read)(search.modes, best), least)

    def note(self, cost: float | None, bound: float, cuts: int) -> None:
        """Note how far a search has come, by its cuts or steps."""
        self.publisher.trace.append((self.run.clock.seconds, cost, bound, cuts))
        self.run.progress.search(cost, bound, cuts)

    def insure(self, slacks: Callable[[], RangeSlacks], bound: float) -> None:
        """Publish and audit ranges as a fallback, where that is due: there may be no time for better ones."""
        fallback = self.run.fallback
        if fallback is None or not fallback.due:
            return
        with fallback.measure_audit(), deadline.in_all():
            placed = self.publisher.place_quickly(slacks())
        if placed is not None:
            fallback.offer(self.publisher.result_without_warning(placed, bound))


def _has_ends(modes: Modes) -> bool:
    """Return whether the first variables are how far every range reaches up, and then down, and nothing else opens."""
    every = np.arange(len(modes.hiding))
    return np.array_equal(modes.up.indices, every) and np.array_equal(modes.down.indices, every + len(every))


def _point_of(modes: Modes, slacks: RangeSlacks) -> NDArray[np.float64]:
    """Return the point of ranges and hidden columns, by modes whose first variables are the ends of ranges."""
    n, program = len(modes.hiding), modes.program
    point = np.maximum(program.lower, 0.0)
    point[: 2 * n] = np.maximum(point[: 2 * n], np.concatenate([slacks.up, slacks.down]) / modes.unit)
    wide = (point[:n] > 0) | (point[n : 2 * n] > 0)
    point[modes.opening[wide & (modes.opening >= 0)]] = 1.0
    if slacks.hidden is not None:
        point[modes.hiding[slacks.hidden]] = 1.0
    return np.minimum(point, program.upper)
