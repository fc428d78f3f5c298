"""The search for the sides of split cells: relaxation, rounding, fixing by bounds, blocks, and a tree at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.decomposition import is_network
from celosia.errors import SolverError
from celosia.protection.adjustment.balance import Whose
from celosia.protection.adjustment.bound import Bound, bound_of
from celosia.protection.adjustment.formulation import AdjustmentProblem
from celosia.protection.adjustment.integer import find_whole_moves, is_infeasible, solve_whole
from celosia.protection.adjustment.parameters import ADJUSTMENT, AdjustmentParameters
from celosia.protection.adjustment.quadratic import QuadraticTree
from celosia.protection.adjustment.relaxation import RelaxationSolution, solve_relaxation
from celosia.protection.adjustment.sides.program import formulate_sides
from celosia.protection.adjustment.sides.tree import SidesTree
from celosia.protection.adjustment.steps import Whole
from celosia.risk.cost_step import CostStep
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.solution import Solution
from celosia.tolerance import SAME_COST


class AdjustmentSearch:
    """The search for the cheapest table of one connected problem.

    Parameters
    ----------
    problem
        The problem.
    solver
        Solves programs with whole numbers.
    clock
        When to stop.
    listen
        Hears of every better table or bound.
    seed
        From which blocks are drawn.
    parameters
        How hard to search.

    Attributes
    ----------
    moves, cost
        The incumbent: the best moves so far and what they cost; None and infinite where none are known.
    bound
        What any table costs at least.
    infeasible
        There is no table.
    """

    def __init__(
        self,
        problem: AdjustmentProblem,
        solver: Backend,
        clock: Clock,
        listen: Callable[[], None],
        seed: int = 0,
        parameters: AdjustmentParameters = ADJUSTMENT,
    ) -> None:
        self.problem = problem
        self.moves: NDArray[np.int64] | None = None
        self.cost = math.inf
        self.bound = 0.0
        self.infeasible = False
        self._solver, self._clock, self._listen, self._parameters = solver, clock, listen, parameters
        self._random = np.random.default_rng(seed)
        self._step = CostStep.of(problem.weight) if problem.norm == 1 and not problem.offset.any() else CostStep(0.0)
        self._proof: Bound | None = None

    @property
    def done(self) -> bool:
        """Whether no table is cheaper than the one found."""
        return self.bound >= self.cost

    def run(self, gap: float) -> None:
        """Search until cost and bound are this close, or the time is up."""
        if not self.problem.split.any() and self._offer(np.zeros(len(self.problem), dtype=np.int64)) and self.cost == 0:
            return
        try:
            for _ in self._phases(gap):
                if self.infeasible or (self.moves is not None and self.cost - self.bound <= gap * self.cost):
                    return
        except TimeoutError:
            return

    def _phases(self, gap: float) -> Iterator[None]:
        """Search ever harder, with a pause after each phase."""
        yield from self._relax(None)
        if self.problem.norm == 1 and self.problem.split.any():
            yield from self._relax("split")
            yield from self._relax("every")
        elif self.problem.split.any():
            yield from self._borrow_sides()
        if self.moves is None:
            yield from self._find_feasible()
        if self.moves is None:
            return
        if self.problem.norm != 1:
            yield from self._branch_on_sides()
            return
        yield from self._choose_sides(gap)
        if int(self._reduced.split.sum()) > self._parameters.many_sides:
            yield from self._search_blocks(gap)
        yield from self._solve_tree(gap)

    def _relax(self, balanced: Whose | None) -> Iterator[None]:
        """Solve the relaxation, and let every split cell go to the side that is nearer."""
        problem = self.problem
        try:
            found = solve_relaxation(problem, self._clock, balanced, self._parameters)
        except SolverError:
            return  # an interior point that did not converge: the tree does without
        if found is None:
            self.infeasible = True
        else:
            self._try_sides(found.moves > (problem.up - problem.down) / 2)
            self._prove_bound(found)
        yield

    def _borrow_sides(self) -> Iterator[None]:
        """Choose sides as the norm 1 would with the slopes that the squares have now."""
        now = self.moves
        if now is None:
            return
        slope = self.problem.weight * np.maximum(np.abs(now), 1)
        found = solve_relaxation(replace(self.problem, weight=slope, norm=1), self._clock, "every", self._parameters)
        if found is not None:
            self._try_sides(found.moves > (self.problem.up - self.problem.down) / 2)
        yield

    def _try_sides(self, upward: NDArray[np.bool_]) -> None:
        """Offer the cheapest whole moves in which split cells take some sides."""
        problem = self.problem.choose_sides(upward)
        try:
            found = find_whole_moves(problem, self._solver, self._clock, self._parameters)
        except SolverError:
            return
        if found is not None:
            self._offer(found.moves)
            if not self.problem.split.any():
                none, zero = np.zeros(0, dtype=np.int64), np.zeros(len(self.problem))
                self._prove_bound(RelaxationSolution(found.moves.astype(float), found.multipliers, zero, none))

    def _offer(self, moves: NDArray[np.int64]) -> bool:
        """Return whether moves make a table; it becomes the incumbent where it is cheaper."""
        if not self.problem.admits(moves):
            return False
        cost = math.fsum(self.problem.costs(moves).tolist())
        if cost < self.cost:
            self.moves, self.cost = moves, cost
            self.bound = min(self.bound, cost)
            self._listen()
        return True

    def _prove_bound(self, found: RelaxationSolution) -> None:
        """Raise the bound to what the multipliers of a relaxation prove."""
        if math.isinf(self.cost):
            return
        proof = bound_of(self.problem, found.multipliers, self.cost, found.tilt)
        if self._proof is None or proof.value >= self._proof.value:
            self._proof = proof
        self._raise_bound(proof.value)

    def _raise_bound(self, bound: float) -> None:
        """Raise the bound, to the next possible cost where costs have a step."""
        raised = self._step.raise_bound(bound)
        if raised >= self.cost * (1 - SAME_COST):
            raised = self.cost
        if raised > self.bound:
            self.bound = min(raised, self.cost)
            self._listen()

    @property
    def _reduced(self) -> AdjustmentProblem:
        """The problem without moves that no table cheaper than the incumbent makes."""
        if self._proof is None:
            return self.problem
        return replace(self._proof, ceiling=min(self.cost, self._proof.ceiling)).fix_by_reduced_costs()

    def _find_feasible(self) -> Iterator[None]:
        """Find some table by a tree, whatever it costs."""
        cheap, gap = replace(self.problem, norm=1), self._parameters.first_gap
        moves, said = self._solve_whole(cheap, "sides", gap)
        self.infeasible = is_infeasible(said)
        if moves is not None:
            self._try_sides(moves > (self.problem.up - self.problem.down) / 2)
            if self.moves is None:  # sides for which no whole numbers were found
                moves, said = self._solve_whole(cheap, "everything", gap)
                self.infeasible = is_infeasible(said)
                if moves is not None:
                    self._offer(moves)
        if self.moves is not None:
            yield from self._relax("every" if self.problem.norm == 1 else None)

    def _search_blocks(self, gap: float) -> Iterator[None]:
        """Free some sides at a time, with all the rest of the table (Baena, Castro and González call it fix-and-relax).

        Neighbouring blocks are drawn at random; where none helps any more, the tree takes over.
        """
        fruitless, parameters = 0, self._parameters
        while fruitless < parameters.fruitless_blocks and self._clock.left > 0 and self.moves is not None:
            problem, best = self._reduced, self.cost
            split = np.flatnonzero(problem.split)
            if not len(split):
                return
            free = np.zeros(len(problem), dtype=bool)
            free[self._random.choice(split, size=min(parameters.block_sides, len(split)), replace=False)] = True
            block = problem.choose_sides(self.moves > 0, free)
            moves, _ = self._solve_whole(block, "sides", gap / 2, parameters.block_seconds, "split")
            if moves is not None:
                self._try_sides(moves > (self.problem.up - self.problem.down) / 2)
            fruitless = 0 if self.cost < best * (1 - SAME_COST) else fruitless + 1
            yield

    def _choose_sides(self, gap: float) -> Iterator[None]:
        """Choose sides in a tree of relaxations with side patterns, where these are not too many.

        Where levels are equal, the tree of the mirrored problem has half the nodes; it is taken if its root proves as
        much. Where they differ and the table is no network, the solver's tree is better in the end, and takes over
        after a few nodes.
        """

        def enough(bound: float) -> bool:
            return self._step.raise_bound(bound) >= self.cost * (1 - max(gap, SAME_COST))

        trees: list[tuple[float, Iterator[float]]] = []
        try:
            for problem, mirrored in ((self._reduced, False), (self.problem.mirror(), True)):
                sides = None if problem is None else formulate_sides(problem, self.cost, self._parameters)
                if sides is not None:
                    tree = SidesTree(
                        sides,
                        self._clock,
                        lambda: self.cost,
                        enough,
                        self._try_sides,
                        mirrored=mirrored,
                        parameters=self._parameters,
                    ).run()
                    trees.append((next(tree, self.cost), tree))
                    self._raise_bound(trees[-1][0])
                    yield
            if not trees:
                return
            best = max(bound for bound, _ in trees) * (1 - SAME_COST)
            chosen = next(tree for bound, tree in reversed(trees) if bound >= best)
            equal = np.array_equal(self.problem.up, self.problem.down)
            to_the_end = equal or is_network(self.problem.matrix)
            for bound in chosen if to_the_end else islice(chosen, self._parameters.uneven_nodes):
                self._raise_bound(bound)
                yield
        except SolverError:
            return  # a node without an answer: the tree of the solver goes on from here

    def _branch_on_sides(self) -> Iterator[None]:
        """Solve what is left as a tree of quadratic programs."""
        tree = QuadraticTree(self._solver, self._clock, lambda: self.cost, self._offer, self._parameters)
        for bound in tree.run(self._reduced):
            self._raise_bound(bound)
            yield
            if self._clock.left <= 0:
                return
        self._raise_bound(tree.bound)

    def _solve_tree(self, gap: float) -> Iterator[None]:
        """Solve what is left as a program with whole numbers: sides first, then everything if some are not whole."""
        ways: tuple[Whole, ...] = ("sides", "everything")
        for whole in ways:
            moves, said = self._solve_whole(self._reduced, whole, gap)
            if is_infeasible(said):  # nothing is cheaper than what is known
                self._raise_bound(self.cost)
            elif said is not None:
                if moves is not None and not self._offer(moves):
                    self._try_sides(moves > (self.problem.up - self.problem.down) / 2)
                self._raise_bound(min(said.bound, self.cost))
            yield
            if self._clock.left <= 0:
                return

    def _solve_whole(
        self,
        problem: AdjustmentProblem,
        whole: Whole,
        gap: float,
        time_limit: float | None = None,
        balanced: Whose = "every",
    ) -> tuple[NDArray[np.int64] | None, Solution | None]:
        """Return the cheapest whole moves of a problem that the solver finds within a gap, and what it said."""
        return solve_whole(
            problem,
            whole,
            self._solver,
            self._clock,
            gap=gap,
            time_limit=time_limit,
            balanced=balanced,
            parameters=self._parameters,
        )
