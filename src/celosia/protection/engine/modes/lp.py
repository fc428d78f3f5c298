"""The attackers' programs on points of any modes, where cells form no networks, and the moves that they found.

A program stays open from one question to the next. A move that was found for a question is tried first when it is asked
again: as long as it fits into the rooms, nothing need be solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.capacity import CutBuilder
from celosia.protection.engine.modes.slacks import Opening, Ratios
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.subproblems.requirements import SideRequirements
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Solution

_NOISE = 1e-9
"""Smaller multipliers are none, and a move fits into rooms that it exceeds by no more."""

_REACHED = 1.0 - 1e-9
"""A level that is reached but for this is reached; the move is scaled up by what is missing."""

_NEARLY = 1.0 + 1e-6
"""Rooms that a move exceeds by no more than this factor are enough for it; the last word has the audit."""

_HALF = 0.5
"""Moves that reach less of a level are not worth scaling up."""


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A move of some columns, and how far it takes the cell in question."""

    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    far: float

    def fits(self, up: NDArray[np.float64], down: NDArray[np.float64]) -> bool:
        """Return whether rooms allow it."""
        inside = (self.values <= up[self.columns] + _NOISE) & (self.values >= -down[self.columns] - _NOISE)
        return bool(inside.all())

    def scaled(self, part: float) -> Move:
        """Return the move times a factor."""
        return Move(self.columns, self.values * part, self.far * part)


