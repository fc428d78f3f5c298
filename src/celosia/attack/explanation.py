r"""Why an attacker's interval ends where it does: relations with multipliers that, added up, give the end.

Every end has a proof that needs no solver. For multipliers :math:`\gamma_k` of the relations :math:`M_k y = b_k`

.. math:: y_p = \sum_k \gamma_k b_k + \sum_i r_i y_i, \qquad r = e_p - M'\gamma,

whatever the table y. With :math:`r_p = 0` and each :math:`y_i` at the bound that the sign of :math:`r_i` asks for, the
right side is an end of the interval (weak duality), and for the right multipliers it is *the* end. A solver proposes
them; they are made exact (`celosia.attack.exact_moves`) and the end is their sum in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, floor

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from celosia.attack.audit import Audit
from celosia.attack.exact_moves import proved_reach, whole_moves
from celosia.attack.system import ENDLESS, System
from celosia.errors import SolverError, SpecError, nearest
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Solution, Status
from celosia.table.table import Table

SIDES = ("lower", "upper")

_MOVED = 1e-7  # a ray that moves less than this in a box of size one does not move
_MOST_TERMS = 12  # cells or relations that are named one by one


@dataclass(frozen=True, slots=True)
class Used:
    """A cell that stands in the sum, and what is known about it.

    Parameters
    ----------
    cell
        The cell.
    multiplier
        How often it is counted.
    bound
        The value, or the bound on the side that the multiplier's sign asks for.
    side
        ``value``, ``at least`` or ``at most``.
    source
        Who says so: ``release``, or the attacker's name.
    """

    cell: int
    multiplier: Fraction
    bound: Fraction
    side: str
    source: str


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why an attacker can be sure of one end of a cell's interval. Confidential: it leads to what is hidden.

    Parameters
    ----------
    table
        The table.
    cell, attacker, side
        Whose interval ends there, for whom, and on which side: ``lower`` or ``upper``.
    end
        Where it ends.
    relations
        The relations used, each with its multiplier.
    cells
        The cells that remain when the relations are added up, and what is known about them.
    whole
        The sum is rounded, because values are whole numbers and the attacker knows it.
    exact
        A table that agrees with everything published and reaches the end is known: nobody gets closer. Without one
        the end holds all the same, but whole numbers, say, may narrow the interval further.
    """

    table: Table
    cell: int
    attacker: str
    side: str
    end: Fraction
    relations: tuple[tuple[int, Fraction], ...]
    cells: tuple[Used, ...]
    whole: bool
    exact: bool

    @property
    def total(self) -> Fraction:
        """The sum of the relations' right sides and of the cells at their bounds, each times its multiplier."""
        right = self.table.relations.right
        unit = 10**self.table.decimals
        constants = sum((factor * Fraction(int(right[row]), unit) for row, factor in self.relations), Fraction(0))
        return constants + sum((used.multiplier * used.bound for used in self.cells), Fraction(0))

    def words(self) -> list[str]:
        """Return the explanation in sentences, with numbers: what adds up to the end, and by which relations."""
        label = self.table.label(self.cell)
        most = "at most" if self.side == "upper" else "at least"
        if not self.relations:
            (used,) = self.cells
            return [f"{label} is {self._known(used)}."]
        said = [f"{label} is {most} {_text(self.end)}:", f"  {self._sum()} = {_text(self.total)}"]
        if self.total != self.end:
            said.append(f"  rounded to {_text(self.end)}, because values are whole numbers")
        if self.whole and not self.exact:
            said.append("  (whole numbers may narrow it further than any sum shows)")
        said.append("by" if len(self.relations) == 1 else "by these relations, added up:")
        said += [f"  {_times(factor)}{self.table.equation(row)}" for row, factor in self.relations[:_MOST_TERMS]]
        if len(self.relations) > _MOST_TERMS:
            said.append(f"  ... and {len(self.relations) - _MOST_TERMS:,} more")
        return said

    def equations(self) -> list[str]:
        """Return the relations used, in words and without any number but coefficients."""
        return [self.table.equation(row) for row, _ in self.relations]

    def __str__(self) -> str:
        return "\n".join(self.words())

    def _sum(self) -> str:
        parts = []
        right = self.table.relations.right
        constants = sum((factor * int(right[row]) for row, factor in self.relations), Fraction(0))
        if constants:
            parts.append(("+", _text(constants / 10**self.table.decimals)))
        for used in self.cells[:_MOST_TERMS]:
            said = f"{self.table.label(used.cell)} ({self._known(used)})"
            size = abs(used.multiplier)
            parts.append(("-" if used.multiplier < 0 else "+", said if size == 1 else f"{_text(size)} * {said}"))
        if len(self.cells) > _MOST_TERMS:
            parts.append(("+", f"{len(self.cells) - _MOST_TERMS:,} more"))
        (sign, first), *others = parts or [("+", "0")]
        return " ".join(["- " + first if sign == "-" else first, *(f"{sign} {said}" for sign, said in others)])

    def _known(self, used: Used) -> str:
        who = "" if used.source == "release" else f" for {used.source}"
        return f"{_text(used.bound)}{who}" if used.side == "value" else f"{used.side} {_text(used.bound)}{who}"


