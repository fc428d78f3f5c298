"""Attackers' subproblems as linear programs, for components of a support that are no networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import SolverError
from celosia.protection.engine.parameters import PARAMETERS
from celosia.solve.backend import Backend, Method, Model
from celosia.solve.problem import LinearProgram
from celosia.tolerance import FAR_BOUND, LEVEL_REACHED, MULTIPLIER_ZERO, UNBOUNDED

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder, Reach
    from celosia.protection.engine.subproblems.known_moves import KnownMoves
    from celosia.protection.engine.subproblems.requirements import SideRequirements

Complete = Callable[[NDArray[np.int64], NDArray[np.float64]], tuple[NDArray[np.int64], NDArray[np.float64]]]
"""From rows and multipliers to others whose combination has fewer cells; see `SupportGraph.complete`."""

_METHODS: tuple[Method, ...] = ("dual", "primal")


class ProgramSolution(NamedTuple):
    """The solution of one subproblem.

    Parameters
    ----------
    place
        The requirement.
    reached
        How far the cell moves, as a part of its level, no more than 1.
    reaches
        Bounds on that by multipliers, none where the level is reached.
    """

    place: int
    reached: float
    reaches: list[Reach]


class Witness(NamedTuple):
    """The optimal table of a subproblem in a pattern: a witness where the level is reached.

    Parameters
    ----------
    moves
        How far every cell moves, in parts of the level.
    reached
        How far the required cell moves.
    reach
        A bound on that by multipliers; None where the level is reached, or they say nothing.
    """

    moves: NDArray[np.float64]
    reached: float
    reach: Reach | None

    @property
    def is_reached(self) -> bool:
        """Whether the level is reached."""
        return self.reached >= 1.0 - LEVEL_REACHED


@dataclass(frozen=True, eq=False)
class AttackerProgram:
    """The subproblems of one component as an open linear program.

    Moves are counted in parts of the required level, and attackers' bounds are capped at it, so that from one
    subproblem to the next few bounds of the program change.

    Parameters
    ----------
    builder
        Turns multipliers into bounds of moves.
    columns
        The component, as columns of the problem.
    rows
        Its rows.
    share
        By how much each cell is hidden.
    model, bounds
        The open model, and the bounds that it has now.
    complete
        Removes determined cells from a combination of rows.
    least_ratio
        See `celosia.protection.engine.parameters.CutParameters`.
    """

    builder: CutBuilder
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    share: NDArray[np.float64]
    model: Model
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]
    complete: Complete | None = None
    least_ratio: float = PARAMETERS.cuts.least_ratio

    @classmethod
    def of(
        cls,
        builder: CutBuilder,
        columns: NDArray[np.int64],
        share: NDArray[np.float64],
        backend: Backend,
        complete: Complete | None = None,
        least_ratio: float = PARAMETERS.cuts.least_ratio,
    ) -> AttackerProgram:
        """Return the program of a component."""
        matrix = sp.csr_array(builder.problem.matrix[:, columns])
        rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
        problem = LinearProgram.of_moves(matrix[rows], -share, share)
        return cls(
            builder, columns, rows, share, backend.open(problem), (-share.copy(), share.copy()), complete, least_ratio
        )

    def solve(self, sides: SideRequirements) -> Iterator[ProgramSolution]:
        """Yield the solutions of requirements about cells of the component, in the order of their levels.

        No coefficient of a cut exceeds 1, however large the attacker's bound U, so U is capped at the level; and as a
        cell with ratio r contributes min(r U, 1), a second program caps it at 1 / r instead.
        """
        for k in np.lexsort((sides.upward, sides.columns, sides.levels)).tolist():
            who, level = int(sides.attackers[k]), float(sides.levels[k])
            target = int(np.searchsorted(self.columns, sides.columns[k]))
            upward = bool(sides.upward[k])
            solution = self._push(target, self.bounds_of(who, level, 1.0), upward=upward)
            reached = abs(float(solution.x[target]))
            reaches = []
            if reached < 1.0 - LEVEL_REACHED:
                reaches.append(self._reach(solution, k, sides))
                cap = 1.0 / (np.abs(solution.reduced_costs) + self.least_ratio)
                again = self._push(target, self.bounds_of(who, level, cap), upward=upward)
                reaches.append(self._reach(again, k, sides))
            yield ProgramSolution(k, min(reached, 1.0), [reach for reach in reaches if reach is not None])

    def solve_exactly(
        self, sides: SideRequirements, known: KnownMoves, *, why: bool = True
    ) -> Iterator[ProgramSolution]:
        """Yield the solutions in a pattern, with attackers' bounds as they are, on request with their reaches.

        Requirements that a known move serves need no program; the highest levels come first, whose moves serve most.
        """
        hidden = np.zeros(len(self.builder.problem), dtype=bool)
        hidden[self.columns] = True
        served = known.find_served(hidden, sides)
        for k in np.flatnonzero(served).tolist():
            yield ProgramSolution(k, 1.0, [])
        for k in np.argsort(-sides.levels, kind="stable").tolist():
            if served[k]:
                continue
            table = self.find_witness(sides, k, why=why)
            yield ProgramSolution(k, table.reached, [] if table.reach is None else [table.reach])
            served[k] = True
            if table.is_reached:
                known.add(self.columns, table.moves, float(sides.levels[k]))
                new = np.flatnonzero(~served)
                new = new[known.find_served_by_last(sides.take(new))]
                served[new] = True
                for other in new.tolist():
                    yield ProgramSolution(other, 1.0, [])

    def find_witness(self, sides: SideRequirements, k: int, *, why: bool = True) -> Witness:
        """Return the optimal table of a requirement in a pattern, with moves no longer than the level if possible."""
        target = int(np.searchsorted(self.columns, sides.columns[k]))
        who, level = int(sides.attackers[k]), float(sides.levels[k])
        for cap in (1.0, UNBOUNDED):
            vertex = self._push(target, self.bounds_of(who, level, cap), upward=bool(sides.upward[k]))
            reached = min(abs(float(vertex.x[target])), 1.0)
            if reached >= 1.0 - LEVEL_REACHED:
                return Witness(vertex.x, reached, None)
        return Witness(vertex.x, reached, self._reach(vertex, k, sides) if why else None)

    def _push(self, target: int, bounds: tuple[NDArray[np.float64], NDArray[np.float64]], *, upward: bool) -> _Vertex:
        """Return the solution in which a cell moves furthest, no further than its level."""
        below, above = bounds
        if upward:
            above[target] = 1.0
        else:
            below[target] = -1.0
        changed = np.flatnonzero((below != self.bounds[0]) | (above != self.bounds[1]))
        self.model.change_bounds(changed, below[changed], above[changed])
        self.bounds[0][:], self.bounds[1][:] = below, above
        self._aim(target, -1.0 if upward else 1.0)
        try:
            solution = _solve(self.model, _METHODS)
        except SolverError:
            solution = self._solve_without_far_bounds()
        self._aim(target, 0.0)
        return solution

    def _solve_without_far_bounds(self) -> _Vertex:
        """Return the solution in which bounds that nothing reaches are none: solvers lose their way among such sizes.

        The cell that is pushed has its level for a bound, so the problem stays bounded.
        """
        below, above = self.bounds
        far = np.flatnonzero((below <= -FAR_BOUND) | (above >= FAR_BOUND))
        low, high = below[far], above[far]
        self.model.change_bounds(
            far, np.where(low <= -FAR_BOUND, -np.inf, low), np.where(high >= FAR_BOUND, np.inf, high)
        )
        try:
            return _solve(self.model, ("afresh", "interior"))
        finally:
            self.model.change_bounds(far, low, high)

    def _aim(self, target: int, cost: float) -> None:
        self.model.change_costs(np.array([target]), np.array([cost]))

    def bounds_of(
        self, who: int, level: float, cap: NDArray[np.float64] | float = UNBOUNDED
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper bounds of moves of an attacker, in parts of the level, no wider than the cap."""
        down, up = self.builder.down[who][self.columns] / level, self.builder.up[who][self.columns] / level
        return -np.minimum(down, cap) * self.share, np.minimum(up, cap) * self.share

    def _reach(self, solution: _Vertex, k: int, sides: SideRequirements) -> Reach | None:
        rows, gamma = self.rows, solution.duals
        if self.complete is not None:
            used = np.flatnonzero(np.abs(gamma) > MULTIPLIER_ZERO)
            rows, gamma = self.complete(rows[used], gamma[used])
        return self.builder.bound_move(
            rows,
            gamma,
            int(sides.columns[k]),
            int(sides.attackers[k]),
            upward=bool(sides.upward[k]),
        )


class _Vertex(NamedTuple):
    """An optimal vertex with its multipliers."""

    x: NDArray[np.float64]
    duals: NDArray[np.float64]
    reduced_costs: NDArray[np.float64]


def _solve(model: Model, methods: Sequence[Method]) -> _Vertex:
    """Return the optimum by the first method that finds it."""
    for method in methods:
        found = model.solve(method=method)
        if found.x is not None and found.duals is not None and found.reduced_costs is not None:
            return _Vertex(found.x, found.duals, found.reduced_costs)
    raise SolverError.one("solver", f"gives no answer to an attacker's problem: {found.status.value}.", "Report this.")
