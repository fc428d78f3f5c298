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

from celosia.protect.building import Builder
from celosia.protect.cuts import Cut
from celosia.protect.improving import halved, prices
from celosia.protect.rounded import Rounded
from celosia.protect.standing import refusals
from celosia.protect.starting import one_row_cuts
from celosia.protect.task import Task
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock

GRACE = (5.0, 0.5)
"""Seconds, and a share of the limit, by which attacks on a first pattern, and the cure for them, may be late."""

_HALF = 0.5


class OutgrownError(Exception):
    """A task has other columns since more is asked for: a search must begin anew, with what is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A task that asks for more than before.

    Parameters
    ----------
    task
        The task, with the same columns.
    needed
        Every pattern that nobody attacks with success meets its goals; otherwise no bound rests on them.
    """

    task: Task
    needed: bool


Grow = Callable[[NDArray[np.bool_]], Grown | None]
"""Attacks a pattern that meets all goals, ``(n,)``; returns what would have stopped it, None where it is safe."""


class Growing(Rounded):
    """A search whose task grows.

    Parameters
    ----------
    task, backend, clock, rows, seed
        As for `celosia.protect.rounded.Rounded`.
    grow
        Attacks patterns; None where what is asked for is all.
    """

    def __init__(
        self, task: Task, backend: Backend, clock: Clock, rows: Sequence[Cut], seed: int, grow: Grow | None
    ) -> None:
        super().__init__(task, backend, clock, rows, seed)
        self._grow = grow

    def _keep(self, pattern: NDArray[np.bool_]) -> bool:
        """Keep a pattern that nobody attacks with success, where it is the best; return whether it is allowed."""
        if self.allows(pattern) and float(self.task.cost[pattern].sum()) < self.cost and self._opposed(pattern):
            return False
        return super()._keep(pattern)

    @property
    def _left(self) -> float:
        """Seconds that remain; attacks on a first pattern, and what stops them, may be late."""
        if self.pattern is None and self._grow is not None:
            return self.clock.left_with_grace(*GRACE)
        return super()._left

    def _used(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Keep a pattern, with more hidden while somebody attacks it with success; see `Rounded`."""
        now: NDArray[np.bool_] | None = pattern
        while now is not None and not self._keep(now):
            self._check_time()
            now = self._mended(now)
            if now is not None and self._cleans_quickly(now):
                now = self._cleaner.cleaned(now, weight)
        return now

    def _mended(self, pattern: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return a pattern that hides more, and meets all goals; None where it is not found, or misses none."""
        workshop, sides = self.separator.workshop, self.separator.sides
        missed = sides.take(np.isin(sides.goals, self.separator.missed(pattern)))
        asked = halved(missed, workshop)
        if not len(asked):
            return None
        builder = Builder.of(workshop, asked, np.arange(len(self.task)), self.separator.backend)
        order = np.argsort(-asked.levels, kind="stable")
        built = builder.built(pattern, prices(self.task, self._point), order, self._late)
        return None if built is None else built.pattern

    def _opposed(self, pattern: NDArray[np.bool_]) -> list[Cut]:
        """Return cuts against a pattern that somebody attacks with success, none where nobody does.

        What would have stopped him is asked for from now on. Where doubles find nothing against the pattern even so,
        it is left out, and no bound rests on that.
        """
        grown = None if self._grow is None else self._grow(pattern)
        if grown is None:
            return []
        self.freeze(unless=grown.needed)
        self._extend(grown.task)
        cuts = self._against(pattern.astype(np.float64))
        if not cuts:
            cuts = refusals(self.task, pattern, np.zeros(0, dtype=np.int64))
            self.refuted += cuts
            self.freeze()
        self._master.add(cuts)
        return cuts

    def _extend(self, task: Task) -> None:
        """Ask for more from now on.

        Raises
        ------
        OutgrownError
            The task has other columns.
        """
        if not np.array_equal(task.cells, self.task.cells):
            raise OutgrownError
        forced = task.forced & ~self.task.forced
        self.ask(task)
        self._master.add([*_hiding(forced), *one_row_cuts(self.separator)])

    def _against(self, x: NDArray[np.float64], check: Callable[[], None] = lambda: None) -> list[Cut]:
        """Return cuts against a pattern, none where it is safe: first it must hide what is forced since."""
        return _hiding(self.task.forced & (x < _HALF)) or super()._against(x, check)


def _hiding(forced: NDArray[np.bool_]) -> list[Cut]:
    """Return what says that columns are hidden."""
    return [Cut(np.array([column]), np.ones(1)) for column in np.flatnonzero(forced).tolist()]
