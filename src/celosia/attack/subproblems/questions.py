"""Questions to an attacker, and answers with tables that prove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.fractions import Whole, compact
from celosia.tolerance import ENDLESS


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
        How far is far enough, ``(q,)``; `celosia.tolerance.ENDLESS` where nothing is.
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
        The reach is a maximum, or the limit, ``(q,)``.
    table
        The number of the witness, ``(q,)``; -1 where none is known or kept, or the reach has no end. Many answers may
        share one.
    starts, columns, moves
        The witnesses: table t moves `columns[starts[t]:starts[t + 1]]` by `moves / denominator` of its answers; the
        moved table satisfies all relations and bounds.

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
    def join(cls, parts: Sequence[Answers]) -> Answers:
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
            _concatenate([part.columns for part in parts]),
            _concatenate([part.moves for part in parts]),
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

    def keep_witnesses(self, wanted: NDArray[np.bool_]) -> Answers:
        """Return the answers with the witnesses that are wanted and no others."""
        table = np.where(wanted, self.table, -1)
        used = np.zeros(self.n_tables + 1, dtype=bool)  # the last stands for none
        used[table] = True
        used[-1] = False
        if used[:-1].all():
            return replace(self, table=table)
        number = np.where(used, np.cumsum(used) - 1, -1)
        sizes = np.diff(self.starts)
        entry = np.repeat(used[:-1], sizes)
        starts = np.concatenate([[0], np.cumsum(sizes[used[:-1]])]).astype(np.int64)
        return replace(self, table=number[table], starts=starts, columns=self.columns[entry], moves=self.moves[entry])


def _concatenate(parts: list[Any]) -> Any:  # noqa: ANN401  (whole numbers of one kind or the other)
    """Return arrays joined; a single one that is not empty as it is, for witnesses are large."""
    filled = [part for part in parts if len(part)]
    return filled[0] if len(filled) == 1 else np.concatenate(parts)


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
