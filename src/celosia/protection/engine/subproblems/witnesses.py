"""Witnesses that answer the questions of a pattern, kept while cells are shown again, where cells form no network."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.cuts.capacity import Cut, CutBuilder, Reach
from celosia.protection.engine.master import CutPool
from celosia.protection.engine.parameters import PARAMETERS, HeuristicParameters
from celosia.protection.engine.subproblems.lp import AttackerProgram
from celosia.protection.engine.subproblems.requirements import SideRequirements
from celosia.protection.engine.subproblems.reroute import Rerouting
from celosia.tolerance import CUT_SATISFIED, SUM_ROUNDING, WITNESS_REACHED, WITNESS_ZERO


def reduce_component(
    tables: Witnesses, order: NDArray[np.int64], known: NDArray[np.float64] | None, late: Callable[[], bool]
) -> NDArray[np.int64] | None:
    """Return the columns of a component that is no network that stay hidden."""
    if not tables.start(known):
        return None
    members = tables.program.columns
    stays = [column for column in order.tolist() if late() or not tables.show(int(np.searchsorted(members, column)))]
    return np.array(stays, dtype=np.int64)


class Witnesses:
    """A table for every question.

    Parameters
    ----------
    program
        Finds tables; its shares say what is hidden.
    asked
        The questions.
    learned
        Cuts that tell which cells must stay.
    rerouting
        Finds ways round cells.
    parameters
        How much effort a cell is worth.

    Attributes
    ----------
    moves
        How far each table moves each cell, in parts of the question's level, ``(s, n)``.
    """

    def __init__(
        self,
        program: AttackerProgram,
        asked: SideRequirements,
        learned: LearnedCuts,
        rerouting: Rerouting,
        parameters: HeuristicParameters = PARAMETERS.heuristics,
    ) -> None:
        self.program = program
        self._parameters = parameters
        self.asked = asked
        self.learned = learned
        self.rerouting = rerouting
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
            if known is not None and self._is_witness(known[question] / self.asked.levels[question], question):
                self.moves[question] = known[question] / self.asked.levels[question]
                continue
            other = self._other[question]
            if 0 <= other < question:
                turned = -self.moves[other] / abs(self.moves[other, self._target[question]])
                if self._is_witness(turned, question):
                    self.moves[question] = turned
                    continue
            table = self.program.find_witness(self.asked, question)
            if not table.is_reached:
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
        using = np.flatnonzero((np.abs(self.moves[:, cell]) > WITNESS_ZERO) & ~own)
        tables, fits = self._reroute(using, cell)
        self.program.share[cell] = 0.0
        asked = np.flatnonzero(~fits)[: self._parameters.most_programs + 1]
        for k in asked[np.argsort(-self._failures[using[asked]], kind="stable")].tolist():
            answer = self.program.find_witness(self.asked, int(using[k]))
            if not answer.is_reached or len(asked) > self._parameters.most_programs:
                self._failures[using[k]] += not answer.is_reached
                self.program.share[cell] = 1.0
                self.learned.learn(answer.reach, self.asked, int(using[k]))
                return False
            tables[k] = answer.moves
        self.moves[using] = tables
        self.moves[own] = 0.0
        self.learned.show(cell)
        return True

    def _reroute(self, using: NDArray[np.int64], cell: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return tables that are led round a cell, and which of them still answer their question."""
        moves = self.moves[using]
        detour = self.rerouting.find_detour(cell, self.program.share) if len(using) else None
        if detour is None:
            return moves, np.zeros(len(using), dtype=bool)
        tables = moves - moves[:, [cell]] * detour
        tables[:, cell] = 0.0
        tables[np.abs(tables) <= WITNESS_ZERO] = 0.0
        reached = tables[np.arange(len(using)), self._target[using]] * self._sign[using]
        fits = reached >= self._parameters.least_rerouted
        tables[fits] /= reached[fits, None]
        for k in np.flatnonzero(fits).tolist():
            fits[k] = self._is_witness(tables[k], int(using[k]))
        return tables, fits

    def _is_witness(self, table: NDArray[np.float64], question: int) -> bool:
        """Return whether a table leaves no room of its attacker, and moves its cell by the level."""
        if table[self._target[question]] * self._sign[question] < 1.0 - WITNESS_REACHED:
            return False
        below, above = self.program.rooms(int(self.asked.attackers[question]), float(self.asked.levels[question]))
        return bool(np.all((table >= below - WITNESS_ZERO) & (table <= above + WITNESS_ZERO)))


class LearnedCuts:
    """Cuts that tell at once which cells must stay hidden.

    Parameters
    ----------
    builder
        Makes cuts.
    pool
        The cuts that are known.
    members
        The columns of the component: no other column is hidden.
    known
        Levels are those of the problem, so that what is learned holds for it.
    """

    def __init__(self, builder: CutBuilder, pool: CutPool, members: NDArray[np.int64], *, known: bool) -> None:
        self._builder = builder
        self._pool = pool
        self._known = known
        self._members = members
        self._hidden = np.zeros(len(builder.problem), dtype=bool)
        self._hidden[members] = True
        self._holds: list[set[int]] = [set() for _ in members]
        self._slack: list[float] = []
        self._cuts: list[Cut] = []
        for cut in pool.cuts:
            self._add(cut)

    def _add(self, cut: Cut) -> None:
        """Watch a cut that the pattern satisfies; others are about other components."""
        slack = -cut.missing(self._hidden.astype(np.float64))
        if slack < -SUM_ROUNDING or cut.right <= 0 or cut.lean:
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
        return any(self._slack[number] - self._value(number, cell) < -CUT_SATISFIED for number in self._holds[cell])

    def show(self, cell: int) -> None:
        """Take note that a cell is shown."""
        self._hidden[self._members[cell]] = False
        for number in self._holds[cell]:
            self._slack[number] -= self._value(number, cell)

    def learn(self, reach: Reach | None, asked: SideRequirements, question: int) -> None:
        """Make a cut of what stopped a question."""
        column = int(asked.columns[question])
        cut = None if reach is None else self._builder.build_cut([reach], float(asked.levels[question]), column)
        if cut is not None:
            self._add(cut)
            if self._known:
                self._pool.add([cut])
