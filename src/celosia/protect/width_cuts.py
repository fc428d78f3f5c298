"""The width model by cuts: solve the master, attack it with a little room to spare, add the cuts, repeat.

The room to spare (perturbed separation) makes one cut do the work of several: it is taken away in steps, and without it
the search ends at the optimum. Every attack that reaches its level leaves a certificate, which is tried first
when the same or another cell is attacked again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.parts import Parts, adjacency, parts_of
from celosia.attack.redundancy import coloured
from celosia.errors import SolverError
from celosia.protect.cuts import Cut
from celosia.protect.extending import extended
from celosia.protect.master import Pool
from celosia.protect.width_flows import pushed
from celosia.protect.widths import WidthTask
from celosia.solve.backend import Backend, Model
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status

SPARE = (0.1, 0.01, 0.001, 0.0001, 0.0)
"""How much room attackers get on top of the widths, in mean levels, step by step."""

_REACHED = 1.0 - 1e-9
"""A level that is reached but for this is reached; the certificate is scaled up by what is missing."""

_MISSED = 1e-7
"""A cut that is missed by no more, in parts of its level, is satisfied."""

_FIT = 1e-9
"""A certificate fits within widths that it exceeds by no more."""

_PATIENCE = 20
"""A cut that was slack so many rounds in a row leaves the master."""

_FEWEST = 100
"""So many slack cuts, and three in ten of all, are borne before they leave."""

_ROUNDING = 1e-9
"""More than the rounding errors of doubles in a bound, relative to its terms."""

_SLACK = 1e-6
"""A cut that a point satisfies by more is slack there."""

_STEADY = 1e-6
"""A gap that is closed but for this is closed."""

_SETTLING = 10
"""So many rounds are spent on widths that are no cheaper, but fewer."""


class WidthMaster:
    """The cheapest widths that satisfy the cuts so far, as a linear program that stays open.

    Parameters
    ----------
    task
        The width model.
    backend
        The solver.
    """

    def __init__(self, task: WidthTask, backend: Backend) -> None:
        self.task = task
        self.pool = Pool()
        positive = task.cost[task.cost > 0]
        self._scale = float(np.median(positive)) if len(positive) else 1.0
        self._inside: list[int] = []
        self._idle = np.zeros(0, dtype=np.int64)
        nothing, n = np.zeros(0), len(task)
        self._model = backend.open(
            LinearProgram(sp.csr_array((0, n)), nothing, nothing, task.least, task.most, task.cost / self._scale)
        )

    def __len__(self) -> int:
        return len(self._inside)

    def add(self, cuts: list[Cut]) -> int:
        """Take cuts in; return how many were not there."""
        inside = set(self._inside)
        new = [place for place in dict.fromkeys(self.pool.add(cuts)) if place not in inside]
        if new:
            rows = self.pool.matrix(new, len(self.task))
            self._model.add_rows(rows, self.pool.right(new), np.full(len(new), np.inf))
            self._inside += new
            self._idle = np.append(self._idle, np.zeros(len(new), dtype=np.int64))
        return len(new)

    def solve(self) -> tuple[NDArray[np.float64], float] | None:
        """Return the cheapest widths, and a bound on what any cost; None where no widths satisfy the cuts.

        Guarantee: the bound is computed from the duals by weak duality, and holds for any duals.
        """
        solution = self._model.solve(method="dual")
        if solution.status is Status.INFEASIBLE:
            return None
        if solution.x is None or solution.duals is None:
            raise SolverError.one("widths", f"the master ended with {solution.status.value}.", "Scale the costs.")
        rows = self.pool.matrix(self._inside, len(self.task))
        right = self.pool.right(self._inside)
        bound = weak_bound(self.task, rows, right, solution.duals * self._scale)
        widths = np.clip(solution.x, self.task.least, self.task.most)
        self._idle = np.where(rows @ widths - right > _SLACK, self._idle + 1, 0)
        return widths, bound

    def purge(self) -> None:
        """Let cuts go that have been slack for long; the pool keeps them."""
        leaving = np.flatnonzero(self._idle >= _PATIENCE)
        if len(leaving) > _FEWEST + 0.3 * len(self):
            self._model.delete_rows(leaving)
            gone = set(leaving.tolist())
            self._inside = [place for k, place in enumerate(self._inside) if k not in gone]
            self._idle = np.delete(self._idle, leaving)


def weak_bound(task: WidthTask, rows: sp.csr_array, right: NDArray[np.float64], duals: NDArray[np.float64]) -> float:
    """Return what any widths that satisfy the rows cost at least, by weak duality, from any duals."""
    weight = np.maximum(duals, 0.0)
    reduced = task.cost - rows.T @ weight
    endless = np.isinf(task.most)
    if bool((reduced[endless] < 0).any()):  # such a column would make the bound useless: shrink all multipliers
        over = endless & (reduced < 0)
        share = float(np.min(task.cost[over] / (task.cost[over] - reduced[over]), initial=1.0))
        weight = weight * max(0.0, share - _ROUNDING)
        reduced = task.cost - rows.T @ weight
    low = np.minimum(reduced, 0.0) @ np.where(endless, 0.0, task.most)
    high = np.maximum(reduced, 0.0) @ task.least
    total = float(weight @ right)
    if bool((reduced[endless] < 0).any()):
        return float(task.cost @ task.least)
    return total + float(low + high) - _ROUNDING * (total + abs(float(low)) + float(high))


@dataclass(frozen=True, slots=True, eq=False)
class Pushed:
    """The answer to an attack on a target.

    Parameters
    ----------
    moved
        How far it moves, as a part of its level.
    move
        The move, ``(n,)``.
    cuts
        Why no further.
    """

    moved: float
    move: NDArray[np.float64]
    cuts: list[Cut]


@dataclass(frozen=True, slots=True, eq=False)
class _Network:
    """Relations that form a network, wholly or in part.

    Parameters
    ----------
    parts
        The relations taken apart.
    adjacency
        The arcs at every node.
    """

    parts: Parts
    adjacency: tuple[NDArray[np.int64], NDArray[np.int32]]

    @classmethod
    def of(cls, task: WidthTask, rows: NDArray[np.int64] | None = None) -> _Network:
        system = task.task.system(np.arange(len(task)), rows)
        parts = parts_of(system)
        return cls(parts, adjacency(parts.tail, parts.head, system.matrix.shape[0] + len(parts)))

    def holds(self, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which columns are arcs of a network."""
        return np.asarray(self.parts.tail[columns] >= 0)

    def push(self, column: int, level: float, widths: NDArray[np.float64]) -> Pushed:
        """Return how far a cell moves if these relations were all."""
        moved, move, *sides = pushed(column, level, widths, self.parts.tail, self.parts.head, *self.adjacency)
        cuts = [Cut(side, np.ones(len(side)), level) for side in sides if moved < level]
        return Pushed(moved / level, move, cuts)


