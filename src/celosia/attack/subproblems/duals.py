"""Multipliers of relations that prove how far a cell can move.

Cells that follow one after the other, each as the last unknown of a relation, need no solver: their chain of relations
is the proof. For the others a linear program proposes multipliers, which are made exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.exact import find_exact_moves, prove_reach
from celosia.attack.system.system import System
from celosia.errors import SolverError
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram, float_bounds
from celosia.solve.solution import Solution, Status
from celosia.table.relations import label_components
from celosia.table.table import Table
from celosia.tolerance import ENDLESS, RAY_ZERO


def prove_end(
    table: Table, system: System, cell: int, backend: Backend, *, upward: bool
) -> tuple[dict[int, Fraction], Fraction | None] | None:
    """Return multipliers of relations by which a cell cannot move further, and how far a known table moves it.

    Parameters
    ----------
    table, system
        The table, and what the attacker has to solve.
    cell
        A cell of the table.
    backend
        A solver.
    upward
        Up or down.

    Returns
    -------
    None where the cell can move without end. No multipliers where its own bound is the best; a reach, in counts of the
    cell, of None where no exact table is found whose whole cells are whole.
    """
    target = int(np.searchsorted(system.cells, cell))
    if target == len(system) or int(system.cells[target]) != cell:
        return {}, Fraction(0)
    peeling = _peel(system)
    found: dict[int, Fraction] = {}
    reached: Fraction | None = Fraction(0)
    if peeling.step[target] < 0:
        proof = _prove_component(system, peeling, target, backend, upward=upward)
        if proof is None:
            return None
        found, reached = proof
        if not found:
            return found, reached
    return _eliminate_peeled(table, system, peeling, cell, found), reached


def subtract_relations(table: Table, cell: int, multipliers: dict[int, Fraction]) -> dict[int, Fraction]:
    """Return what remains of a cell when multiplied relations are taken away: all coefficients that are not zero."""
    rest = {cell: Fraction(1)}
    for relation, factor in multipliers.items():
        _subtract(rest, table, relation, factor)
    return rest


@dataclass(frozen=True, slots=True, eq=False)
class _Peeling:
    """Cells that follow one after the other, each from a row in which it is the last unknown.

    Parameters
    ----------
    step
        When each column followed, -1 where it never does, ``(n,)``.
    row
        From which row, ``(n,)``.
    """

    step: NDArray[np.int64]
    row: NDArray[np.int64]


def _peel(system: System) -> _Peeling:
    matrix = system.matrix
    step = np.full(len(system), -1, dtype=np.int64)
    origin = np.full(len(system), -1, dtype=np.int64)
    terms = sp.csr_array((np.ones(matrix.nnz, dtype=np.int64), matrix.indices, matrix.indptr), shape=matrix.shape)
    for number in range(len(system)):
        last = np.flatnonzero(terms @ (step < 0).astype(np.int64) == 1)
        if not len(last):
            break
        part = matrix[last]
        row = np.repeat(last, np.diff(part.indptr))
        entry = np.flatnonzero(step[part.indices] < 0)
        columns, first = np.unique(part.indices[entry], return_index=True)
        step[columns], origin[columns] = number, row[entry[first]]
    return _Peeling(step, origin)


def _prove_component(
    system: System, peeling: _Peeling, target: int, backend: Backend, *, upward: bool
) -> tuple[dict[int, Fraction], Fraction | None] | None:
    """Return multipliers of relations that bound a cell's move, and how far a known table moves it, in counts.

    None where the cell can move without end; the reach is None where no exact table is found.
    """
    columns, rows = _component(system, peeling, target)
    matrix = sp.csr_array(system.matrix[rows][:, columns])
    up, down = system.up[columns], system.down[columns]
    place = int(np.searchsorted(columns, target))
    if _is_unbounded(matrix, up, down, place, backend, upward=upward):
        return None
    solution = _solve_furthest(matrix, -float_bounds(down), float_bounds(up), place, backend, upward=upward)
    x, duals = np.asarray(solution.x), np.asarray(solution.duals)
    moved = find_exact_moves(x, matrix, up, down, system.whole[columns])
    reached = None if moved is None else Fraction(int(moved[0][place]), moved[1]) * (1 if upward else -1)
    proof = prove_reach(-duals, place, matrix, up, down, upward=upward)
    own = int(up[place] if upward else down[place])
    if own < ENDLESS and (proof is None or own <= proof[0]):
        return {}, reached
    if proof is None:
        raise SolverError.one("explain", "no multipliers were found that hold exactly.", "Try another solver.")
    _, multipliers, denominator = proof
    sign = 1 if upward else -1
    own_steps, steps = _steps(system, np.array([target]))[0], _row_steps(system, rows)
    return {
        int(system.relations[row]): Fraction(sign * int(factor) * own_steps, denominator * step)
        for row, factor, step in zip(rows.tolist(), multipliers.tolist(), steps, strict=True)
        if factor
    }, reached


def _steps(system: System, columns: NDArray[np.int64]) -> list[int]:
    """Return how many units of the system's decimal one count of every column is."""
    return [10**system.decimals if whole else 1 for whole in system.whole[columns].tolist()]


