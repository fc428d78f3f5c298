r"""Ranges by one move for every level, each as cheap as the others leave it: a descent that needs no cuts.

Ranges that hold a move :math:`d^q` of every level q, with :math:`M d^q = 0` within the attacker's bounds, are safe, and
the narrowest ones that do cost

.. math:: \sum_i w_i^+ \max_q (d_i^q)^+ + w_i^- \max_q (d_i^q)^-.

One move after the other is chosen anew: what the others have opened costs nothing, and what lies beyond is paid by its
price. That is a linear program over the move alone, and the basis of the last one is a start for the next; the cost of
the whole never rises. Columns that cost less hidden than as ranges of these moves are hidden. The least-cost programs
of Kelly, Golden and Assad (1992) are its first round. Where cells form no networks, a cutting-plane search has a bound
long before it has a safe point: its last point is what the first round takes to be open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.subproblems.requirements import SideRequirements, drop_implied_sides, split_sides
from celosia.protection.intervals.formulation import Prices
from celosia.protection.intervals.parameters import INTERVALS, IntervalParameters
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.state.warm_start import LevelKey, RangeMoves
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram, float_bounds
from celosia.tolerance import CAPACITY_IN_LEVELS, LARGEST_COST, WITNESS_ZERO

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Hiding:
    """Which columns may be hidden instead, where they are no ranges.

    Parameters
    ----------
    cost
        What hiding costs, infinite where it is not allowed, ``(n,)``.
    forced
        Which are hidden in any case, ``(n,)``.
    """

    cost: Floats
    forced: NDArray[np.bool_]


class RangeDescent:
    """Moves of all levels, and the ranges that hold them.

    Parameters
    ----------
    problem, prices
        The requirements, and what ranges cost.
    closed
        Which columns may be no ranges, ``(n,)``.
    hiding
        Which may be hidden; None where none may.
    backend, clock
        The solver, and when to stop.
    parameters
        When to stop otherwise.

    Attributes
    ----------
    moves
        The move of every level in counts, ``(s, n)``.
    hidden
        Which columns are hidden: they move within the attackers' bounds, ``(n,)``.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        prices: Prices,
        closed: NDArray[np.bool_],
        hiding: Hiding | None,
        backend: Backend,
        clock: Clock,
        parameters: IntervalParameters = INTERVALS,
    ) -> None:
        n = len(problem)
        self.hiding, self.clock, self.parameters = hiding, clock, parameters
        self._take(problem)
        self.hidden = np.zeros(n, dtype=bool) if hiding is None else hiding.forced.copy()
        self._closed = closed
        self._price = [price / 10.0**problem.decimals for price in (prices.down, prices.up)]
        matrix = sp.csr_array(problem.matrix[~problem.implied], dtype=np.float64)
        none, still = np.zeros(3 * n), np.zeros(matrix.shape[0])
        rows = sp.csr_array(sp.hstack([matrix, matrix, -matrix]))
        self._model = backend.open(LinearProgram(rows, still, still, none, none, none.copy()))
        self._priced = np.full(2 * n, -1.0)

    def _take(self, problem: ProtectionProblem) -> None:
        """Take the levels of a problem, without moves."""
        self.problem, self._bounds = problem, [float_bounds(bound) for bound in (problem.down, problem.up)]
        sides = drop_implied_sides(split_sides(problem.requirements), problem.up, problem.down)
        self.sides = _separate_sides(sides, problem)
        self.moves = np.zeros((len(self.sides), len(problem)))
        self._moved = np.zeros(len(self.sides), dtype=bool)
        self._spare: dict[LevelKey, Floats] = {}  # moves of levels that others imply by now: ranges hold them still

    def require(self, problem: ProtectionProblem) -> None:
        """Take over a problem with the same columns and further levels or attackers, which have no moves yet."""
        if problem is self.problem:
            return
        known = self.keep_moves()
        self._take(problem)
        self.take_over(known)

    def keep_moves(self) -> RangeMoves:
        """Return the moves so far, for a problem with further levels or attackers."""
        own = (key for key, moved in zip(self._keys(), self._moved, strict=True) if moved)
        moves = np.vstack([self.moves[self._moved], *self._spare.values()])
        return RangeMoves(self.problem.cells, (*own, *self._spare), moves / 10.0**self.problem.decimals)

    def take_over(self, known: RangeMoves | None) -> None:
        """Take over moves of a problem with the same columns and fewer levels or attackers."""
        if known is None or not np.array_equal(known.cells, self.problem.cells):
            return
        side_of, attackers = {key: side for side, key in enumerate(self._keys())}, set(self._knowledge())
        for key, move in zip(known.keys, known.moves * 10.0**self.problem.decimals, strict=True):
            side = side_of.get(key)
            if side is not None:
                self.moves[side], self._moved[side] = move, True
            elif key[-1] in attackers:
                self._spare[key] = move

    def _knowledge(self) -> list[bytes]:
        """Return what every attacker knows of all columns, in units of the table."""
        unit, ends = 10.0**self.problem.decimals, zip(*self._bounds, strict=True)
        return [np.concatenate([down / unit, up / unit]).tobytes() for down, up in ends]

    def _keys(self) -> list[LevelKey]:
        """Return what tells every level from others."""
        sides, known = self.sides, self._knowledge()
        levels = sides.levels / 10.0**self.problem.decimals
        own = zip(self.problem.cells[sides.columns].tolist(), sides.upward.tolist(), levels.tolist(), strict=True)
        return [(*key, known[who]) for key, who in zip(own, sides.attackers.tolist(), strict=True)]

    @property
    def slacks(self) -> RangeSlacks:
        """How far the ranges that hold all moves reach, in counts; hidden columns are none."""
        down, up = (np.where(self.hidden, 0.0, side) for side in self._held)
        return RangeSlacks(down, up, None if self.hiding is None else self.hidden.copy())

    @staticmethod
    def _reach(moves: Floats) -> tuple[Floats, Floats]:
        """Return how far moves go down and up, ``(n,)`` each."""
        return -moves.min(axis=0, initial=0.0), moves.max(axis=0, initial=0.0)

    @property
    def _held(self) -> tuple[Floats, Floats]:
        """How far ranges reach down and up to hold all moves, ``(n,)`` each."""
        return self._reach(np.vstack([self.moves, *self._spare.values()]))

    @property
    def _widths(self) -> Floats:
        """What every column costs as a range, ``(n,)``."""
        down, up = self._held
        return np.asarray(self._price[0] * down + self._price[1] * up)

    @property
    def cost(self) -> float:
        """What ranges and hidden columns cost."""
        hidden = 0.0 if self.hiding is None else float(self.hiding.cost[self.hidden].sum())
        return float(self._widths[~self.hidden].sum()) + hidden

    def run(self, start: RangeSlacks | None = None, enough: float = 0.0) -> bool:
        """Find a move for every level without one, and descend until that gains little.

        Return False where one has none, or there is no time for it; for few there is, however late it is.

        Parameters
        ----------
        start
            What the first round takes to be open, and hidden; nothing by default.
        enough
            The cost at which nothing more is gained.
        """
        opened = list(self._held)
        if start is not None:
            opened = [np.maximum(own, other) for own, other in zip(opened, (start.down, start.up), strict=True)]
            self.hidden |= False if start.hidden is None or self.hiding is None else start.hidden
        waiting = np.flatnonzero(~self._moved)
        few = len(waiting) <= self.parameters.late_moves * len(self.sides)
        for side in waiting[np.argsort(-self.sides.levels[waiting], kind="stable")].tolist():
            move = self._move(side, *opened) if few or self.clock.left > 0 else None
            if move is None:
                return False
            self.moves[side], self._moved[side] = move, True
            opened = [np.maximum(opened[0], -move), np.maximum(opened[1], move)]
        self._choose_hidden()
        self.go_on(enough)
        return True

    def go_on(self, enough: float = 0.0) -> None:
        """Descend further until that gains little, or the cost is low enough."""
        before = np.inf
        while self.clock.left > 0 and enough < self.cost < before * (1 - self.parameters.descent_gain):
            before = self.cost
            self._descend()
            self._choose_hidden()

    def _choose_hidden(self) -> None:
        """Hide the columns that cost less so, and make ranges of the others, with the moves as they are."""
        if self.hiding is None:
            return
        dear = self._closed & (self._widths > 0)
        self.hidden = self.hiding.forced | (np.isfinite(self.hiding.cost) & (dear | (self.hiding.cost < self._widths)))

    def _descend(self) -> None:
        """Choose the move of every level anew, the one that costs most by itself first."""
        self._spare.clear()
        for side in np.argsort(-self._own_costs(), kind="stable").tolist():
            if self.clock.left <= 0:
                return
            others = np.delete(self.moves, side, axis=0)
            move = self._move(side, *self._reach(others))
            if move is not None:
                self.moves[side] = move

    def _own_costs(self) -> Floats:
        """Return what every move costs beyond what the others need."""
        total = np.zeros(len(self.sides))
        if len(self.sides) < 2:  # noqa: PLR2004  (there are no others)
            return total
        columns = np.arange(self.moves.shape[1])
        for sign, price in ((-1.0, self._price[0]), (1.0, self._price[1])):
            far = np.maximum(sign * self.moves, 0.0)
            second, first = np.argpartition(far, len(far) - 2, axis=0)[-2:]
            beyond = np.where(self.hidden, 0.0, price * (far[first, columns] - far[second, columns]))
            np.add.at(total, first, beyond)
        return total

    def _move(self, side: int, down: Floats, up: Floats) -> Floats | None:
        """Return the cheapest move that takes a cell to its level, in counts; None where there is none."""
        sides, n = self.sides, len(self.problem)
        who, column, level = int(sides.attackers[side]), int(sides.columns[side]), float(sides.levels[side])
        unit = 2.0 ** math.floor(math.log2(level))
        below, above = (np.minimum(bound[who], CAPACITY_IN_LEVELS * level) for bound in self._bounds)
        free_down = np.where(self.hidden, below, np.minimum(down, below))
        free_up = np.where(self.hidden, above, np.minimum(up, above))
        fixed = self.hidden | (self._closed & ~self._may_hide)
        lower = np.concatenate([-free_down, np.zeros(2 * n)])
        upper = np.concatenate(
            [free_up, *(np.where(fixed, 0.0, more) for more in (above - free_up, below - free_down))]
        )
        lower[column] = upper[column] = level if sides.upward[side] else -level
        upper[[n + column, 2 * n + column]] = 0.0
        self._set_prices(level)
        self._model.change_bounds(np.arange(3 * n), lower / unit, upper / unit)
        x = self._model.solve(duals=False).x
        if x is None:
            return None
        f, more, less = np.split(x * unit, 3)
        move = f + more - less
        move[np.abs(move) <= WITNESS_ZERO * unit] = 0.0
        return np.asarray(move)

    @property
    def _may_hide(self) -> NDArray[np.bool_]:
        """Which columns may be hidden."""
        return np.zeros(len(self.problem), dtype=bool) if self.hiding is None else np.isfinite(self.hiding.cost)

    def _set_prices(self, level: float) -> None:
        """Price what moves of a level open: by width, or by hiding a column for all of the level where that is less."""
        hide = np.inf if self.hiding is None else self.hiding.cost / level
        closed = np.where(self._closed, np.inf, 0.0)
        price = np.concatenate([np.minimum(own + closed, hide) for own in (self._price[1], self._price[0])])
        price = np.where(np.isfinite(price), price, 0.0)
        usual = float(np.median(price[price > 0])) if bool((price > 0).any()) else 1.0
        price = np.minimum(price / usual, LARGEST_COST)
        changed = np.flatnonzero(price != self._priced)
        if len(changed):
            self._model.change_costs(len(self.problem) + changed, price[changed])
            self._priced = price


def _separate_sides(sides: SideRequirements, problem: ProtectionProblem) -> SideRequirements:
    """Return sides of which every one has a level of its own: a sliding level is shared out between both."""
    up, down = (float_bounds(side)[sides.attackers, sides.columns] for side in (problem.up, problem.down))
    bound = np.where(sides.upward, up, down)
    half = np.minimum(sides.levels / 2, bound)
    firsts = np.flatnonzero(sides.sliding & sides.upward)
    levels = np.where(sides.sliding, half, sides.levels)
    for first, other in ((firsts, firsts + 1), (firsts + 1, firsts)):
        levels[first] = np.minimum(np.maximum(levels[first], sides.levels[first] - levels[other]), bound[first])
    kept = levels > 0
    return SideRequirements(
        sides.requirements[kept],
        sides.columns[kept],
        sides.attackers[kept],
        sides.upward[kept],
        levels[kept],
        np.zeros(int(kept.sum()), dtype=bool),
    )
