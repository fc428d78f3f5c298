"""Questions to an attacker, and answers with tables that prove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from celosia.attack.refinement import Whole, compact
from celosia.attack.system import ENDLESS, System
from celosia.tolerance import LARGEST_COUNT


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """How far can a cell move? Each question one column of a system and one direction.

    Parameters
    ----------
    columns
        The cells, as columns of the system, ``(q,)``.
    upward
        Up or down, ``(q,)``.
    limits
        How far is far enough, ``(q,)``; `celosia.attack.system.ENDLESS` where nothing is.
    """

    columns: NDArray[np.int64]
    upward: NDArray[np.bool_]
    limits: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, places: NDArray[np.int64]) -> Questions:
        """Return some of the questions."""
        return Questions(self.columns[places], self.upward[places], self.limits[places])


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """How far cells move, with tables that show it.

    Parameters
    ----------
    reach
        How far, times `denominator`, at most the limit, ``(q,)``; `ENDLESS` where there is no end.
    denominator
        In which fraction of a count the answer is given, ``(q,)``.
    furthest
        Nobody gets further: the reach is a maximum, or the limit, ``(q,)``.
    table
        The number of the witness, ``(q,)``; -1 where none is known or kept, or the reach has no end. Many answers may
        share one.
    starts, columns, moves
        The witnesses: table t moves `columns[starts[t]:starts[t + 1]]` by `moves / denominator` of its answers; the
        moved table satisfies all relations and rooms.

    Numbers of `reach`, `denominator` and `moves` that 64 bits do not hold make the array one of Python's integers.
    """

    reach: Whole
    denominator: Whole
    furthest: NDArray[np.bool_]
    table: NDArray[np.int64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    moves: Whole

    @classmethod
    def of_list(cls, answers: list[Answer]) -> Answers:
        """Return many single answers in arrays."""
        sizes = np.array([len(answer.columns) for answer in answers], dtype=np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        return cls(
            compact(np.array([answer.reach for answer in answers], dtype=object)),
            compact(np.array([answer.denominator for answer in answers], dtype=object)),
            np.array([answer.furthest for answer in answers], dtype=bool),
            np.where(sizes > 0, np.arange(len(answers)), -1),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([nothing, *(answer.columns for answer in answers)]),
            np.concatenate([nothing, *(answer.moves for answer in answers)]),
        )

    @classmethod
    def of_nothing(cls, n: int, *, furthest: bool) -> Answers:
        """Return the answers to `n` questions about cells that do not move, or are not known to."""
        none = np.zeros(0, dtype=np.int64)
        zeros, ones = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
        return cls(zeros, ones, np.full(n, furthest), -ones, np.zeros(1, dtype=np.int64), none, none)

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """Return several answers one after the other."""
        tables = np.cumsum([0, *(part.n_tables for part in parts)])
        entries = np.cumsum([0, *(len(part.columns) for part in parts)])
        shifted = [np.where(part.table < 0, -1, part.table + first) for part, first in zip(parts, tables, strict=False)]
        starts = [part.starts[1:] + first for part, first in zip(parts, entries, strict=False)]
        return cls(
            np.concatenate([part.reach for part in parts]),
            np.concatenate([part.denominator for part in parts]),
            np.concatenate([part.furthest for part in parts]),
            np.concatenate(shifted),
            np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.moves for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.reach)

    @property
    def n_tables(self) -> int:
        """How many witnesses there are."""
        return len(self.starts) - 1

    @property
    def endless(self) -> NDArray[np.bool_]:
        """Which cells move without end, ``(q,)``."""
        return np.asarray(self.reach // self.denominator >= ENDLESS, dtype=bool)

    def __getitem__(self, place: int) -> Answer:
        table = int(self.table[place])
        part = slice(0, 0) if table < 0 else slice(self.starts[table], self.starts[table + 1])
        return Answer(
            int(self.reach[place]),
            int(self.denominator[place]),
            bool(self.furthest[place]),
            self.columns[part],
            self.moves[part],
        )

    def take(self, places: NDArray[np.int64]) -> Answers:
        """Return some of the answers, with all witnesses."""
        return replace(
            self,
            reach=self.reach[places],
            denominator=self.denominator[places],
            furthest=self.furthest[places],
            table=self.table[places],
        )

    def keeping(self, wanted: NDArray[np.bool_]) -> Answers:
        """Return the answers with the witnesses that are wanted and no others."""
        table = np.where(wanted, self.table, -1)
        used = np.unique(table[table >= 0])
        number = np.full(self.n_tables + 1, -1, dtype=np.int64)  # the last stands for none
        number[used] = np.arange(len(used))
        sizes = np.diff(self.starts)[used]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        entry = np.arange(starts[-1]) + np.repeat(self.starts[used] - starts[:-1], sizes)
        columns, moves = self.columns[entry], self.moves[entry]
        return replace(self, table=number[table], starts=starts, columns=columns, moves=moves)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One of `Answers`.

    Parameters
    ----------
    reach, denominator, furthest
        As there.
    columns, moves
        Its witness: nothing where none is known or kept.
    """

    reach: int
    denominator: int
    furthest: bool
    columns: NDArray[np.int64]
    moves: Whole

    @property
    def endless(self) -> bool:
        """The cell moves without end."""
        return self.reach // self.denominator >= ENDLESS


