"""How a protection is asked for: when to stop, with what to solve, and who listens."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from celosia.pattern.pattern import Pattern
from celosia.progress import SILENT, Progress
from celosia.protection.engine.warm_start import Memory
from celosia.protection.fallback import Fallback
from celosia.protection.result import Method
from celosia.risk.risk import Risk
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What would have stopped an attack on a pattern.

    Parameters
    ----------
    risk, method
        The problem that asks for it, too.
    needed
        No safe pattern does without it; otherwise no bound may rest on it.
    """

    risk: Risk
    method: Method
    needed: bool


class OutgrownError(Exception):
    """What would have stopped an attack has other columns: a search must begin anew, with what is known."""


Watch = Callable[[Pattern], Told | None]
"""Attacks a pattern of the last problem told; None where that has no success.

It raises `celosia.protection.engine.stop.TimeUpError` where there is no time to find out.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """What holds for every method of protection.

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
        that count; see `celosia.table.whole_cells`.
    executor
        Shares out the components of the problem.
    progress
        Hears of every better pattern and bound.
    named
        The solver was asked for by its name.
    memory
        What earlier searches of the problem, which asked for less, have found; None where nothing is to be kept.
    watch
        Attacks patterns by more than their requirements; None where these are all.
    fallback
        Takes results that are safe, for the case that time is up before a better one is audited; None where they are
        of no use.
    """

    clock: Clock
    gap: float
    solver: Backend
    seed: int
    integer: bool | None
    executor: Executor | None = None
    progress: Progress = SILENT
    named: bool = False
    memory: Memory | None = None
    watch: Watch | None = None
    fallback: Fallback | None = None

    @property
    def solver_name(self) -> str:
        """The solver and its version."""
        return f"{self.solver.name} {self.solver.version}"

    def shortly(self, seconds: float) -> Call:
        """Return a call for a question on the side: alone, silent, to the end, for so many seconds at most."""
        alone = replace(self, executor=None, progress=SILENT, memory=None, watch=None, fallback=None)
        return replace(alone, clock=Clock(seconds), gap=0.0)
