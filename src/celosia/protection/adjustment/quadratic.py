"""Branch and bound for squares with two sides: every node is a quadratic program, all bounds are by weak duality.

No solver here takes squares and whole numbers together. A node is a problem in which some split cells have chosen a
side; its relaxation gives multipliers, they prove a bound, and the bound fixes moves and sides of the others. The tree
branches on the cell that stands deepest between its sides. Where none does, whole numbers are found by steps of one
unit.
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
from celosia.protection.adjustment.formulation import AdjustmentProblem
from celosia.protection.adjustment.integer import find_whole_moves, is_infeasible, solve_whole
from celosia.protection.adjustment.parameters import ADJUSTMENT, AdjustmentParameters
from celosia.protection.adjustment.relaxation import solve_relaxation
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.tolerance import SIDE_REACHED


@dataclass(order=True, slots=True)
class _Node:
    """A node of the tree, ordered by its bound."""

    bound: float
    number: int
    problem: AdjustmentProblem = field(compare=False)
    moves: NDArray[np.float64] | None = field(compare=False)


@dataclass(eq=False)
class QuadraticTree:
    """Branch and bound over the sides of split cells.

    Parameters
    ----------
    solver, clock
        What solves programs with whole numbers, and when to stop.
    cost
        Returns what the incumbent costs.
    offer
        Takes moves and returns whether they make a table; keeps it where it is cheaper than the incumbent.
    parameters
        How hard to search.
    """

    solver: Backend
    clock: Clock
    cost: Callable[[], float]
    offer: Callable[[NDArray[np.int64]], bool]
    parameters: AdjustmentParameters = ADJUSTMENT
    _open: list[_Node] = field(default_factory=list)
    _closed: float = math.inf
    _number: int = 0

    def run(self, problem: AdjustmentProblem) -> Iterator[float]:
        """Yield the bound of the tree after every node, until none is open."""
        self._add(problem, 0.0)
        while self._open:
            node = heapq.heappop(self._open)
            if node.bound < min(self._closed, self.cost()):
                self._branch(node)
            yield self.bound

    @property
    def bound(self) -> float:
        """What every table costs at least, but for those found."""
        least = self._open[0].bound if self._open else math.inf
        return min(least, self._closed, self.cost())

    def _add(self, problem: AdjustmentProblem, known: float) -> None:
        """Add a node, reduced by its own bound, unless no table in it is cheaper than the incumbent."""
        if bool((problem.lower > problem.upper).any()):
            return
        moves, bound = None, known
        try:
            found = solve_relaxation(problem, self.clock)
            if found is None:
                return
            proof = bound_of(problem, found.multipliers, self.cost())
            moves, bound = found.moves, max(known, proof.value)
            if bound >= self.cost():
                return
            problem = proof.fix_by_reduced_costs()
        except SolverError:
            pass  # a node without a bound of its own
        self._number += 1
        heapq.heappush(self._open, _Node(bound, self._number, problem, moves))

    def _branch(self, node: _Node) -> None:
        """Branch on the cell deepest between its sides, or find the whole numbers of a node without such a cell."""
        problem = node.problem
        split = np.flatnonzero(problem.split)
        moves = (problem.up - problem.down) / 2 if node.moves is None else node.moves
        if len(split):
            depth = np.minimum(moves + problem.down, problem.up - moves)[split]
            gap = (problem.up + problem.down)[split]
            if depth.max(initial=0.0) > 0 and bool((depth > SIDE_REACHED * gap).any()):
                chosen = np.zeros(len(problem), dtype=bool)
                chosen[split[np.argmax(depth**2 * problem.weight[split])]] = True
                for upward in (True, False):
                    self._add(problem.choose_sides(np.full(len(problem), upward), problem.split & ~chosen), node.bound)
                return
        self._finish(node, moves)

    def _finish(self, node: _Node, moves: NDArray[np.float64]) -> None:
        """Find the whole numbers of a node. Cells that stand on a side take it; the other side is a node of its own."""
        problem = node.problem
        upward = moves > (problem.up - problem.down) / 2
        fixed = problem.choose_sides(upward)
        bound = node.bound
        found = find_whole_moves(fixed, self.solver, self.clock, self.parameters)
        if found is not None:
            self.offer(found.moves)
            bound = max(bound, bound_of(fixed, found.multipliers, self.cost()).value)
        if bound < self.cost():
            bound = self._solve_units(fixed, bound)
        self._closed = min(self._closed, bound)
        decided = np.zeros(len(problem), dtype=bool)
        for cell in np.flatnonzero(problem.split).tolist():  # the others go where they stand, this one does not
            chosen = decided.copy()
            chosen[cell] = True
            sides = np.where(chosen & ~decided, ~upward, upward)
            self._add(problem.choose_sides(sides, problem.split & ~chosen), node.bound)
            decided[cell] = True

    def _solve_units(self, problem: AdjustmentProblem, bound: float) -> float:
        """Return the bound of a node without split cells after a program over single units."""
        multipliers = np.zeros(problem.matrix.shape[0])
        with contextlib.suppress(SolverError):
            found = solve_relaxation(problem, self.clock)
            multipliers = multipliers if found is None else found.multipliers
        narrow = bound_of(problem, multipliers, self.cost()).fix_by_reduced_costs()
        if int((narrow.upper - narrow.lower).sum()) > self.parameters.most_unit_steps:
            return bound
        moves, said = solve_whole(narrow, "everything", self.solver, self.clock, parameters=self.parameters)
        if moves is not None:
            self.offer(moves)
        if is_infeasible(said):
            return self.cost()
        return bound if said is None else max(bound, min(said.bound, self.cost()))