@dataclass(eq=False)
class Programs:
    """The attackers' programs of all components of a task.

    Parameters
    ----------
    task, sides
        The relations, and the questions with levels in units.
    whole
        All columns, taken apart.
    builder
        Makes ratios of multipliers.
    backend
        The solver.
    """

    task: ProtectionProblem
    sides: SideRequirements
    whole: SupportGraph
    builder: CutBuilder
    backend: Backend
    _open: dict[int, _Program] = field(default_factory=dict)
    _moves: dict[int, Move] = field(default_factory=dict)

    def known(self, opening: Opening, pair: Sequence[int]) -> NDArray[np.float64] | None:
        """Return how far moves that were found before take the cell of a question, of a sliding pair to both sides."""
        moves = [self._moves.get(k) for k in pair]
        far = [
            move.far
            for k, move in zip(pair, moves, strict=True)
            if move is not None and move.fits(*opening.rooms(k, network=False))
        ]
        return np.array(far) if len(far) == len(pair) else None

    def needed(self, questions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return slacks up and down, ``(n,)``, that let questions reach their levels; None where some are not known.

        They are those of the moves that were found last.
        """
        moves = [self._moves.get(k) for k in questions.tolist()]
        found = [move for move in moves if move is not None]
        up, down = np.zeros(len(self.task)), np.zeros(len(self.task))
        if len(found) < len(moves):
            return None
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(move.columns for move in found)])
        values = np.concatenate([np.zeros(0), *(move.values for move in found)])
        np.maximum.at(up, columns, values)
        np.maximum.at(down, columns, -values)
        return up, down

    def keep(self, opening: Opening, pair: Sequence[int], moves: Sequence[Move]) -> None:
        """Remember moves of a question, or of a pair, scaled so that they reach its level together.

        Where they were scaled up, only if what the attacker knows and what may be published leave room for them.
        """
        level, who = float(self.sides.levels[pair[0]]), int(self.sides.attackers[pair[0]])
        far = sum(move.far for move in moves)
        if far < level * _HALF:
            return
        scaled = [move.scaled(level / far) for move in moves]
        up, down = (room * _NEARLY for room in opening.doors.widest(who))
        if far >= level or all(move.fits(up, down) for move in scaled):
            self._moves.update(zip(pair, scaled, strict=True))

    def share(self, opening: Opening, k: int, move: Move, rest: NDArray[np.int64]) -> None:
        """Remember a move for other questions whose level it reaches as well, those of sliding pairs left out."""
        sides = self.sides
        rest = rest[(sides.attackers[rest] == sides.attackers[k]) & ~sides.sliding[rest]]
        values = np.zeros(len(self.task))
        values[move.columns] = move.values
        far = np.where(sides.upward[rest], 1.0, -1.0) * values[sides.columns[rest]]
        even = np.array_equal(*opening.rooms(k, network=False)) if opening.shared else False
        sign = np.where(even & (far < 0), -1.0, 1.0)
        for other, way, reach in zip(rest.tolist(), sign.tolist(), (far * sign).tolist(), strict=True):
            if reach >= float(sides.levels[other]) * _REACHED:
                part = way * float(sides.levels[other]) / reach
                self._moves[other] = Move(move.columns, move.values * part, reach * abs(part))

    def pushed(self, opening: Opening, k: int) -> tuple[Move, Ratios | None]:
        """Return a move that takes the cell of a question as far as it goes, and ratios that say why no further.

        No further than its level and what is published about itself: so moves stay possible from one point to the next.
        """
        component = int(self.whole.parts.component[self.sides.columns[k]])
        if component not in self._open:
            members = np.sort(self.whole.parts.members(component))
            self._open[component] = _Program.of(self.task, members, self.backend)
        program = self._open[component]
        far = float(opening.wanted(np.array([k]))[0])
        solution = program.solved(self.sides, k, far, *opening.rooms(k, network=False))
        if solution.x is None or solution.duals is None:
            raise SolverError.one("attack", f"ended with {solution.status}.", "Try another solver, or report this.")
        moving = np.flatnonzero(np.abs(solution.x) > _NOISE)
        columns = program.columns[moving]
        own = solution.x[moving][columns == self.sides.columns[k]]
        move = Move(columns, solution.x[moving], float(np.abs(own).sum()))
        return move, self._ratios(program, solution.duals, k)

    def _ratios(self, program: _Program, duals: NDArray[np.float64], k: int) -> Ratios | None:
        gamma = np.where(np.abs(duals) > _NOISE, duals, 0.0)
        used = np.flatnonzero(gamma)
        if not len(used):
            return None
        rows, gamma = self.whole.complete(program.rows[used], gamma[used])
        found = self.builder.ratios(rows, gamma, int(self.sides.columns[k]))
        return found if found is None or self.sides.upward[k] else (found[0], -found[1])


@dataclass(frozen=True, eq=False)
class _Program:
    """The attackers' program of a component, which stays open, with its bounds of the last question."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    model: Model
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def of(cls, task: ProtectionProblem, columns: NDArray[np.int64], backend: Backend) -> _Program:
        matrix = sp.csr_array(task.matrix[:, columns], dtype=np.float64)
        rows = np.flatnonzero((np.diff(matrix.indptr) > 0) & ~task.implied)
        zero, none = np.zeros(len(rows)), np.zeros(len(columns))
        problem = LinearProgram(sp.csr_array(matrix[rows]), zero, zero, none, none, none)
        return cls(columns, rows, backend.open(problem), (none.copy(), none.copy()))

    def solved(
        self, sides: SideRequirements, k: int, far: float, up: NDArray[np.float64], down: NDArray[np.float64]
    ) -> Solution:
        """Push the cell of a question as far as it goes, but no further than this."""
        target = int(np.searchsorted(self.columns, sides.columns[k]))
        upward = bool(sides.upward[k])
        below, above = -down[self.columns], up[self.columns]
        below[target], above[target] = (0.0, far) if upward else (-far, 0.0)
        changed = np.flatnonzero((below != self.bounds[0]) | (above != self.bounds[1]))
        self.model.change_bounds(changed, below[changed], above[changed])
        self.bounds[0][:], self.bounds[1][:] = below, above
        at = np.array([target])
        self.model.change_costs(at, np.array([-1.0 if upward else 1.0]))
        solution = self.model.solve(method="primal")
        if solution.x is None:  # standing still is always possible: a basis went wrong
            solution = self.model.solve(method="afresh")
        self.model.change_costs(at, np.zeros(1))
        return solution
