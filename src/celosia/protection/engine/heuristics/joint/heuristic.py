"""The joint search as a heuristic of branch and cut: a first pattern before any cut, later searches from the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS, JointParameters
from celosia.protection.engine.heuristics.joint.proposals import propose_witnesses
from celosia.protection.engine.heuristics.joint.search import JointPattern, JointSearch
from celosia.protection.engine.heuristics.neighbourhood import split_sliding_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.attack.subproblems.proposals import ProposedWitnesses
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.stop import Stop


class JointHeuristic:
    """Joint moves for one problem, from several first moves and then around the best pattern.

    Parameters
    ----------
    separator
        Has the requirements that the forced cells do not meet by themselves, and the bounds.
    coordinates
        Kernel coordinates of the columns.
    stop
        When to end.
    accept
        Takes a pattern.
    random
        The random numbers.
    parameters
        How effort is divided.
    """

    def __init__(
        self,
        separator: Separator,
        coordinates: KernelCoordinates,
        stop: Stop,
        accept: Callable[[NDArray[np.bool_]], object],
        random: np.random.Generator,
        parameters: JointParameters = PARAMETERS,
    ) -> None:
        self._stop, self._accept, self._parameters = stop, accept, parameters
        self._separator, self._coordinates = separator, coordinates
        self._until = np.inf
        sides = split_sliding_levels(separator.sides, separator.builder)
        self._search = JointSearch(
            *(separator.builder, coordinates, sides, separator.backend, random, self._is_late), parameters
        )
        self._best: JointPattern | None = None
        self._starts, self._start_seconds = 0, 0.0

    def _is_late(self) -> bool:
        return self._stop.left <= 0 or self._stop.clock.seconds > self._until

    def start(self) -> JointPattern | None:
        """Find a pattern from a first move; return it, None where there was no time or no such move."""
        self._starts, begin = self._starts + 1, self._stop.clock.seconds
        found = self._take(self._search.first_pattern())
        self._start_seconds = self._stop.clock.seconds - begin
        return found

    def propose(self, pattern: NDArray[np.bool_]) -> ProposedWitnesses | None:
        """Return witnesses in whole numbers of a pattern, None where it is not the best one found here."""
        if self._best is None or not np.array_equal(self._best.hidden, pattern):
            return None
        builder, backend = self._separator.builder, self._separator.backend
        return propose_witnesses(self._best, self._search.targets, self._coordinates, backend, builder.problem.decimals)

    def run(self, seconds: float) -> None:
        """Search for so many seconds: from further first moves, then around the best pattern."""
        begin = self._stop.clock.seconds
        self._until = begin + seconds
        while self._starts < self._count_starts(seconds) and not self._is_late() and not self._stop.reached:
            found = self.start()
            if found is not None:
                self._improve(found, self._parameters.start_share * seconds)
        if self._best is not None and not self._is_late() and not self._stop.reached:
            self._anneal_repeatedly(self._parameters.annealing_share * (self._until - self._stop.clock.seconds))
        if self._best is not None and not self._is_late() and not self._stop.reached:
            self._improve(self._best, self._until - self._stop.clock.seconds)
        if self._best is not None and not self._stop.reached:
            self._take([self._search.finish(self._best)])
        self._until = np.inf

    def _count_starts(self, seconds: float) -> int:
        """Return from how many first moves to search, as long as the last one took, in so many seconds."""
        p = self._parameters
        if self._search.anneals:  # which starts by itself
            return 1
        each = self._start_seconds + p.start_share * seconds
        return min(p.starts, 1 + int(p.starting_share * seconds / each)) if np.isfinite(each) and each > 0 else p.starts

    def _improve(self, start: JointPattern, seconds: float) -> None:
        """Search around a pattern for so many seconds."""
        clock = self._stop.clock
        begin = clock.seconds
        self._take(self._search.search(start, lambda: (clock.seconds - begin) / max(seconds, 1e-9)))

    def _anneal_repeatedly(self, seconds: float) -> None:
        """Anneal the best pattern, then others from further first moves, for so many seconds in all."""
        p = self._parameters
        if not self._search.anneals:
            return
        fits = seconds * p.restart_share >= p.annealings * self._start_seconds
        count = p.annealings if fits else max(1, int(seconds * p.restart_share / self._start_seconds))
        for number in range(count):
            if self._is_late() or self._stop.reached:
                return
            start = self.start() if number else self._best
            if start is not None:
                self._anneal(start, seconds / count)

    def _anneal(self, start: JointPattern, seconds: float) -> None:
        """Anneal a pattern for so many seconds."""
        clock = self._stop.clock
        begin = clock.seconds
        below = np.inf if self._best is None else self._best.cost
        self._take(self._search.anneal(start, lambda: (clock.seconds - begin) / max(seconds, 1e-9), below))

    def _take(self, patterns: Iterable[JointPattern | None]) -> JointPattern | None:
        """Accept patterns as they come, as long as there is time for more; return the cheapest."""
        cheapest = None
        for found in patterns:
            if found is not None:
                if cheapest is None or found.cost < cheapest.cost:
                    cheapest = found
                if self._best is None or found.cost < self._best.cost:
                    self._best = found
                    self._accept(found.hidden)
            self._stop.check()
            if self._stop.reached:
                break
        return cheapest
