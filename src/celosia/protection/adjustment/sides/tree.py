"""Branch and bound over the sides of split cells, on the relaxation with side patterns.

A node is the relaxation in which some sides are chosen; it stays one program, of which bounds change, so that every
node starts from the basis of the one before. The tree goes down first, to where the relaxation would rather go, and
takes the open node with the lowest bound when it has come to an end. It branches on the cell whose two sides promise
the most by what earlier choices added (pseudocosts). All bounds are by weak duality.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.adjustment.parameters import ADJUSTMENT, AdjustmentParameters
from celosia.protection.adjustment.relaxation import check_answer
from celosia.protection.adjustment.sides.program import SidesProgram, SidesProof, SidesRows
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.solve.solution import Solution
from celosia.tolerance import HALF, SAME_COST, SIDE_REACHED


@dataclass(order=True, slots=True)
class _Node:
    """A node of the tree, ordered by its bound.

    Parameters
    ----------
    bound, number
        What its tables cost at least, and a number of its own.
    taken, left
        Which choices are made for good, and which are out of question, ``(choices,)``.
    branch
        The split cell, side and distance of the choice that led here.
    """

    bound: float
    number: int
    taken: NDArray[np.bool_] = field(compare=False)
    left: NDArray[np.bool_] = field(compare=False)
    branch: tuple[int, int, float] | None = field(compare=False, default=None)


class SidesTree:
    """Branch and bound over the sides of split cells.

    Parameters
    ----------
    sides
        The relaxation.
    clock
        When to stop.
    cost
        Returns what the incumbent costs.
    enough
        Returns whether a bound is high enough to close a node.
    try_sides
        Offers the cheapest table in which split cells are up where it is told.
    mirrored
        The mirror image of every table is another one of the same cost: the first cell to choose goes up.
    parameters
        How hard to search.
    """

    def __init__(
        self,
        sides: SidesProgram,
        clock: Clock,
        cost: Callable[[], float],
        enough: Callable[[float], bool],
        try_sides: Callable[[NDArray[np.bool_]], None],
        *,
        mirrored: bool = False,
        parameters: AdjustmentParameters = ADJUSTMENT,
    ) -> None:
        self._sides, self._clock, self._mirrored, self._parameters = sides, clock, mirrored, parameters
        self._cost, self._enough, self._try_sides = cost, enough, try_sides
        self._model = backends()[0].open(sides.program)
        self._rows = SidesRows(sides, np.zeros(0, dtype=np.int64))
        self._known = np.zeros(len(sides.least), dtype=bool)
        self._split = np.flatnonzero(sides.steps.problem.split)
        self._gained, self._asked = np.zeros((2, 2, len(self._split)))
        self._seen: set[bytes] = set()
        self._open: list[_Node] = []
        self._next: _Node | None = None
        self._closed = math.inf
        self._number = self._visits = 0

    @property
    def bound(self) -> float:
        """What every table costs at least, but for those found."""
        least = min((node.bound for node in (*self._open[:1], self._next) if node is not None), default=math.inf)
        return min(least, self._closed, self._cost())

    def run(self) -> Iterator[float]:
        """Yield the bound of the tree after every node, until none is open."""
        none = np.zeros(len(self._sides.choices), dtype=bool)
        self._next = _Node(0.0, 0, none, none)
        while self._next is not None or self._open:
            if self._next is None:
                self._next = heapq.heappop(self._open)
            below = self._visit(self._next)
            self._next = below[0] if below else None
            for node in below[1:]:
                heapq.heappush(self._open, node)
            yield self.bound

    def _visit(self, node: _Node) -> list[_Node]:
        """Return the nodes below one, the more promising first; none where it is closed."""
        if self._close(node.bound):
            return []
        lower, upper = self._narrow(node)
        solution = self._solve(node, lower, upper)
        if solution is None or solution.x is None or solution.duals is None:
            return []  # no table, or none that is cheaper than the incumbent
        proof = self._rows.prove_bound(solution.duals, lower, upper)
        bound = max(node.bound, min(proof.value, self._cost()))
        self._learn(node, bound)
        if self._close(bound):
            return []
        height = self._heights(solution.x)
        self._visits += 1
        if self._visits <= self._parameters.first_visits or self._visits % self._parameters.visits == 0:
            self._offer(height > HALF)
        if self._close(bound):
            return []
        return self._branch(node, bound, proof, solution.x, height)

    def _close(self, bound: float) -> bool:
        """Return whether a node with this bound needs no further look, and note it if so."""
        if self._enough(bound):
            self._closed = min(self._closed, bound)
            return True
        return False

    def _narrow(self, node: _Node) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of all columns in a node: beyond a side goes only who has not chosen the other."""
        sides = self._sides
        lower, upper = sides.program.lower.copy(), sides.program.upper.copy()
        choices, jumps = sides.choices, len(self._split)
        lower[choices[node.taken]] = upper[choices[node.taken]]
        upper[choices[node.left]] = 0.0
        for columns, away in ((sides.descent, node.taken[:jumps]), (sides.climb, node.left[:jumps])):
            upper[columns[away & (columns >= 0)]] = 0.0
        return lower, upper

    def _solve(self, node: _Node, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Solution | None:
        """Return the solution of a node with all held rows that it would violate; more rounds of them at the root."""
        self._model.change_bounds(np.arange(len(lower)), lower, upper)
        for _ in range(self._parameters.root_rounds if node.branch is None else self._parameters.balance_rounds):
            solution = check_answer(self._model.solve(time_limit=self._clock.left))
            if solution is None or solution.x is None:
                return None
            missed = self._sides.find_violated(solution.x, self._known, self._parameters.held_rows)
            if not len(missed):
                return solution
            self._add_rows(missed)
        return check_answer(self._model.solve(time_limit=self._clock.left))

    def _add_rows(self, places: NDArray[np.int64]) -> None:
        """Add held rows to the program."""
        rows, least = sp.csr_array(self._sides.held[places]), self._sides.least[places]
        self._model.add_rows(rows, least, np.full(len(places), np.inf))
        self._rows = SidesRows(self._sides, np.concatenate([self._rows.held, places]))
        self._known[places] = True

    def _heights(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far split cells are on the way from the lower side to the upper one, from 0 to 1."""
        jumps = self._sides.jumps
        return np.clip(x[jumps] / self._sides.program.upper[jumps], 0.0, 1.0)

    def _offer(self, upward: NDArray[np.bool_]) -> None:
        """Try sides that were not tried before."""
        key = upward.tobytes()
        if key not in self._seen:
            self._seen.add(key)
            everywhere = np.zeros(len(self._sides.steps.problem), dtype=bool)
            everywhere[self._split] = upward
            self._try_sides(everywhere)

    def _learn(self, node: _Node, bound: float) -> None:
        """Note what the choice that led to a node added to the bound, per distance."""
        if node.branch is not None:
            cell, side, distance = node.branch
            self._gained[side, cell] += max(bound - node.bound, 0.0) / distance
            self._asked[side, cell] += 1

    def _branch(
        self, node: _Node, bound: float, proof: SidesProof, x: NDArray[np.float64], height: NDArray[np.float64]
    ) -> list[_Node]:
        """Return the two nodes below one; none where all cells stand on a side, and its table is known."""
        depth = np.minimum(height, 1 - height)
        beyond = np.where(height > HALF, self._beyond(x, self._sides.descent), self._beyond(x, self._sides.climb))
        jumps = len(self._split)
        undecided = ~node.taken[:jumps] & ~node.left[:jumps] & ((depth > SIDE_REACHED) | (beyond > SIDE_REACHED))
        if not undecided.any():
            self._offer(height > HALF)
            self._closed = min(self._closed, bound)
            return []
        cell = self._choose(height, depth, undecided)
        taken, left = self._fix_by_reduced_costs(node, bound, proof)
        first = int(height[cell] > HALF)
        below: list[_Node] = []
        for side in (1,) if self._mirrored and node.branch is None else (first, 1 - first):
            if (left if side else taken)[cell]:
                continue
            now, never = taken.copy(), left.copy()
            (now if side else never)[cell] = True
            self._number += 1
            distance = max(abs(side - height[cell]), SIDE_REACHED)
            below.append(_Node(bound, self._number, now, never, (cell, side, distance)))
        return below

    def _choose(self, height: NDArray[np.float64], depth: NDArray[np.float64], undecided: NDArray[np.bool_]) -> int:
        """Return the cell whose sides promise most: the smaller of both promises counts, and the larger a little."""
        problem = self._sides.steps.problem
        size = (problem.weight * (problem.up + problem.down))[self._split]
        usual = self._gained.sum() / max(self._asked.sum(), 1.0) * size / size.mean()
        down, up = np.where(self._asked > 0, self._gained / np.maximum(self._asked, 1.0), usual)
        ways = down * height, up * (1 - height)
        promise = np.minimum(*ways) + self._parameters.larger_promise * np.maximum(*ways)
        return int(np.argmax(np.where(undecided, promise + SAME_COST * size * (depth + SAME_COST), -1.0)))

    def _fix_by_reduced_costs(
        self, node: _Node, bound: float, proof: SidesProof
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the choices of a node with those that only tables as dear as the incumbent make otherwise."""
        room = (self._cost() - min(bound, proof.value)) * (1 + SAME_COST)
        free = ~node.taken & ~node.left
        return node.taken | (free & (proof.more < -room)), node.left | (free & (proof.more > room))

    def _beyond(self, x: NDArray[np.float64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how far split cells go by some columns."""
        return np.where(columns >= 0, x[np.maximum(columns, 0)], 0.0)
