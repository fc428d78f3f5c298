"""A search that is asked for more while it runs: somebody attacks every pattern that it would keep.

Requirements that are too many to be written down are found that way, few at a time: whoever attacks a pattern with
success says what would have stopped him, and the search has goals more. Its cuts and bounds hold on, because patterns
that meet more are fewer; so one tree is enough, in which goals are as lazy as cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.cuts.capacity import Cut
from celosia.protection.engine.cuts.initial import one_row_cuts
from celosia.protection.engine.heuristics.construction import Builder
from celosia.protection.engine.heuristics.neighbourhood import halved, prices
from celosia.protection.engine.heuristics.primal import Rounded
from celosia.protection.engine.incumbent import refusals
from celosia.protection.engine.problem import Task
from celosia.protection.run import OutgrownError
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock

_SHARE_OF_CLEANING = 0.5
"""Of the time that is left goes into cleaning up what was mended in haste."""

_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A task that asks for more than before.

    Parameters
    ----------
    task
        The task. Columns more come last, and are forced.
    before
        Which goal every goal was before, -1 for new ones, ``(q,)``.
    needed
        Every pattern that nobody attacks with success meets its goals; otherwise no bound rests on them.
    """

    task: Task
    before: NDArray[np.int64]
    needed: bool


Grow = Callable[[NDArray[np.bool_]], Grown | None]
"""Attacks a pattern that meets all goals, ``(n,)``; returns what would have stopped it, None where it is safe."""


class Growing(Rounded):
    """A search whose task grows.

    Parameters
    ----------
    task, backend, clock, rows, seed
        As for `celosia.protection.engine.heuristics.primal.Rounded`.
    grow
        Attacks patterns; None where what is asked for is all.
    """

    def __init__(
        self, task: Task, backend: Backend, clock: Clock, rows: Sequence[Cut], seed: int, grow: Grow | None
    ) -> None:
        super().__init__(task, backend, clock, rows, seed)
        self._grow = grow
        self._newest = self.separator
        self._rough = False

    def _keep(self, pattern: NDArray[np.bool_]) -> bool:
        """Keep a pattern that nobody attacks with success, where it is the best; return whether it is allowed.

        It is attacked with all that is forced since it was made, so it must hide and cost that as well.
        """
        pattern = pattern | self.task.forced
        if self.allows(pattern) and float(self.task.cost[pattern].sum()) < self.cost and self._opposed(pattern):
            return False
        return super()._keep(pattern)

    def _used(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Keep a pattern, with more hidden while somebody attacks it with success; see `Rounded`."""
        now = pattern | self.task.forced
        while not self._keep(now):
            self._check_time()
            more = self._mended(now | self.task.forced, weight)
            if more is None or np.array_equal(more, now):  # it is refused for other reasons
                return None
            now = more
        return now

    def _offer(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Clean a pattern, which hides all that is forced since it was made; see `Rounded`."""
        return super()._offer(pattern | self.task.forced, weight)

    def _round(self) -> None:
        """Make patterns of the point; what was mended in haste is cleaned up first, for a while."""
        if self._rough and self.pattern is not None and not self._good_enough:
            self._rough = False
            self._built_until = self.clock.seconds + _SHARE_OF_CLEANING * self._left
            self._offer(self.pattern, self.task.cost * (1.0 - self._point.x))
            self._built_until = np.inf
        super()._round()

    def _mended(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Return a pattern that hides more where the newest goals are missed; None where it is not found.

        It is cleaned up where that is quick.
        """
        workshop, sides = self._newest.workshop, self._newest.sides
        asked = halved(sides.take(np.isin(sides.goals, self._newest.missed(pattern, self._over))), workshop)
        if not len(asked):
            return pattern
        builder = Builder.of(workshop, asked, np.arange(len(workshop.task)), self.separator.backend)
        order, price = np.argsort(-asked.levels, kind="stable"), workshop.wide(prices(self.task, self._point))
        built = builder.built(workshop.wide(pattern), price, order, self._over)
        if built is None:
            return None
        more = built.pattern[: len(pattern)]
        self._rough = not self._cleans_quickly(more)
        return more if self._rough else self._cleaner.cleaned(more, weight)

    def _over(self) -> bool:
        """Return whether time is up; what a pattern is worth that took long is known only when it is mended."""
        return self._left <= 0

    def _opposed(self, pattern: NDArray[np.bool_]) -> list[Cut]:
        """Return cuts against a pattern that somebody attacks with success, none where nobody does.

        What would have stopped him is asked for from now on. Where the pattern meets that, he is asked again: several
        cells may have to move together, which is told last. Where doubles find nothing against the pattern even so, it
        is left out, and no bound rests on that.
        """
        while self._grow is not None and (grown := self._grow(pattern)) is not None:
            self.freeze(unless=grown.needed)
            self._extend(grown)
            x = pattern.astype(np.float64)
            cuts = _hiding(self.task.forced & ~pattern) or self._attacked(self._newest, x, lambda: None)
            if not cuts and not bool((grown.before < 0).any()):
                cuts = refusals(self.task, pattern, np.zeros(0, dtype=np.int64))
                self.refuted += cuts
                self.freeze()
            if cuts:
                self._master.add(cuts)
                return cuts
        return []

    def _extend(self, grown: Grown) -> None:
        """Ask for more from now on.

        Raises
        ------
        OutgrownError
            The task has other columns that may be hidden or shown.
        """
        n, task = len(self.task), grown.task
        if not np.array_equal(task.cells[:n], self.task.cells) or not bool(task.forced[n:].all()):
            raise OutgrownError
        forced = task.forced[:n] & ~self.task.forced
        self._newest = self.ask(task, grown.before)
        self._master.add([*_hiding(forced), *one_row_cuts(self._newest)])

    def _against(self, x: NDArray[np.float64], check: Callable[[], None] = lambda: None) -> list[Cut]:
        """Return cuts against a pattern, none where it is safe: first it must hide what is forced since."""
        return _hiding(self.task.forced & (x < _HALF)) or super()._against(x, check)


def _hiding(forced: NDArray[np.bool_]) -> list[Cut]:
    """Return what says that columns are hidden."""
    return [Cut(np.array([column]), np.ones(1)) for column in np.flatnonzero(forced).tolist()]
