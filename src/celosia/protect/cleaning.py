"""Showing again what need not be hidden, one cell after another, with certificates.

Every question keeps a table that answers it. A cell can be shown when the questions whose tables move it find others
without it; all other questions keep theirs (reverse delete). What comes out hides no cell in vain, and is safe as
far as doubles can tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from celosia.protect.cuts import Workshop
from celosia.protect.flows import NOTHING, Workspace, clear, pushed, workspace
from celosia.protect.hidden import Hidden
from celosia.protect.programs import Program
from celosia.protect.separation import Separator
from celosia.protect.sides import Sides
from celosia.solve.backend import Backend

_USED = 1e-9
"""A cell that a table moves by less than this part of the level is not used by it."""


@dataclass(frozen=True, slots=True, eq=False)
class Cleaner:
    """Cleans patterns of a task.

    Parameters
    ----------
    separator
        Tells how far questions get.
    """

    separator: Separator

    def cleaned(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Return the pattern without the cells that it does not need; None where it is not safe.

        Parameters
        ----------
        pattern
            Which columns are hidden, ``(n,)``.
        weight
            The heaviest are tried first, ``(n,)``.
        """
        workshop = self.separator.workshop
        task = workshop.task
        asked = self._targets(pattern)
        if asked is None:
            return None
        hidden = Hidden.of(task, np.flatnonzero(pattern))
        place = hidden.place(len(task))
        component = hidden.parts.component[place[asked.columns]]
        if bool((component < 0).any()):
            return None
        kept = task.forced & pattern
        for number in np.unique(component).tolist():
            members = hidden.columns[hidden.parts.members(number)]
            mine = asked.take(component == number)
            order = members[~task.forced[members]]
            order = order[np.argsort(-weight[order], kind="stable")]
            if hidden.parts.network[number]:
                stays = _clean_network(workshop, hidden, mine, order)
            else:
                stays = _clean_program(workshop, members, mine, order, self.separator.backend)
            if stays is None:
                return None
            kept[stays] = True
        return kept

    def _targets(self, pattern: NDArray[np.bool_]) -> Sides | None:
        """Return the questions, sliding ones with the part of their level that each side reaches now."""
        everything = self.separator.sides
        counts = pattern[everything.columns]  # a cell that is shown has nothing to keep
        asked = everything.take(counts)
        if not bool(asked.sliding.any()):
            return asked
        part = self.separator.reached(pattern)[counts]
        room = np.where(
            asked.upward,
            self.separator.workshop.up[asked.attackers, asked.columns],
            self.separator.workshop.down[asked.attackers, asked.columns],
        )
        part = np.minimum(part, room / asked.levels)
        first = np.flatnonzero(asked.sliding & asked.upward)
        both = part[first] + part[first + 1]
        if bool((both < 1.0 - NOTHING).any()):
            return None
        levels = asked.levels.copy()
        levels[first] *= part[first] / both
        levels[first + 1] *= part[first + 1] / both
        split = replace(asked, levels=levels, sliding=np.zeros(len(asked), dtype=bool))
        return split.take(levels > 0)