def explain(audit: Audit, cell: int, side: str = "upper", *, attacker: int | str = 0) -> Explanation | None:
    """Return why an attacker's interval of a cell ends where it does, None where it has no end on that side.

    Confidential: an explanation is the office's view, and leads to what is hidden.

    Parameters
    ----------
    audit
        An audit (`celosia.audit`), of verdicts or of intervals.
    cell
        The cell (`Table.find`).
    side
        ``lower`` or ``upper``.
    attacker
        The attacker: his place in the list, or his name.

    Raises
    ------
    SpecError
        There is no such cell, attacker or side.
    SolverError
        No solver found multipliers that hold exactly.

    Notes
    -----
    Guarantee: the end equals the sum of the multiplied right sides and bounds in fractions (rounded to the inner side
    for whole numbers), and every table that the attacker believes possible lies on its inner side. Both are recomputed
    here, from the table's relations and not from what the solver saw. No tolerance.
    """
    number = _place(audit, cell, side, attacker)
    system = audit.systems[number]
    upward = side == "upper"
    target = int(np.searchsorted(system.cells, cell))
    unknown = target < len(system) and int(system.cells[target]) == cell
    found: dict[int, Fraction] = {}
    reached: Fraction | None = Fraction(0)
    if unknown:
        peeling = _peel(system)
        if peeling.step[target] < 0:
            proof = _proof(system, peeling, target, backends()[0], upward=upward, integer=audit.integer)
            if proof is None:
                return None
            found, reached = proof
        found = _without_peeled(audit.risk.table, system, peeling, cell, found)
    return _stated(audit, number, cell, found, reached, upward=upward)


def _place(audit: Audit, cell: int, side: str, attacker: int | str) -> int:
    """Return the attacker's place in the list, having checked what was asked for."""
    names = [known.name for known in audit.risk.attackers]
    if side not in SIDES:
        raise SpecError.one("side", f"must be lower or upper, not {side!r}.")
    if not 0 <= cell < len(audit.risk.table):
        raise SpecError.one("cell", f"there is no cell {cell}.", f"Cells are 0 to {len(audit.risk.table) - 1}.")
    if isinstance(attacker, str):
        if attacker not in names:
            raise SpecError.one("attacker", f"{attacker!r} is none of this audit.", nearest(attacker, names))
        return names.index(attacker)
    if not 0 <= attacker < len(names):
        raise SpecError.one("attacker", f"there is no attacker {attacker}.", f"They are 0 to {len(names) - 1}.")
    return attacker


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


