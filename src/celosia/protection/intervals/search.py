"""Searches for ranges: cutting planes and branch and cut over the modes of a problem, heard by the whole run.

A search hands its incumbents to the run's fallback, asks the oracle of respondents about them, and begins with what
other searches have learnt; where none finds safe ranges in time, requirements are met one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InfeasibleError
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import Extension
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.publish.publication import RangePublisher
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.widen import widen_ranges
from celosia.protection.run import Run, ViolatedRequirements
from celosia.solve import deadline
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

    def open(
        self, modes: Modes, run: Run | None = None, hear: Callable[[ModeSearch], None] | None = None
    ) -> ModeSearch:
        """Return a search whose points are both ends of every range; respondents, if they attack, are its oracle."""
        oracle = None if self.run.oracle is None else partial(self._ask_respondents, modes)
        problem, parameters = self.ranges.problem, self.ranges.parameters.search
        return ModeSearch(problem, modes, backends()[0], run or self.run, hear or self.hear, oracle, parameters)

    def finish(self, search: ModeSearch) -> None:
        """Run a search to its end, or until Ctrl-C stops the clock."""
        self.update_requirements(search)
        try:
            search.solve()
        except KeyboardInterrupt:
            self.run.clock.stop()

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
