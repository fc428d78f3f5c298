"""Witnesses of the requirements in a pattern, kept while cells are shown again, where cells form no network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.parameters import PARAMETERS, HeuristicParameters
from celosia.tolerance import CUT_SATISFIED, SUM_ROUNDING, WITNESS_REACHED, WITNESS_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import Cut, CutBuilder, Reach
    from celosia.protection.engine.master import CutPool
    from celosia.protection.engine.subproblems.lp import AttackerProgram
    from celosia.protection.engine.subproblems.requirements import SideRequirements
    from celosia.protection.engine.subproblems.reroute import Rerouting


def reduce_component(
    witnesses: PatternWitnesses, order: NDArray[np.int64], known: NDArray[np.float64] | None, late: Callable[[], bool]
) -> NDArray[np.int64] | None:
    """Return the columns of a component that stay hidden when the others are shown in order; None if it is not safe."""
    if not witnesses.start(known):
        return None
    members = witnesses.program.columns
    stays = [column for column in order.tolist() if late() or not witnesses.show(int(np.searchsorted(members, column)))]
    return np.array(stays, dtype=np.int64)


class PatternWitnesses:
    """For every requirement a congruent table that shows that it is met.

    Parameters
    ----------
    program
        Finds witnesses; its shares say what is hidden.
    sides
        The requirements.
    learned
        Cuts that tell which cells must stay.
    rerouting
        Finds ways round cells.
    parameters
        How much effort a cell is worth.

    Attributes
    ----------
    moves
        How far each witness moves each cell, in parts of its level, ``(s, n)``.
    """

    def __init__(
        self,
        program: AttackerProgram,
        sides: SideRequirements,
        learned: LearnedCuts,
        rerouting: Rerouting,
        parameters: HeuristicParameters = PARAMETERS.heuristics,
    ) -> None:
        self.program = program
        self._parameters = parameters
        self.sides = sides
        self.learned = learned
        self.rerouting = rerouting
        self.moves = np.zeros((len(sides), len(program.columns)))
        self._target = np.searchsorted(program.columns, sides.columns)
        self._sign = np.where(sides.upward, 1.0, -1.0)
        self._failures = np.zeros(len(sides), dtype=np.int64)
        place = {key: k for k, key in enumerate(self._keys(sides.upward))}
        self._other = [place.get(key, -1) for key in self._keys(~sides.upward)]

    def _keys(self, upward: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
        return list(zip(self.sides.columns.tolist(), self.sides.attackers.tolist(), upward.tolist(), strict=True))

    def start(self, known: NDArray[np.float64] | None) -> bool:
        """Find a witness for every requirement, known ones first; return whether each has one."""
        for number in range(len(self.sides)):
            if known is not None and self._is_witness(known[number] / self.sides.levels[number], number):
                self.moves[number] = known[number] / self.sides.levels[number]
                continue
            other = self._other[number]
            if 0 <= other < number:
                turned = -self.moves[other] / abs(self.moves[other, self._target[number]])
                if self._is_witness(turned, number):
                    self.moves[number] = turned
                    continue
            witness = self.program.find_witness(self.sides, number)
            if not witness.is_reached:
                return False
            self.moves[number] = witness.moves
        return True

    def show(self, cell: int) -> bool:
        """Show a cell if every requirement keeps a witness; return whether that is so.

        The shortest detour takes the cell out of most witnesses. The other subproblems are solved again, those that
        have failed before first.
        """
        if self.learned.forbids(cell):
            return False
        own = self._target == cell  # a cell that is shown has nothing to keep
        using = np.flatnonzero((np.abs(self.moves[:, cell]) > WITNESS_ZERO) & ~own)
        witnesses, fits = self._reroute(using, cell)
        self.program.share[cell] = 0.0
        again = np.flatnonzero(~fits)[: self._parameters.most_programs + 1]
        for k in again[np.argsort(-self._failures[using[again]], kind="stable")].tolist():
            found = self.program.find_witness(self.sides, int(using[k]))
            if not found.is_reached or len(again) > self._parameters.most_programs:
                self._failures[using[k]] += not found.is_reached
                self.program.share[cell] = 1.0
                self.learned.learn(found.reach, self.sides, int(using[k]))
                return False
            witnesses[k] = found.moves
        self.moves[using] = witnesses
        self.moves[own] = 0.0
        self.learned.show(cell)
        return True

    def _reroute(self, using: NDArray[np.int64], cell: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return witnesses led round a cell, and which of them still reach their level."""
        moves = self.moves[using]
        detour = self.rerouting.find_detour(cell, self.program.share) if len(using) else None
        if detour is None:
            return moves, np.zeros(len(using), dtype=bool)
        witnesses = moves - moves[:, [cell]] * detour
        witnesses[:, cell] = 0.0
        witnesses[np.abs(witnesses) <= WITNESS_ZERO] = 0.0
        reached = witnesses[np.arange(len(using)), self._target[using]] * self._sign[using]
        fits = reached >= self._parameters.least_rerouted
        witnesses[fits] /= reached[fits, None]
        for k in np.flatnonzero(fits).tolist():
            fits[k] = self._is_witness(witnesses[k], int(using[k]))
        return witnesses, fits

    def _is_witness(self, table: NDArray[np.float64], number: int) -> bool:
        """Return whether a table keeps its attacker's bounds, and moves its cell by the level."""
        if table[self._target[number]] * self._sign[number] < 1.0 - WITNESS_REACHED:
            return False
        below, above = self.program.bounds_of(int(self.sides.attackers[number]), float(self.sides.levels[number]))
        return bool(np.all((table >= below - WITNESS_ZERO) & (table <= above + WITNESS_ZERO)))


class LearnedCuts:
    """Cuts that tell at once which cells must stay hidden.

    Parameters
    ----------
    builder
        Builds cuts.
    pool
        The cuts that are known.
    members
        The columns of the component: no other column is hidden.
    known
        Levels are those of the problem, so that cuts learned here are valid for it.
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
        """Keep the slack of a cut that the pattern satisfies; others are about other components."""
        slack = -cut.violation(self._hidden.astype(np.float64))
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
        """Return whether a cut would be violated without the cell."""
        return any(self._slack[number] - self._value(number, cell) < -CUT_SATISFIED for number in self._holds[cell])

    def show(self, cell: int) -> None:
        """Update the slacks: a cell is shown."""
        self._hidden[self._members[cell]] = False
        for number in self._holds[cell]:
            self._slack[number] -= self._value(number, cell)

    def learn(self, reach: Reach | None, sides: SideRequirements, number: int) -> None:
        """Build a cut from the bound of a move that misses its level."""
        column = int(sides.columns[number])
        cut = None if reach is None else self._builder.build_cut([reach], float(sides.levels[number]), column)
        if cut is not None:
            self._add(cut)
            if self._known:
                self._pool.add([cut])
