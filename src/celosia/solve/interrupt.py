"""Ctrl-C and the last moment while compiled code runs.

Python sees a signal only between two steps of its own, so a solver that is called in the main thread makes Ctrl-C wait
until it has finished. Here the solver runs in a thread of its own, and the main thread waits for it, for signals, and
for the deadline of the call (`celosia.solve.deadline`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import TypeVar

from celosia.errors import SolverError
from celosia.presses import admit_presses, raise_overdue_press
from celosia.solve import deadline

T = TypeVar("T")

PATIENCE = 3.0
"""Seconds that a solver has to end after Ctrl-C; then it is left to itself."""

_LAST_PATIENCE = 0.5
"""The same after the last moment."""

_GLANCE = 0.1
"""Seconds between two looks for signals, where waiting itself cannot be interrupted."""


_LONG = 1.0
"""Seconds after which a solver that was started just after a press is ended: shorter runs are let be."""


class _Worker:
    """One thread that does what it is handed: starting a thread for every solve costs more than a small LP."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] | None = None

    def hand(self, job: Callable[[], None]) -> None:
        """Have a job done."""
        if self._jobs is None:
            self._jobs = SimpleQueue()
            threading.Thread(target=self._work, args=(self._jobs,), name="celosia-solver", daemon=True).start()
        self._jobs.put(job)

    def leave(self) -> None:
        """Leave a thread to itself that does not come back; the next job gets a new one."""
        if self._jobs is not None:
            self._jobs.put(None)
        self._jobs = None

    def forget(self) -> None:
        """Forget the thread: a forked process has none."""
        self._jobs = None

    @staticmethod
    def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
        while (job := jobs.get()) is not None:
            job()
            del job  # or the last model would live on until the next job


_WORKER = _Worker()
_RUNNING: list[Interruptible] = []
"""Everything that runs now. A solver's callback may run another solver, and Ctrl-C must end both."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WORKER.forget)


class Interruptible:
    """Runs a model's solver so that Ctrl-C reaches the caller soon.

    Parameters
    ----------
    cancel
        Makes the solver end soon. It is called from another thread than the solver's, perhaps several times, and
        perhaps before the solver has begun.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._busy = False

    def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns.

        Called in the main thread, `work` is done in another one, and a KeyboardInterrupt ends it and is raised again.
        Called elsewhere, where no signal arrives, it is done on the spot.

        Raises
        ------
        SolverError
            If the solver has not come back from an interrupted run.
        DeadlineError
            The last moment has passed before the end; in the main thread the solver is ended then.
        """
        deadline.check()
        self.refuse_busy()
        if threading.current_thread() is threading.main_thread():
            return self._watch(work)
        return self._perform(work)

    def refuse_busy(self) -> None:
        """Refuse to touch a model whose solver has not come back from an interrupted run.

        Raises
        ------
        DeadlineError
            The last moment has passed anyway.
        SolverError
            It has not.
        """
        if self._busy:
            deadline.check()
            raise SolverError.one("model", "is still busy with a run that was interrupted.", "Open it anew.")

    def _perform(self, work: Callable[[], T]) -> T:
        self._busy = True
        _RUNNING.append(self)
        try:
            return work()
        finally:
            _RUNNING.remove(self)
            self._busy = False

    def _watch(self, work: Callable[[], T]) -> T:
        answers: list[T] = []
        ended: SimpleQueue[BaseException | None] = SimpleQueue()
        done = threading.Event()  # a press may come when `ended` has been read, and before its result was taken
        context = copy_context()  # what a solver calls back for has the same deadline

        def job() -> None:
            try:
                answers.append(context.run(self._perform, work))
            except BaseException as failure:  # noqa: BLE001 - raised again by the thread that asked
                ended.put(failure)
            else:
                ended.put(None)
            finally:
                done.set()

        try:
            _WORKER.hand(job)
            with admit_presses():
                failure = _await_end(ended)
        except deadline.DeadlineError:
            _end_everything(done, _LAST_PATIENCE)
            raise
        except BaseException:
            _end_everything(done, PATIENCE)
            raise
        if failure is not None:
            raise failure
        return answers[0]

    def cancel(self) -> None:
        """Ask the solver to end."""
        self._cancel()


def _await_end(ended: SimpleQueue[BaseException | None]) -> BaseException | None:
    """Wait for the end of a job, no longer than allowed, and return how it failed."""
    began = time.monotonic()
    while True:
        try:
            return ended.get(timeout=_GLANCE)
        except Empty:
            if deadline.left_in_all() <= 0:  # at the end of a part solvers end by themselves, and go on being used
                raise deadline.run_out() from None
            if time.monotonic() - began > _LONG:
                raise_overdue_press()


def _end_everything(done: threading.Event, patience: float) -> None:
    """Cancel whatever runs, and wait for the end, at most `patience` seconds; a second Ctrl-C ends the waiting."""
    try:
        for _ in range(int(patience / _GLANCE)):
            for running in tuple(_RUNNING):
                running.cancel()
            if done.wait(_GLANCE):
                return
    except BaseException:
        _WORKER.leave()
        raise
    _WORKER.leave()
