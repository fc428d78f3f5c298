"""Attacks on components in which some cells are whole numbers and others are not: counts tied to amounts.

Tables come from vertices of linear programs and from an integer program. That no table gets further is never a solver's
word: the cases of whole cells are split until exact multipliers bound each of them (`prove_bound`), or prove that it
holds no table at all. Where that takes too long the question stays open.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.integer.question import Bounds, Question
from celosia.attack.subproblems.questions import Answer
from celosia.attack.system.exact import find_exact_moves, prove_bound
from celosia.attack.system.fractions import Whole
from celosia.attack.system.system import System
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram, float_bounds
from celosia.solve.solution import Solution, Status
from celosia.tolerance import ENDLESS, INTEGRAL

_MOST_CASES = 200  # that are looked at for one question
_TABLES = 64  # that are kept of each component for later questions

ExactMoves = tuple[Whole, int]
"""Moves and their denominator."""


class HasPatience(Protocol):
    """Knows when programs have to end."""

    def patience(self) -> float:
        """Return how many seconds the next one has."""
        ...


@dataclass(frozen=True, eq=False)
class MixedComponent:
    """A component of which some cells are whole numbers, and the tables that are known of it.

    Parameters
    ----------
    columns
        The columns of the system, ``(n,)``.
    matrix
        The relations among them, ``(m, n)``.
    up, down
        The bounds of the moves, ``(n,)`` each.
    whole
        Which cells are whole numbers, ``(n,)``.
    backend, clock
        Solves, and how long it may.
    tables
        What is known.
    """

    columns: NDArray[np.int64]
    matrix: sp.csr_array
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    whole: NDArray[np.bool_]
    backend: Backend
    clock: HasPatience
    tables: list[ExactMoves] = field(default_factory=list)

    @classmethod
    def of(cls, system: System, columns: NDArray[np.int64], backend: Backend, clock: HasPatience) -> MixedComponent:
        """Return a component of a system."""
        part = sp.csr_array(system.matrix[:, columns])
        matrix = sp.csr_array(part[np.flatnonzero(np.diff(part.indptr) > 0)])
        return cls(columns, matrix, system.up[columns], system.down[columns], system.whole[columns], backend, clock)

    def answer(self, question: Question) -> Answer:
        """Return how far a cell moves in tables whose whole cells are whole.

        Guarantee: `furthest` only where a table reaches the limit, or exact multipliers prove for all cases that none
        goes further.
        """
        nothing: ExactMoves = (np.zeros(len(self.columns), dtype=np.int64), 1)
        best = max([nothing, *self.tables], key=lambda known: _reach(question, known))
        furthest = _reach(question, best) >= question.limit
        if not furthest:
            best = self._better_of(best, self._solve_program(question), question)
            best, furthest = self._branch_and_bound(question, best)
        reach = _reach(question, best)
        if reach > 0 and len(self.tables) < _TABLES:
            self.tables.append(best)
        moves, denominator = best
        used = np.flatnonzero(moves) if reach > 0 else np.zeros(0, dtype=np.int64)
        far = max(0, min(question.reach(moves), question.limit * denominator))
        return Answer(far, denominator, furthest, self.columns[used], moves[used])

    def _branch_and_bound(self, question: Question, best: ExactMoves) -> tuple[ExactMoves, bool]:
        """Return the best table of a branch and bound on whole cells, and whether it is proved to be the best."""
        waiting, sure, end = [self._bounds], True, time.monotonic() + self.clock.patience()
        for _ in range(_MOST_CASES):
            if not waiting or _reach(question, best) >= question.limit or time.monotonic() > end:
                break
            case = waiting.pop()
            solution = self._solve_relaxation(question, case)
            if solution.status is Status.INFEASIBLE:
                sure &= self._is_empty(case)
                continue
            if solution.x is None or solution.duals is None:
                sure = False
                continue
            bound = self._prove_bound(question, case, solution.duals)
            if bound is not None and bound <= _reach(question, best):
                continue
            best = self._better_of(best, self._exact_moves(solution.x, case), question)
            if bound is not None and bound <= _reach(question, best):
                continue
            parts = self._branch(case, solution.x)
            sure &= bool(parts)
            waiting += parts
        reached = _reach(question, best) >= question.limit
        return best, reached or (sure and not waiting)

    def _branch(self, case: Bounds, x: NDArray[np.float64]) -> list[Bounds]:
        """Return a case without what lies between two whole numbers, the nearer part last; none where all are whole."""
        off = np.where(self.whole, np.abs(x - np.rint(x)), 0.0)
        column = int(np.argmax(off))
        if off[column] <= INTEGRAL:
            return []
        below = int(np.floor(x[column]))
        (lower, upper), (more, less) = case, (case[0].copy(), case[1].copy())
        less[column], more[column] = below, below + 1
        parts = [(lower, less), (more, upper)]
        return parts if x[column] - below > 0.5 else parts[::-1]  # noqa: PLR2004  (the middle)

    def _solve_relaxation(self, question: Question, case: Bounds) -> Solution:
        """Return the vertex of a case at which the cell moves furthest, whole or not."""
        self._set(self._linear, case)
        own = int(case[1][question.target] if question.sign > 0 else -case[0][question.target])
        if own >= ENDLESS:  # a program with an end, also where the cell has none
            least = int(case[0][question.target] if question.sign > 0 else -case[1][question.target])
            question.set_question(self._linear, question.within(case, least, max(question.far, least)))
        else:
            question.set_question(self._linear, case)
        solution = self._linear.solve()
        question.unset_question(self._linear, case)
        return solution

    def _prove_bound(self, question: Question, case: Bounds, duals: NDArray[np.float64]) -> Fraction | None:
        """Return how far no table of a case goes further, None where that is not proved."""
        goal = np.zeros(len(self.columns), dtype=np.int64)
        goal[question.target] = question.sign
        proof = prove_bound(-duals, goal, self.matrix, case[1], -case[0])
        if proof is None:
            return None
        return Fraction(proof[0] // 1) if self.whole[question.target] else proof[0]

    def _is_empty(self, case: Bounds) -> bool:
        """Return whether exact multipliers prove that a case holds no table: those of what relations miss at least."""
        n = len(self.columns)
        self._set(self._missing, case)
        solution = self._missing.solve()
        if solution.status is not Status.OPTIMAL or solution.duals is None:
            return False
        proof = prove_bound(-solution.duals, np.zeros(n, dtype=np.int64), self.matrix, case[1], -case[0])
        return proof is not None and proof[0] < 0

    def _solve_program(self, question: Question) -> ExactMoves | None:
        """Return the best table whose whole cells are those of an integer program, None where none is found."""
        patience = self.clock.patience()
        if patience <= 0:
            return None
        most = int((self.up if question.sign > 0 else self.down)[question.target])
        question.set_question(self._mixed, question.within(self._bounds, 0, min(most, question.far)))
        x = self._mixed.solve(time_limit=patience).x
        question.unset_question(self._mixed, self._bounds)
        if x is None or bool((np.abs(x[self.whole]) >= ENDLESS).any()):
            return None
        known = np.rint(np.where(self.whole, x, 0.0)).astype(np.int64)
        lower, upper = (np.where(self.whole, known, ends) for ends in self._bounds)
        vertex = self._solve_relaxation(question, (lower, upper)).x
        return None if vertex is None else self._exact_moves(vertex, self._bounds)

    def _exact_moves(self, x: NDArray[np.float64], case: Bounds) -> ExactMoves | None:
        """Return the table that a solver means, None where its whole cells are not whole."""
        near = np.where(self.whole, np.rint(x), x)
        if bool((np.abs(near - x) > INTEGRAL).any()):
            return None
        return find_exact_moves(near, self.matrix, case[1], -case[0], self.whole)

    def _better_of(self, best: ExactMoves, found: ExactMoves | None, question: Question) -> ExactMoves:
        return best if found is None or _reach(question, found) <= _reach(question, best) else found

    @property
    def _bounds(self) -> Bounds:
        return -self.down, self.up

    def _set(self, model: Model, case: Bounds) -> None:
        model.change_bounds(np.arange(len(self.columns)), float_bounds(case[0]), float_bounds(case[1]))

    @cached_property
    def _linear(self) -> Model:
        return self._model(None)

    @cached_property
    def _mixed(self) -> Model:
        return self._model(self.whole)

    def _model(self, integer: NDArray[np.bool_] | None) -> Model:
        bounds = float_bounds(-self.down), float_bounds(self.up)
        return self.backend.open(LinearProgram.of_moves(self.matrix, *bounds, integer=integer))

    @cached_property
    def _missing(self) -> Model:
        """The elastic program: relations may be violated, at a cost of one a unit."""
        m, n = self.matrix.shape
        one = sp.eye_array(m)
        rows = sp.hstack([self.matrix, one, -one])
        lower = np.concatenate([float_bounds(-self.down), np.zeros(2 * m)])
        upper = np.concatenate([float_bounds(self.up), np.full(2 * m, np.inf)])
        return self.backend.open(LinearProgram.of_moves(rows, lower, upper, np.repeat([0.0, 1.0], [n, 2 * m])))


def _reach(question: Question, moves: ExactMoves) -> Fraction:
    """Return how far a table moves the cell, in counts."""
    return Fraction(question.reach(moves[0]), moves[1])
