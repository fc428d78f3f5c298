"""The mixed-integer program of Daalmans and de Waal (2010), section 6, that finds the most sensitive aggregation.

What `celosia.worst_aggregation` is measured by and, on small tables, compared with.

As printed, with three liberties: contributions are scaled to at most one, M is as small as it may be row by row, and
variables of contributions that are zero are left out. Multipliers are those of the table's relations; hidden cells that
are no leaves must cancel out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.aggregations.criterion import Aggregation, aggregation_of
from celosia.attack.protected import Protected, check_release
from celosia.pattern.entries import HIDDEN, SHOWN
from celosia.pattern.pattern import Pattern
from celosia.risk.respondents.knowledge import Knowledge, Respondents, respondents_of
from celosia.risk.rules.contributor_rules import PPercent, PriorPosterior, Ties
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.table.table import Table

_ABOVE = 1e-6  # an optimum above this, of contributions up to one and p, q up to one, is not zero
_PART = 1e-3  # the least part of the target's cell in a tie, with multipliers up to one
_DENOMINATORS = (1, 12, 1000)  # of multipliers


def paper_optimum(
    release: Pattern | Protected,
    table: Table | None = None,
    *,
    rule: PPercent | PriorPosterior,
    backend: Backend,
    ties: Ties = "safe",
    pair: tuple[int | None, int | None] = (None, None),
) -> Aggregation | None:
    """Return the aggregation that the paper's program finds, or a cell that is shown; None where none is sensitive.

    Parameters
    ----------
    release, table
        What is published, and of what.
    rule, ties
        What respondents know, how close they may come, and whether exactly so close is too close.
    backend
        Solves it.
    pair
        Attacker and target, by their places, where they are given.
    """
    told, entries = check_release(release, table)
    knowledge = Knowledge.of(rule)
    respondents = respondents_of(told, knowledge.by)
    hidden = entries.status == HIDDEN
    shown = respondents.leaves[entries.status[respondents.leaves] == SHOWN].tolist()
    attackers, targets = (None if place is None else (place,) for place in pair)
    found = [
        one
        for cell in shown
        if (one := aggregation_of(told, {cell: Fraction(1)}, respondents, knowledge, ties, attackers, targets))
        is not None
    ]
    program = program_of(told, hidden, respondents, knowledge, pair)
    if program is not None:
        solved = program.solve(backend)
        if solved is None and ties == "sensitive":
            solved = program.solve_tie(backend)
        if solved is not None and (one := _exact(program, told, respondents, knowledge, ties, solved)) is not None:
            found.append(one)
    return max(found, key=lambda one: one.excess, default=None)


def _exact(
    program: Program,
    table: Table,
    respondents: Respondents,
    knowledge: Knowledge,
    ties: Ties,
    solved: tuple[NDArray[np.float64], int, int],
) -> Aggregation | None:
    """Return what a solver found in fractions, if it is an aggregation and sensitive."""
    multipliers, attacker, target = solved
    for most in _DENOMINATORS:
        exact = np.array([Fraction(value).limit_denominator(most) for value in multipliers.tolist()], dtype=object)
        entries = sp.coo_array(program.matrix)
        weights = np.array([Fraction(0)] * len(program.cells), dtype=object)
        np.add.at(weights, entries.col, exact[entries.row] * entries.data.astype(object))
        leaves = {cell: factor for cell, factor in zip(program.cells.tolist(), weights.tolist(), strict=True) if factor}
        if leaves and set(leaves) <= set(respondents.leaves.tolist()):
            one = aggregation_of(table, leaves, respondents, knowledge, ties, (attacker,), (target,))
            if one is not None:
                return one
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The program, and where its variables are.

    Parameters
    ----------
    cells
        The hidden cells, ``(n,)``.
    matrix
        The explicit aggregations (3.6): relations among hidden cells, ``(k, n)``.
    problem
        The program: minimise the negative of (6.6).
    under_attack, attacking
        The columns of the variables u and v, one per respondent.
    lambdas
        The columns of the coefficients, one per hidden cell.
    row, unit
        Cell and respondent of every contribution to a hidden leaf cell.
    """

    cells: NDArray[np.int64]
    matrix: sp.csr_array
    problem: LinearProgram
    under_attack: NDArray[np.int64]
    attacking: NDArray[np.int64]
    lambdas: NDArray[np.int64]
    row: NDArray[np.int64]
    unit: NDArray[np.int64]

    def solve(self, backend: Backend) -> tuple[NDArray[np.float64], int, int] | None:
        """Return multipliers, attacker and target of the most sensitive aggregation, None where none is sensitive."""
        found = backend.open(self.problem).solve(duals=False)
        if found.x is None or found.objective > -_ABOVE:
            return None
        return self._read(found.x)

    def solve_tie(self, backend: Backend) -> tuple[NDArray[np.float64], int, int] | None:
        """Return the same for a tie that has as much as possible of the target's cell, None where there is none."""
        n, m = self.problem.shape[1], len(self.row)
        part, choice = n, n + 1 + np.arange(m)
        bound = np.maximum(self.problem.upper[self.lambdas], 1.0)
        rows = _Rows(n + 1 + m)
        for k in range(m):  # part <= lambda_i + M (1 - choice_k)
            column, far = int(self.lambdas[self.row[k]]), 2 * float(bound[self.row[k]])
            rows.add([(part, 1.0), (column, -1.0), (int(choice[k]), far)], -np.inf, far)
        for unit, column in enumerate(self.under_attack.tolist()):
            own = [(int(choice[k]), 1.0) for k in np.flatnonzero(self.unit == unit)]
            rows.add([*own, (column, -1.0)], 0.0, 0.0)
        value = [(int(k), float(self.problem.cost[k])) for k in np.flatnonzero(self.problem.cost)]
        rows.add(value, -np.inf, 0.0)
        matrix, low, high = rows.finished()
        wide = sp.csr_array(sp.hstack([self.problem.rows, sp.csr_array((self.problem.shape[0], 1 + m))]))
        integer = np.ones(n + 1 + m, dtype=bool)
        integer[:n], integer[part] = self.problem.integer, False
        cost = np.zeros(n + 1 + m)
        cost[part] = -1.0
        tie = replace(
            self.problem,
            rows=sp.csr_array(sp.vstack([wide, matrix])),
            row_lower=np.concatenate([self.problem.row_lower, low]),
            row_upper=np.concatenate([self.problem.row_upper, high]),
            lower=np.concatenate([self.problem.lower, np.zeros(1 + m)]),
            upper=np.concatenate([self.problem.upper, [float(bound.max(initial=1.0))], np.ones(m)]),
            cost=cost,
            integer=integer,
        )
        found = backend.open(tie).solve(duals=False)
        if found.x is None or -found.objective < _PART:
            return None
        return self._read(found.x)

    def _read(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], int, int]:
        multipliers = x[: self.matrix.shape[0]]
        largest = float(np.abs(multipliers).max(initial=0.0))
        return multipliers / (largest or 1.0), int(np.argmax(x[self.attacking])), int(np.argmax(x[self.under_attack]))


