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

from celosia.protect.cuts import Cut, Reach, Workshop
from celosia.protect.detours import Detours
from celosia.protect.flows import NOTHING, Workspace, clear, pushed, workspace
from celosia.protect.hidden import Hidden
from celosia.protect.master import Pool
from celosia.protect.programs import REACHED, Program
from celosia.protect.separation import Separator
from celosia.protect.sides import Sides

Known = NDArray[np.float64]
"""How far every question's table moves every column of a task, ``(s, n)``."""

_USED = 1e-9
"""A cell that a table moves by less than this part of the level is not used by it."""

_CUT = 1e-6
"""A cut that is missed by less counts as satisfied."""

_MOST_ASKED = 60
"""A cell that takes more programs than this to show stays hidden: time is better spent on others."""

_WHOLE = 1.0 - 1e-9
_LEAST = 0.1
"""A table that is led round a cell is not blown up by more than 1 over this: errors would grow."""


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
                learned = _Learned(workshop, self.pool, members, known=not split)
                program = Program.of(workshop, members, np.ones(len(members)), self.separator.backend)
                detours = Detours.of(workshop, members, self.separator.backend)
                tables = _Tables(program, mine, learned, detours)
                given = None if known is None else known[component == number][:, members]
                stays = _clean_program(tables, order, given, self.late)
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


def _clean_program(
    tables: _Tables, order: NDArray[np.int64], known: NDArray[np.float64] | None, late: Callable[[], bool]
) -> NDArray[np.int64] | None:
    """Return the columns of a component that is no network that stay hidden."""
    if not tables.start(known):
        return None
    members = tables.program.columns
    stays = [column for column in order.tolist() if late() or not tables.show(int(np.searchsorted(members, column)))]
    return np.array(stays, dtype=np.int64)


