r"""Convex costs as steps: from its start every cell climbs or descends steps of rising cost.

With whole lengths the steps are exact at every whole number, for L1 with two steps a cell, for L2 with one per unit.
The gap between the sides of a split cell is a step like any other, of the cost by which the sides differ: the linear
program takes the lower convex envelope of the cost over both sides, which is what the relaxation of the mixed-integer
program of Baena, Castro and González (6) amounts to, with no rows but the relations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.solve.problem import LinearProgram
from celosia.tolerance import LARGEST_MOVE

if TYPE_CHECKING:
    from celosia.protection.adjustment.formulation import AdjustmentProblem

Whole = Literal["nothing", "sides", "everything"]
"""Which columns of a program take whole numbers: none, the choice of sides, or all steps."""


class BalanceRows(NamedTuple):
    """Balance rows of a program, beside the relations.

    Parameters
    ----------
    rows
        Over the steps, ``(k, s)``.
    least
        What they are at least, ``(k,)``.
    """

    rows: sp.csr_array
    least: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps of every cell of a problem.

    Parameters
    ----------
    problem
        The problem.
    start
        From where each cell sets out, ``(n,)``.
    column
        The cell of every step, ``(s,)``.
    direction
        1 for a step up, -1 for a step down, ``(s,)``.
    length
        How far it leads, ``(s,)``; infinite where there is no end.
    rate
        What a unit costs, ``(s,)``.
    jump
        Which steps lead from the lower side of a split cell to the upper one, ``(s,)``.
    """

    problem: AdjustmentProblem
    start: NDArray[np.int64]
    column: NDArray[np.int64]
    direction: NDArray[np.int64]
    length: NDArray[np.float64]
    rate: NDArray[np.float64]
    jump: NDArray[np.bool_]

    @property
    def constant(self) -> float:
        """What standing at the start costs."""
        return math.fsum(self.problem.costs(self.start).tolist())

    @property
    def scale(self) -> float:
        """By what costs are divided for a solver: their median."""
        sizes = np.abs(self.rate[self.rate != 0])
        return float(np.median(sizes)) if len(sizes) else 1.0

    def moves(self, x: NDArray[np.float64], whole: Whole) -> NDArray[np.float64]:
        """Return the moves that a solution of the program describes, ``(n,)``."""
        along = x * np.where(self.jump, self.length, 1.0) if whole != "nothing" else x
        return np.asarray(self.start + np.bincount(self.column, along * self.direction, minlength=len(self.problem)))

    @property
    def sizes(self) -> tuple[sp.csr_array, NDArray[np.float64]]:
        """How far every cell is from its grid point: factors of the steps, ``(n, s)``, and what they leave, ``(n,)``.

        In an optimal whole solution no cell climbs and descends at a time, nor goes beyond a side on the wrong side of
        the jump.
        """
        problem = self.problem
        factor = np.where(
            self.jump, (problem.up - problem.down)[self.column] / np.where(self.jump, self.length, 1.0), 1.0
        )
        shape = (len(problem), len(self.column))
        return sp.csr_array((factor, (self.column, np.arange(shape[1]))), shape=shape), np.abs(self.start).astype(float)

    def program(self, whole: Whole, balance_rows: BalanceRows | None = None) -> LinearProgram:
        """Return the linear or mixed-integer program; its first rows are the relations of the problem.

        Parameters
        ----------
        whole
            What takes whole numbers.
        beside
            Further rows, ``rows @ x >= least``, with jumps counted in units.
        """
        problem, discrete = self.problem, whole != "nothing"
        unit = np.where(self.jump & discrete, self.length, 1.0)
        entries = sp.csr_array(problem.matrix[:, self.column]).astype(np.float64)
        rows = [sp.csr_array(entries.multiply((self.direction * unit)[None, :]))]
        right = (problem.right - problem.matrix @ self.start).astype(np.float64)
        below, above = [right], [right]
        if balance_rows is not None:
            rows.append(sp.csr_array(balance_rows.rows.multiply(unit[None, :])))
            below.append(balance_rows.least)
            above.append(np.full(len(balance_rows.least), np.inf))
        if discrete:
            linking, most = self._linking_rows()
            rows.append(linking)
            below.append(np.full(len(most), -np.inf))
            above.append(most)
        integer = {"nothing": None, "sides": self.jump, "everything": np.ones(len(self.jump), dtype=bool)}[whole]
        return LinearProgram(
            sp.csr_array(sp.vstack(rows, format="csr")),
            row_lower=np.concatenate(below),
            row_upper=np.concatenate(above),
            lower=np.zeros(len(self.column)),
            upper=np.where(self.jump & discrete, 1.0, self.length),
            cost=self.rate * unit / self.scale,
            integer=integer,
        )

    def _linking_rows(self) -> tuple[sp.csr_array, NDArray[np.float64]]:
        """Return the rows that allow steps beyond the upper side only after the jump, and below the lower only before.

        Steps of one unit are limited one by one, which is tighter.
        """
        jump_of = np.full(len(self.problem), -1, dtype=np.int64)
        jump_of[self.column[self.jump]] = np.flatnonzero(self.jump)
        steps = np.flatnonzero((jump_of[self.column] >= 0) & ~self.jump & (self.length > 0))
        most = np.minimum(self.length[steps], _farthest(self.problem))
        upward = self.direction[steps] > 0
        row = np.arange(len(steps))
        matrix = sp.csr_array(
            (
                np.concatenate([np.ones(len(steps)), np.where(upward, -most, most)]),
                (np.concatenate([row, row]), np.concatenate([steps, jump_of[self.column[steps]]])),
            ),
            shape=(len(steps), len(self.column)),
        )
        return matrix, np.where(upward, 0.0, most)


