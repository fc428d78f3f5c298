"""Attacks by somebody who knows that values are whole numbers, where structure does not give them for free."""

from __future__ import annotations

import time

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
    column, upward = int(questions.columns[question]), bool(questions.upward[question])
    columns = parts.members(int(parts.component[column]))
    nothing = np.zeros(0, dtype=np.int64)
    left = None if end is None else end - time.monotonic()
    if left is not None and left <= 0:
        return Answer(0, 1, furthest=False, columns=nothing, moves=nothing)
    matrix = sp.csr_array(system.matrix[:, columns])
    up, down = system.up[columns].copy(), system.down[columns].copy()
    target = int(np.flatnonzero(columns == column)[0])
    room = up if upward else down
    room[target] = min(room[target], questions.limits[question])
    solution = _solved(matrix, up, down, target, backend, upward=upward, time_limit=left)
    if solution.x is None:
        return Answer(0, 1, furthest=False, columns=nothing, moves=nothing)
    found = whole_moves(solution.x, matrix, system.up[columns], system.down[columns], denominators=(1,))
    if found is None:
        return Answer(0, 1, furthest=False, columns=nothing, moves=nothing)
    moves, _ = found
    reach = int(moves[target]) if upward else -int(moves[target])
    used = np.flatnonzero(moves)
    furthest = -solution.bound < reach + 1 - 1e-6 or reach >= int(questions.limits[question])
    return Answer(reach, 1, bool(furthest), columns[used], moves[used])


def _solved(
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    target: int,
    backend: Backend,
    *,
    upward: bool,
    time_limit: float | None,
) -> Solution:
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    zero = np.zeros(len(rows))
    cost = np.zeros(len(up))
    cost[target] = -1.0 if upward else 1.0
    upper = np.where(up >= ENDLESS, np.inf, up.astype(np.float64))
    lower = -np.where(down >= ENDLESS, np.inf, down.astype(np.float64))
    used = sp.csr_array(matrix[rows], dtype=np.float64)
    problem = LinearProgram(used, zero, zero, lower, upper, cost, integer=np.ones(len(up), dtype=bool))
    return backend.open(problem).solve(time_limit=time_limit)