class WidthAttacker:
    """How far targets move within widths: by flows in networks, elsewhere by one linear program that stays open.

    Parameters
    ----------
    task
        The width model.
    backend
        The solver.
    """

    def __init__(self, task: WidthTask, backend: Backend) -> None:
        self.task = task
        self.solves = 0
        self._backend = backend
        self._rows = np.flatnonzero(~task.task.implied)
        self._all = np.arange(len(task))
        self._asked: NDArray[np.int64] = self._all[:0]
        self._widths = np.zeros(len(task))
        self._whole = _Network.of(task)
        self._flows = self._whole.holds(task.targets)
        self._fresh = False

    @cached_property
    def _planes(self) -> list[_Network]:
        """Networks of some of the relations, such as planes of a table: what their cuts demand all of them demand."""
        matrix = self.task.task.matrix
        colour = coloured(matrix.indptr, matrix.indices, len(self.task))
        pairs = combinations(range(int(colour.max(initial=-1)) + 1), 2)
        return [_Network.of(self.task, np.flatnonzero(np.isin(colour, pair))) for pair in pairs]

    @cached_property
    def _model(self) -> Model:
        matrix = sp.csr_array(self.task.task.matrix[self._rows], dtype=np.float64)
        m, none = matrix.shape[0], np.zeros(len(self.task))
        return self._backend.open(LinearProgram(matrix, np.zeros(m), np.zeros(m), none, none, none))

    def within(self, widths: NDArray[np.float64]) -> None:
        """Attack these widths from now on."""
        self._widths = widths
        self._fresh = True

    def push(self, place: int) -> Pushed:
        """Return how far a target moves, at least if that is less than its level."""
        self.solves += 1
        if not self._flows[place]:
            return self._solved(place)
        return self._whole.push(int(self.task.targets[place]), float(self.task.levels[place]), self._widths)

    def glance(self, places: NDArray[np.int64]) -> list[Cut]:
        """Return cuts that networks of some of the relations find, for targets that would need a program."""
        cuts = []
        for place in places[~self._flows[places]].tolist():
            target, level = int(self.task.targets[place]), float(self.task.levels[place])
            for network in self._planes:
                if network.parts.tail[target] >= 0:
                    cuts += network.push(target, level, self._widths).cuts
        return cuts

    def _solved(self, place: int) -> Pushed:
        target, model = self.task.targets[place : place + 1], self._model
        if self._fresh:
            model.change_bounds(self._all, -self._widths, self._widths)
            self._fresh = False
        if len(self._asked):
            model.change_costs(self._asked, np.zeros(len(self._asked)))
        model.change_costs(target, -np.ones(1))
        self._asked = target
        solution = model.solve(method="primal")
        if solution.x is None or solution.duals is None:
            raise SolverError.one("widths", f"an attack ended with {solution.status.value}.", "Scale the table.")
        cut = self.task.cut(solution.duals, place, self._rows)
        moved = float(solution.x[target[0]]) / float(self.task.levels[place])
        return Pushed(moved, solution.x, [] if cut is None else [cut])


