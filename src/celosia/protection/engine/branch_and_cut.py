"""The loop of branch and cut, one for every method (Fischetti and Salazar 2000, section 4; Salazar 2002, section 7).

    begin        add initial cuts, and find first safe points
    cut          solve the relaxed master, separate its point, add the cuts, again
    round        make safe points of the master's
    strengthen   cut by sums of the master's rows, rounded
    branch       solve the master in whole numbers, separate its solution, again

Points are patterns, which hide or show every cell (`engine.patterns`), or any modes of publication (`engine.modes`).
Every bound comes from a relaxation, and every point that is kept meets all requirements; so at any moment the incumbent
and the bound bracket the optimum. An oracle may add requirements while the search runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic

from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.incumbent import Incumbent, Outcome, Scalar
from celosia.protection.engine.relaxation import AnySeparator, Relaxation
from celosia.protection.engine.stop import Stop, TimeUpError
from celosia.solve.deadline import DeadlineError, before, check


class BranchAndCut(ABC, Generic[Scalar, AnySeparator]):
    """A search for the cheapest safe point of a master, which can be left at any moment.

    Parameters
    ----------
    incumbent
        What has been found.
    stop
        When to end.
    relaxation
        The master with its cuts.
    """

    def __init__(self, incumbent: Incumbent[Scalar], stop: Stop, relaxation: Relaxation[AnySeparator]) -> None:
        self.incumbent, self._stop, self.relaxation = incumbent, stop, relaxation

    @property
    def best(self) -> NDArray[Scalar] | None:
        """The cheapest safe point so far, None where there is none."""
        return self.incumbent.best

    @property
    def cost(self) -> float:
        """What the incumbent costs, infinite where there is none."""
        return self.incumbent.cost

    @property
    def bound(self) -> float:
        """No safe point costs less."""
        return self.incumbent.bound

    @property
    def impossible(self) -> bool:
        """Whether there is no safe point."""
        return self.incumbent.impossible

    @property
    def is_done(self) -> bool:
        """Whether the incumbent is within the gap of the bound, or there is no safe point."""
        return self._stop.reached

    @property
    def separator(self) -> AnySeparator:
        """What separates points by the requirements so far; another one after the oracle has added some."""
        return self.relaxation.separator

    @property
    def cuts(self) -> list[Cut]:
        """All cuts so far."""
        return self.relaxation.pool.cuts

    @property
    def valid_cuts(self) -> list[Cut]:
        """The cuts so far but no-good cuts, which may not be proved."""
        refuted = {cut.key for cut in self.incumbent.refuted}
        return [cut for cut in tuple(self.cuts) if cut.key not in refuted]

    def outcome(self) -> Outcome[Scalar]:
        """Return what was found, to be sent to another process."""
        found = self.incumbent
        return Outcome(found.best, found.bound, found.impossible, found.exhausted, self.cuts)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Leave some work where time is up."""
        with suppress(TimeUpError, DeadlineError), before(self._stop.deadline):
            yield
        check()

    def _run_in_time(self, work: Callable[[], None]) -> None:
        """Do some work; where time is up before it is done, offer a safe point in haste, if none is known."""
        try:
            work()
        except (TimeUpError, DeadlineError):
            check()
            self._offer_in_haste()

    def _search(self) -> None:
        """Search until the gap is closed, or nothing is left to search."""
        with before(self._stop.deadline):
            self._begin()
            grows = True
            while grows and not self._stop.reached:
                if not self._cut():
                    return
                separator = self.separator
                self._round()
                grows = self.separator is not separator
            self._strengthen()
            self._branch()

    @abstractmethod
    def _begin(self) -> None:
        """Add initial cuts, and find first safe points."""

    @abstractmethod
    def _cut(self) -> bool:
        """Cut points of the relaxed master off; return whether one is left to be rounded and to branch on."""

    @abstractmethod
    def _round(self) -> None:
        """Make safe points of the master's."""

    @abstractmethod
    def _strengthen(self) -> None:
        """Cut by sums of the master's rows, rounded, as far as that is done before branching."""

    @abstractmethod
    def _branch(self) -> None:
        """Solve the master in whole numbers until nothing separates its solution."""

    @abstractmethod
    def _offer_in_haste(self) -> None:
        """Offer some safe point, where time is up and none is known."""
