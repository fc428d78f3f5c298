"""The search for the sides of split cells: relaxation, rounding, fixing by bounds, blocks, and a tree at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.adjustment.balance import Whose
from celosia.protection.adjustment.bound import Bound, bound_of
from celosia.protection.adjustment.formulation import AdjustTask
from celosia.protection.adjustment.integer import is_infeasible, settled, solve_whole
from celosia.protection.adjustment.quadratic import Branching
from celosia.protection.adjustment.relaxation import Relaxed, relaxed
from celosia.protection.cost_step import CostStep
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock

_SAME = 1e-9
"""Two costs that are relatively closer than this are the same: sums of doubles in another order differ by so much."""

_BLOCK, _LARGE = 40, 400
"""So many sides are free at a time, where there are more than so many."""

_BLOCK_SECONDS = 20.0
_FRUITLESS = 6
"""Blocks end after so many without a better table."""


class AdjustSearch:
    """The search for the cheapest table of one connected task.

    Parameters
    ----------
    task
        The task.
    solver
        Solves programs with whole numbers.
    clock
        When to stop.
    listen
        Hears of every better table or bound.
    seed
        From which blocks are drawn.
    """

    def __init__(
        self, task: AdjustTask, solver: Backend, clock: Clock, listen: Callable[[], None], seed: int = 0
    ) -> None:
        self.task = task
        self.moves: NDArray[np.int64] | None = None
        self.cost = math.inf
        self.bound = 0.0
        self.impossible = False
        self._solver, self._clock, self._listen = solver, clock, listen
        self._random = np.random.default_rng(seed)
        self._step = CostStep.of(task.weight) if task.norm == 1 and not task.offset.any() else CostStep(0.0)
        self._proof: Bound | None = None

    @property
    def done(self) -> bool:
        """Whether no table is cheaper than the one found."""
        return self.bound >= self.cost

    def run(self, gap: float) -> None:
        """Search until cost and bound are this close, or the time is up."""
        if not self.task.split.any() and self._take(np.zeros(len(self.task), dtype=np.int64)) and self.cost == 0:
            return
        try:
            for _ in self._ways(gap):
                if self.impossible or (self.moves is not None and self.cost - self.bound <= gap * self.cost):
                    return
        except TimeoutError:
            return

    def _ways(self, gap: float) -> Iterator[None]:
        """Work, ever harder, with a pause after each way."""
        yield from self._relax(None)
        if self.task.norm == 1 and self.task.split.any():
            yield from self._relax("split")
            yield from self._relax("every")
        elif self.task.split.any():
            yield from self._borrow_sides()
        if self.moves is None:
            yield from self._find_any()
        if self.moves is None:
            return
        if self.task.norm != 1:
            yield from self._branch()
            return
        if int(self._narrow.split.sum()) > _LARGE:
            yield from self._blocks(gap)
        yield from self._tree(gap)

    def _relax(self, balanced: Whose | None) -> Iterator[None]:
        """Solve the relaxation, and let every split cell go to the side that is nearer."""
        task = self.task
        try:
            found = relaxed(task, self._clock, balanced)
        except SolverError:
            return  # an interior point that did not converge: the tree does without
        if found is None:
            self.impossible = True
        else:
            self._choose(found.moves > (task.up - task.down) / 2)
            self._prove(found)
        yield

    def _borrow_sides(self) -> Iterator[None]:
        """Choose sides as the norm 1 would with the slopes that the squares have now."""
        now = self.moves
        if now is None:
            return
        slope = self.task.weight * np.maximum(np.abs(now), 1)
        found = relaxed(replace(self.task, weight=slope, norm=1), self._clock, "every")
        if found is not None:
            self._choose(found.moves > (self.task.up - self.task.down) / 2)
        yield

    def _choose(self, upward: NDArray[np.bool_]) -> None:
        """Try some sides."""
        try:
            found = settled(self.task.signed(upward), self._solver, self._clock)
        except SolverError:
            return
        if found is not None:
            self._take(found.moves)
            if not self.task.split.any():
                nothing = np.zeros(0, dtype=np.int64)
                self._prove(Relaxed(found.moves.astype(float), found.multipliers, np.zeros(len(self.task)), nothing))

    def _take(self, moves: NDArray[np.int64]) -> bool:
        """Keep a table if it is one, and cheaper than the best so far; return whether it is one."""
        if not self.task.admits(moves):
            return False
        cost = math.fsum(self.task.costs(moves).tolist())
        if cost < self.cost:
            self.moves, self.cost = moves, cost
            self.bound = min(self.bound, cost)
            self._listen()
        return True

    def _prove(self, found: Relaxed) -> None:
        """Take over the bound that multipliers prove, if it is better."""
        if math.isinf(self.cost):
            return
        proof = bound_of(self.task, found.multipliers, self.cost, found.tilt)
        if self._proof is None or proof.value >= self._proof.value:
            self._proof = proof
        self._raise(proof.value)

    def _raise(self, bound: float) -> None:
        raised = self._step.raised(bound)
        if raised >= self.cost * (1 - _SAME):
            raised = self.cost
        if raised > self.bound:
            self.bound = min(raised, self.cost)
            self._listen()

    @property
    def _narrow(self) -> AdjustTask:
        """The task without moves that the best table makes pointless."""
        if self._proof is None:
            return self.task
        return replace(self._proof, ceiling=min(self.cost, self._proof.ceiling)).narrowed()

    def _find_any(self) -> Iterator[None]:
        """Find some table by a tree, whatever it costs."""
        cheap = replace(self.task, norm=1)
        moves, said = solve_whole(cheap, "sides", self._solver, self._clock, gap=0.5)
        self.impossible = is_infeasible(said)
        if moves is not None:
            self._choose(moves > (self.task.up - self.task.down) / 2)
            if self.moves is None:  # sides for which no whole numbers were found
                moves, said = solve_whole(cheap, "everything", self._solver, self._clock, gap=0.5)
                self.impossible = is_infeasible(said)
                if moves is not None:
                    self._take(moves)
        if self.moves is not None:
            yield from self._relax("every" if self.task.norm == 1 else None)

    def _blocks(self, gap: float) -> Iterator[None]:
        """Free some sides at a time, with all the rest of the table (Baena, Castro and González call it fix-and-relax).

        Neighbouring blocks are drawn at random; where none helps any more, the tree takes over.
        """
        fruitless = 0
        while fruitless < _FRUITLESS and self._clock.left > 0 and self.moves is not None:
            task, best = self._narrow, self.cost
            split = np.flatnonzero(task.split)
            if not len(split):
                return
            free = np.zeros(len(task), dtype=bool)
            free[self._random.choice(split, size=min(_BLOCK, len(split)), replace=False)] = True
            block = task.signed(self.moves > 0, free)
            moves, _ = solve_whole(
                block, "sides", self._solver, self._clock, gap=gap / 2, time_limit=_BLOCK_SECONDS, balanced="split"
            )
            if moves is not None:
                self._choose(moves > (self.task.up - self.task.down) / 2)
            fruitless = 0 if self.cost < best * (1 - _SAME) else fruitless + 1
            yield

    def _branch(self) -> Iterator[None]:
        """Solve what is left as a tree of quadratic programs."""
        tree = Branching(self._solver, self._clock, lambda: self.cost, self._take)
        for bound in tree.run(self._narrow):
            self._raise(bound)
            yield
            if self._clock.left <= 0:
                return
        self._raise(tree.bound)

    def _tree(self, gap: float) -> Iterator[None]:
        """Solve what is left as a program with whole numbers: sides first, then everything if some are not whole."""
        for whole in ("sides", "everything"):
            task = self._narrow
            moves, said = solve_whole(task, whole, self._solver, self._clock, gap=gap)
            if is_infeasible(said):  # nothing is cheaper than what is known
                self._raise(self.cost)
            elif said is not None:
                if moves is not None and not self._take(moves):
                    self._choose(moves > (self.task.up - self.task.down) / 2)
                self._raise(min(said.bound, self.cost))
            yield
            if self._clock.left <= 0:
                return
