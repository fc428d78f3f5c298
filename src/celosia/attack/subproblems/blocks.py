"""Components that are no networks, side by side in one model: one run answers a question of each."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.exact import find_exact_moves, prove_reach
from celosia.attack.system.fractions import Whole, multiply_exactly
from celosia.errors import SolverError
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status
from celosia.tolerance import ENDLESS, EXACT_DOUBLE, INTEGRAL

if TYPE_CHECKING:
    from celosia.attack.system.decomposition import Parts
    from celosia.attack.system.system import System
    from celosia.solve.backend import Backend, Method, Model


class UnsolvedError(ArithmeticError):
    """A solver found no optimum of an attacker's program, though there is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Some components of a system, block after block.

    Parameters
    ----------
    columns
        The columns of the system, ``(n,)``.
    matrix
        The relations among them, ``(m, n)``.
    starts, row_starts
        Where the columns and rows of every block begin.
    down, up
        The bounds of the moves, ``(n,)`` each.
    whole
        In which columns only whole numbers count, ``(n,)``.
    """

    columns: NDArray[np.int64]
    matrix: sp.csr_array
    starts: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    whole: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def place(self, block: int) -> slice:
        """Return where the columns of a block stand."""
        return slice(self.starts[block], self.starts[block + 1])

    def part(self, block: int) -> sp.csr_array:
        """Return the relations of a block."""
        rows = slice(self.row_starts[block], self.row_starts[block + 1])
        return sp.csr_array(self.matrix[rows][:, self.place(block)])

    def model(self, backend: Backend, down: NDArray[np.float64], up: NDArray[np.float64]) -> Model:
        """Return a model of all blocks with these bounds and without an objective."""
        return backend.open(LinearProgram.of_moves(self.matrix, -down, up))


def blocks_of(system: System, parts: Parts, components: NDArray[np.int32]) -> Blocks:
    """Return some components of a system."""
    columns = np.concatenate([parts.members(component) for component in components.tolist()])
    sizes = np.diff(parts.starts)[components]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    inner = sp.csr_array(system.matrix[:, columns])
    rows = np.flatnonzero(np.diff(inner.indptr))
    block = np.repeat(np.arange(len(sizes)), sizes)[inner.indices[inner.indptr[rows]]]
    order = np.argsort(block, kind="stable")
    row_starts = np.searchsorted(block[order], np.arange(len(sizes) + 1))
    matrix = sp.csr_array(inner[rows[order]])
    rooms_and_kinds = system.down[columns], system.up[columns], system.whole[columns]
    return Blocks(columns, matrix, starts, row_starts, *rooms_and_kinds)


def solve_model(model: Model) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the vertex at which a model's costs are least, and the duals.

    Raises
    ------
    UnsolvedError
        No simplex method found it: with amounts of 1e13 units and more, doubles may fail.
    """
    methods: tuple[Method, ...] = ("primal", "dual", "afresh")
    for method in methods:
        with suppress(SolverError):  # no clear answer: the next method may have one
            found = model.solve(method=method)
            if found.status is Status.OPTIMAL and found.x is not None and found.duals is not None:
                return found.x, found.duals
    raise UnsolvedError


@dataclass(frozen=True, slots=True, eq=False)
class BlockVertex:
    """A vertex as an exact table of every block.

    Parameters
    ----------
    whole
        The moves of blocks that move by whole counts, ``(n,)``; zero in the others.
    broken
        The moves and their denominator of the others.
    rounded_down, rounded_up
        All moves, rounded, ``(n,)`` each.
    """

    whole: NDArray[np.int64]
    broken: dict[int, tuple[Whole, int]]
    rounded_down: NDArray[np.int64]
    rounded_up: NDArray[np.int64]

    def moves(self, blocks: Blocks, block: int) -> tuple[Whole, int]:
        """Return the moves of one block and their denominator."""
        return self.broken[block] if block in self.broken else (self.whole[blocks.place(block)], 1)


