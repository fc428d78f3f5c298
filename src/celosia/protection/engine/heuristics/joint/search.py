"""The joint search: patterns from joint moves, improved by forgetting a part of what is hidden and moving again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.joint.annealing.search import anneal_pattern
from celosia.protection.engine.heuristics.joint.contraction import PatternKernel
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS, JointParameters
from celosia.protection.engine.heuristics.joint.program import JointProgram
from celosia.protection.engine.heuristics.joint.reduction import PatternReduction
from celosia.protection.engine.heuristics.joint.targets import Targets
from celosia.solve.deadline import DeadlineError

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.subproblems.requirements import SideRequirements
    from celosia.solve.backend import Backend


@dataclass(frozen=True, slots=True, eq=False)
class JointPattern:
    """A safe pattern with its witnesses.

    Parameters
    ----------
    hidden
        Which classes are hidden, ``(n,)``.
    cost
        What that costs.
    witnesses
        A move of all classes for every target, in parts of its level, ``(t, n)``.
    """

    hidden: NDArray[np.bool_]
    cost: float
    witnesses: NDArray[np.float64]


class JointSearch:
    """Finds patterns of one problem by joint moves.

    Parameters
    ----------
    builder
        Knows the problem, whose columns are classes, and the attackers' bounds.
    coordinates
        Kernel coordinates of the columns.
    sides
        The requirements, none of them sliding, all about forced columns.
    backend
        Solves programs.
    random
        The random numbers.
    late
        Tells when to stop.
    parameters
        How effort is divided.

    Attributes
    ----------
    targets
        What must move.
    """

    def __init__(
        self,
        builder: CutBuilder,
        coordinates: KernelCoordinates,
        sides: SideRequirements,
        backend: Backend,
        random: np.random.Generator,
        late: Callable[[], bool],
        parameters: JointParameters = PARAMETERS,
    ) -> None:
        problem = builder.problem
        self.targets = Targets.of(sides, builder)
        self._backend, self._random, self._late = backend, random, late
        self._parameters = parameters
        self._combinations = sp.csr_array(coordinates.combinations, dtype=np.float64)
        self._forced = problem.forced
        self._cost = np.where(problem.forced, 0.0, problem.cost)
        priced = self._cost[self._cost > 0]
        self._price = self._cost / (float(np.median(priced)) if len(priced) else 1.0)
        self._level = np.zeros(len(problem))
        np.maximum.at(self._level, self.targets.columns, self.targets.levels)
        self._columns = np.unique(self.targets.columns)
        both = np.minimum(builder.up, builder.down)
        self._program = JointProgram(coordinates, both.max(axis=0), backend, parameters)
        self._large = coordinates.degrees_of_freedom > parameters.most_crossed
        self._coordinates = coordinates

    def first_pattern(self) -> Iterator[JointPattern]:
        """Yield a first pattern, then cheaper ones from the same directions; nothing where none is found in time."""
        move = self._first_move_at_length() if self._large else self._first_move()
        reduction = None if move is None else self._reduction(move != 0, move, extend=True)
        if move is None or reduction is None:
            return
        yield self._pattern(reduction)
        for less in self._reweight(move) if self._large else ():
            another = self._reduction(less != 0, less, extend=True)
            if another is not None:
                reduction = another
                yield self._pattern(reduction)
        try:
            reduction.reduce(self._parameters.least_group, self._late)
        except DeadlineError:
            yield self._pattern(reduction)
            raise
        yield self._pattern(reduction)

    def search(self, start: JointPattern, elapsed: Callable[[], float]) -> Iterator[JointPattern | None]:
        """Yield patterns around a first one, None where a step fails.

        Parameters
        ----------
        start
            Where to start.
        elapsed
            Returns the share of the time that has passed, 0 to 1; the search ends at 1, or when it has found nothing
            better for long.
        """
        best = current = start
        idle = since_best = 0
        while elapsed() < 1.0 and since_best < self._parameters.most_idle and not self._late():
            found = self._step(current)
            yield found
            idle, since_best = idle + 1, since_best + 1
            tolerated = 1.0 + self._parameters.tolerated * max(0.0, 1.0 - elapsed())
            if found is not None and (found.cost < current.cost or found.cost <= best.cost * tolerated):
                current, idle = found, 0
                if found.cost < best.cost:
                    best, since_best = found, 0
            if idle >= self._parameters.patience:
                current, idle = best, 0

    @property
    def anneals(self) -> bool:
        """Whether there are few enough degrees of freedom for a tableau."""
        return bool(self._combinations.shape[1] <= self._parameters.most_annealed)

    def anneal(
        self, start: JointPattern, elapsed: Callable[[], float], below: float = np.inf
    ) -> Iterator[JointPattern | None]:
        """Yield cheaper patterns by simulated annealing, None where some steps have found none; see `search`.

        Witnesses are looked for only where a pattern costs less than `below`.
        """
        if not self.anneals:
            return
        cheapest, seen = None, min(start.cost, below)
        for found in anneal_pattern(
            start.hidden, self._combinations, self.targets, self._cost, self._random, elapsed, self._parameters
        ):
            if found is not None and float(self._cost[found].sum()) < seen:
                cheapest = found
            if self._late():
                break
            yield None
            if found is not None and float(self._cost[found].sum()) < seen * (1.0 - self._parameters.least_annealed):
                seen, cheapest = float(self._cost[found].sum()), None
                yield self._certify(found)
        if cheapest is not None:
            yield self._certify(cheapest)

    def _certify(self, hidden: NDArray[np.bool_]) -> JointPattern | None:
        """Return a pattern with its witnesses, and roughly reduced; None where it has not all of them."""
        kernel = PatternKernel.of(self._combinations, hidden | self._forced)
        any_move = np.zeros(len(hidden))
        any_move[kernel.columns] = kernel.basis @ self._random.standard_normal(kernel.basis.shape[1])
        reduction = self._reduction_of(hidden | self._forced, any_move[None, :])
        if reduction is None:
            return None
        reduction.reduce(self._parameters.least_group, self._late)
        return self._pattern(reduction)

    def finish(self, pattern: JointPattern) -> JointPattern:
        """Return a pattern reduced to the end."""
        known = pattern.witnesses
        reduction = self._reduction_of(pattern.hidden, known)
        if reduction is None:
            return pattern
        reduction.reduce(0.0, self._late)
        return self._pattern(reduction)

    def _first_move(self) -> NDArray[np.float64] | None:
        """Return a move of all targets; directions are given to a few more targets in every program.

        Those that move already keep their direction. The next ones take theirs from one random move: directions that
        are drawn one by one contradict each other.
        """
        p, n = self._parameters, len(self._cost)
        direction, move, least = np.zeros(n), np.zeros(n), p.least_moved
        growth = p.chunk_growth if len(self._columns) <= p.few_targets else p.many_growth
        chunk = 1.0
        order = self._columns[np.argsort(-self._level[self._columns], kind="stable")]
        while not self._late():
            idle = direction[order] == 0
            direction[order[idle]] = np.sign(move[order[idle]])
            rest = order[direction[order] == 0]
            if not len(rest):
                return move
            some = rest[: int(chunk)]
            drawn = self._combinations @ self._random.standard_normal(self._combinations.shape[1])
            direction[some] = np.where(drawn[some] >= 0, 1.0, -1.0)
            price = np.where(move != 0, p.price_of_moved, 1.0) * self._price
            found = self._program.solve(price, least * self._level * direction)
            if found is None:
                direction[some], least = 0.0, least * p.shrink
                if least < p.least_of_all:
                    return None
            else:
                move, chunk = found, chunk * growth
        return None

    def _first_move_at_length(self) -> NDArray[np.float64] | None:
        """Return a move of nearly all targets in a few programs, where each takes long: None would be a waste.

        Whatever contradicts the other directions falls short, and may move against its own or not at all; it is given
        another one in the next program.
        """
        p, n = self._parameters, len(self._cost)
        direction, move = np.zeros(n), np.zeros(n)
        order = self._columns[np.argsort(-self._level[self._columns], kind="stable")]
        chunk, rest = max(1.0, p.first_chunk * len(order)), order
        while len(rest) and not self._late():
            some = rest[: int(chunk)]
            drawn = self._combinations @ self._random.standard_normal(self._combinations.shape[1])
            direction[some] = np.where(drawn[some] >= 0, 1.0, -1.0)
            price = np.where(move != 0, p.price_of_moved, 1.0) * self._price
            found = self._program.solve(price, p.least_moved_of_many * self._level * direction, shortfall=p.shortfall)
            if found is None:
                return None
            move, before = found, len(rest)
            direction[order] = np.sign(move[order])
            rest = order[direction[order] == 0]
            if int(chunk) >= before and len(rest) == before:
                break
            chunk *= p.growth_of_many
        return move if move.any() else None

    def _reweight(self, move: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield moves of the same targets that hide less: prices are divided by how far each class moved, again."""
        p = self._parameters
        least = np.zeros(len(move))
        least[self._columns] = p.least_moved_of_many * self._level[self._columns] * np.sign(move[self._columns])
        small = p.damping_of_first * float(np.abs(least[self._columns]).mean())
        cost = float(self._cost[move != 0].sum())
        for _ in range(p.most_reweighted):
            if self._late():
                return
            found = self._program.solve(self._price * small / (np.abs(move) + small), least, shortfall=p.shortfall)
            if found is None or not bool(found[self._columns].all()):
                return
            move, before, cost = found, cost, float(self._cost[found != 0].sum())
            if cost > before * (1.0 - p.least_gain):
                return
            yield move

    def _step(self, current: JointPattern) -> JointPattern | None:
        """Return the pattern of another joint move, in directions in which the current witnesses allow it."""
        p, draw = self._parameters, self._random
        mixed = draw.standard_normal(len(current.witnesses)) * self.targets.levels @ current.witnesses
        direction = np.zeros(len(mixed))
        direction[self._columns] = np.where(mixed[self._columns] >= 0, 1.0, -1.0)
        least = p.least_moved * self._level * direction
        spread = np.exp(float(draw.choice(p.spreads)) * draw.standard_normal(len(mixed)))
        damping = float(draw.choice(p.damping)) * float(self._level[self._columns].mean())
        if draw.random() < p.afresh:
            price = self._price * damping / (np.abs(mixed) + damping)
        else:
            forgotten = self._choose_forgotten(current.hidden)
            price = np.where(current.hidden, p.price_of_hidden, self._price * spread)
            raised = 1.0 + draw.random() * float(draw.choice(p.raises))
            price[forgotten] = (self._price * spread)[forgotten] * raised
        move = self._program.solve(price, least)
        if move is None:
            return None
        if draw.random() < p.reweighted:
            small = float(draw.choice(p.damping)) * float(np.abs(least[self._columns]).mean())
            again = self._program.solve(price * small / (np.abs(move) + small), least)
            if again is not None and self._cost[again != 0].sum() < self._cost[move != 0].sum():
                move = again
        reduction = self._reduction(move != 0, move, extend=False)
        if reduction is None:
            return None
        reduction.reduce(p.least_group, self._late)
        return self._pattern(reduction)

    def _choose_forgotten(self, hidden: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return hidden classes to be forgotten: any, dear ones, or those near one of them."""
        some = np.flatnonzero(hidden & ~self._forced)
        if not len(some):
            return some
        n = max(1, round(float(self._random.choice(self._parameters.forgotten)) * len(some)))
        kind = int(self._random.integers(3))
        if kind == 0:
            return self._random.choice(some, size=n, replace=False)
        if kind == 1:
            weight = self._cost[some] * self._random.random(len(some))
        else:
            one = self._combinations[[int(self._random.choice(some))]]
            near = abs(self._combinations[some]) @ abs(one).T
            weight = np.asarray(near.todense()).ravel() + self._random.random(len(some))
        return some[np.argsort(-weight, kind="stable")[:n]]

    def _reduction(
        self, support: NDArray[np.bool_], move: NDArray[np.float64], *, extend: bool
    ) -> PatternReduction | None:
        """Return the pattern that hides a joint move, with a witness for every target; None where one has none.

        Targets that have none within the bounds get a least-cost program each, and what it moves is hidden as well.
        """
        known, hidden = [move], support | self._forced
        most = len(self.targets) if extend else self._parameters.most_extended
        while not self._late():
            kernel = PatternKernel.of(self._combinations, hidden)
            reduction = PatternReduction(kernel, self.targets, self._cost, self._backend, self._parameters)
            missed = reduction.find_witnesses(np.array(known), self._late)
            if not len(missed):
                return reduction
            if len(missed) > most:
                return None
            for found in self._moves_of_missed(missed, move, hidden):
                if found is None:
                    return None
                known.append(found)
                hidden = hidden | (found != 0)
        return None

    def _moves_of_missed(
        self, missed: NDArray[np.int64], move: NDArray[np.float64], hidden: NDArray[np.bool_]
    ) -> Iterator[NDArray[np.float64] | None]:
        """Yield cheap moves of targets that have no witness yet: one for each, or for all where programs take long."""
        if not self._large:
            for number in missed.tolist():
                found = self._least_cost_move(number, hidden)
                yield found
                hidden = hidden if found is None else hidden | (found != 0)
            return
        p, columns = self._parameters, self.targets.columns[missed]
        required = np.zeros(len(move))
        required[columns] = self._level[columns] * np.where(move[columns] >= 0, 1.0, -1.0)
        price = np.where(hidden, p.price_of_moved, 1.0) * self._price
        yield self._program.solve(price, required, shortfall=p.shortfall)

    def _least_cost_move(self, number: int, hidden: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Return the cheapest witness of one target, None where there is none."""
        if self._late():
            return None
        targets = self.targets
        box, column = int(targets.boxes[number]), int(targets.columns[number])
        bounds = np.minimum(targets.lower[box], targets.upper[box])
        program = JointProgram(self._coordinates, bounds, self._backend)
        required = np.zeros(len(hidden))
        required[column] = float(targets.levels[number]) * (int(targets.signs[number]) or 1)
        return program.solve(np.where(hidden, self._parameters.price_of_hidden, self._price), required)

    def _reduction_of(self, hidden: NDArray[np.bool_], known: NDArray[np.float64]) -> PatternReduction | None:
        kernel = PatternKernel.of(self._combinations, hidden)
        reduction = PatternReduction(kernel, self.targets, self._cost, self._backend, self._parameters)
        return None if len(reduction.find_witnesses(known, self._late)) else reduction

    def _pattern(self, reduction: PatternReduction) -> JointPattern:
        hidden = self._forced.copy()
        hidden[reduction.hidden] = True
        return JointPattern(hidden, float(self._cost[hidden].sum()), reduction.witnesses(len(hidden)))
