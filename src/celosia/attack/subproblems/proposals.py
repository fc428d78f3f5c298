"""Proposed witnesses: moves that somebody else has found, checked as if nobody had.

A search for a pattern knows a move for every requirement. Where hidden cells form one large component, finding it again
by linear programs may take longer than the search did; checking it takes no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.subproblems.verification import check_claims, own_entries, verify_witnesses
from celosia.attack.system.system import System


@dataclass(frozen=True, slots=True, eq=False)
class ProposedWitnesses:
    """Moves of cells of a table, each proposed as a witness for one question or several.

    Parameters
    ----------
    cells, attackers, upward
        The cell that is asked about, the attacker, and the direction, ``(q,)`` each.
    starts, moved, moves
        Move t moves the cells ``moved[starts[t]:starts[t + 1]]`` by `moves`, in counts, divided by its denominator.
    denominator
        ``(t,)``.
    decimals
        The decimal of the counts.
    table
        Which move is proposed for each question, ``(q,)``; None where every question has its own, in order.
    """

    cells: NDArray[np.int64]
    attackers: NDArray[np.int64]
    upward: NDArray[np.bool_]
    starts: NDArray[np.int64]
    moved: NDArray[np.int64]
    moves: NDArray[np.int64]
    denominator: NDArray[np.int64]
    decimals: int
    table: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def tables(self) -> NDArray[np.int64]:
        """The move that is proposed for each question, ``(q,)``."""
        return np.arange(len(self)) if self.table is None else self.table

    def of_cells(self, cells: NDArray[np.int64]) -> ProposedWitnesses:
        """Return the same where what are cells here are places among cells of a table, ``(n,)``."""
        return replace(self, cells=cells[self.cells], moved=cells[self.moved])

    def below(self, n: int) -> ProposedWitnesses:
        """Return the proposals about the first n cells, without what they move beyond."""
        if not bool((self.moved >= n).any()):
            return self
        own = self.take(np.flatnonzero(self.cells < n))
        kept = own.moved < n
        starts = np.concatenate([[0], np.cumsum(kept)])[own.starts]
        return replace(own, starts=starts, moved=own.moved[kept], moves=own.moves[kept])

    def take(self, places: NDArray[np.int64]) -> ProposedWitnesses:
        """Return some of the proposals, without moves that no other one needs."""
        used, table = np.unique(self.tables[places], return_inverse=True)
        sizes = np.diff(self.starts)[used]
        entry = np.repeat(self.starts[used] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        return ProposedWitnesses(
            self.cells[places],
            self.attackers[places],
            self.upward[places],
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            self.moved[entry],
            self.moves[entry],
            self.denominator[used],
            self.decimals,
            table.reshape(-1).astype(np.int64),
        )

    @classmethod
    def join(cls, parts: Sequence[ProposedWitnesses]) -> ProposedWitnesses:
        """Return several proposals in the same decimal, one after the other; there is at least one."""
        first = np.cumsum([0, *(len(part.moved) for part in parts)])
        place = np.cumsum([0, *(len(part.denominator) for part in parts)])
        return cls(
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.attackers for part in parts]),
            np.concatenate([part.upward for part in parts]),
            np.concatenate([[0], *(part.starts[1:] + at for part, at in zip(parts, first, strict=False))]),
            np.concatenate([part.moved for part in parts]),
            np.concatenate([part.moves for part in parts]),
            np.concatenate([part.denominator for part in parts]),
            parts[0].decimals,
            np.concatenate([part.tables + at for part, at in zip(parts, place, strict=False)]),
        )


def answer_by_proposals(system: System, questions: Questions, attacker: int, proposed: ProposedWitnesses) -> Answers:
    """Return the answers that proposals give; questions for which none is sound are left open.

    Guarantee: a proposal counts only if it satisfies every relation and bound of the system in whole numbers, is whole
    where it must be, and moves its cell as far as the answer says (`celosia.attack.subproblems.verification`). Where
    it came from does not matter.
    """
    column_of = np.full(system.n_cells, -1, dtype=np.int64)
    column_of[system.cells] = np.arange(len(system))
    own = proposed.take(np.flatnonzero((proposed.attackers == attacker) & _are_known(column_of, proposed)))
    fine = proposed.decimals - system.decimals
    if not len(own) or fine < 0:
        return Answers.of_nothing(len(questions), furthest=False)
    columns = column_of[own.moved]
    coarse = 10 ** (system.decimals - system.digits[columns])
    whole = np.add.reduceat(own.moves % coarse != 0, own.starts[:-1]) == 0
    moves, denominator = own.moves // coarse, own.denominator * 10**fine
    common = np.gcd(np.gcd.reduceat(moves, own.starts[:-1]), denominator)
    moves, denominator = moves // np.repeat(common, np.diff(own.starts)), denominator // common
    chosen = _choose_proposals(column_of[own.cells], own.upward, whole[own.tables], questions)
    table = np.where(chosen < 0, -1, own.tables[chosen])
    scale = np.where(table < 0, 1, denominator[table])
    moved = moves[own_entries(table, own.starts, columns, questions.columns)]
    moved = np.where(table < 0, 0, np.where(questions.upward, moved, -moved))
    far = moved // scale >= questions.limits
    reach = np.where(far, questions.limits * scale, np.maximum(moved, 0))
    answers = Answers(reach, scale, far, table, own.starts, columns, moves)
    good = verify_witnesses(system, answers) & check_claims(questions, answers) & (table >= 0)
    return replace(
        answers,
        reach=np.where(good, reach, 0),
        denominator=np.where(good, scale, 1),
        furthest=far & good,
        table=np.where(good, table, -1),
    )


def _are_known(column_of: NDArray[np.int64], proposed: ProposedWitnesses) -> NDArray[np.bool_]:
    """Return which proposals move only cells of the system, and the one that is asked about."""
    if not len(proposed):
        return np.zeros(0, dtype=bool)
    inside = np.minimum.reduceat(column_of[proposed.moved], proposed.starts[:-1]) >= 0
    own = own_entries(proposed.tables, proposed.starts, proposed.moved, proposed.cells)
    return np.asarray(inside[proposed.tables] & (own >= 0))


def _choose_proposals(
    columns: NDArray[np.int64], upward: NDArray[np.bool_], usable: NDArray[np.bool_], questions: Questions
) -> NDArray[np.int64]:
    """Return a proposal for every question, the last one of several, -1 where there is none, ``(q,)``."""
    key, asked = 2 * columns + upward, 2 * questions.columns + questions.upward
    order = np.argsort(key, kind="stable")
    order = order[usable[order]]
    if not len(order):
        return np.full(len(questions), -1, dtype=np.int64)
    place = np.searchsorted(key[order], asked, side="right") - 1
    return np.where((place >= 0) & (key[order][place] == asked), order[place], -1)
