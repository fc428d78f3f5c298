"""Witnesses checked against everything that is known, in whole numbers.

Guarantee: shares nothing with what found them; no tolerance.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.system.fractions import Whole
from celosia.attack.system.system import System
from celosia.kernels import kernel
from celosia.tolerance import ENDLESS, LARGEST_COUNT


def verify_witnesses(system: System, answers: Answers) -> NDArray[np.bool_]:
    """Return whose witnesses satisfy every relation and bound, and are whole where they must be, ``(q,)``.

    Answers without a witness have none that could fail.
    """
    good, has = np.asarray(answers.denominator > 0, dtype=bool), np.flatnonzero(answers.table >= 0)
    if len(has):
        denominator: Whole = np.ones(answers.n_tables, dtype=np.int64)
        denominator = denominator if answers.denominator.dtype == np.int64 else denominator.astype(object)
        denominator[answers.table[has]] = answers.denominator[has]
        sound = _check_tables(system, answers, denominator)
        good[has] &= sound[answers.table[has]] & (answers.denominator[has] == denominator[answers.table[has]])
    return good


def check_claims(questions: Questions, answers: Answers) -> NDArray[np.bool_]:
    """Return which witnesses move the cell of their question as far as the answer says, ``(q,)``.

    An answer that says nothing, or that there is no end, needs none.
    """
    entry = own_entries(answers.table, answers.starts, answers.columns, questions.columns)
    moves = answers.moves[entry] if len(answers.moves) else np.zeros(len(entry), dtype=np.int64)
    moves = np.where(entry < 0, 0, np.where(questions.upward, moves, -moves))
    said = (answers.reach <= 0) | (answers.endless & (answers.table < 0))
    return np.asarray(said | (moves >= answers.reach), dtype=bool)


@kernel()
def own_entries(
    table: NDArray[np.int64], starts: NDArray[np.int64], columns: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where each answer's witness moves the cell that was asked about, -1 where it does not."""
    entry = np.full(len(table), -1, dtype=np.int64)
    for k in range(len(table)):
        if table[k] >= 0:
            for place in range(starts[table[k]], starts[table[k] + 1]):
                if columns[place] == targets[k]:
                    entry[k] = place
                    break
    return entry


def _check_tables(system: System, answers: Answers, denominator: Whole) -> NDArray[np.bool_]:
    """Return which witnesses are sound, ``(t,)``: compiled where 64 bits hold every sum, else in Python."""
    terms = sp.csc_array(system.matrix)
    heaviest = int(np.abs(terms.data).max(initial=1)) * int(np.diff(answers.starts).max(initial=1))
    most = LARGEST_COUNT // heaviest
    wide = np.asarray((denominator <= 0) | (denominator > most), dtype=bool)
    moves, scale = answers.moves, denominator
    if max(int(moves.max(initial=0)), -int(moves.min(initial=0))) > most:
        far = np.asarray((moves > most) | (moves < -most), dtype=bool)
        wide[np.repeat(np.arange(len(wide)), np.diff(answers.starts))[far]] = True
        moves = np.where(far, 0, moves)
    if wide.any():
        scale = np.where(wide, 1, scale)
    short = (moves.astype(np.int64, copy=False), scale.astype(np.int64, copy=False))
    matrix = (terms.indptr, terms.indices, terms.data, system.matrix.shape[0])
    sound = np.asarray(_sound(answers.starts, answers.columns, *short, system.down, system.up, system.whole, *matrix))
    for table in np.flatnonzero(wide).tolist():
        part = slice(answers.starts[table], answers.starts[table + 1])
        columns, moves_of = answers.columns[part].tolist(), list(map(int, answers.moves[part].tolist()))
        sound[table] = _check_table_in_python(system, terms, columns, moves_of, int(denominator[table]))
    return sound


def _check_table_in_python(
    system: System, terms: sp.csc_array, columns: list[int], moves: list[int], denominator: int
) -> bool:
    """Return whether a single witness, of numbers of any size, is sound."""
    if denominator <= 0 or len(set(columns)) < len(columns):
        return False
    total: dict[int, int] = {}
    for column, move in zip(columns, moves, strict=True):
        up, down = int(system.up[column]), int(system.down[column])
        if (up != ENDLESS and move > up * denominator) or (down != ENDLESS and -move > down * denominator):
            return False
        if system.whole[column] and move % denominator:
            return False
        entries = slice(terms.indptr[column], terms.indptr[column + 1])
        for row, factor in zip(terms.indices[entries].tolist(), terms.data[entries].tolist(), strict=True):
            total[row] = total.get(row, 0) + int(factor) * move
    return not any(total.values())


@kernel()
def _sound(
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    moves: NDArray[np.int64],
    denominator: NDArray[np.int64],
    down: NDArray[np.int64],
    up: NDArray[np.int64],
    whole: NDArray[np.bool_],
    column_starts: NDArray[np.int32],
    rows: NDArray[np.int32],
    data: NDArray[np.int64],
    n_rows: int,
) -> NDArray[np.bool_]:
    """Return which witnesses break no room and no relation and no whole number, and name no cell twice."""
    total, named = np.zeros(n_rows, dtype=np.int64), np.full(len(up), -1, dtype=np.int64)
    sound = np.ones(len(starts) - 1, dtype=np.bool_)
    for table in range(len(sound)):
        scale, open_rows = denominator[table], 0
        for place in range(starts[table], starts[table + 1]):
            column, move = columns[place], moves[place]
            most, least = (move, move) if scale == 1 else (-(-move // scale), move // scale)
            if (up[column] != ENDLESS and most > up[column]) or (down[column] != ENDLESS and -least > down[column]):
                sound[table] = False
            if named[column] == table or (whole[column] and most != least):
                sound[table] = False
            named[column] = table
            for entry in range(column_starts[column], column_starts[column + 1]):
                row = rows[entry]
                open_rows -= total[row] != 0
                total[row] += data[entry] * move
                open_rows += total[row] != 0
        if open_rows:
            sound[table] = False
            for place in range(starts[table], starts[table + 1]):
                for entry in range(column_starts[columns[place]], column_starts[columns[place] + 1]):
                    total[rows[entry]] = 0
    return sound