def exact_vertex(x: NDArray[np.float64], blocks: Blocks, down: NDArray[np.int64], up: NDArray[np.int64]) -> BlockVertex:
    """Return a solver's vertex as exact tables, block by block; a block in which that fails does not move.

    Guarantee: all relations hold, and all bounds; whole cells move by whole numbers.
    """
    whole = np.rint(np.clip(x, -float(ENDLESS), float(ENDLESS))).astype(np.int64)
    off = (np.abs(x - whole) > INTEGRAL) | (whole > up) | (whole < -down)
    wrong = np.logical_or.reduceat(off, blocks.starts[:-1])
    rest = np.asarray(multiply_exactly(blocks.matrix, whole) != 0, dtype=bool)
    wrong |= np.bincount(_of_rows(blocks)[rest], minlength=len(blocks)) > 0
    broken: dict[int, tuple[Whole, int]] = {}
    for block in np.flatnonzero(wrong).tolist():
        place = blocks.place(block)
        whole[place] = 0
        found = find_exact_moves(x[place], blocks.part(block), up[place], down[place], blocks.whole[place])
        if found is not None:
            broken[block] = found
    low, high = whole.copy(), whole.copy()
    for block, (moves, denominator) in broken.items():
        place = blocks.place(block)
        low[place], high[place] = (moves // denominator).astype(np.int64), (-(-moves // denominator)).astype(np.int64)
    return BlockVertex(whole, broken, low, high)


def _of_rows(blocks: Blocks) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(blocks)), np.diff(blocks.row_starts))


def prove_maxima(
    duals: NDArray[np.float64],
    blocks: Blocks,
    targets: NDArray[np.int64],
    sign: NDArray[np.int64],
    reach: NDArray[np.object_],
    denominator: NDArray[np.object_],
) -> NDArray[np.bool_]:
    """Return which reaches are maxima, as multipliers prove in exact arithmetic, ``(k,)``.

    Parameters
    ----------
    duals
        The duals of all rows.
    blocks
        The blocks.
    targets, sign
        The places of the questions, one of a block at most, and their directions, ``(k,)`` each.
    reach, denominator
        How far they go, ``(k,)`` each.
    """
    bound = _bounds_of_whole_duals(duals, blocks, targets, sign)
    block = np.searchsorted(blocks.starts, targets, side="right") - 1
    out = np.array([b * d <= r for b, r, d in zip(bound[block].tolist(), reach, denominator, strict=True)], dtype=bool)
    for k in np.flatnonzero(~out).tolist():
        number = int(block[k])
        place, rows = blocks.place(number), slice(blocks.row_starts[number], blocks.row_starts[number + 1])
        rest, own = -duals[rows], int(targets[k] - blocks.starts[number])
        up, down = blocks.up[place], blocks.down[place]
        found = prove_reach(rest, own, blocks.part(number), up, down, upward=bool(sign[k] > 0))
        if found is not None:
            best = found[0] // 1 if blocks.whole[targets[k]] else found[0]
            out[k] = best * denominator[k] <= reach[k]
    return out


def _bounds_of_whole_duals(
    duals: NDArray[np.float64], blocks: Blocks, targets: NDArray[np.int64], sign: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return a bound for every block by weak duality with duals rounded to whole numbers, `ENDLESS` where none is."""
    multipliers = np.rint(-duals).astype(np.int64)
    goal = np.zeros(len(blocks.columns), dtype=np.int64)
    goal[targets] = sign
    rest = goal - np.asarray(blocks.matrix.T @ multipliers)
    bound = np.where(rest > 0, blocks.up, blocks.down)
    used = rest != 0
    sums = np.add.reduceat(np.where(used, np.abs(rest.astype(np.float64)) * bound, 0.0), blocks.starts[:-1])
    terms = np.where(used, np.abs(rest) * bound, 0)
    return np.where(sums < EXACT_DOUBLE, np.add.reduceat(terms, blocks.starts[:-1]), ENDLESS)
