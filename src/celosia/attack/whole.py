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
from celosia.solve.solution import Solution

_WHOLE = 1e-6  # a bound that is closer than this to a whole number is one
_BEYOND = 1_000_000  # how far past the limit a whole table is looked for
_PATIENCE = 5.0  # seconds for one question


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

    They may jump over the limit, so the search goes on for a while beyond it.
    """
    column, upward = int(questions.columns[question]), bool(questions.upward[question])
    limit = int(questions.limits[question])
    columns = parts.members(int(parts.component[column]))
    target = int(np.flatnonzero(columns == column)[0])
    up, down = system.up[columns], system.down[columns]
    program = _Program(sp.csr_array(system.matrix[:, columns]), up, down, target, upward)
    far = ENDLESS if limit >= ENDLESS else limit + _BEYOND
    solution = program.solved(backend, end, far)
    moves = program.moves(solution)
    if moves is None:
        return _unknown()
    reach = program.reach(moves)
    own = int(up[target] if upward else down[target])
    furthest = reach >= limit or (own <= far and -solution.bound < reach + 1 - _WHOLE)
    used = np.flatnonzero(moves)
    return Answer(max(0, min(reach, limit)), 1, bool(furthest), columns[used], moves[used])


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The integer program of one question."""

    matrix: sp.csr_array
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    target: int
    upward: bool

    def solved(self, backend: Backend, end: float | None, far: int) -> Solution:
        """Return the table in which the target moves furthest, as far as `far`."""
        left = _PATIENCE if end is None else min(_PATIENCE, end - time.monotonic())
        if left <= 0:
            return Solution.stopped(-np.inf, 0.0)
        rows = np.flatnonzero(np.diff(self.matrix.indptr) > 0)
        upper = np.where(self.up >= ENDLESS, np.inf, self.up.astype(np.float64))
        lower = -np.where(self.down >= ENDLESS, np.inf, self.down.astype(np.float64))
        cost = np.zeros(len(upper))
        cost[self.target] = -1.0 if self.upward else 1.0
        if far < ENDLESS:
            lower[self.target], upper[self.target] = max(lower[self.target], -far), min(upper[self.target], far)
        zero = np.zeros(len(rows))
        used = sp.csr_array(self.matrix[rows], dtype=np.float64)
        problem = LinearProgram(used, zero, zero, lower, upper, cost, integer=np.ones(len(upper), dtype=bool))
        return backend.open(problem).solve(time_limit=left)

    def moves(self, solution: Solution) -> NDArray[np.int64] | None:
        """Return the moves of a solution, checked in whole numbers."""
        if solution.x is None:
            return None
        found = whole_moves(solution.x, self.matrix, self.up, self.down, denominators=(1,))
        return None if found is None else np.asarray(found[0], dtype=np.int64)

    def reach(self, moves: NDArray[np.int64]) -> int:
        """Return how far the target moves."""
        return int(moves[self.target]) if self.upward else -int(moves[self.target])


def _unknown() -> Answer:
    nothing = np.zeros(0, dtype=np.int64)
    return Answer(0, 1, furthest=False, columns=nothing, moves=nothing)