def _row_steps(system: System, rows: NDArray[np.int64]) -> list[int]:
    """Return by how many units a row differs if it differs by one: those of whole cells alone count in ones."""
    part = sp.csr_array(system.matrix[rows])
    return [min(_steps(system, part.indices[a:b])) for a, b in zip(part.indptr[:-1], part.indptr[1:], strict=True)]


def _component(system: System, peeling: _Peeling, target: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns and rows of a cell's component, peeled ones left out."""
    left = np.flatnonzero(peeling.step < 0)
    inner = sp.csr_array(system.matrix[:, left])
    of_row, of_column = label_components(inner)
    own = of_column[int(np.searchsorted(left, target))]
    return left[of_column == own], np.flatnonzero(of_row == own)


def _is_unbounded(
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    place: int,
    backend: Backend,
    *,
    upward: bool,
) -> bool:
    """Return whether a cell moves along a ray: with finite bounds set to zero and infinite ones to one."""
    free_up, free_down = (up >= ENDLESS).astype(np.float64), (down >= ENDLESS).astype(np.float64)
    if not (free_up if upward else free_down)[place]:
        return False
    solution = _solve_furthest(matrix, -free_down, free_up, place, backend, upward=upward)
    return bool(abs(np.asarray(solution.x)[place]) > RAY_ZERO)


def _solve_furthest(
    matrix: sp.csr_array,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    place: int,
    backend: Backend,
    *,
    upward: bool,
) -> Solution:
    """Return the vertex and duals at which a cell moves furthest."""
    cost = np.zeros(matrix.shape[1])
    cost[place] = -1.0 if upward else 1.0
    solution = backend.open(LinearProgram.of_moves(matrix, lower, upper, cost)).solve()
    if solution.status is not Status.OPTIMAL or solution.x is None or solution.duals is None:
        raise SolverError.one("explain", f"an attacker's problem ended with {solution.status}.")
    return solution


def _subtract(rest: dict[int, Fraction], table: Table, relation: int, factor: Fraction) -> None:
    for cell, coefficient in table.relations.terms(relation):
        left = rest.get(cell, Fraction(0)) - factor * coefficient
        if left:
            rest[cell] = left
        else:
            rest.pop(cell, None)


def _eliminate_peeled(
    table: Table, system: System, peeling: _Peeling, cell: int, multipliers: dict[int, Fraction]
) -> dict[int, Fraction]:
    """Return multipliers after which no peeled cell remains: each is replaced by the row that gave it, last first."""
    out = dict(multipliers)
    rest = subtract_relations(table, cell, out)
    column_of = {int(known): column for column, known in enumerate(system.cells.tolist()) if peeling.step[column] >= 0}
    waiting: list[tuple[int, int]] = []
    for known in rest:
        if known in column_of:
            heappush(waiting, (-int(peeling.step[column_of[known]]), known))
    while waiting:
        _, known = heappop(waiting)
        if known not in rest:
            continue
        relation = int(system.relations[peeling.row[column_of[known]]])
        terms = dict(table.relations.terms(relation))
        factor = rest[known] / terms[known]
        out[relation] = out.get(relation, Fraction(0)) + factor
        _subtract(rest, table, relation, factor)
        for other in terms:
            if other in rest and other in column_of:
                heappush(waiting, (-int(peeling.step[column_of[other]]), other))
    return {relation: factor for relation, factor in out.items() if factor}