def _proof(
    system: System, peeling: _Peeling, target: int, backend: Backend, *, upward: bool, integer: bool
) -> tuple[dict[int, Fraction], Fraction | None] | None:
    """Return multipliers of relations that bound a cell's move, and how far a known table moves it, in counts.

    None where the cell can move without end; the reach is None where no exact table is found.
    """
    columns, rows = _component(system, peeling, target)
    matrix = sp.csr_array(system.matrix[rows][:, columns])
    up, down = system.up[columns], system.down[columns]
    place = int(np.searchsorted(columns, target))
    if _endless(matrix, up, down, place, backend, upward=upward):
        return None
    solution = _solved(matrix, -_room(down), _room(up), place, backend, upward=upward)
    x, duals = np.asarray(solution.x), np.asarray(solution.duals)
    moved = whole_moves(x, matrix, up, down, denominators=(1,) if integer else None)
    reached = None if moved is None else Fraction(int(moved[0][place]), moved[1]) * (1 if upward else -1)
    proof = proved_reach(-duals, place, matrix, up, down, upward=upward)
    own = int(up[place] if upward else down[place])
    if own < ENDLESS and (proof is None or own <= proof[0]):
        return {}, reached
    if proof is None:
        raise SolverError.one("explain", "no multipliers were found that hold exactly.", "Try another solver.")
    _, multipliers, denominator = proof
    sign = 1 if upward else -1
    return {
        int(system.relations[row]): Fraction(sign * int(factor), denominator)
        for row, factor in zip(rows.tolist(), multipliers.tolist(), strict=True)
        if factor
    }, reached