def verified(system: System, answers: Answers) -> NDArray[np.bool_]:
    """Return which answers have witnesses that satisfy every relation and every room, in whole numbers, ``(q,)``.

    Answers without a witness have none that could fail.

    Guarantee: shares nothing with what found them; no tolerance.
    """
    table = np.repeat(np.arange(answers.n_tables), np.diff(answers.starts))
    has = np.flatnonzero(answers.table >= 0)
    denominator: Whole = np.ones(answers.n_tables, dtype=np.int64)
    denominator = denominator if answers.denominator.dtype == np.int64 else denominator.astype(object)
    denominator[answers.table[has]] = answers.denominator[has]
    sound = np.asarray(denominator > 0, dtype=bool)
    scale = np.where(sound, denominator, 1)[table]
    up, down = system.up[answers.columns], system.down[answers.columns]
    below = (up == ENDLESS) | (-(-answers.moves // scale) <= up)
    above = (down == ENDLESS) | (-(answers.moves // scale) <= down)
    sound[table[~(below & above)]] = False
    sound = sound & ~_broken(system.matrix, table, answers)
    good = np.asarray(answers.denominator > 0, dtype=bool)
    good[has] &= sound[answers.table[has]] & (answers.denominator[has] == denominator[answers.table[has]])
    return good


def shown(questions: Questions, answers: Answers) -> NDArray[np.bool_]:
    """Return which witnesses move the cell that was asked about as far as the answer says, ``(q,)``.

    An answer that says nothing, or that there is no end, needs none.
    """
    entry = _own_entries(answers.table, answers.starts, answers.columns, questions.columns)
    moves = np.append(answers.moves, 0)[entry]
    said = (answers.reach <= 0) | (answers.endless & (answers.table < 0))
    return np.asarray(said | (np.where(questions.upward, moves, -moves) >= answers.reach), dtype=bool)


@njit(cache=True, nogil=True)
def _own_entries(
    table: NDArray[np.int64], starts: NDArray[np.int64], columns: NDArray[np.int64], asked: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where each answer's witness moves the cell that was asked about, -1 where it does not."""
    entry = np.full(len(table), -1, dtype=np.int64)
    for k in range(len(table)):
        if table[k] >= 0:
            for place in range(starts[table[k]], starts[table[k] + 1]):
                if columns[place] == asked[k]:
                    entry[k] = place
                    break
    return entry


def _broken(matrix: sp.csr_array, table: NDArray[np.int64], answers: Answers) -> NDArray[np.bool_]:
    """Return which witnesses break a relation, ``(t,)``: compiled where 64 bits hold every sum, else in Python."""
    terms = sp.csc_array(matrix)
    heaviest = int(np.abs(terms.data).max(initial=1)) * int(np.diff(answers.starts).max(initial=1))
    most = LARGEST_COUNT // heaviest
    wide = np.zeros(answers.n_tables, dtype=bool)
    wide[table[(answers.moves > most) | (answers.moves < -most)]] = True
    moves = np.where(wide[table], 0, answers.moves).astype(np.int64)
    broken = np.asarray(
        _unbalanced(answers.starts, answers.columns, moves, terms.indptr, terms.indices, terms.data, matrix.shape[0])
    )
    for place in np.flatnonzero(wide).tolist():
        entries_of = slice(answers.starts[place], answers.starts[place + 1])
        total: dict[int, int] = {}
        pairs = zip(answers.columns[entries_of].tolist(), answers.moves[entries_of].tolist(), strict=True)
        for column, move in pairs:
            entries = slice(terms.indptr[column], terms.indptr[column + 1])
            for row, factor in zip(terms.indices[entries].tolist(), terms.data[entries].tolist(), strict=True):
                total[row] = total.get(row, 0) + int(factor) * int(move)
        broken[place] = any(total.values())
    return broken


@njit(cache=True, nogil=True)
def _unbalanced(
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    moves: NDArray[np.int64],
    column_starts: NDArray[np.int32],
    rows: NDArray[np.int32],
    data: NDArray[np.int64],
    n_rows: int,
) -> NDArray[np.bool_]:
    """Return which witnesses break a relation."""
    total = np.zeros(n_rows, dtype=np.int64)
    broken = np.zeros(len(starts) - 1, dtype=np.bool_)
    for question in range(len(broken)):
        for place in range(starts[question], starts[question + 1]):
            for entry in range(column_starts[columns[place]], column_starts[columns[place] + 1]):
                total[rows[entry]] += data[entry] * moves[place]
        for place in range(starts[question], starts[question + 1]):
            for entry in range(column_starts[columns[place]], column_starts[columns[place] + 1]):
                if total[rows[entry]] != 0:
                    broken[question] = True
                total[rows[entry]] = 0
    return broken
