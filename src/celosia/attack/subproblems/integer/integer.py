"""Attacks with the knowledge that values are whole numbers, where structure does not give them for free.

Whole tables come from wherever they are found first: other questions, vertices of the linear program, a search through
all cases, an integer program. That no table gets further is never a solver's word: multipliers prove it for all tables,
rounded down to a whole number, or a search that went through all cases. Components with other cells
beside whole ones are `celosia.attack.subproblems.integer.mixed`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.integer.mixed import MixedComponent
from celosia.attack.subproblems.integer.question import Bounds, Question
from celosia.attack.subproblems.integer.search import SearchEnd, search_whole_moves
from celosia.attack.subproblems.questions import Answer, Answers, Questions
from celosia.attack.system.decomposition import Parts
from celosia.attack.system.exact import find_exact_moves, prove_reach
from celosia.attack.system.system import System
from celosia.solve.backend import Backend, Model
from celosia.solve.deadline import DeadlineError, check
from celosia.solve.problem import LinearProgram, float_bounds
from celosia.solve.solution import Solution, Status
from celosia.tolerance import ENDLESS

_PATIENCE = 5.0  # seconds for one integer program
_TABLES = 64  # that are kept of each component for later questions


def solve_in_whole_numbers(
    system: System, parts: Parts, questions: Questions, backend: Backend, *, time_limit: float | None
) -> Answers:
    """Return how far cells move if whole cells stay whole; what is not found or proved in time is left open.

    Guarantee: `furthest` is set only where exact arithmetic proves that no such table goes further.
    """
    clock = _ProgramTime(None if time_limit is None else time.monotonic() + time_limit)
    nothing = np.zeros(0, dtype=np.int64)
    answers = [Answer(0, 1, furthest=False, columns=nothing, moves=nothing)] * len(questions)
    component = parts.component[questions.columns]
    with suppress(DeadlineError):
        for number in np.unique(component).tolist():
            columns = parts.members(number)
            everything = bool(system.whole[columns].all())
            solver = (_IntegerComponent if everything else MixedComponent).of(system, columns, backend, clock)
            for place in np.flatnonzero(component == number).tolist():
                check()
                target = int(np.flatnonzero(solver.columns == questions.columns[place])[0])
                upward, limit = bool(questions.upward[place]), int(questions.limits[place])
                answers[place] = solver.answer(Question(target, 1 if upward else -1, limit))
    return Answers.of_list(answers)


@dataclass(frozen=True, slots=True)
class _ProgramTime:
    """When integer programs have to end."""

    end: float | None

    def patience(self) -> float:
        """Return how many seconds the next one has."""
        return _PATIENCE if self.end is None else min(_PATIENCE, self.end - time.monotonic())


@dataclass(frozen=True, eq=False)
class _IntegerComponent:
    """A component of whole numbers only, and the tables that are known of it."""

    columns: NDArray[np.int64]
    matrix: sp.csr_array
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    backend: Backend
    clock: _ProgramTime
    tables: list[NDArray[np.int64]] = field(default_factory=list)

    @classmethod
    def of(cls, system: System, columns: NDArray[np.int64], backend: Backend, clock: _ProgramTime) -> _IntegerComponent:
        part = sp.csr_array(system.matrix[:, columns])
        matrix = sp.csr_array(part[np.flatnonzero(np.diff(part.indptr) > 0)])
        return cls(columns, matrix, system.up[columns], system.down[columns], backend, clock)

    def answer(self, question: Question) -> Answer:
        """Return how far a cell moves in whole tables."""
        best = max(self.tables, key=question.reach, default=np.zeros(len(self.columns), dtype=np.int64))
        furthest = question.reach(best) >= question.limit
        if not furthest:
            vertex, most = self._solve_relaxation(question)
            best, furthest = self._search(question, best, most, vertex)
            if not furthest:
                best, furthest = self._solve_programs(question, best, most)
        reach = question.reach(best)
        if reach > 0 and len(self.tables) < _TABLES:
            self.tables.append(best)
        used = np.flatnonzero(best) if reach > 0 else np.zeros(0, dtype=np.int64)
        return Answer(max(0, min(reach, question.limit)), 1, furthest, self.columns[used], best[used])

    def _solve_relaxation(self, question: Question) -> tuple[NDArray[np.int64], int]:
        """Return a vertex of the linear program, rounded, and how far no whole table goes further."""
        own = self._own_bound(question)
        question.set_question(self._linear, question.within(self._bounds, 0, min(own, question.far)))
        solution = self._linear.solve()
        question.unset_question(self._linear, self._bounds)
        if solution.status is not Status.OPTIMAL or solution.x is None or solution.duals is None:
            return np.zeros(len(self.columns), dtype=np.int64), own
        upward = question.sign > 0
        proof = prove_reach(-solution.duals, question.target, self.matrix, self.up, self.down, upward=upward)
        most = own if proof is None else min(own, int(proof[0] // 1))
        rounded = np.rint(np.clip(solution.x, -float(ENDLESS >> 1), float(ENDLESS >> 1))).astype(np.int64)
        return rounded, most

    def _search(
        self, question: Question, best: NDArray[np.int64], most: int, near: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], bool]:
        """Return the best table that a search finds, and whether it is known that there is no better one.

        The search goes on for one count more until there is no such table, which goes fast because the nearest to a
        vertex is looked at first.
        """
        while question.reach(best) < min(most, question.limit):
            lower, upper = question.within(self._bounds, question.reach(best) + 1, most)
            ended, moves = search_whole_moves(self.matrix, lower, upper, near)
            if ended is not SearchEnd.FOUND:
                return best, ended is SearchEnd.NONE
            best = moves
        return best, True

    def _solve_programs(self, question: Question, best: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], bool]:
        """Return the best table of integer programs, first up to the limit and then beyond it.

        A table that jumps over the limit is as good as one that reaches it.
        """
        far, reach = min(most, question.limit), question.reach(best)
        for least, furthest in ((reach + 1, far), (far + 1, min(most, question.far))):
            if least > furthest:
                continue
            found = self._exact_moves(self._solve_program(question, least, furthest))
            if found is not None and question.reach(found) > question.reach(best):
                best = found
            if question.reach(best) >= far:
                return best, True
        if question.reach(best) == reach:
            return best, False
        return self._search(question, best, most, best)

    def _solve_program(self, question: Question, least: int, furthest: int) -> Solution:
        """Return the whole table in which the cell moves furthest within bounds."""
        patience = self.clock.patience()
        if patience <= 0:
            return Solution.stopped(-np.inf, 0.0)
        question.set_question(self._integer, question.within(self._bounds, least, furthest))
        solution = self._integer.solve(time_limit=patience)
        question.unset_question(self._integer, self._bounds)
        return solution

    def _exact_moves(self, solution: Solution) -> NDArray[np.int64] | None:
        """Return the moves of a solution, checked in whole numbers."""
        if solution.x is None:
            return None
        found = find_exact_moves(solution.x, self.matrix, self.up, self.down, denominators=(1,))
        return None if found is None else np.asarray(found[0], dtype=np.int64)

    def _own_bound(self, question: Question) -> int:
        return int((self.up if question.sign > 0 else self.down)[question.target])

    @property
    def _bounds(self) -> Bounds:
        return -self.down, self.up

    @cached_property
    def _linear(self) -> Model:
        return self._model(None)

    @cached_property
    def _integer(self) -> Model:
        return self._model(np.ones(len(self.columns), dtype=bool))

    def _model(self, integer: NDArray[np.bool_] | None) -> Model:
        bounds = float_bounds(-self.down), float_bounds(self.up)
        return self.backend.open(LinearProgram.of_moves(self.matrix, *bounds, integer=integer))
