"""The relaxation with side patterns, and what its multipliers prove.

Columns are the steps of `celosia.protection.adjustment.steps`, the jumps of split cells last, and after them the
weights of side patterns. Rows are the relations, the sum of the weights of every relation's patterns, how sides follow
from them, and the misfits. Further rows are separated: what one cell of a relation moves, the others or the misfit
make up for (*held rows*).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.adjustment.balance import Balances
from celosia.protection.adjustment.formulation import AdjustmentProblem
from celosia.protection.adjustment.parameters import AdjustmentParameters
from celosia.protection.adjustment.sides.patterns import SidePatterns, count_split_cells, enumerate_sides
from celosia.protection.adjustment.steps import Steps, linear_steps
from celosia.solve.problem import LinearProgram
from celosia.tolerance import BALANCE_VIOLATED, TERM_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class SidesProgram:
    """The relaxation of a problem with side patterns.

    Parameters
    ----------
    steps
        The steps of every cell.
    program
        The linear program without held rows. All columns have finite ends.
    held, least
        Held rows, ``held @ x >= least``, ``(k, columns)`` and ``(k,)``.
    climb, descent
        The columns by which a split cell goes beyond its upper and its lower side, -1 for none, ``(split,)``.
    """

    steps: Steps
    program: LinearProgram
    held: sp.csr_array
    least: NDArray[np.float64]
    climb: NDArray[np.int64]
    descent: NDArray[np.int64]

    @property
    def jumps(self) -> NDArray[np.int64]:
        """The columns of jumps, in the order of split cells, ``(split,)``."""
        return np.flatnonzero(self.steps.jump)

    @property
    def choices(self) -> NDArray[np.int64]:
        """The columns that take one of two values in every table: jumps, and after them weights of patterns."""
        return np.arange(len(self.steps.jump) - int(self.steps.jump.sum()), len(self.program.cost))

    def find_violated(self, x: NDArray[np.float64], known: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
        """Return the held rows that a solution violates most, but for those that are known."""
        missed = np.where(known, 0.0, self.least - self.held @ x)
        worst = np.flatnonzero(missed > BALANCE_VIOLATED)
        return worst[np.argsort(-missed[worst], kind="stable")[:most]]


def formulate_sides(
    problem: AdjustmentProblem, ceiling: float, parameters: AdjustmentParameters
) -> SidesProgram | None:
    """Return the relaxation with side patterns; None where there are none, or too many of them.

    Guarantee: every table of the problem that costs no more than the ceiling is a solution with whole choices, of the
    same cost.

    Parameters
    ----------
    problem
        The problem, with the norm 1.
    ceiling
        What some table of the problem costs: cells go no further than that pays for.
    parameters
        How many patterns are too many.
    """
    every = sp.csr_array(sp.vstack([problem.matrix, problem.implied], format="csr"))
    sizes = count_split_cells(every, problem.split)
    few = np.flatnonzero(sizes <= parameters.most_split_cells)
    nowhere = bool((problem.lower > problem.upper).any())
    if nowhere or not problem.split.any() or int((1 << sizes[few]).sum()) > parameters.most_patterns:
        return None
    steps = linear_steps(problem)
    base = np.where(problem.split, 0, steps.start)
    right = np.concatenate([problem.right, np.zeros(problem.implied.shape[0], dtype=np.int64)]) - every @ base
    patterns = enumerate_sides(problem, every, right.astype(np.float64), few)
    held, least = _hold(problem, steps, every, patterns, few)
    return SidesProgram(
        steps, _program(problem, steps, every, patterns, ceiling), held, least, *_ways_beyond(problem, steps)
    )


def _program(
    problem: AdjustmentProblem, steps: Steps, every: sp.csr_array, patterns: SidePatterns, ceiling: float
) -> LinearProgram:
    """Return the program without held rows."""
    plain = steps.program("nothing")
    n_steps, n_patterns = len(steps.column), len(patterns)
    numbered, own = np.unique(patterns.relation, return_inverse=True)
    sums = sp.csr_array((np.ones(n_patterns), (own, np.arange(n_patterns))), shape=(len(numbered), n_patterns))
    misfits = sp.csr_array((patterns.misfit, (own, np.arange(n_patterns))), shape=sums.shape)
    moved = sp.csr_array(abs(every)[numbered] @ _moves_from_base(steps))
    jump_of = np.full(len(problem), -1, dtype=np.int64)
    jump_of[steps.column[steps.jump]] = np.flatnonzero(steps.jump)
    cells = patterns.entry[:, 1]
    entries = np.arange(len(cells))
    length = (problem.up + problem.down)[cells].astype(np.float64)
    links = sp.csr_array((np.full(len(cells), -1.0), (entries, jump_of[cells])), shape=(len(cells), n_steps))
    rows = sp.block_array(
        [
            [plain.rows, sp.csr_array((plain.rows.shape[0], n_patterns))],
            [sp.csr_array((len(numbered), n_steps)), sums],
            [links, sp.diags_array(length) @ patterns.upward],
            [moved, -misfits],
        ],
        format="csr",
    )
    ones, zeros, none = np.ones(len(numbered)), np.zeros(len(cells)), np.zeros(len(numbered))
    rows = sp.csr_array(rows)
    rows.eliminate_zeros()
    reach = np.ceil(ceiling / problem.weight) + 2
    return LinearProgram(
        rows,
        row_lower=np.concatenate([plain.row_lower, ones, zeros, none]),
        row_upper=np.concatenate([plain.row_upper, ones, zeros, np.full(len(numbered), np.inf)]),
        lower=np.zeros(n_steps + n_patterns),
        upper=np.concatenate(
            [np.where(steps.jump, plain.upper, np.minimum(plain.upper, reach[steps.column])), np.ones(n_patterns)]
        ),
        cost=np.concatenate([plain.cost, np.zeros(n_patterns)]),
    )


def _moves_from_base(steps: Steps) -> sp.csr_array:
    """Return how far every cell is from its start, or from its side, as factors of the steps, ``(n, s)``."""
    kept = np.flatnonzero(~steps.jump)
    shape = (len(steps.problem), len(steps.column))
    return sp.csr_array((np.ones(len(kept)), (steps.column[kept], kept)), shape=shape)


def _hold(
    problem: AdjustmentProblem,
    steps: Steps,
    every: sp.csr_array,
    patterns: SidePatterns,
    few: NDArray[np.int64],
) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Return held rows: of relations with patterns for every cell, and of the others balance rows."""
    n_patterns = len(patterns)
    moved, sizes = _moves_from_base(steps), abs(every).astype(np.float64)
    row = np.repeat(np.arange(every.shape[0]), np.diff(every.indptr))
    has_patterns = np.isin(row, few)
    misfits = sp.csr_array((patterns.misfit, (patterns.relation, np.arange(n_patterns))), (every.shape[0], n_patterns))

    def hold(relation: NDArray[np.int64], cell: NDArray[np.int64]) -> sp.csr_array:
        factor = np.asarray(sizes[relation, cell]).ravel()
        return sp.csr_array((sizes @ moved)[relation] - sp.diags_array(2 * factor) @ moved[cell])

    relation, cell = row[has_patterns], every.indices[has_patterns].astype(np.int64)
    blocks = [sp.hstack([hold(relation, cell), misfits[relation]], format="csr")]
    if len(patterns.entry):
        blocks.append(sp.hstack([hold(*patterns.entry.T), patterns.others], format="csr"))
    least = [np.zeros(block.shape[0]) for block in blocks]
    plain = np.zeros(every.shape[0], dtype=bool)
    plain[np.setdiff1d(np.arange(every.shape[0]), few)] = True
    plain[: problem.matrix.shape[0]] &= problem.right == 0
    balances = Balances(sp.csr_array(sizes[np.flatnonzero(plain)]), np.ones(len(problem), dtype=bool))
    rows, rest = balances.balance_rows(steps, np.arange(len(balances)))
    blocks.append(sp.hstack([rows, sp.csr_array((len(rest), n_patterns))], format="csr"))
    return sp.csr_array(sp.vstack(blocks, format="csr")), np.concatenate([*least, rest])