def _component(system: System, peeling: _Peeling, target: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns and rows that hang together with a cell, peeled ones left out."""
    left = np.flatnonzero(peeling.step < 0)
    inner = sp.csr_array(system.matrix[:, left])
    ones = sp.csr_array((np.ones(inner.nnz, dtype=np.int8), inner.indices, inner.indptr), shape=inner.shape)
    _, label = connected_components(sp.block_array([[None, ones], [ones.T, None]], format="csr"), directed=False)
    m = inner.shape[0]
    own = label[m + int(np.searchsorted(left, target))]
    return left[label[m:] == own], np.flatnonzero(label[:m] == own)


def _endless(
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    place: int,
    backend: Backend,
    *,
    upward: bool,
) -> bool:
    """Return whether a cell moves along a ray: finite rooms shut, endless ones of size one."""
    free_up, free_down = (up >= ENDLESS).astype(np.float64), (down >= ENDLESS).astype(np.float64)
    if not (free_up if upward else free_down)[place]:
        return False
    solution = _solved(matrix, -free_down, free_up, place, backend, upward=upward)
    return bool(abs(np.asarray(solution.x)[place]) > _MOVED)


def _solved(
    matrix: sp.csr_array,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    place: int,
    backend: Backend,
    *,
    upward: bool,
) -> Solution:
    """Return the vertex and duals at which a cell moves furthest."""
    zero = np.zeros(matrix.shape[0])
    cost = np.zeros(matrix.shape[1])
    cost[place] = -1.0 if upward else 1.0
    program = LinearProgram(sp.csr_array(matrix, dtype=np.float64), zero, zero, lower, upper, cost)
    solution = backend.open(program).solve()
    if solution.status is not Status.OPTIMAL or solution.x is None or solution.duals is None:
        raise SolverError.one("explain", f"an attacker's problem ended with {solution.status}.")
    return solution


def _room(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(counts >= ENDLESS, np.inf, counts.astype(np.float64))


def _rest(table: Table, cell: int, multipliers: dict[int, Fraction]) -> dict[int, Fraction]:
    """Return what remains of a cell when multiplied relations are taken away: all coefficients that are not zero."""
    rest = {cell: Fraction(1)}
    for relation, factor in multipliers.items():
        _take(rest, table, relation, factor)
    return rest


def _take(rest: dict[int, Fraction], table: Table, relation: int, factor: Fraction) -> None:
    for cell, coefficient in table.relations.terms(relation):
        left = rest.get(cell, Fraction(0)) - factor * coefficient
        if left:
            rest[cell] = left
        else:
            rest.pop(cell, None)


def _without_peeled(
    table: Table, system: System, peeling: _Peeling, cell: int, multipliers: dict[int, Fraction]
) -> dict[int, Fraction]:
    """Return multipliers after which no peeled cell remains: each is replaced by the row that gave it, last first."""
    out = dict(multipliers)
    rest = _rest(table, cell, out)
    column_of = {int(known): column for column, known in enumerate(system.cells.tolist()) if peeling.step[column] >= 0}
    waiting: list[tuple[int, int]] = []
    for known in rest:
        if known in column_of:
            heappush(waiting, (-int(peeling.step[column_of[known]]), known))
    if not multipliers and cell not in column_of:
        return out
    while waiting:
        _, known = heappop(waiting)
        if known not in rest:
            continue
        relation = int(system.relations[peeling.row[column_of[known]]])
        terms = dict(table.relations.terms(relation))
        factor = rest[known] / terms[known]
        out[relation] = out.get(relation, Fraction(0)) + factor
        _take(rest, table, relation, factor)
        for other in terms:
            if other in rest and other in column_of:
                heappush(waiting, (-int(peeling.step[column_of[other]]), other))
    return {relation: factor for relation, factor in out.items() if factor}


def _stated(
    audit: Audit, number: int, cell: int, found: dict[int, Fraction], reached: Fraction | None, *, upward: bool
) -> Explanation:
    """Return the explanation that multipliers give, in the table's own numbers."""
    table, attacker = audit.risk.table, audit.risk.attackers[number]
    rest = _rest(table, cell, found)
    if found:  # the cell may have come back with a share of its own: y = s y + ..., so y = (...) / (1 - s)
        share = 1 - rest.pop(cell, Fraction(0))
        found = {relation: factor / share for relation, factor in found.items()}
        rest = {other: factor / share for other, factor in rest.items()}
    sources = (("release", *audit.release.bounds()), (attacker.name, attacker.lower, attacker.upper))
    cells = []
    for other, factor in rest.items():
        ends = []
        above = (factor > 0) == upward
        for name, lower, upper in sources:
            side = upper if above else lower
            if not side.infinite[other]:
                end = side.fraction(other)
                end = end if not audit.integer else Fraction(floor(end) if above else ceil(end))
                fixed = not lower.infinite[other] and not upper.infinite[other]
                ends.append((end, name, fixed and lower.fraction(other) == upper.fraction(other)))
        if not ends:
            raise SolverError.one("explain", f"{table.label(other)} has no bound where one is needed.")
        end, name, known = (min if above else max)(ends, key=lambda found: found[0])
        cells.append(Used(other, factor, end, "value" if known else "at most" if above else "at least", name))
    cells.sort(key=lambda used: (used.multiplier < 0, used.side != "value", used.cell))
    stated = Explanation(
        table,
        cell,
        attacker.name,
        "upper" if upward else "lower",
        Fraction(0),
        tuple(sorted(found.items())),
        tuple(cells),
        audit.integer,
        exact=False,
    )
    total = stated.total
    end = total if not audit.integer else Fraction(floor(total) if upward else ceil(total))
    truth = table.amounts.fraction(cell)
    unit = 10 ** audit.systems[number].decimals
    exact = reached is not None and abs(end - truth) * unit == reached
    return Explanation(
        table, cell, attacker.name, stated.side, end, stated.relations, stated.cells, audit.integer, exact=exact
    )


def _times(factor: Fraction) -> str:
    return "" if factor == 1 else f"{_text(factor)} times  "


def _text(value: Fraction) -> str:
    """Return a number as a decimal where it is one with few places, as a fraction elsewhere."""
    for places in range(10):
        if (value * 10**places).denominator == 1:
            count = int(value * 10**places)
            sign, digits = "-" if count < 0 else "", str(abs(count)).rjust(places + 1, "0")
            return f"{sign}{digits[: len(digits) - places]}" + (f".{digits[-places:]}" if places else "")
    return str(value)
