"""Questions to an attacker, and answers with tables that prove them."""

from __future__ import annotations

from dataclasses import dataclass

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
    starts, columns, moves
        The witnesses: answer k moves `columns[starts[k]:starts[k + 1]]` by `moves / denominator[k]`; the moved table
        satisfies all relations and rooms. Nothing moves where no witness is known or the reach has no end.

    Numbers of `reach`, `denominator` and `moves` that 64 bits do not hold make the array one of Python's integers.
    """

    reach: Whole
    denominator: Whole
    furthest: NDArray[np.bool_]
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    moves: Whole

    @classmethod
    def of_list(cls, answers: list[Answer]) -> Answers:
        """Return many single answers in arrays."""
        sizes = [len(answer.columns) for answer in answers]
        nothing = np.zeros(0, dtype=np.int64)
        return cls(
            compact(np.array([answer.reach for answer in answers], dtype=object)),
            compact(np.array([answer.denominator for answer in answers], dtype=object)),
            np.array([answer.furthest for answer in answers], dtype=bool),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([nothing, *(answer.columns for answer in answers)]),
            np.concatenate([nothing, *(answer.moves for answer in answers)]),
        )

    def __len__(self) -> int:
        return len(self.reach)

    def __getitem__(self, place: int) -> Answer:
        part = slice(self.starts[place], self.starts[place + 1])
        return Answer(
            int(self.reach[place]),
            int(self.denominator[place]),
            bool(self.furthest[place]),
            self.columns[part],
            self.moves[part],
        )

    def in_order(self, order: NDArray[np.int64]) -> Answers:
        """Return answers to questions that were asked in another order: the k-th was number ``order[k]``."""
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        sizes = np.diff(self.starts)[place]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        entry = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(self.starts[place], sizes)
        return Answers(
            self.reach[place],
            self.denominator[place],
            self.furthest[place],
            starts,
            self.columns[entry],
            self.moves[entry],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One of `Answers`.

    Parameters
    ----------
    reach, denominator, furthest, columns, moves
        As there.
    """

    reach: int
    denominator: int
    furthest: bool
    columns: NDArray[np.int64]
    moves: Whole


def verified(system: System, answers: Answers) -> NDArray[np.bool_]:
    """Return which witnesses satisfy every relation and every room, in whole numbers, ``(q,)``.

    Guarantee: shares nothing with what found them; no tolerance.
    """
    question = np.repeat(np.arange(len(answers)), np.diff(answers.starts))
    sound = np.asarray(answers.denominator > 0, dtype=bool)
    scale = np.where(sound, answers.denominator, 1)[question]
    up, down = system.up[answers.columns], system.down[answers.columns]
    below = (up == ENDLESS) | (-(-answers.moves // scale) <= up)
    above = (down == ENDLESS) | (-(answers.moves // scale) <= down)
    sound[question[~(below & above)]] = False
    return sound & ~_broken(system.matrix, question, answers)


def _broken(matrix: sp.csr_array, question: NDArray[np.int64], answers: Answers) -> NDArray[np.bool_]:
    """Return which witnesses break a relation, ``(q,)``: compiled where 64 bits hold every sum, else in Python."""
    terms = sp.csc_array(matrix)
    heaviest = int(np.abs(terms.data).max(initial=1)) * int(np.diff(answers.starts).max(initial=1))
    most = LARGEST_COUNT // heaviest
    wide = np.zeros(len(answers), dtype=bool)
    wide[question[(answers.moves > most) | (answers.moves < -most)]] = True
    moves = np.where(wide[question], 0, answers.moves).astype(np.int64)
    broken = np.asarray(
        _unbalanced(answers.starts, answers.columns, moves, terms.indptr, terms.indices, terms.data, matrix.shape[0])
    )
    for place in np.flatnonzero(wide).tolist():
        answer = answers[place]
        total: dict[int, int] = {}
        for column, move in zip(answer.columns.tolist(), answer.moves.tolist(), strict=True):
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
