"""Searches of components by the workers of an executor: other threads or processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from functools import partial
from typing import TypeVar

from celosia.presses import admit_presses
from celosia.protection.engine.incumbent import Outcome, Scalar
from celosia.protection.run import Run
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.deadline import before
from celosia.solve.registry import backend

Task = TypeVar("Task")
Found = TypeVar("Found")
Solve = Callable[[Clock, Backend], Outcome[Scalar]]
"""Searches a component until a clock leaves no time, with a solver of integer masters; to be sent to another process,
so a `partial` of a function of a module."""


def count_workers(executor: Executor) -> int:
    """Return how many workers an executor has, 1 where it does not say; the standard library's and Dask's do."""
    client = getattr(executor, "_client", None)
    if client is not None:
        return max(1, sum(int(n) for n in client.ncores().values()))
    return int(getattr(executor, "_max_workers", 1) or 1)


def map_by_workers(
    executor: Executor, work: Callable[[Task], Found], tasks: Iterable[Task], left: Callable[[], float]
) -> Iterator[Found | None]:
    """Yield what workers make of every task, in their order, as long as there is time.

    A task whose worker is gone, or could not be reached, is worked on here: the result is the same.

    Parameters
    ----------
    executor
        Whose workers.
    work, tasks
        What is sent to them: `work` is a function of a module, or a `partial` of one.
    left
        Returns the seconds that are left; without any, a task that is lost has no result: None.
    """
    with admit_presses():
        todo = [(task, executor.submit(work, task)) for task in tasks]
        for task, future in todo:
            try:
                yield future.result()
            except (BrokenExecutor, CancelledError, OSError):
                yield work(task) if left() > 0 else None


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