def _ways_beyond(problem: AdjustmentProblem, steps: Steps) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns by which split cells go beyond their sides, -1 for none."""
    found = np.full((2, len(problem)), -1, dtype=np.int64)
    for k, way in enumerate((1, -1)):
        columns = np.flatnonzero(~steps.jump & (steps.direction == way))
        found[k, steps.column[columns]] = columns
    climb, descent = found[:, steps.column[steps.jump]]
    return climb, descent


@dataclass(frozen=True, slots=True, eq=False)
class SidesProof:
    """What multipliers prove about the tables of a node.

    Parameters
    ----------
    value
        They cost at least this.
    more
        What each choice adds at least where it is not at its lower end, ``(choices,)``; negative ones say what staying
        below the upper end adds.
    """

    value: float
    more: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SidesRows:
    """The rows that a relaxation has by now.

    Parameters
    ----------
    sides
        The relaxation.
    held
        The held rows among them, in the order in which they were added, ``(k,)``.
    """

    sides: SidesProgram
    held: NDArray[np.int64]

    @cached_property
    def _turned(self) -> sp.csr_array:
        """The transpose of all rows."""
        stacked = sp.vstack([self.sides.program.rows, self.sides.held[self.held]], format="csr")
        return sp.csr_array(stacked.T)

    @cached_property
    def _sizes(self) -> sp.csr_array:
        """The same with absolute entries."""
        return abs(self._turned)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What rows are at least and at most."""
        least, program = self.sides.least[self.held], self.sides.program
        most = np.full(len(least), np.inf)
        return np.concatenate([program.row_lower, least]), np.concatenate([program.row_upper, most])

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """By what costs were divided, and what standing at the start costs."""
        return self.sides.steps.scale, self.sides.steps.constant

    def prove_bound(
        self, duals: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> SidesProof:
        """Return the bound that multipliers prove by weak duality, whatever their accuracy, rounding taken off.

        Parameters
        ----------
        duals
            Any numbers, one a row.
        lower, upper
            The ends of the columns of a node, all finite.
        """
        least_row, most_row = self._ends
        end = np.where(duals > 0, least_row, most_row)
        usable = np.isfinite(end)
        y = np.where(usable, duals, 0.0)
        terms = y * np.where(usable, end, 0.0)
        cost = self.sides.program.cost
        reduced = cost - self._turned @ y
        size = np.abs(cost) + self._sizes @ np.abs(y)
        off = TERM_ROUNDING * (np.diff(self._turned.indptr) + 1) * size
        least = np.minimum(reduced * lower, reduced * upper) - off * np.maximum(np.abs(lower), np.abs(upper))
        total = math.fsum([*terms.tolist(), *least.tolist()])
        total -= TERM_ROUNDING * float(np.abs(terms).sum() + np.abs(least).sum())
        scale, constant = self._scale
        value = total * scale + constant - TERM_ROUNDING * (abs(total) * scale + abs(constant))
        more = np.sign(reduced) * np.maximum(np.abs(reduced) - off, 0.0) * (upper - lower)
        return SidesProof(value, more[self.sides.choices] * scale)
