"""Attacks by somebody who knows that values are whole numbers, where structure does not give them for free."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.exact_moves import whole_moves
from celosia.attack.parts import Parts
from celosia.attack.questions import Answer, Answers, Questions
from celosia.attack.system import ENDLESS, System
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Solution, Status

_WHOLE = 1e-6  # a bound that is closer than this to a whole number is one


def whole_answers(
    system: System, parts: Parts, questions: Questions, backend: Backend, *, time_limit: float | None
) -> Answers:
    """Return the answers of an integer program a question; what is not reached in time is left open.

    `furthest` rests on the solver's bound here: a whole number above the reach is ruled out.
    """
    end = None if time_limit is None else time.monotonic() + time_limit
    return Answers.of_list([_answer(system, parts, questions, k, backend, end) for k in range(len(questions))])


def _answer(
    system: System, parts: Parts, questions: Questions, question: int, backend: Backend, end: float | None
) -> Answer:
    """Return how far a cell moves in whole tables.

    They may jump over the limit, so what lies beyond it is asked for first: any table there will do. Only when there is
    none does the search go on below the limit.
    """
    column, upward = int(questions.columns[question]), bool(questions.upward[question])
    limit = int(questions.limits[question])
    columns = parts.members(int(parts.component[column]))
    program = _Program(
        sp.csr_array(system.matrix[:, columns]),
        system.up[columns],
        system.down[columns],
        int(np.flatnonzero(columns == column)[0]),
        upward,
    )
    ceiling = ENDLESS
    if limit < ENDLESS:
        beyond = program.solved(backend, end, least=limit)
        moves = program.moves(beyond)
        if moves is not None:
            return program.answer(columns, moves, limit, furthest=True)
        if beyond.status is not Status.INFEASIBLE:
            return _unknown()
        ceiling = limit - 1
    solution = program.solved(backend, end, most=ceiling)
    moves = program.moves(solution)
    if moves is None:
        return _unknown()
    furthest = -solution.bound < program.reach(moves) + 1 - _WHOLE
    return program.answer(columns, moves, limit, furthest=bool(furthest))


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The integer program of one question."""

    matrix: sp.csr_array
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    target: int
    upward: bool

    def solved(self, backend: Backend, end: float | None, *, least: int = 0, most: int = ENDLESS) -> Solution:
        """Return the table in which the target moves furthest, at least and at most so far."""
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            return Solution.stopped(-np.inf, 0.0)
        rows = np.flatnonzero(np.diff(self.matrix.indptr) > 0)
        upper = np.where(self.up >= ENDLESS, np.inf, self.up.astype(np.float64))
        lower = -np.where(self.down >= ENDLESS, np.inf, self.down.astype(np.float64))
        sign = 1.0 if self.upward else -1.0
        cost = np.zeros(len(upper))
        cost[self.target] = -sign
        far = np.inf if most >= ENDLESS else float(most)
        if self.upward:
            lower[self.target], upper[self.target] = max(lower[self.target], least), min(upper[self.target], far)
        else:
            lower[self.target], upper[self.target] = max(lower[self.target], -far), min(upper[self.target], -least)
        if lower[self.target] > upper[self.target]:
            return Solution.infeasible(0.0)
        if least:
            cost[:] = 0.0  # anything so far away will do
        zero = np.zeros(len(rows))
        used = sp.csr_array(self.matrix[rows], dtype=np.float64)
        problem = LinearProgram(used, zero, zero, lower, upper, cost, integer=np.ones(len(upper), dtype=bool))
        return backend.open(problem).solve(time_limit=left)

    def moves(self, solution: Solution) -> NDArray[np.int64] | None:
        """Return the moves of a solution, checked in whole numbers."""
        if solution.x is None:
            return None
        found = whole_moves(solution.x, self.matrix, self.up, self.down, denominators=(1,))
        return None if found is None else found[0]

    def reach(self, moves: NDArray[np.int64]) -> int:
        """Return how far the target moves."""
        return int(moves[self.target]) if self.upward else -int(moves[self.target])

    def answer(self, columns: NDArray[np.int64], moves: NDArray[np.int64], limit: int, *, furthest: bool) -> Answer:
        """Return the answer that the moves give."""
        used = np.flatnonzero(moves)
        return Answer(max(0, min(self.reach(moves), limit)), 1, furthest, columns[used], moves[used])


def _unknown() -> Answer:
    nothing = np.zeros(0, dtype=np.int64)
    return Answer(0, 1, furthest=False, columns=nothing, moves=nothing)
