"""HiGHS itself: options that were taken, runs that can be interrupted, statuses that are understood.

Which options HiGHS needs, and where it would mislead:

- a thread's first run fixes the number of threads for its later ones, which fail if they ask for another: every run
  here asks for one;
- its time limit holds for one run of a MIP, but for all runs together of an LP;
- highspy's own handling of Ctrl-C prints, swallows the interrupt, ends the process at the fifth, and calls Python at
  every simplex iteration;
- its active-set QP solver adds a little to the diagonal of Q by default, and so finds an optimum of unbounded problems.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import highspy
import numpy as np
from highspy import HighsModelStatus, HighsStatus

from celosia.errors import SolverError
from celosia.solve import deadline
from celosia.solve.clock import Clock
from celosia.solve.interrupt import Interruptible
from celosia.solve.solution import Status

Value = bool | int | float | str

_STATUS = {
    HighsModelStatus.kOptimal: Status.OPTIMAL,
    HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    HighsModelStatus.kUnbounded: Status.UNBOUNDED,
    HighsModelStatus.kTimeLimit: Status.STOPPED,
}
_WITHOUT_OBJECTIVE = {
    Status.OPTIMAL: Status.UNBOUNDED,
    Status.INFEASIBLE: Status.INFEASIBLE,
    Status.STOPPED: Status.STOPPED,
}
_INTERRUPTS = (
    highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt,
    highspy.cb.HighsCallbackType.kCallbackIpmInterrupt,
    highspy.cb.HighsCallbackType.kCallbackMipInterrupt,
)


class HighsEngine:
    """One instance of HiGHS, silent and with one thread.

    Attributes
    ----------
    highs
        The instance, for everything that is not said through this class.
    adds_up
        Whether the time of earlier runs counts: it does for LPs, not for MIPs.
    """

    def __init__(self) -> None:
        self.adds_up = True
        self.highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._set: dict[str, Value] = {}
        self._runner = Interruptible(partial(_start_interrupting, self.highs))
        self.option("output_flag", value=False)
        self.option("threads", value=1)
        self.option("qp_regularization_value", value=0.0)
        check(self.highs.setCallback(_interrupt, None), "interrupts")

    def option(self, name: str, *, value: Value) -> None:
        """Set an option."""
        if self._set.get(name) != value:
            check(self.highs.setOptionValue(name, value), f"option {name} = {value}")
            self._set[name] = value

    def takes(self, name: str, *, value: Value) -> bool:
        """Set an option if this installation knows it, and return whether it does."""
        return bool(self.highs.setOptionValue(name, value) == HighsStatus.kOk)

    def info(self, name: str) -> float:
        """Return a number that HiGHS knows about its last run."""
        status, value = self.highs.getInfoValue(name)
        check(status, name)
        return float(value)

    def refuse_busy(self) -> None:
        """Refuse to touch HiGHS while it has not come back; see `celosia.solve.interrupt.Interruptible`."""
        self._runner.refuse_busy()

    def run(self, clock: Clock) -> Status | None:
        """Run and return the status, None where there is no clear one.

        Raises
        ------
        KeyboardInterrupt
            If the run was interrupted, here or in the thread that waits for it.
        DeadlineError
            The last moment has passed.
        """
        return self._run(clock, self.highs.run)

    def run_afresh(self, clock: Clock) -> Status:
        """Forget everything about earlier runs, run, and return the status; SolverError where it is not clear."""

        def work() -> None:
            # Another run in this thread may have fixed another number of threads.
            highspy.Highs.resetGlobalScheduler(True)  # noqa: FBT003 - has no keywords
            self.highs.run()

        check(self.highs.clearSolver(), "clearing")
        status = self._run(clock, work)
        if status is None:
            words = self.highs.modelStatusToString(self.highs.getModelStatus())
            raise SolverError.one("HiGHS", f"ended without an answer, twice: {words}.", "Scale the problem.")
        return status

    def _run(self, clock: Clock, work: Callable[[], object]) -> Status | None:
        for kind in _INTERRUPTS:
            self.highs.stopCallback(kind)
        own, last = clock.left, deadline.left()
        self.option("time_limit", value=min(own, last) + (self.highs.getRunTime() if self.adds_up else 0.0))
        self._runner.run(work)
        said = self.highs.getModelStatus()
        if said == HighsModelStatus.kTimeLimit and last < own - deadline.SAME:
            raise deadline.run_out()
        if said == HighsModelStatus.kInterrupt:
            raise KeyboardInterrupt
        if said == HighsModelStatus.kUnboundedOrInfeasible:
            return self._decide(clock)
        return _STATUS.get(said)

    def _decide(self, clock: Clock) -> Status | None:
        """Return whether a problem is infeasible or unbounded: without its objective it can only be the one."""
        probe, n_columns = HighsEngine(), self.highs.getNumCol()
        check(probe.highs.passModel(self.highs.getLp()), "probe")
        every = np.arange(n_columns, dtype=np.int32)
        check(probe.highs.changeColsCost(n_columns, every, np.zeros(n_columns)), "probe")
        status = probe.run(clock)
        return None if status is None else _WITHOUT_OBJECTIVE.get(status)


def check(status: HighsStatus, what: str) -> None:
    """Raise SolverError unless HiGHS accepted an option or model without a warning."""
    if status != HighsStatus.kOk:
        raise SolverError.one("HiGHS", f"does not take the {what} ({status.name}).")


def _interrupt(
    _kind: highspy.cb.HighsCallbackType,
    _message: str,
    _seen: highspy.cb.HighsCallbackOutput,
    reply: highspy.cb.HighsCallbackInput,
    _data: object,
) -> None:
    """Tell HiGHS to end, whenever it asks."""
    reply.user_interrupt = True


def _start_interrupting(highs: highspy.Highs) -> None:
    """Let HiGHS ask whether to end. It would ask at every simplex iteration, so not before it shall."""
    for kind in _INTERRUPTS:
        highs.startCallback(kind)