class CutSearch:
    """The width model by cuts, true at any moment.

    Parameters
    ----------
    task
        The width model.
    backend
        The solver.
    clock
        When to stop.
    listen
        Hears of every better bound and widths.

    Attributes
    ----------
    widths
        The cheapest safe widths so far, None where there are none, ``(n,)``.
    moves
        Moves that show it, one per target, as far as they are known, ``(q, n)``.
    bound
        No safe widths cost less.
    impossible
        Targets that no widths protect, as places.
    """

    def __init__(
        self, task: WidthTask, backend: Backend, clock: Clock, listen: Callable[[CutSearch], None] = lambda _: None
    ) -> None:
        self.task = task
        self.master = WidthMaster(task, backend)
        self.attacker = WidthAttacker(task, backend)
        self.clock = clock
        self._backend = backend
        self.widths: NDArray[np.float64] | None = None
        self.bound = float(task.cost @ task.least)
        self.moves = np.zeros((len(task.targets), len(task)))
        self.impossible: list[int] = []
        self.rounds = 0
        self._known = np.zeros(len(task.targets), dtype=bool)
        self._listen = listen
        self._start = 0

    @property
    def cost(self) -> float:
        """What the best widths cost, infinite where there are none."""
        return np.inf if self.widths is None else self.task.price(self.widths)

    def run(self, gap: float) -> None:
        """Search until the cost is within a share of the bound, or time is up."""
        task = self.task
        positive = task.cost[task.cost > 0]
        usual = float(np.median(positive)) if len(positive) else 1.0
        core = np.minimum(1.0, usual / np.maximum(task.cost, 1e-300))
        for spare in SPARE:
            while self.clock.left > 0:
                self.rounds += 1
                solved = self.master.solve()
                if solved is None:
                    self._find_impossible()
                    return
                widths, bound = solved
                self.bound = max(self.bound, bound)
                cuts, complete = self._attack(widths, np.minimum(widths + spare * core, task.most))
                self._take()
                self._listen(self)
                if self.impossible:
                    return
                if self.bound >= (1 - max(gap, _STEADY)) * self.cost:
                    self._settle()
                    return
                if not self.master.add(cuts) and complete:
                    break
                self.master.purge()

    def _settle(self) -> None:
        """Look for the master's own widths a little longer: a vertex has fewer ranges than moves with room to spare."""
        for _ in range(_SETTLING):
            solved = self.master.solve()
            if solved is None or self.clock.left <= 0:
                return
            self._known[:] = False
            cuts, complete = self._attack(solved[0], solved[0])
            if complete and not cuts and bool(self._known.all()):
                found = np.minimum(np.maximum(np.abs(self.moves).max(axis=0), self.task.least), self.task.most)
                if self.task.price(found) <= self.cost * (1 + _STEADY):
                    self.widths = found
                return
            self.master.add(cuts)

    def _attack(self, widths: NDArray[np.float64], room: NDArray[np.float64]) -> tuple[list[Cut], bool]:
        """Attack every target that no certificate covers; return the cuts that the widths miss, and if all were asked.

        After enough cuts the rest waits for the next round.
        """
        levels, targets = self.task.levels, self.task.targets
        fits = self._known & np.all(np.abs(self.moves) <= room + _FIT, axis=1)
        self.attacker.within(room)
        open_ = np.flatnonzero(~fits)
        open_ = np.concatenate([open_[open_ >= self._start], open_[open_ < self._start]])
        cuts = [cut for cut in self.attacker.glance(open_) if cut.missing(widths) > _MISSED * cut.right]
        enough = max(10, len(targets) // 4)
        if cuts:
            return cuts, False
        for k, place in enumerate(open_.tolist()):
            if fits[place]:
                continue
            if self.clock.left <= 0 or len(cuts) >= enough:
                self._start = place
                return cuts, False
            answer = self.attacker.push(place)
            moved, move = answer.moved, answer.move
            self._keep(place, move, moved)
            if moved >= _REACHED:
                rest = open_[k + 1 :]
                able = np.abs(move[targets[rest]]) >= levels[rest] * _REACHED
                for other in rest[able].tolist():
                    fits[other] = True
                    self._keep(other, move, float(move[targets[other]] / levels[other]))
            elif not all(len(cut.columns) for cut in answer.cuts):
                self.impossible.append(place)
            cuts += [cut for cut in answer.cuts if cut.missing(widths) > _MISSED * cut.right]
        return cuts, True

    def _keep(self, place: int, move: NDArray[np.float64], moved: float) -> None:
        """Keep a move, scaled to the target's level, where the greatest widths allow it."""
        if moved == 0:
            return
        scaled = move / moved
        if bool(np.all(np.abs(scaled) <= self.task.most * (1 + _FIT))):
            self.moves[place] = scaled
            self._known[place] = True

    def _take(self) -> None:
        """Take the widths of the moves where they are the best so far."""
        if bool(self._known.all()):
            widths = np.maximum(np.abs(self.moves).max(axis=0), self.task.least)
            if self.task.price(widths) < self.cost:
                self.widths = np.minimum(widths, self.task.most)

    def complete(self) -> None:
        """Find widths for targets that have no move yet, where time is up: cheap one by one, but not together."""
        widths = np.maximum(np.abs(self.moves[self._known]).max(axis=0, initial=0.0), self.task.least)
        widths, self.impossible = extended(
            self.task, np.minimum(widths, self.task.most), np.flatnonzero(~self._known), self._backend
        )
        if not self.impossible and self.task.price(widths) < self.cost:
            self.widths = widths

    def _find_impossible(self) -> None:
        """Find out which targets no widths protect."""
        self.attacker.within(np.where(np.isinf(self.task.most), 1e9, self.task.most))
        for place in range(len(self.task.targets)):
            if self.attacker.push(place).moved < _REACHED:
                self.impossible.append(place)
