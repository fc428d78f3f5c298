"""Attacks on components that are no networks: linear programs, one question per component and run.

All components stand in one block-diagonal model, which stays open: between two runs only costs change, so the primal
simplex method goes on from its last vertex, and one run answers one question of every component. A vertex often answers
more than it was asked: every open question that it settles is struck off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.exact_moves import proved_reach, whole_moves
from celosia.attack.parts import Parts
from celosia.attack.questions import Answer, Answers, Questions
from celosia.attack.refinement import Whole
from celosia.attack.system import ENDLESS, System
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status

_MOVED = 1e-7  # a ray that moves less than this in a box of size one does not move


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """One component: its columns and rows in the system, and where its columns stand in the model."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    matrix: sp.csr_array
    place: slice
    row_place: slice


def program_answers(
    system: System, parts: Parts, questions: Questions, backend: Backend, *, integer: bool = False
) -> Answers:
    """Return the answers to questions about cells of components that are no networks.

    Guarantee: every witness is exact; `furthest` is set only where multipliers prove in exact arithmetic that the
    reach is a maximum. With `integer` witnesses are whole tables; an answer whose vertex is not whole is left open.
    """
    if not len(questions):
        return Answers.of_list([])
    wanted = np.unique(parts.component[questions.columns])
    blocks = _blocks(system, parts, wanted)
    endless = _endless(system, blocks, backend)
    model = _model(system, blocks, backend, None)
    answers: list[Answer | None] = [
        _unending() if (endless[0] if up else endless[1])[column] and limit >= ENDLESS else None
        for column, up, limit in zip(questions.columns, questions.upward, questions.limits, strict=True)
    ]
    places = _places(system, blocks, questions)
    open_ = np.array([answer is None for answer in answers])
    component = parts.component[questions.columns]
    waiting = [np.flatnonzero(open_ & (component == number)) for number in wanted]
    while any(len(queue) for queue in waiting):
        asked = [number for number, queue in enumerate(waiting) if len(queue)]
        first = np.array([waiting[number][0] for number in asked])
        x, duals = _run(model, system, [blocks[number] for number in asked], questions.take(first), places[first])
        for number, question in zip(asked, first.tolist(), strict=True):
            block, queue = blocks[number], waiting[number]
            found = _settled(x[block.place], system, block, integer=integer)
            answer = _harvested(found, block, questions, question, int(places[question]))
            answers[question] = _proved(answer, duals[block.row_place], system, block, questions, question, places)
            reached = _reached(found, questions.take(queue), places[queue])
            reached[0] = True
            for k in queue[reached].tolist()[1:]:
                answers[k] = _harvested(found, block, questions, k, int(places[k]))
            waiting[number] = queue[~reached]
    return Answers.of_list([answer for answer in answers if answer is not None])


def _blocks(system: System, parts: Parts, components: NDArray[np.int32]) -> list[_Block]:
    blocks, column_start, row_start = [], 0, 0
    columns_of = sp.csc_array(system.matrix)
    for component in components.tolist():
        columns = parts.members(component)
        rows = np.unique(
            np.concatenate([columns_of.indices[columns_of.indptr[c] : columns_of.indptr[c + 1]] for c in columns])
        )
        matrix = sp.csr_array(system.matrix[rows][:, columns])
        blocks.append(
            _Block(
                columns,
                rows,
                matrix,
                slice(column_start, column_start + len(columns)),
                slice(row_start, row_start + len(rows)),
            )
        )
        column_start += len(columns)
        row_start += len(rows)
    return blocks


def _places(system: System, blocks: list[_Block], questions: Questions) -> NDArray[np.int64]:
    """Return where the cell of every question stands in its block, ``(q,)``."""
    place = np.zeros(len(system), dtype=np.int64)
    for block in blocks:
        place[block.columns] = np.arange(len(block.columns))
    return np.asarray(place[questions.columns])


def _model(
    system: System, blocks: list[_Block], backend: Backend, rooms: tuple[NDArray[np.float64], ...] | None
) -> Model:
    """Return the model of all blocks, with the system's rooms or others."""
    columns = np.concatenate([block.columns for block in blocks])
    matrix = sp.csr_array(sp.block_diag([block.matrix for block in blocks], format="csr"), dtype=np.float64)
    down, up = rooms if rooms is not None else (_room(system.down[columns]), _room(system.up[columns]))
    zero = np.zeros(matrix.shape[0])
    return backend.open(LinearProgram(matrix, zero, zero, -down, up, np.zeros(len(columns))))