def _clean_network(
    workshop: Workshop, hidden: Hidden, asked: Sides, order: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the columns of a network that stay hidden."""
    place = hidden.place(len(workshop.task))
    share = np.ones(len(hidden.columns))
    safe = _reverse_delete(
        place[asked.columns],
        asked.attackers,
        asked.upward,
        asked.levels,
        place[order],
        workshop.up[:, hidden.columns],
        workshop.down[:, hidden.columns],
        share,
        hidden.parts.tail,
        hidden.parts.head,
        *hidden.adjacency,
    )
    return order[share[place[order]] > 0] if safe else None


@njit(cache=True, nogil=True)
def _reverse_delete(
    columns: NDArray[np.int64],
    attackers: NDArray[np.int64],
    upward: NDArray[np.bool_],
    levels: NDArray[np.float64],
    order: NDArray[np.int64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
) -> bool:
    """Set the share of cells to zero that need not be hidden; return whether all questions are answered at all."""
    work = workspace(len(tail), len(starts) - 1)
    rank = np.full(len(tail), -1, dtype=np.int64)
    for k in range(len(order)):
        rank[order[k]] = k
    uses = np.zeros((len(columns), len(order)), dtype=np.bool_)
    before = np.zeros((len(columns), len(order)), dtype=np.bool_)
    renewed = np.empty(len(columns), dtype=np.int64)
    for question in range(len(columns)):
        if not _answered(
            question, columns, attackers, upward, levels, up, down, share, tail, head, starts, arcs, work, rank, uses
        ):
            return False
    for k in range(len(order)):
        share[order[k]] = 0.0
        n_renewed = 0
        safe = True
        for question in range(len(columns)):
            if safe and uses[question, k] and columns[question] != order[k]:
                renewed[n_renewed] = question
                before[question] = uses[question]
                n_renewed += 1
                safe = _answered(
                    *(question, columns, attackers, upward, levels, up, down, share, tail, head, starts, arcs),
                    *(work, rank, uses),
                )
        if safe:
            uses[columns == order[k]] = False  # a cell that is shown has nothing to keep
            continue
        share[order[k]] = 1.0
        for place in range(n_renewed):
            uses[renewed[place]] = before[renewed[place]]
    return True


@njit(cache=True, nogil=True)
def _answered(
    question: int,
    columns: NDArray[np.int64],
    attackers: NDArray[np.int64],
    upward: NDArray[np.bool_],
    levels: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    share: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    work: Workspace,
    rank: NDArray[np.int64],
    uses: NDArray[np.bool_],
) -> bool:
    """Return whether a question is answered, and note which cells its table moves."""
    cell, who = columns[question], attackers[question]
    source, sink = (head[cell], tail[cell]) if upward[question] else (tail[cell], head[cell])
    total, n_touched = pushed(
        source, sink, cell, levels[question], up[who], down[who], share, tail, head, starts, arcs, work
    )
    reached = total >= 1.0 - NOTHING
    if reached:
        uses[question] = False
        for k in range(n_touched):
            arc = work[1][k]
            if abs(work[0][arc]) > NOTHING and rank[arc] >= 0:
                uses[question, rank[arc]] = True
    clear(work, n_touched)
    return reached


def _clean_program(
    workshop: Workshop, members: NDArray[np.int64], asked: Sides, order: NDArray[np.int64], backend: Backend
) -> NDArray[np.int64] | None:
    """Return the columns of a component that is no network that stay hidden.

    A table turned round often answers the question in the other direction. Questions that have failed before are asked
    first.
    """
    tables = _Tables(Program.of(workshop, members, np.ones(len(members)), backend), asked)
    everyone = np.arange(len(asked))
    if not tables.renew(everyone):
        return None
    stays = []
    for column in order.tolist():
        cell = int(np.searchsorted(members, column))
        tables.program.share[cell] = 0.0
        own = asked.columns == column
        if tables.renew(np.flatnonzero(tables.uses[:, cell] & ~own)):
            tables.uses[own] = False
        else:
            tables.program.share[cell] = 1.0
            stays.append(column)
    return np.array(stays, dtype=np.int64)


class _Tables:
    """A table for every question, and which cells it moves.

    Parameters
    ----------
    program
        Finds tables; its shares say what is hidden.
    asked
        The questions.
    """

    def __init__(self, program: Program, asked: Sides) -> None:
        self.program = program
        self.asked = asked
        self.uses = np.zeros((len(asked), len(program.columns)), dtype=bool)
        self._failures = np.zeros(len(asked), dtype=np.int64)
        place = {key: k for k, key in enumerate(self._keys(asked.upward))}
        self._other = [place.get(key, -1) for key in self._keys(~asked.upward)]

    def _keys(self, upward: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
        return list(zip(self.asked.columns.tolist(), self.asked.attackers.tolist(), upward.tolist(), strict=True))

    def renew(self, questions: NDArray[np.int64]) -> bool:
        """Find new tables for some questions; keep the old ones of all, and say no, where one has none."""
        left = dict.fromkeys(questions[np.argsort(-self._failures[questions], kind="stable")].tolist())
        found: dict[int, NDArray[np.bool_]] = {}
        while left:
            question = next(iter(left))
            table = self.program.table(self.asked, question)
            if table is None:
                self._failures[question] += 1
                return False
            del left[question]
            found[question] = np.abs(table) > _USED
            other = self._other[question]
            if other in left and self._turned(table, question, other):
                del left[other]
                found[other] = found[question]
        for question, used in found.items():
            self.uses[question] = used
        return True

    def _turned(self, table: NDArray[np.float64], question: int, other: int) -> bool:
        """Return whether minus a table, scaled to the other level, leaves every room as it is."""
        asked = self.asked
        moves = -table * (asked.levels[other] / asked.levels[question])
        below, above = self.program.rooms(int(asked.attackers[other]), 1.0)
        level = asked.levels[question]
        return bool(np.all((moves * level >= below) & (moves * level <= above)))
