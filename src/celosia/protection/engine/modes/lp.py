"""The attackers' subproblems as linear programs, where cells form no networks, and the witnesses that they found.

A program stays open from one subproblem to the next. The witness of a subproblem is tried first when it comes again: as
long as it fits into the capacities, nothing need be solved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.capacity import CutBuilder
from celosia.protection.engine.modes.parameters import SEPARATION, ModeSeparationParameters
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.subproblems.requirements import SideRequirements
from celosia.protection.engine.subproblems.slacks import Ratios, SlacksAt, UpDown
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Solution
from celosia.tolerance import (
    CAPACITY_IN_LEVELS,
    LARGEST_USUAL_SIDE,
    MULTIPLIER_ZERO,
    SMALLEST_USUAL_SIDE,
    WITNESS_EXCEEDS,
    WITNESS_REACHED,
    WITNESS_ZERO,
)


@dataclass(frozen=True, slots=True, eq=False)
class ModeWitness:
    """A move of some columns that satisfies the relations, and how far it takes the target cell."""

    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    reach: float

    def fits(self, up: NDArray[np.float64], down: NDArray[np.float64]) -> bool:
        """Return whether capacities allow the move."""
        zero = WITNESS_ZERO * (1.0 if self.reach >= SMALLEST_USUAL_SIDE else self.reach)
        inside = (self.values <= up[self.columns] + zero) & (self.values >= -down[self.columns] - zero)
        return bool(inside.all())

    def times(self, factor: float) -> ModeWitness:
        """Return the move times a factor."""
        return ModeWitness(self.columns, self.values * factor, self.reach * factor)


@dataclass(eq=False)
class AttackerPrograms:
    """The attackers' linear programs, one for every component of a problem, and a witness for every subproblem so far.

    Parameters
    ----------
    problem, sides
        The relations, and the subproblems with levels in units.
    support
        All columns, split into components.
    builder
        Makes ratios of multipliers.
    backend
        The solver.
    parameters
        When a move is worth keeping.
    """

    problem: ProtectionProblem
    sides: SideRequirements
    support: SupportGraph
    builder: CutBuilder
    backend: Backend
    parameters: ModeSeparationParameters = SEPARATION
    _open: dict[int, _ComponentProgram] = field(default_factory=dict)
    _witnesses: dict[int, ModeWitness] = field(default_factory=dict)

    def recall(self, slacks: SlacksAt, pair: Sequence[int]) -> NDArray[np.float64] | None:
        """Return how far known witnesses take the cell of a subproblem, of a sliding level to both sides.

        None where there are none, or the point does not allow them.
        """
        witnesses = [self._witnesses.get(k) for k in pair]
        reach = [
            witness.reach
            for k, witness in zip(pair, witnesses, strict=True)
            if witness is not None and witness.fits(*slacks.capacities(k))
        ]
        return np.array(reach) if len(reach) == len(pair) else None

    def needed_slacks(self, sides: NDArray[np.int64]) -> UpDown | None:
        """Return slacks that let subproblems reach their levels by their last witnesses; None where one has none."""
        witnesses = [self._witnesses.get(k) for k in sides.tolist()]
        found = [witness for witness in witnesses if witness is not None]
        up, down = np.zeros(len(self.problem)), np.zeros(len(self.problem))
        if len(found) < len(witnesses):
            return None
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(witness.columns for witness in found)])
        values = np.concatenate([np.zeros(0), *(witness.values for witness in found)])
        np.maximum.at(up, columns, values)
        np.maximum.at(down, columns, -values)
        return up, down

    def keep(self, slacks: SlacksAt, pair: Sequence[int], moves: Sequence[ModeWitness]) -> None:
        """Keep the moves of a subproblem, of a sliding level both, scaled so that they reach the level together.

        Those that are scaled up are kept only if the attacker's bounds and what may be published allow them.
        """
        level, attacker = float(self.sides.levels[pair[0]]), int(self.sides.attackers[pair[0]])
        reach = sum(move.reach for move in moves)
        if reach < level * self.parameters.reuse:
            return
        scaled = [move.times(level / reach) for move in moves]
        up, down = (bound * (1.0 + WITNESS_EXCEEDS) for bound in slacks.bounds.largest_capacities(attacker))
        if reach >= level or all(move.fits(up, down) for move in scaled):
            self._witnesses.update(zip(pair, scaled, strict=True))

    def share(self, slacks: SlacksAt, k: int, move: ModeWitness, rest: NDArray[np.int64]) -> None:
        """Keep the move of a subproblem for others whose level it reaches as well, those of sliding levels left out."""
        sides = self.sides
        rest = rest[(sides.attackers[rest] == sides.attackers[k]) & ~sides.sliding[rest]]
        values = np.zeros(len(self.problem))
        values[move.columns] = move.values
        reach = np.where(sides.upward[rest], 1.0, -1.0) * values[sides.columns[rest]]
        symmetric = np.array_equal(*slacks.capacities(k)) if slacks.shared else False
        sign = np.where(symmetric & (reach < 0), -1.0, 1.0)
        for other, way, far in zip(rest.tolist(), sign.tolist(), (reach * sign).tolist(), strict=True):
            if far >= float(sides.levels[other]) * (1.0 - WITNESS_REACHED):
                factor = way * float(sides.levels[other]) / far
                self._witnesses[other] = ModeWitness(move.columns, move.values * factor, far * abs(factor))

    def solve(self, slacks: SlacksAt, k: int) -> tuple[ModeWitness, Ratios | None]:
        """Return a move that takes the cell of a subproblem as far as it goes, and dual ratios that bound it.

        No further than its level and what is published about itself: so moves stay possible from one point to the next.
        """
        component = int(self.support.parts.component[self.sides.columns[k]])
        if component not in self._open:
            members = np.sort(self.support.parts.members(component))
            self._open[component] = _ComponentProgram.of(self.problem, members, self.backend)
        program = self._open[component]
        target = float(slacks.targets(np.array([k]))[0])
        solution = program.solve(self.sides, k, target, *slacks.capacities(k))
        if solution.x is None or solution.duals is None:
            raise SolverError.one("attack", f"ended with {solution.status}.", "Try another solver, or report this.")
        moving = np.flatnonzero(np.abs(solution.x) > WITNESS_ZERO / _scale_of(float(self.sides.levels[k])))
        columns = program.columns[moving]
        own = solution.x[moving][columns == self.sides.columns[k]]
        move = ModeWitness(columns, solution.x[moving], float(np.abs(own).sum()))
        return move, self._ratios(program, solution.duals, k)

    def _ratios(self, program: _ComponentProgram, duals: NDArray[np.float64], k: int) -> Ratios | None:
        """Return the ratios of a dual solution, for the direction of a subproblem; None where it says nothing."""
        gamma = np.where(np.abs(duals) > MULTIPLIER_ZERO, duals, 0.0)
        used = np.flatnonzero(gamma)
        if not len(used):
            return None
        rows, gamma = self.support.complete(program.rows[used], gamma[used])
        found = self.builder.ratios(rows, gamma, int(self.sides.columns[k]))
        return found if found is None or self.sides.upward[k] else (found[0], -found[1])


@dataclass(frozen=True, eq=False)
class _ComponentProgram:
    """The attackers' program of a component, which stays open, with its bounds of the last subproblem."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    model: Model
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def of(cls, problem: ProtectionProblem, columns: NDArray[np.int64], backend: Backend) -> _ComponentProgram:
        matrix = sp.csr_array(problem.matrix[:, columns])
        rows = np.flatnonzero((np.diff(matrix.indptr) > 0) & ~problem.implied)
        none = np.zeros(len(columns))
        program = LinearProgram.of_moves(matrix[rows], none, none)
        return cls(columns, rows, backend.open(program), (none.copy(), none.copy()))

    def solve(
        self, sides: SideRequirements, k: int, target: float, up: NDArray[np.float64], down: NDArray[np.float64]
    ) -> Solution:
        """Return the solution that takes the cell of a subproblem as far as it goes, but no further than a target."""
        place = int(np.searchsorted(self.columns, sides.columns[k]))
        upward, scale = bool(sides.upward[k]), _scale_of(float(sides.levels[k]))
        target, most = target * scale, CAPACITY_IN_LEVELS * float(sides.levels[k]) * scale
        below, above = -np.minimum(down[self.columns] * scale, most), np.minimum(up[self.columns] * scale, most)
        below[place], above[place] = (0.0, target) if upward else (-target, 0.0)
        changed = np.flatnonzero((below != self.bounds[0]) | (above != self.bounds[1]))
        self.model.change_bounds(changed, below[changed], above[changed])
        self.bounds[0][:], self.bounds[1][:] = below, above
        at = np.array([place])
        self.model.change_costs(at, np.array([-1.0 if upward else 1.0]))
        solution = self._solve_or_again()
        self.model.change_costs(at, np.zeros(1))
        return solution if scale == 1.0 or solution.x is None else replace(solution, x=solution.x / scale)

    def _solve_or_again(self) -> Solution:
        """Return the solution of the program: standing still is always possible, without one a basis went wrong."""
        try:
            solution = self.model.solve(method="primal")
        except SolverError:
            return self.model.solve(method="afresh")
        return solution if solution.x is not None else self.model.solve(method="afresh")


def _scale_of(level: float) -> float:
    """Return a power of two that makes a level about one for a solver; one where it is of usual size."""
    usual = SMALLEST_USUAL_SIDE <= level <= LARGEST_USUAL_SIDE
    return 1.0 if usual else 2.0 ** -math.floor(math.log2(level))
