"""Searches of components by the workers of an executor: other threads or processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from celosia.presses import admit_presses
from celosia.protection.engine.incumbent import Outcome, Scalar
from celosia.protection.run import Run
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.deadline import before
from celosia.solve.registry import backend

Solve = Callable[[Clock, Backend], Outcome[Scalar]]
"""Searches a component until a clock leaves no time, with a solver of integer masters; to be sent to another process,
so a `partial` of a function of a module."""


def run_by_workers(run: Run, searches: Iterable[Solve[Scalar]]) -> Iterator[Outcome[Scalar]]:
    """Yield what every search finds in the time that is left, in their order; nothing where there is no executor."""
    if run.executor is not None:
        with admit_presses():
            yield from run.executor.map(partial(_run_alone, run.solver.name, run.clock.left), searches)


def _run_alone(solver: str, time_limit: float, solve: Solve[Scalar]) -> Outcome[Scalar]:
    """Return what a search finds in a process of its own."""
    clock = Clock(None if math.isinf(time_limit) else time_limit)
    with before(clock):
        return solve(clock, backend(solver))
