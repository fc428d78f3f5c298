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

from celosia.protect.cuts import Cut, Reach, Workshop
from celosia.protect.flows import NOTHING, Workspace, clear, pushed, workspace
from celosia.protect.hidden import Hidden
from celosia.protect.master import Pool
from celosia.protect.programs import REACHED, Program
from celosia.protect.separation import Separator
from celosia.protect.sides import Sides
from celosia.solve.backend import Backend

_USED = 1e-9
"""A cell that a table moves by less than this part of the level is not used by it."""

_CUT = 1e-6
"""A cut that is missed by less counts as satisfied."""

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
    """

    separator: Separator
    pool: Pool

    def cleaned(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Return the pattern without the cells that it does not need; None where no part of it is safe.

        Parameters
        ----------
        pattern
            Which columns are hidden, ``(n,)``; those that would miss their width (`settled`) are shown first.
        weight
            The heaviest are tried first, ``(n,)``.
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
                stays = _clean_program(workshop, members, mine, order, self.separator.backend, learned)
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
    workshop: Workshop,
    members: NDArray[np.int64],
    asked: Sides,
    order: NDArray[np.int64],
    backend: Backend,
    learned: _Learned,
) -> NDArray[np.int64] | None:
    """Return the columns of a component that is no network that stay hidden.

    A table turned round often answers the question in the other direction. Questions that have failed before are asked
    first.
    """
    tables = _Tables(Program.of(workshop, members, np.ones(len(members)), backend), asked, learned)
    if not tables.start():
        return None
    stays = [column for column in order.tolist() if not tables.show(int(np.searchsorted(members, column)))]
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

    Attributes
    ----------
    moves
        How far each table moves each cell, in parts of the question's level, ``(s, n)``.
    """

    def __init__(self, program: Program, asked: Sides, learned: _Learned) -> None:
        self.program = program
        self.asked = asked
        self.learned = learned
        self.moves = np.zeros((len(asked), len(program.columns)))
        self._target = np.searchsorted(program.columns, asked.columns)
        self._sign = np.where(asked.upward, 1.0, -1.0)
        self._failures = np.zeros(len(asked), dtype=np.int64)
        place = {key: k for k, key in enumerate(self._keys(asked.upward))}
        self._other = [place.get(key, -1) for key in self._keys(~asked.upward)]

    def _keys(self, upward: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
        return list(zip(self.asked.columns.tolist(), self.asked.attackers.tolist(), upward.tolist(), strict=True))

    def start(self) -> bool:
        """Find a table for every question; return whether each has one."""
        for question in range(len(self.asked)):
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

        The difference of two tables of one question, with the cell and without, takes it out of other tables too.
        Questions that have failed before are asked first.
        """
        if self.learned.forbids(cell):
            return False
        self.program.share[cell] = 0.0
        own = self._target == cell  # a cell that is shown has nothing to keep
        using = np.flatnonzero((np.abs(self.moves[:, cell]) > _USED) & ~own)
        found: dict[int, NDArray[np.float64]] = {}
        way_round: NDArray[np.float64] | None = None
        for question in using[np.argsort(-self._failures[using], kind="stable")].tolist():
            table = None if way_round is None else self._rerouted(question, cell, way_round)
            if table is None:
                answer = self.program.table(self.asked, question)
                if not answer.answers:
                    self._failures[question] += 1
                    self.program.share[cell] = 1.0
                    self.learned.learn(answer.reach, self.asked, question)
                    return False
                table = answer.moves
                way_round = self.moves[question] - table
            found[question] = table
        for question, table in found.items():
            self.moves[question] = table
        self.moves[own] = 0.0
        self.learned.show(cell)
        return True

    def _rerouted(self, question: int, cell: int, way_round: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return a table without a cell, its moves led round it, None where that leaves too little or a room."""
        moves = self.moves[question]
        table = moves - (moves[cell] / way_round[cell]) * way_round
        table[cell] = 0.0
        table[np.abs(table) <= _USED] = 0.0
        reached = float(table[self._target[question]] * self._sign[question])
        if reached < _LEAST:
            return None
        table /= reached
        return table if self._fits(table, question) else None

    def _fits(self, table: NDArray[np.float64], question: int) -> bool:
        """Return whether a table leaves no room of its attacker, and moves its cell by the level."""
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
