"""A run of a method: when it stops, what it solves with, from which seed it draws, and who listens."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from celosia.pattern.pattern import Pattern
from celosia.progress import SILENT, Progress
from celosia.protection.fallback import Fallback
from celosia.protection.state.keeper import StateKeeper
from celosia.protection.state.warm_start import WarmStart
from celosia.risk.risk import Risk
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock


@dataclass(frozen=True, slots=True, eq=False)
class ViolatedRequirements:
    """Requirements that a pattern violates.

    Parameters
    ----------
    risk
        The problem with them.
    necessary
        Every safe pattern satisfies them. If false they are only sufficient, and lower bounds must not use them.
    """

    risk: Risk
    necessary: bool


class NewColumnsError(Exception):
    """The problem with violated requirements has other columns: a search must begin anew, with what is known."""


Ask = Literal["exactly", "needed", "enough"]
"""What an oracle asks for: exactly what protects, if need be of several cells together; or, of single cells alone, what
is needed, and may not be enough, or what is enough, and may be more than is needed."""


class RequirementOracle(Protocol):
    """Knows requirements that are too many to be written down, such as those of respondents."""

    def violated(self, pattern: Pattern, ask: Ask = "exactly") -> ViolatedRequirements | None:
        """Return requirements that a pattern of the last problem violates, None where it is safe.

        Parameters
        ----------
        pattern
            The pattern.
        ask
            For what; see `Ask`.

        Raises
        ------
        celosia.protection.engine.stop.TimeUpError
            There is no time to find out, or nothing more is known that is needed.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run of a method of protection: what every method is handed beside its problem and its options.

    Parameters
    ----------
    clock
        When to stop.
    gap
        End when the cost is within this share of the bound.
    solver
        Solves programs with whole numbers.
    seed
        From which everything random is drawn. Secret where values are drawn by it.
    integer
        Which values attackers know to be whole numbers: True for all, False for none, None for some, those of variables
        that count; see `celosia.table.table.whole_cells`.
    executor
        Shares out the components of the problem, parts of the table that nothing connects; not with rules for
        respondents, and not for `celosia.Adjust` and `celosia.RandomRound`, which have no such search.
    progress
        Hears of every better pattern and bound.
    named
        The solver was asked for by its name.
    warm_start
        What earlier searches of the problem, or of the one with fewer requirements, have found; None where nothing is
        to be kept.
    oracle
        Attacks patterns by further requirements; None where those of the risk are all.
    fallback
        Takes results that are safe, for the case that time is up before a better one is audited; None where they are
        of no use.
    keeper
        Writes what the search has found, so that another run can go on from there; None where that is not wanted.
    """

    clock: Clock
    gap: float
    solver: Backend
    seed: int
    integer: bool | None
    executor: Executor | None = None
    progress: Progress = SILENT
    named: bool = False
    warm_start: WarmStart | None = None
    oracle: RequirementOracle | None = None
    fallback: Fallback | None = None
    keeper: StateKeeper | None = None

    @property
    def solver_name(self) -> str:
        """The solver and its version."""
        return f"{self.solver.name} {self.solver.version}"

    def shortly(self, seconds: float) -> Run:
        """Return a run for a short search on the side: alone, silent, to the end, for at most so many seconds."""
        alone = replace(self, executor=None, progress=SILENT, warm_start=None, oracle=None, fallback=None, keeper=None)
        return replace(alone, clock=Clock(seconds), gap=0.0)
