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
from celosia.protection.intervals.warm_start import keep_end_cuts, known_end_cuts
from celosia.protection.intervals.widen import widen_ranges, widen_with_totals
from celosia.protection.run import Ask, Run, ViolatedRequirements
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
    _ask: Ask = "exactly"

    def open(
        self, modes: Modes, run: Run | None = None, hear: Callable[[ModeSearch], None] | None = None
    ) -> ModeSearch:
        """Return a search whose points are both ends of every range; respondents, if they attack, are its oracle."""
        oracle = None if self.run.oracle is None else partial(self._ask_respondents, modes)
        problem, parameters, run = self.ranges.problem, self.ranges.parameters, run or self.run
        how = parameters.search
        if self.descends:
            share = parameters.first_cuts_share if self.is_first else parameters.cuts_share
            run = replace(run, clock=run.clock.share(share))
            if oracle is not None or self.is_first:  # a descent follows
                how = replace(how, hasty_widenings=(), opens_everything=oracle is None)
        search = ModeSearch(problem, modes, backends()[0], run, hear or self.hear, oracle, how)
        if self.descends and run.warm_start is not None and _has_ends(modes) and not len(modes.integers):
            search.learn(known_end_cuts(run.warm_start, problem, modes), search.bound, search.best)
        return search

    @property
    def descends(self) -> bool:
        """Whether ranges are found by a descent over moves."""
        return self.ranges.descends

    def can_descend(self, search: ModeSearch) -> bool:
        """Return whether a descent can offer its ranges to a search, whose variables are both ends of every range."""
        return self.descends and _has_ends(search.modes)

    def finish(self, search: ModeSearch) -> None:
        """Run a search to its end, or until Ctrl-C stops the clock; where that suits, between descents over moves."""
        self.update_requirements(search)
        by_ends = self.can_descend(search)
        clock = search.run.clock.whole
        try:
            if by_ends and self.run.oracle is not None:
                self._search_attacked(search, clock)
                return
            if by_ends and search.best is None and (self._knows_moves or not self.is_first):
                self.descend(search, clock, once=True)
            search.solve()
            if by_ends:
                self.descend(search, clock)
                self._descend_beside_hidden(search, clock)
                if search.best is not None and not self.is_first:  # the descent gains little, and there may be time
                    search.go_on(clock)
        except KeyboardInterrupt:
            self.run.clock.stop()
        finally:
            self._keep_cuts(search)

    def _keep_cuts(self, search: ModeSearch) -> None:
        """Keep the cuts of a search for ranges alone, for one with further requirements."""
        if self.run.warm_start is None or not self.ranges.necessary or not self.descends:
            return
        if _has_ends(search.modes) and not len(search.modes.integers):
            keep_end_cuts(self.run.warm_start, search.separator.problem, search.modes, search.cuts)

    def _search_attacked(self, search: ModeSearch, clock: Clock) -> None:
        """Run a search between descents whose ranges respondents attack.

        At first they ask for what is needed, so that the bound may use it, and then for what is enough.
        """
        self._ask = "needed"
        parameters = self.ranges.parameters
        self.descend(search, clock.share_of_rest(parameters.attacked_share), once=True)
        search.go_on(clock.share_of_rest(parameters.attacked_cuts_share))
        self._ask = "enough"
        if not search.requirements.confirmed:
            search.learn([], search.bound, None)
        self.descend(search, clock, once=True)
        self.descend(search, clock)
        self._ask = "exactly"

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
            if search.is_done or (clock.left <= 0 and (search.best is not None or not self._knows_moves)):
                return
            enough = np.inf if once or search.run.gap >= 1 else search.bound / (1 - search.run.gap)
            known = self._descents.get(hides)
            short = np.inf if hides else enough  # cuts beside what is hidden gain more than further rounds
            near = None if once or among is not None else self._begin_nearby(search, clock, short, hides=hides)
            if near is not None and (known is None or near.cost < known.cost):
                known = near
            elif among is not None or known is None:
                known = self._begin_descent(clock, enough, among=among, hides=hides)
            else:
                known.clock = clock
                known.require(self.ranges.problem)
                known = known if known.run(enough=enough) else None
            if known is not None:
                if among is None:
                    self._descents[hides] = known
                self._offer(search, known, enough)

    def _descend_beside_hidden(self, search: ModeSearch, clock: Clock) -> None:
        """Offer ranges near the cheapest beside the columns that the incumbent hides, again as long as that gains.

        A descent from a point that hides columns by fractions ends far above what ranges beside them cost: cuts with
        these columns hidden, and no others, lead it there.
        """
        parameters, last = self.ranges.parameters, np.inf
        if self.is_first or not bool((search.modes.hiding >= 0).any()):
            return
        while search.best is not None and search.cost < last * (1 - parameters.descent_gain):
            if search.is_done or clock.left <= 0:
                return
            last, hidden = search.cost, search.modes.hides(search.best)
            with suppress(TimeUpError, DeadlineError, SolverError, ArithmeticError):
                point = search.cut_beside(search.best, clock.share_of_rest(parameters.beside_share))
                if point is not None:
                    start = replace(self.ranges.read(search.modes, point), hidden=hidden)
                    found = self._begin_descent(clock, np.inf, start, hides=True)
                    if found is not None:
                        self._offer(search, found, np.inf)

    @property
    def is_first(self) -> bool:
        """Whether a search with further requirements follows this one, and begins with its moves and cuts."""
        known = self.run.warm_start
        return known is not None and known.grows and self.run.oracle is None and self.descends

    @property
    def _knows_moves(self) -> bool:
        """Whether moves of an earlier search are known, so that a descent has little to do."""
        return self.run.warm_start is not None and self.run.warm_start.moves is not None

    def _offer(self, search: ModeSearch, descent: RangeDescent, enough: float) -> None:
        """Offer the ranges of a descent to a search; what respondents require beside is met by further moves."""
        while True:
            if self.run.warm_start is not None:
                self.run.warm_start.moves = descent.keep_moves()
            point = _point_of(search.modes, descent.slacks)
            late = self.run.oracle is not None and descent.clock.left <= 0
            if not late and search.requirements.confirm(point):
                return
            if late or descent.problem is self.ranges.problem:  # no time for respondents: they attack what is published
                if search.best is None:
                    search.learn([], search.bound, point)
                return
            descent.require(self.ranges.problem)
            if not descent.run(enough=enough):
                return

    def _begin_nearby(self, search: ModeSearch, clock: Clock, enough: float, *, hides: bool) -> RangeDescent | None:
        """Return a descent from what a search has reached without fixing anything; None where there is no time for it.

        Of columns that may be hidden, those are that a fractional point hides by more than a share.
        """
        modes = search.modes
        last = search.relaxation.last
        point = search.root if search.root is not None or last is None else last.x
        if point is None:
            return None
        hidden = modes.hidden_shares(point) >= self.ranges.parameters.hidden_share
        start = replace(self.ranges.read(modes, point), hidden=hidden)
        return self._begin_descent(clock, enough, start, hides=hides)

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
        if start is None and among is None and self.run.warm_start is not None:
            descent.take_over(self.run.warm_start.moves)
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
        TimeUpError
            There is no time to find out, or no more is known that is needed.
        """
        if self.run.oracle is None:
            return None
        draft = self.publisher.draft(self.ranges.read(modes, v))
        told = self.run.oracle.violated(draft, self._ask)
        if told is None:
            return None
        self.told = told
        return self.ranges.extend(told)

    def update_requirements(self, search: ModeSearch) -> None:
        """Add the requirements that other searches have learnt from the oracle since this one was made."""
        search.require(self.ranges.problem, necessary=self.ranges.necessary)

    def widen_one_by_one(self, slacks: RangeSlacks | None = None) -> RangeSlacks:
        """Return slacks widened until all requirements are met, one requirement after the other.

        Where there are too many of them for the time, cells move with all of their totals to meet the rest.

        Raises
        ------
        InfeasibleError
            Some cannot be protected.
        """
        ranges, parameters = self.ranges, self.ranges.parameters
        problem = replace(ranges.problem, whole=np.zeros(len(ranges.problem), dtype=bool))  # placing makes ends whole
        down, up = (np.zeros(len(problem)), np.zeros(len(problem))) if slacks is None else (slacks.down, slacks.up)
        hopeless, prices = [], (ranges.prices.down, ranges.prices.up)
        unmet = self._find_unmet(down, up)
        for place, requirement in enumerate(unmet.tolist()):
            if self._is_late(parameters.widening_grace):
                return self._widen_with_totals(RangeSlacks(down, up), unmet[place:])
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

    def _is_late(self, grace: float) -> bool:
        """Return whether time is up, even with some grace, and ranges may be as wide as is quickest to find."""
        return self.run.clock.left_with_grace(grace) == 0 and not bool(np.isfinite(self.ranges.most).any())

    def _widen_with_totals(self, slacks: RangeSlacks, unmet: NDArray[np.int64]) -> RangeSlacks:
        """Return ranges in which the cells of some requirements can move with their totals."""
        asked = self.ranges.problem.requirements
        levels = np.maximum(np.maximum(asked.up, asked.down), asked.sliding)[unmet]
        return widen_with_totals(self.ranges.problem, slacks, asked.columns[unmet], levels.astype(np.float64))

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
        self.note(search.cost if search.requirements.confirmed else None, least, len(search.cuts))
        if best is not None and search.requirements.confirmed:
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
