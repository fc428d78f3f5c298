"""An audit that shares nothing with the package: linear programs of SciPy on the relations of a JJ file.

It has a reader of its own and asks, for a sensitive cell and a side, how far the cell can move if hidden cells move,
ranges move inside themselves, and shown cells do not. Programs are in multiples of the level, so that one is what must
be reached.
"""

from __future__ import annotations

import gzip
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

_REACHED = 1e-6
"""A share of the level that a program of floating-point numbers may miss."""

_ENTRIES = 9


@dataclass(frozen=True, eq=False)
class Problem:
    """What a JJ file says.

    Parameters
    ----------
    value, cost, lower, upper, lpl, upl
        Entries of the cells, ``(n,)``; lower and upper are the attacker's bounds.
    status
        ``s``, ``u``, ``m`` or ``z``, ``(n,)``.
    relations
        The equations, without their right sides, ``(m, n)``.
    """

    value: NDArray[np.float64]
    cost: NDArray[np.float64]
    status: NDArray[np.str_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    lpl: NDArray[np.float64]
    upl: NDArray[np.float64]
    relations: sp.csr_matrix

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an audit has found.

    Parameters
    ----------
    asked, total
        Of how many requirements, one a sensitive cell and side, so many were asked before time was up.
    missed
        How many of those were missed.
    misplaced
        How many cells must be hidden and are shown, or the other way round.
    """

    asked: int
    total: int
    missed: int
    misplaced: int

    @property
    def safe(self) -> bool:
        """Whether nothing speaks against the pattern."""
        return not self.missed and not self.misplaced

    def __str__(self) -> str:
        if self.safe:
            return f"audit: {self.asked:,} of {self.total:,} asked, all met"
        return f"NOT SAFE: {self.missed:,} of {self.asked:,} missed, {self.misplaced:,} cells misplaced"


def read(path: Path) -> Problem:
    """Return the problem of a JJ file, which may be compressed."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = (words for line in text.decode("ascii").splitlines() if (words := line.replace("(", " ").split()))
    next(lines)
    cells = [next(lines)[:_ENTRIES] for _ in range(int(next(lines)[0]))]
    m = int(next(lines)[0])
    entries = [
        (row, int(cell), float(factor.rstrip(")")))
        for row, words in zip(range(m), lines, strict=True)
        for cell, factor in zip(words[3::2], words[4::2], strict=True)
    ]
    numbers = np.array([[float(word) for word in (*words[1:3], *words[4:8])] for words in cells])
    rows, columns, factors = (np.array(part) for part in zip(*entries, strict=True))
    return Problem(
        value=numbers[:, 0],
        cost=numbers[:, 1],
        status=np.array([words[3] for words in cells]),
        lower=numbers[:, 2],
        upper=numbers[:, 3],
        lpl=numbers[:, 4],
        upl=numbers[:, 5],
        relations=sp.csr_matrix((factors, (rows, columns)), shape=(m, len(cells))),
    )


def judge(problem: Problem, hidden: Sequence[int], *, half: bool = False, seconds: float = math.inf) -> Verdict:
    """Return whether hiding some cells keeps every sensitive value far enough from being known.

    Parameters
    ----------
    problem
        What is to be protected.
    hidden
        The cells of which nothing is published.
    half
        Lower levels are half of the upper ones.
    seconds
        Of the processor, after which no further requirement is asked; they come in random order.
    """
    mask = np.zeros(len(problem), dtype=bool)
    mask[list(hidden)] = True
    wrong = (np.isin(problem.status, ("u", "m")) & ~mask) | ((problem.status == "z") & mask)
    below = problem.upl / 2 if half else problem.lpl
    todo = [
        (cell, sign, level)
        for cell in np.flatnonzero((problem.status == "u") & mask).tolist()
        for sign, level in ((1, float(problem.upl[cell])), (-1, float(below[cell])))
        if level > 0
    ]
    columns = np.flatnonzero(mask)
    ends = (problem.lower - problem.value)[columns], (problem.upper - problem.value)[columns]
    asked, missed = _count_missed(problem, columns, ends, todo, seconds)
    return Verdict(asked, len(todo), missed, int(wrong.sum()))


def judge_ranges(
    problem: Problem, low: NDArray[np.float64], high: NDArray[np.float64], *, seconds: float = math.inf
) -> Verdict:
    """Return whether ranges keep every sensitive value far enough from being known.

    Parameters
    ----------
    problem
        What is to be protected.
    low, high
        What is published of every cell, ``(n,)`` each: equal for shown cells, infinite for hidden ones.
    seconds
        As in `judge`.
    """
    shown = low == high
    outside = (low > problem.value) | (high < problem.value)
    wrong = outside | (np.isin(problem.status, ("u", "m")) & shown) | ((problem.status == "z") & ~shown)
    todo = [
        (cell, sign, level)
        for cell in np.flatnonzero((problem.status == "u") & ~shown).tolist()
        for sign, level in ((1, float(problem.upl[cell])), (-1, float(problem.lpl[cell])))
        if level > 0
    ]
    columns = np.flatnonzero(~shown)
    ends = (
        np.maximum(problem.lower, low)[columns] - problem.value[columns],
        np.minimum(problem.upper, high)[columns] - problem.value[columns],
    )
    asked, missed = _count_missed(problem, columns, ends, todo, seconds)
    return Verdict(asked, len(todo), missed, int(wrong.sum()))


def _count_missed(
    problem: Problem,
    columns: NDArray[np.int64],
    ends: tuple[NDArray[np.float64], NDArray[np.float64]],
    todo: list[tuple[int, int, float]],
    seconds: float,
) -> tuple[int, int]:
    """Return how many requirements were asked, in random order, before time was up, and how many are missed."""
    random.Random(0).shuffle(todo)  # noqa: S311  (a sample, no secret)
    place = {int(cell): k for k, cell in enumerate(columns)}
    matrix = problem.relations[:, columns]
    matrix = matrix[np.diff(matrix.indptr) > 0]
    began, asked, missed = time.process_time(), 0, 0
    for cell, sign, level in todo:
        if time.process_time() - began > seconds:
            break
        asked += 1
        missed += not _reaches(matrix, ends, place[cell], sign, level)
    return asked, missed


def _reaches(
    matrix: sp.csr_matrix, ends: tuple[NDArray[np.float64], NDArray[np.float64]], column: int, sign: int, level: float
) -> bool:
    """Return whether the hidden cells can move, and keep all relations, so that one of them moves by its level."""
    bounds = np.column_stack([ends[0] / level, ends[1] / level])
    bounds[column] = (0.0, min(1.0, bounds[column, 1])) if sign > 0 else (max(-1.0, bounds[column, 0]), 0.0)
    goal = np.zeros(matrix.shape[1])
    goal[column] = -sign
    found = linprog(goal, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=bounds, method="highs")
    return bool(found.status == 0 and -found.fun >= 1 - _REACHED)
