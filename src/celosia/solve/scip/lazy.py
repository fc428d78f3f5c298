"""Lazy rows inside SCIP's tree: a constraint handler that asks `separate` about every candidate."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
import pyscipopt
from numpy.typing import NDArray
from pyscipopt.scip import PY_SCIP_RESULT

from celosia.solve.backend import Row, Separate
from celosia.solve.lazy import find_violated, stalled_error
from celosia.solve.open_problem import OpenProblem

Answer = dict[str, int]
_INFEASIBLE = int(PY_SCIP_RESULT.INFEASIBLE)


def add_row(scip: pyscipopt.Model, columns: list[Any], row: Row) -> None:
    """Add one row to SCIP's problem."""
    entries = zip(row.columns.tolist(), row.values.tolist(), strict=True)
    activity = pyscipopt.quicksum(value * columns[place] for place, value in entries)
    if row.upper == np.inf:
        scip.addCons(activity >= row.lower)
    elif row.lower == -np.inf:
        scip.addCons(activity <= row.upper)
    else:
        scip.addCons((activity <= row.upper) >= row.lower)


class LazyRows(pyscipopt.Conshdlr):
    """Holds for a point when `separate` finds nothing against it.

    SCIP's heuristics ask thousands of times, often about the same point: rows found earlier but not yet in the problem
    are looked at first, and no point is separated twice. Rows can be added while SCIP enforces or separates, not while
    it checks; those found in a check wait.

    Parameters
    ----------
    problem
        Tells which columns are integer.
    columns
        SCIP's variables, in order.
    separate
        Returns the rows that a point violates.

    Attributes
    ----------
    found
        Every row that was found.
    failure
        What `separate` raised, if it did; SCIP cannot pass it on.
    """

    def __init__(self, problem: OpenProblem, columns: list[Any], separate: Separate) -> None:
        self._problem = problem
        self._columns = columns
        self._separate = separate
        self._clean: set[bytes] = set()
        self._cut_off: set[bytes] = set()
        self._waiting: list[Row] = []
        self.found: list[Row] = []
        self.failure: BaseException | None = None

    def accepts(self, x: NDArray[np.float64]) -> bool:
        """Return whether a point violates no lazy row; rows that are new wait until they can be added."""
        if find_violated(self._waiting, x):
            return False
        name = _name(x)
        if name in self._clean:
            return True
        missing = find_violated(self._separate(x), x)
        if missing:
            self._waiting += missing
            self.found += missing
            return False
        self._clean.add(name)
        return True

    def conscheck(self, _constraints: object, solution: object, *_flags: object) -> Answer:
        """Judge a candidate."""
        return self._guard(lambda: PY_SCIP_RESULT.FEASIBLE if self.accepts(self._point(solution)) else _INFEASIBLE)

    def consenfolp(self, _constraints: object, _useful: int, infeasible: object) -> Answer:
        """Judge a solution of a node, and cut it off where it violates something."""
        return {"result": _INFEASIBLE} if infeasible else self._guard(self._enforce)

    def consenfops(self, _constraints: object, _useful: int, infeasible: object, _worse: object) -> Answer:
        """Judge a solution of a node whose LP was not solved."""
        return {"result": _INFEASIBLE} if infeasible else self._guard(self._enforce)

    def conssepalp(self, _constraints: object, _useful: int) -> Answer:
        """Add the rows that wait."""
        nothing = PY_SCIP_RESULT.DIDNOTRUN
        return self._guard(lambda: PY_SCIP_RESULT.CONSADDED if self._add_waiting() else nothing, otherwise=nothing)

    def conslock(self, _constraint: object, _kind: object, positive: int, negative: int) -> None:
        """Tell SCIP that a lazy row may hold any column back in either direction."""
        if self.model is None:  # SCIP is being freed, and takes its locks back
            return
        for column in self._columns:
            self.model.addVarLocks(column, positive + negative, positive + negative)

    def release(self) -> None:
        """Let go of SCIP when it has ended: the two would keep each other alive."""
        self.model.freeTransform()
        self.model = None

    def _enforce(self) -> int:
        x = self._point(None)
        if self.accepts(x):
            return int(PY_SCIP_RESULT.FEASIBLE)
        name = _name(x)
        if name in self._cut_off:
            raise stalled_error()
        self._cut_off.add(name)
        self._add_waiting()
        return int(PY_SCIP_RESULT.CONSADDED)

    def _add_waiting(self) -> bool:
        added, self._waiting = self._waiting, []
        for row in added:
            add_row(self.model, self._columns, row)
        return bool(added)

    def _point(self, solution: Any) -> NDArray[np.float64]:  # noqa: ANN401 - SCIP's solution, None for the node's
        values = [self.model.getSolVal(solution, column) for column in self._columns]
        return self._problem.round_integers(np.array(values, dtype=np.float64))

    def _guard(self, judge: Callable[[], int], otherwise: int = _INFEASIBLE) -> Answer:
        """Return SCIP's answer; keep what is raised until SCIP has ended, and make it end.

        Parameters
        ----------
        judge
            Returns the answer.
        otherwise
            What SCIP takes from then on: one callback's answers are errors of another's.
        """
        if self.failure is None:
            try:
                return {"result": judge()}
            except BaseException as failure:  # noqa: BLE001 - raised again when SCIP has ended
                self.failure = failure
        self.model.interruptSolve()
        return {"result": otherwise}


def _name(x: NDArray[np.float64]) -> bytes:
    return blake2b(x.tobytes(), digest_size=16).digest()