def _room(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(counts >= ENDLESS, np.inf, counts.astype(np.float64))


def _endless(system: System, blocks: list[_Block], backend: Backend) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which cells can move up, and down, without end.

    They are the ones that move along a ray, with every finite room shut and every endless one of size one. First all
    together: maximise what moves, strike off what did, and repeat until nothing does. Cells can hold each other in
    balance there, so the rest is asked one by one, a cell of each block at a time.
    """
    columns = np.concatenate([block.columns for block in blocks])
    free_up, free_down = system.up[columns] >= ENDLESS, system.down[columns] >= ENDLESS
    endless = (np.zeros(len(system), dtype=bool), np.zeros(len(system), dtype=bool))
    if not (free_up.any() or free_down.any()):
        return endless
    model = _model(system, blocks, backend, (free_down.astype(np.float64), free_up.astype(np.float64)))
    everyone = np.arange(len(columns))
    for found, free, sign in ((endless[0], free_up, -1.0), (endless[1], free_down, 1.0)):
        open_ = free.copy()
        while open_.any():
            model.change_costs(everyone, np.where(open_, sign, 0.0))
            moved = free & (-sign * _solution(model)[0] > _MOVED)
            if not (moved & open_).any():
                break
            found[columns[moved]] = True
            open_ &= ~moved
        while open_.any():
            first = [
                block.place.start + int(np.argmax(open_[block.place])) for block in blocks if open_[block.place].any()
            ]
            asked = np.zeros(len(columns))
            asked[first] = sign
            model.change_costs(everyone, asked)
            moved = free & (-sign * _solution(model)[0] > _MOVED)
            found[columns[moved]] = True
            open_ &= ~moved
            open_[first] = False
    return endless


def _run(
    model: Model, system: System, blocks: list[_Block], questions: Questions, places: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the vertex and duals at which cells, one of each block, move furthest, no further than they are asked."""
    targets = np.array([block.place.start for block in blocks]) + places
    columns, upward, limits = questions.columns, questions.upward, questions.limits
    up = np.where(upward, np.minimum(system.up[columns], limits), system.up[columns])
    down = np.where(upward, system.down[columns], np.minimum(system.down[columns], limits))
    model.change_bounds(targets, -_room(down), _room(up))
    model.change_costs(targets, np.where(upward, -1.0, 1.0))
    x, duals = _solution(model)
    model.change_costs(targets, np.zeros(len(targets)))
    model.change_bounds(targets, -_room(system.down[columns]), _room(system.up[columns]))
    return x, duals


def _solution(model: Model) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    solution = model.solve(method="primal")
    if solution.status is not Status.OPTIMAL or solution.x is None or solution.duals is None:
        solution = model.solve(method="dual")
    if solution.status is not Status.OPTIMAL or solution.x is None or solution.duals is None:
        raise ArithmeticError(f"an attacker's problem ended with {solution.status}")
    return solution.x, solution.duals


def _settled(x: NDArray[np.float64], system: System, block: _Block, *, integer: bool) -> tuple[Whole, int]:
    """Return the moves of a block in whole numbers, no moves where they are not found."""
    up, down = system.up[block.columns], system.down[block.columns]
    found = whole_moves(x, block.matrix, up, down, denominators=(1,) if integer else None)
    return found if found is not None else (np.zeros(len(block.columns), dtype=np.int64), 1)


def _reached(found: tuple[Whole, int], questions: Questions, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which limits a table reaches, whether or not it was made for it, ``(q,)``."""
    moves, denominator = found
    reach = np.where(questions.upward, moves[places], -moves[places])
    return np.asarray(reach // denominator >= questions.limits, dtype=bool)


def _harvested(found: tuple[Whole, int], block: _Block, questions: Questions, question: int, place: int) -> Answer:
    """Return what a table says about a question."""
    moves, denominator = found
    reach = int(moves[place]) if questions.upward[question] else -int(moves[place])
    limit = int(questions.limits[question]) * denominator
    used = np.flatnonzero(moves) if reach > 0 else np.zeros(0, dtype=np.int64)
    return Answer(max(0, min(reach, limit)), denominator, reach >= limit, block.columns[used], moves[used])


def _proved(
    answer: Answer,
    duals: NDArray[np.float64],
    system: System,
    block: _Block,
    questions: Questions,
    question: int,
    places: NDArray[np.int64],
) -> Answer:
    """Return the answer, as the furthest if multipliers prove it."""
    if answer.furthest:
        return answer
    upward = bool(questions.upward[question])
    up, down = system.up[block.columns], system.down[block.columns]
    proof = proved_reach(-duals, int(places[question]), block.matrix, up, down, upward=upward)
    proved = proof is not None and proof[0] * answer.denominator <= answer.reach
    return replace(answer, furthest=proved)


def _unending() -> Answer:
    nothing = np.zeros(0, dtype=np.int64)
    return Answer(ENDLESS, 1, furthest=True, columns=nothing, moves=nothing)