def _farthest(problem: AdjustmentProblem) -> float:
    """Return how far cells without an end go in a program: four times the sum of all levels and ends there are.

    Vertices of networks never go further than once that sum.
    """
    ends = [
        np.abs(part[np.abs(part) < LARGEST_MOVE / 2])
        for part in (problem.lower, problem.upper, problem.down, problem.up)
    ]
    return float(min(4 * int(np.concatenate(ends).sum()) + 4, LARGEST_MOVE))


def linear_steps(problem: AdjustmentProblem) -> Steps:
    """Return the steps of the norm 1."""
    every, split = np.arange(len(problem)), problem.split
    start = np.where(split, -problem.down, np.clip(0, problem.lower, np.maximum(problem.lower, problem.upper)))
    # Between the grid points around the true value the cost has another slope, unless the true value is one of them.
    bent = np.flatnonzero((problem.offset > 0) & (start == 0) & (problem.upper >= 1) & ~split)
    top = np.where(split, problem.up, start)
    top[bent] = 1
    jumps = np.flatnonzero(split)
    gap = (problem.up + problem.down)[jumps]
    jump_rate = (problem.costs(problem.up) - problem.costs(-problem.down))[jumps] / gap
    return _steps(
        problem,
        start,
        (every, 1, problem.upper - top, problem.weight),
        (every, -1, start - problem.lower, problem.weight),
        (bent, 1, np.ones(len(bent), dtype=np.int64), (problem.weight * (1 - 2 * problem.offset))[bent]),
        jump=(jumps, gap, jump_rate),
    )


def unit_steps(problem: AdjustmentProblem) -> Steps:
    """Return steps of one unit each, for any norm; the bounds of the problem must be close."""
    split = problem.split
    start = np.where(split, -problem.down, problem.lower)
    top = np.where(split, problem.up, start)
    climbing, up = _units(top, problem.upper - top)
    descending, down = _units(start, start - problem.lower)
    jumps = np.flatnonzero(split)
    gap = (problem.up + problem.down)[jumps]
    jump_rate = (problem.costs(problem.up) - problem.costs(-problem.down))[jumps] / gap
    ones = np.ones(len(climbing) + len(descending), dtype=np.int64)
    return _steps(
        problem,
        start,
        (climbing, 1, ones[: len(climbing)], _price(problem, climbing, top[climbing] + up, 1)),
        (descending, -1, ones[len(climbing) :], _price(problem, descending, start[descending] - down, -1)),
        jump=(jumps, gap, jump_rate),
    )


def _units(at: NDArray[np.int64], length: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cell of every unit step, and how many units lie between it and where it begins."""
    sizes = np.maximum(length, 0)
    column = np.repeat(np.arange(len(at)), sizes)
    return column, np.arange(len(column)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _price(
    problem: AdjustmentProblem, column: NDArray[np.int64], at: NDArray[np.int64], direction: int
) -> NDArray[np.float64]:
    """Return what one unit more costs."""
    weight, offset = problem.weight[column], problem.offset[column]
    here, there = (np.abs(place - offset) ** problem.norm for place in (at, at + direction))
    return np.asarray(weight * (there - here))


def _steps(
    problem: AdjustmentProblem,
    start: NDArray[np.int64],
    *parts: tuple[NDArray[np.int64], int, NDArray[np.int64], NDArray[np.float64]],
    jump: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
) -> Steps:
    """Return all steps that lead somewhere, jumps last."""
    kept = [(column[far > 0], way, far[far > 0], rate[far > 0]) for column, way, far, rate in parts]
    column = np.concatenate([*(part[0] for part in kept), jump[0]])
    length = np.concatenate([*(part[2] for part in kept), jump[1]]).astype(np.float64)
    ways = [np.full(len(part[0]), part[1], dtype=np.int64) for part in kept]
    return Steps(
        problem,
        start,
        column,
        np.concatenate([*ways, np.ones(len(jump[0]), dtype=np.int64)]),
        np.where(length >= LARGEST_MOVE / 2, np.inf, length),
        np.concatenate([*(part[3] for part in kept), jump[2]]),
        np.arange(len(column)) >= len(column) - len(jump[0]),
    )