class _Rows:
    """Rows as they are written down."""

    def __init__(self, n_columns: int) -> None:
        self._n = n_columns
        self._place: list[int] = []
        self._column: list[int] = []
        self._value: list[float] = []
        self._lower: list[float] = []
        self._upper: list[float] = []

    def add(self, terms: list[tuple[int, float]], lower: float, upper: float) -> None:
        """Write one row."""
        for column, value in terms:
            self._place.append(len(self._lower))
            self._column.append(column)
            self._value.append(value)
        self._lower.append(lower)
        self._upper.append(upper)

    def finished(self) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.float64]]:
        """Return what was written."""
        shape = (len(self._lower), self._n)
        return (
            sp.csr_array((self._value, (self._place, self._column)), shape=shape),
            np.array(self._lower),
            np.array(self._upper),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Where the variables stand, for k multipliers, n cells, m contributions and r respondents."""

    k: int
    n: int
    m: int
    r: int

    def block(self, name: str) -> NDArray[np.int64]:
        """Return the columns of one kind of variable."""
        sizes = {
            "mu": self.k,
            "lambda": self.n,
            "plus": self.m,
            "minus": self.m,
            "alpha": self.m,
            "beta": self.m,
            "total": 1,
            "first": 1,
            "second": 1,
            "u": self.r,
            "v": self.r,
        }
        start = sum(size for other, size in list(sizes.items())[: list(sizes).index(name)])
        return start + np.arange(sizes[name])

    def __len__(self) -> int:
        return self.k + self.n + 4 * self.m + 3 + 2 * self.r


def program_of(
    table: Table,
    hidden: NDArray[np.bool_],
    respondents: Respondents,
    knowledge: Knowledge,
    pair: tuple[int | None, int | None] = (None, None),
) -> Program | None:
    """Return the program (6.6)-(6.18), None where no respondent contributes to a hidden cell.

    Parameters
    ----------
    table, hidden
        The table, and which of its cells are hidden.
    respondents, knowledge
        Who contributes what, and knows what.
    pair
        Attacker and target where they are given: the reduced model at the end of section 6.
    """
    cells = np.flatnonzero(hidden)
    matrix = sp.csr_array(table.relations.matrix[:, cells])
    matrix = sp.csr_array(matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)])
    leaf = np.flatnonzero(np.isin(cells, respondents.leaves))
    sizes = sp.coo_array(respondents.sizes[np.searchsorted(respondents.leaves, cells[leaf])])
    if not sizes.nnz:
        return None
    row, unit, size = leaf[sizes.row], sizes.col.astype(np.int64), sizes.data / float(sizes.data.max())
    at = _Columns(matrix.shape[0], len(cells), len(row), len(respondents))
    reach = np.asarray(abs(matrix).sum(axis=0), dtype=np.float64)  # how large a coefficient gets
    most = 2 * float(np.bincount(unit, weights=reach[row] * size).max())
    relevant = [set(range(at.r)) if one is None else {one} for one in (pair[1], pair[0])]
    rows, row_lower, row_upper = _rows(at, matrix, row, unit, size, reach, relevant, most)
    lower, upper = np.full(len(at), -np.inf), np.full(len(at), np.inf)
    lower[at.block("mu")], upper[at.block("mu")] = -1.0, 1.0  # (6.18)
    inner = np.where(np.isin(np.arange(at.n), leaf), reach, 0.0)
    lower[at.block("lambda")], upper[at.block("lambda")] = -inner, inner
    for name in ("plus", "minus", "total", "first", "second"):
        lower[at.block(name)] = 0.0  # (6.17)
    lower[at.block("alpha")], upper[at.block("alpha")] = -reach[row] * size, reach[row] * size
    upper[at.block("first")] = upper[at.block("second")] = most
    for name, whom in zip("uv", relevant, strict=True):
        lower[at.block(name)], upper[at.block(name)] = 0.0, [float(one in whom) for one in range(at.r)]
    lower[at.block("beta")], upper[at.block("beta")] = 0.0, 1.0
    integer = np.zeros(len(at), dtype=bool)
    integer[np.concatenate([at.block(name) for name in ("beta", "u", "v")])] = True
    p, q = knowledge.p / knowledge.unit, knowledge.q / knowledge.unit
    cost = np.zeros(len(at))
    cost[at.block("first")], cost[at.block("second")], cost[at.block("total")] = -(p + q), -q, q  # (6.6)
    problem = LinearProgram(rows, row_lower, row_upper, lower, upper, cost, integer=integer)
    return Program(cells, matrix, problem, at.block("u"), at.block("v"), at.block("lambda"), row, unit)


def _rows(
    at: _Columns,
    matrix: sp.csr_array,
    row: NDArray[np.int64],
    unit: NDArray[np.int64],
    size: NDArray[np.float64],
    reach: NDArray[np.float64],
    relevant: list[set[int]],
    most: float,
) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows (6.7)-(6.16)."""
    names = ("lambda", "plus", "minus", "alpha", "beta", "total", "first", "second", "u", "v")
    of = {name: at.block(name).tolist() for name in names}
    rows = _Rows(len(at))
    columns = sp.csc_array(matrix)
    for i in range(at.n):
        entries = slice(columns.indptr[i], columns.indptr[i + 1])
        terms = zip(columns.indices[entries].tolist(), columns.data[entries].tolist(), strict=True)
        rows.add([*((j, float(value)) for j, value in terms), (of["lambda"][i], -1.0)], 0.0, 0.0)
    rows.add([(of["total"][0], -1.0), *((c, 1.0) for c in of["plus"] + of["minus"])], 0.0, 0.0)  # (6.7)
    for e in range(at.m):
        x, far, column = float(size[e]), 2 * float(reach[row[e]] * size[e]), of["lambda"][row[e]]
        rows.add([(of["plus"][e], 1.0), (column, -x)], 0.0, np.inf)  # (6.8)
        rows.add([(of["minus"][e], 1.0), (column, x)], 0.0, np.inf)  # (6.9)
        if unit[e] in relevant[0] | relevant[1]:
            rows.add([(of["alpha"][e], 1.0), (column, -x), (of["beta"][e], far)], -np.inf, far)  # (6.12)
            rows.add([(of["alpha"][e], 1.0), (column, x), (of["beta"][e], -far)], -np.inf, 0.0)  # (6.13)
    for one in range(at.r):
        sums = [(of["alpha"][e], -1.0) for e in np.flatnonzero(unit == one).tolist()]
        for whom, amount, choice in zip(relevant, ("first", "second"), "uv", strict=True):
            if one in whom:
                rows.add([(of[amount][0], 1.0), *sums, (of[choice][one], most)], -np.inf, most)  # (6.10), (6.11)
        rows.add([(of["u"][one], 1.0), (of["v"][one], 1.0)], -np.inf, 1.0)  # (6.16)
    for choice in "uv":
        rows.add([(column, 1.0) for column in of[choice]], 1.0, 1.0)  # (6.14), (6.15)
    return rows.finished()
