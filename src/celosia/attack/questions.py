"""Questions to an attacker, and answers with tables that prove them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from celosia.attack.system import ENDLESS, System


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
    """

    reach: NDArray[np.int64]
    denominator: NDArray[np.int64]
    furthest: NDArray[np.bool_]
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    moves: NDArray[np.int64]

    @classmethod
    def of_list(cls, answers: list[Answer]) -> Answers:
        """Return many single answers in arrays."""
        sizes = [len(answer.columns) for answer in answers]
        nothing = np.zeros(0, dtype=np.int64)
        return cls(
            np.array([answer.reach for answer in answers], dtype=np.int64),
            np.array([answer.denominator for answer in answers], dtype=np.int64),
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
    moves: NDArray[np.int64]


def verified(system: System, answers: Answers) -> NDArray[np.bool_]:
    """Return which witnesses satisfy every relation and every room, in whole numbers, ``(q,)``.

    Guarantee: shares nothing with what found them; no tolerance.
    """
    question = np.repeat(np.arange(len(answers)), np.diff(answers.starts))
    scale = answers.denominator[question]
    up, down = system.up[answers.columns], system.down[answers.columns]
    below = (up == ENDLESS) | (answers.moves <= np.where(up == ENDLESS, 0, up) * scale)
    above = (down == ENDLESS) | (-answers.moves <= np.where(down == ENDLESS, 0, down) * scale)
    inside = below & above
    sound = np.ones(len(answers), dtype=bool)
    sound[question[~inside]] = False
    columns = system.matrix.tocsc()
    rows = system.matrix.shape[0]
    broken = _unbalanced(
        answers.starts, answers.columns, answers.moves, columns.indptr, columns.indices, columns.data, rows
    )
    return sound & ~broken


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