class _Tables:
    """A table for every question.

    Parameters
    ----------
    program
        Finds tables; its shares say what is hidden.
    asked
        The questions.
    learned
        Cuts that tell which cells must stay.
    detours
        Finds ways round cells.

    Attributes
    ----------
    moves
        How far each table moves each cell, in parts of the question's level, ``(s, n)``.
    """

    def __init__(self, program: Program, asked: Sides, learned: _Learned, detours: Detours) -> None:
        self.program = program
        self.asked = asked
        self.learned = learned
        self.detours = detours
        self.moves = np.zeros((len(asked), len(program.columns)))
        self._target = np.searchsorted(program.columns, asked.columns)
        self._sign = np.where(asked.upward, 1.0, -1.0)
        self._failures = np.zeros(len(asked), dtype=np.int64)
        place = {key: k for k, key in enumerate(self._keys(asked.upward))}
        self._other = [place.get(key, -1) for key in self._keys(~asked.upward)]

    def _keys(self, upward: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
        return list(zip(self.asked.columns.tolist(), self.asked.attackers.tolist(), upward.tolist(), strict=True))

    def start(self, known: NDArray[np.float64] | None) -> bool:
        """Find a table for every question, known ones first; return whether each has one."""
        for question in range(len(self.asked)):
            if known is not None and self._fits(known[question] / self.asked.levels[question], question):
                self.moves[question] = known[question] / self.asked.levels[question]
                continue
            other = self._other[question]
            if 0 <= other < question:
                turned = -self.moves[other] / abs(self.moves[other, self._target[question]])
                if self._fits(turned, question):
                    self.moves[question] = turned
                    continue
            table = self.program.table(self.asked, question)
            if not table.answers:
                return False
            self.moves[question] = table.moves
        return True

    def show(self, cell: int) -> bool:
        """Show a cell if every question keeps a table; return whether that is so.

        The shortest way round the cell takes it out of most tables. Questions that this does not answer are asked
        again, those that have failed before first.
        """
        if self.learned.forbids(cell):
            return False
        own = self._target == cell  # a cell that is shown has nothing to keep
        using = np.flatnonzero((np.abs(self.moves[:, cell]) > _USED) & ~own)
        tables, fits = self._rerouted(using, cell)
        self.program.share[cell] = 0.0
        asked = np.flatnonzero(~fits)[: _MOST_ASKED + 1]
        for k in asked[np.argsort(-self._failures[using[asked]], kind="stable")].tolist():
            answer = self.program.table(self.asked, int(using[k]))
            if not answer.answers or len(asked) > _MOST_ASKED:
                self._failures[using[k]] += not answer.answers
                self.program.share[cell] = 1.0
                self.learned.learn(answer.reach, self.asked, int(using[k]))
                return False
            tables[k] = answer.moves
        self.moves[using] = tables
        self.moves[own] = 0.0
        self.learned.show(cell)
        return True

    def _rerouted(self, using: NDArray[np.int64], cell: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return tables that are led round a cell, and which of them still answer their question."""
        moves = self.moves[using]
        detour = self.detours.around(cell, self.program.share) if len(using) else None
        if detour is None:
            return moves, np.zeros(len(using), dtype=bool)
        tables = moves - moves[:, [cell]] * detour
        tables[:, cell] = 0.0
        tables[np.abs(tables) <= _USED] = 0.0
        reached = tables[np.arange(len(using)), self._target[using]] * self._sign[using]
        fits = reached >= _LEAST
        tables[fits] /= reached[fits, None]
        for k in np.flatnonzero(fits).tolist():
            fits[k] = self._fits(tables[k], int(using[k]))
        return tables, fits

    def _fits(self, table: NDArray[np.float64], question: int) -> bool:
        """Return whether a table leaves no room of its attacker, and moves its cell by the level."""
        if table[self._target[question]] * self._sign[question] < _WHOLE:
            return False
        below, above = self.program.rooms(int(self.asked.attackers[question]), float(self.asked.levels[question]))
        return bool(np.all((table >= below - _USED) & (table <= above + _USED)))


class _Learned:
    """Cuts that tell at once which cells must stay hidden.

    Parameters
    ----------
    workshop
        Makes cuts.
    pool
        The cuts that are known.
    members
        The columns of the component: no other column is hidden.
    known
        Levels are those of the task, so that what is learned holds for it.
    """

    def __init__(self, workshop: Workshop, pool: Pool, members: NDArray[np.int64], *, known: bool) -> None:
        self._workshop = workshop
        self._pool = pool
        self._known = known
        self._members = members
        self._hidden = np.zeros(len(workshop.task), dtype=bool)
        self._hidden[members] = True
        self._holds: list[set[int]] = [set() for _ in members]
        self._slack: list[float] = []
        self._cuts: list[Cut] = []
        for cut in pool.cuts:
            self._add(cut)

    def _add(self, cut: Cut) -> None:
        """Watch a cut that the pattern satisfies; others are about other components."""
        slack = -cut.missing(self._hidden.astype(np.float64))
        if slack < -_USED or cut.right <= 0:
            return
        for column in cut.columns[self._hidden[cut.columns]].tolist():
            self._holds[int(np.searchsorted(self._members, column))].add(len(self._cuts))
        self._cuts.append(cut)
        self._slack.append(slack)

    def _value(self, number: int, cell: int) -> float:
        cut = self._cuts[number]
        return float(cut.values[np.searchsorted(cut.columns, self._members[cell])])

    def forbids(self, cell: int) -> bool:
        """Return whether a cut needs the cell."""
        return any(self._slack[number] - self._value(number, cell) < -_CUT for number in self._holds[cell])

    def show(self, cell: int) -> None:
        """Take note that a cell is shown."""
        self._hidden[self._members[cell]] = False
        for number in self._holds[cell]:
            self._slack[number] -= self._value(number, cell)

    def learn(self, reach: Reach | None, asked: Sides, question: int) -> None:
        """Make a cut of what stopped a question."""
        column = int(asked.columns[question])
        cut = None if reach is None else self._workshop.cut([reach], float(asked.levels[question]), column)
        if cut is not None:
            self._add(cut)
            if self._known:
                self._pool.add([cut])
