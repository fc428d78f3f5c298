"""Showing again what need not be hidden, one cell after another, with certificates.

Every question keeps a table that answers it. A cell can be shown when the questions whose tables move it find others
without it; all other questions keep theirs (reverse delete). What comes out hides no cell in vain, and is safe as
far as doubles can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import longer, plain
from celosia.kernels import inner, kernel
from celosia.protection.engine.cuts.capacity import Workshop
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.master import Pool
from celosia.protection.engine.requirements import Sides
from celosia.protection.engine.subproblems.flow import NOTHING, Asked, Desk, Network, Rooms, clear, desk_of, pushed
from celosia.protection.engine.subproblems.lp import REACHED, Program
from celosia.protection.engine.subproblems.reroute import Detours
from celosia.protection.engine.subproblems.support import Hidden
from celosia.protection.engine.subproblems.witnesses import Learned, Tables, clean_program

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
            Which columns are hidden, ``(n,)``, forced ones at the end perhaps left out; those that would miss their
            width (`settled`) are shown first.
        weight
            The heaviest are tried first, ``(n,)``.
        known
            Tables that answer the questions, where no level slides.
        """
        workshop, n = self.separator.workshop, len(pattern)
        task = workshop.task
        pattern, weight = workshop.wide(self.settled(pattern)), workshop.wide(weight)
        asked = self._targets(pattern)
        if asked is None:
            return None
        order = np.flatnonzero(pattern & ~task.forced)
        order = order[np.argsort(-weight[order], kind="stable")]
        kept = task.forced & pattern
        if self.separator.is_network:
            stays = _clean_network(workshop, self.separator.networks[0], pattern, asked, order)
        else:
            stays = self._clean_parts(pattern, asked, order, known)
        if stays is None:
            return None
        kept[stays] = True
        return kept[:n]

    def _clean_parts(
        self, pattern: NDArray[np.bool_], asked: Sides, order: NDArray[np.int64], known: Known | None
    ) -> NDArray[np.int64] | None:
        """Return the columns that stay hidden: those of networks together, those of other components apart."""
        workshop = self.separator.workshop
        task = workshop.task
        hidden = Hidden.of(task, np.flatnonzero(pattern))
        place = hidden.place(len(task))
        component, own = hidden.parts.component[place[asked.columns]], hidden.parts.component[place[order]]
        if bool((component < 0).any()):
            return None
        flows = np.append(hidden.parts.network, np.False_)  # the last for cells that follow at once
        stays = _clean_network(workshop, hidden, pattern, asked.take(flows[component]), order[flows[own]])
        if stays is None:
            return None
        found = [stays]
        split = bool(self.separator.sides.sliding.any())  # then levels are not those of the task
        for number in np.unique(component[~flows[component]]).tolist():
            members = hidden.columns[hidden.parts.members(number)]
            learned = Learned(workshop, self.pool, members, known=not split)
            program = Program.of(workshop, members, np.ones(len(members)), self.separator.backend)
            detours = Detours.of(workshop, members, self.separator.backend)
            tables = Tables(program, asked.take(component == number), learned, detours)
            given = None if known is None else known[component == number][:, members]
            stays = clean_program(tables, order[own == number], given, self.late)
            if stays is None:
                return None
            found.append(stays)
        return np.concatenate(found)

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
    workshop: Workshop, hidden: Hidden, pattern: NDArray[np.bool_], asked: Sides, order: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the columns of the networks of a pattern that stay hidden, None where a question has no answer."""
    place = hidden.place(len(workshop.task))
    network = hidden.among(pattern[hidden.columns])
    put = Asked(place[asked.columns], asked.attackers, asked.upward, asked.levels)
    if bool((network.tail[put.columns] < 0).any()):
        return None
    rooms = (workshop.up, workshop.down)
    if len(hidden.columns) < len(workshop.task):
        rooms = workshop.rooms(hidden.columns)
    share = np.ones(len(hidden.columns))
    safe = _reverse_delete(put, place[order], Rooms(*rooms, share), network)
    return order[share[place[order]] > 0] if safe else None


class _Used(NamedTuple):
    """Which questions' tables move a cell: a list for every cell, and for every question which table it has now.

    Entry e of a list says that table ``stamp[e]`` of ``question[e]`` moves the cell, ``after[e]`` which entry follows;
    ``first`` holds where the list of a cell begins, -1 for none. Entries of earlier tables stay: a table that did not
    do is taken back by its stamp.
    """

    first: NDArray[np.int64]
    after: NDArray[np.int64]
    question: NDArray[np.int64]
    stamp: NDArray[np.int64]
    now: NDArray[np.int64]


@kernel()
def _reverse_delete(  # noqa: C901  (one loop, compiled)
    asked: Asked, order: NDArray[np.int64], rooms: Rooms, network: Network
) -> bool:
    """Set the share of cells to zero that need not be hidden; return whether all questions are answered at all."""
    n_questions, n = len(asked.columns), len(network.tail)
    desk, share = desk_of(network), rooms.share
    candidate, asks = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    for cell in order:
        candidate[cell] = True
    for cell in asked.columns:
        asks[cell] = True
    size = 16 * (n_questions + 16)
    used = _Used(
        np.full(n, -1),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.full(n_questions, -1),
    )
    renewed, before = np.empty(n_questions, dtype=np.int64), np.empty(n_questions, dtype=np.int64)
    n_entries = n_tables = plain(0)
    for question in range(n_questions):
        used, n_entries, reached = _answered(
            question, n_tables, asked, rooms, network, desk, candidate, used, n_entries
        )
        if not reached:
            return False
        n_tables += 1
    for cell in order:
        share[cell] = 0.0
        n_renewed = 0
        safe = True
        entry = used.first[cell]
        while safe and entry >= 0:
            question = used.question[entry]
            if used.stamp[entry] == used.now[question] and asked.columns[question] != cell:
                renewed[n_renewed], before[n_renewed] = question, used.now[question]
                n_renewed += 1
                used, n_entries, safe = _answered(
                    question, n_tables, asked, rooms, network, desk, candidate, used, n_entries
                )
                n_tables += 1
            entry = used.after[entry]
        if not safe:
            share[cell] = 1.0
            for k in range(n_renewed):
                used.now[renewed[k]] = before[k]
        elif asks[cell]:
            for question in range(n_questions):
                if asked.columns[question] == cell:
                    used.now[question] = -1  # a cell that is shown has nothing to keep
    return True


@inner()
def _answered(
    question: int,
    table: int,
    asked: Asked,
    rooms: Rooms,
    network: Network,
    desk: Desk,
    candidate: NDArray[np.bool_],
    used: _Used,
    n_entries: int,
) -> tuple[_Used, int, bool]:
    """Return whether a question is answered, and note which candidates its table moves."""
    total, n_touched = pushed(question, asked, rooms, network, desk)
    reached = total >= 1.0 - NOTHING
    if reached:
        if n_entries + n_touched > len(used.after):
            size = 2 * len(used.after) + n_touched
            used = _Used(
                used.first,
                longer(used.after, size),
                longer(used.question, size),
                longer(used.stamp, size),
                used.now,
            )
        least = NOTHING * asked.levels[question]
        for k in range(n_touched):
            arc = desk.touched[k]
            if candidate[arc] and abs(desk.flow[arc]) > least:
                used.after[n_entries], used.question[n_entries], used.stamp[n_entries] = (
                    used.first[arc],
                    question,
                    table,
                )
                used.first[arc] = n_entries
                n_entries += 1
        used.now[question] = table
    clear(desk, n_touched)
    return used, n_entries, reached
