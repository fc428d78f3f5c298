"""Showing again what need not be hidden, one cell after another, with certificates.

Every question keeps a table that answers it. A cell can be shown when the questions whose tables move it find others
without it; all other questions keep theirs (reverse delete). What comes out hides no cell in vain, and is safe as
far as doubles can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from celosia.protect.cuts import Workshop
from celosia.protect.detours import Detours
from celosia.protect.flows import NOTHING, Workspace, clear, pushed, workspace
from celosia.protect.hidden import Hidden
from celosia.protect.master import Pool
from celosia.protect.programs import REACHED, Program
from celosia.protect.separation import Separator
from celosia.protect.sides import Sides
from celosia.protect.tables import Learned, Tables, clean_program

Known = NDArray[np.float64]
"""How far every question's table moves every column of a task, ``(s, n)``."""


@dataclass(frozen=True, slots=True, eq=False)
class Cleaner:
    """Cleans patterns of a task.

    Parameters
    ----------
    separator
        Tells how far questions get.
    pool
        Cuts that every safe pattern satisfies: what violates one need not be asked. What is learned goes there.
    late
        Tells when to stop: what has not been tried by then stays hidden.
    """

    separator: Separator
    pool: Pool
    late: Callable[[], bool]

    def cleaned(
        self, pattern: NDArray[np.bool_], weight: NDArray[np.float64], known: Known | None = None
    ) -> NDArray[np.bool_] | None:
        """Return the pattern without the cells that it does not need; None where no part of it is safe.

        Parameters
        ----------
        pattern
            Which columns are hidden, ``(n,)``; those that would miss their width (`settled`) are shown first.
        weight
            The heaviest are tried first, ``(n,)``.
        known
            Tables that answer the questions, where no level slides.
        """
        workshop = self.separator.workshop
        task = workshop.task
        pattern = self.settled(pattern)
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
                split = bool(self.separator.sides.sliding.any())  # then levels are not those of the task
                learned = Learned(workshop, self.pool, members, known=not split)
                program = Program.of(workshop, members, np.ones(len(members)), self.separator.backend)
                detours = Detours.of(workshop, members, self.separator.backend)
                tables = Tables(program, mine, learned, detours)
                given = None if known is None else known[component == number][:, members]
                stays = clean_program(tables, order, given, self.late)
            if stays is None:
                return None
            kept[stays] = True
        return kept

    def settled(self, pattern: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the largest part of a pattern in which cells that keep a width if they are hidden do so.

        Hiding more only helps others, so those that miss their width even with all the rest hidden are shown, one
        round after another.
        """
        task = self.separator.task
        if bool(task.forced[task.goals.columns].all()):
            return pattern
        pattern = pattern.copy()
        while True:
            missed = self.separator.missed(pattern)
            columns = np.unique(task.goals.columns[missed])
            shown = columns[~task.forced[columns] & pattern[columns]]
            if not len(shown):
                return pattern
            pattern[shown] = False

    def _targets(self, pattern: NDArray[np.bool_]) -> Sides | None:
        """Return the questions, sliding ones with the part of their level that each side reaches now."""
        everything = self.separator.sides
        counts = pattern[everything.columns]  # a cell that is shown has nothing to keep
        if bool(counts.all()) and not bool(everything.sliding.any()):
            return everything
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
        if bool((both < REACHED).any()):
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
