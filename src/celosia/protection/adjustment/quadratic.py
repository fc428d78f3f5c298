"""Squares with two sides: a tree of cases, each a quadratic program, all bounds by weak duality.

No solver here takes squares and whole numbers together. A case is a task in which some split cells have chosen a side;
its relaxation gives multipliers, they prove a bound, and the bound rules out moves and sides of the others. The cell
that stands deepest between its sides is decided next. Where none does, whole numbers are found by steps of one unit.
"""

from __future__ import annotations

import contextlib
import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.adjustment.bound import bound_of
from celosia.protection.adjustment.formulation import AdjustTask
from celosia.protection.adjustment.integer import is_infeasible, settled, solve_whole
from celosia.protection.adjustment.relaxation import relaxed
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock

_BETWEEN = 1e-6
"""A cell is between its sides if it is further from both than this share of the gap."""

_MOST_UNITS = 60_000
"""A program over steps of one unit has at most so many."""


@dataclass(order=True, slots=True)
class _Case:
    """A case, by its bound."""

    bound: float
    number: int
    task: AdjustTask = field(compare=False)
    moves: NDArray[np.float64] | None = field(compare=False)


@dataclass(eq=False)
class Branching:
    """The tree of a task.

    Parameters
    ----------
    solver, clock
        Who solves programs with whole numbers, and until when.
    cost
        Returns what the best table so far costs.
    take
        Takes a table if it is one, and keeps it if it is better.
    """

    solver: Backend
    clock: Clock
    cost: Callable[[], float]
    take: Callable[[NDArray[np.int64]], bool]
    _open: list[_Case] = field(default_factory=list)
    _closed: float = math.inf
    _number: int = 0

    def run(self, task: AdjustTask) -> Iterator[float]:
        """Yield the bound of the tree after every case, until all are done."""
        self._add(task, 0.0)
        while self._open:
            case = heapq.heappop(self._open)
            if case.bound < min(self._closed, self.cost()):
                self._work(case)
            yield self.bound

    @property
    def bound(self) -> float:
        """What every table costs at least, but for those found."""
        least = self._open[0].bound if self._open else math.inf
        return min(least, self._closed, self.cost())

    def _add(self, task: AdjustTask, known: float) -> None:
        """Take a case into the tree, narrowed by its own bound, unless it has no table worth finding."""
        if bool((task.lower > task.upper).any()):
            return
        moves, bound = None, known
        try:
            found = relaxed(task, self.clock)
            if found is None:
                return
            proof = bound_of(task, found.multipliers, self.cost())
            moves, bound = found.moves, max(known, proof.value)
            if bound >= self.cost():
                return
            task = proof.narrowed()
        except SolverError:
            pass  # a case without a bound of its own
        self._number += 1
        heapq.heappush(self._open, _Case(bound, self._number, task, moves))

    def _work(self, case: _Case) -> None:
        """Decide one more cell, or find the whole numbers of a case in which all are decided."""
        task = case.task
        split = np.flatnonzero(task.split)
        moves = (task.up - task.down) / 2 if case.moves is None else case.moves
        if len(split):
            depth = np.minimum(moves + task.down, task.up - moves)[split]
            gap = (task.up + task.down)[split]
            if depth.max(initial=0.0) > 0 and bool((depth > _BETWEEN * gap).any()):
                chosen = np.zeros(len(task), dtype=bool)
                chosen[split[np.argmax(depth**2 * task.weight[split])]] = True
                for upward in (True, False):
                    self._add(task.signed(np.full(len(task), upward), task.split & ~chosen), case.bound)
                return
        self._finish(case, moves)

    def _finish(self, case: _Case, moves: NDArray[np.float64]) -> None:
        """Find the whole numbers of a case. Cells that stand on a side take it; the other side is a case of its own."""
        task = case.task
        upward = moves > (task.up - task.down) / 2
        fixed = task.signed(upward)
        bound = case.bound
        found = settled(fixed, self.solver, self.clock)
        if found is not None:
            self.take(found.moves)
            bound = max(bound, bound_of(fixed, found.multipliers, self.cost()).value)
        if bound < self.cost():
            bound = self._exact(fixed, bound)
        self._closed = min(self._closed, bound)
        decided = np.zeros(len(task), dtype=bool)
        for cell in np.flatnonzero(task.split).tolist():  # the others go where they stand, this one does not
            chosen = decided.copy()
            chosen[cell] = True
            sides = np.where(chosen & ~decided, ~upward, upward)
            self._add(task.signed(sides, task.split & ~chosen), case.bound)
            decided[cell] = True

    def _exact(self, task: AdjustTask, bound: float) -> float:
        """Return the bound of a case without split cells after a program over single units."""
        multipliers = np.zeros(task.matrix.shape[0])
        with contextlib.suppress(SolverError):
            found = relaxed(task, self.clock)
            multipliers = multipliers if found is None else found.multipliers
        narrow = bound_of(task, multipliers, self.cost()).narrowed()
        if int((narrow.upper - narrow.lower).sum()) > _MOST_UNITS:
            return bound
        moves, said = solve_whole(narrow, "everything", self.solver, self.clock)
        if moves is not None:
            self.take(moves)
        if is_infeasible(said):
            return self.cost()
        return bound if said is None else max(bound, min(said.bound, self.cost()))
