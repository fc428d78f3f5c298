"""The cheapest move through a cell of a product table: one path a dimension, found by a beam search over dimensions.

The move is the tensor product of its paths, so it satisfies every relation, and its entries are 1 and -1. Fixing one
dimension after another only adds cells, so what a part of a move costs, and whether its cells have room, is known at
once; cells that may not be hidden, do not exist or are too small end it there.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner
from celosia.protection.engine.heuristics.moves.paths import Paths

MATRIX = Annotated[NDArray[np.int64], 2]
_FACTOR = np.uint64(11400714819323198485)  # 2^64 divided by the golden ratio: spreads keys over a hash table (Knuth)
_LARGEST_SHARE = 8  # so many keys for each cell take as much memory as a hash table


class Cells(NamedTuple):
    """The cells of a problem, and how they are found by their codes.

    Parameters
    ----------
    keys, codes
        Of every cell, ``(n,)`` and ``(n, d)``.
    slots, columns, shift
        A hash table: the keys that are in it, -1 elsewhere, their cells, and by how many bits hashed keys are shifted;
        where nearly all keys are in use, their cells by keys, -1 where there is none, and a shift of -1.
    up, down
        How far each attacker believes that cells may move, ``(k, n)``, at most `LARGEST_ROOM`.
    step
        Of which the moves of every cell are multiples, 0 for any move: whole cells move by whole numbers, ``(n,)``.
    """

    keys: NDArray[np.int64]
    codes: MATRIX
    slots: NDArray[np.int64]
    columns: NDArray[np.int64]
    shift: int
    up: MATRIX
    down: MATRIX
    step: NDArray[np.int64]


class Beam(NamedTuple):
    """Memory of a search.

    Parameters
    ----------
    cells, signs
        The cells of every part of a move, ``(2 * width, longest)`` each: those of this dimension, and of the next.
    lengths, costs
        How many they are and what they cost, ``(2 * width,)`` each.
    parts, paths, order
        The best extensions so far, ``(width,)`` each, and the order of dimensions, ``(d,)``.
    """

    cells: MATRIX
    signs: MATRIX
    lengths: NDArray[np.int64]
    costs: NDArray[np.float64]
    parts: NDArray[np.int64]
    paths: NDArray[np.int64]
    prices: NDArray[np.float64]
    order: NDArray[np.int64]


class Ground(NamedTuple):
    """What moves are made of: the cells, the paths of their dimensions, and memory."""

    cells: Cells
    paths: Paths
    beam: Beam


class Task(NamedTuple):
    """A move that is looked for.

    Parameters
    ----------
    target, attacker
        Through which cell, and within the bounds of whom.
    up, down
        How far the cell must be able to move up by it, and down by its negative.
    bound
        It must cost less.
    banned
        A cell that it must not use, -1 for none.
    tries
        Paths that may be tried.
    """

    target: int
    attacker: int
    up: int
    down: int
    bound: float
    banned: int
    tries: int


def make_beam(width: int, longest: int, dimensions: int) -> Beam:
    """Return the memory of searches that keep so many parts of moves of at most so many cells."""
    return Beam(
        np.zeros((2 * width, longest), dtype=np.int64),
        np.zeros((2 * width, longest), dtype=np.int64),
        np.zeros(2 * width, dtype=np.int64),
        np.zeros(2 * width),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width),
        np.zeros(dimensions, dtype=np.int64),
    )


def index_keys(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the cells by their keys, or a hash table where few of the keys are in use; see `Cells`."""
    if n_keys > _LARGEST_SHARE * len(keys):
        return hash_keys(keys)
    columns = np.full(n_keys, -1, dtype=np.int64)
    columns[keys] = np.arange(len(keys))
    return np.zeros(0, dtype=np.int64), columns, -1


def hash_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return a hash table of keys: its slots, which key stands in each, and the shift of hashed keys."""
    size = 1 << max(4, int(2 * len(keys)).bit_length())
    slots, columns = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    shift = 64 - (size.bit_length() - 1)
    place = ((keys.astype(np.uint64) * _FACTOR) >> np.uint64(shift)).astype(np.int64)
    left = np.arange(len(keys))
    while len(left):
        free = left[slots[place[left]] < 0]
        slots[place[free]] = keys[free]
        taken = slots[place[left]] == keys[left]
        columns[place[left[taken]]] = left[taken]
        left = left[~taken]
        place[left] = (place[left] + 1) % size
    return slots, columns, shift


@inner(merged=True)
def find_cell(key: int, cells: Cells) -> int:
    """Return the cell with a key, -1 where there is none."""
    if cells.shift < 0:
        return int(cells.columns[key])
    size = len(cells.slots)
    place = np.int64((np.uint64(key) * _FACTOR) >> np.uint64(cells.shift))
    while cells.slots[place] >= 0:
        if cells.slots[place] == key:
            return int(cells.columns[place])
        place = (place + 1) % size
    return -1


@inner()
def find_move(task: Task, price: NDArray[np.float64], ground: Ground) -> int:
    """Return how many cells the cheapest move of a task has, 0 where none is found.

    It stands in the first row of the beam, its own cell first, with what it costs. Every cell has room for it.
    """
    cells, paths, beam = ground.cells, ground.paths, ground.beam
    width, n_dimensions = len(beam.parts), len(beam.order)
    _order_dimensions(task.target, cells, paths, beam.order)
    beam.cells[0, 0], beam.signs[0, 0], beam.lengths[0], beam.costs[0] = task.target, 1, 1, 0.0
    n_parts, tries, here = 1, task.tries, 0
    for depth in range(n_dimensions):
        axis = beam.order[depth]
        keep = 1 if depth == n_dimensions - 1 else width
        node = paths.nodes[axis] + cells.codes[task.target, axis]
        n_kept = 0
        for part in range(n_parts):
            row = here + part
            for path in range(paths.starts[node], min(paths.starts[node + 1], paths.starts[node] + tries)):
                limit = task.bound if n_kept < keep else min(task.bound, beam.prices[n_kept - 1])
                cost = _price_extension(row, path, limit, task, price, ground)
                if cost < limit:
                    n_kept = _insert(part, path, cost, n_kept, keep, beam)
            tries -= min(tries, paths.starts[node + 1] - paths.starts[node])
        there = width - here
        for k in range(n_kept):
            _extend(here + beam.parts[k], there + k, beam.paths[k], cells, paths, beam)
            beam.costs[there + k] = beam.prices[k]
        n_parts, here = n_kept, there
    if n_parts == 0:
        return 0
    n = beam.lengths[here]
    if here != 0:
        for k in range(n):
            beam.cells[0, k], beam.signs[0, k] = beam.cells[here, k], beam.signs[here, k]
        beam.costs[0], beam.lengths[0] = beam.costs[here], n
    return int(n)


@inner(merged=True)
def _price_extension(
    row: int, path: int, limit: float, task: Task, price: NDArray[np.float64], ground: Ground
) -> float:
    """Return what a part of a move costs when it is extended by a path; infinite where that has no room."""
    cells, paths, beam = ground.cells, ground.paths, ground.beam
    length, begin, end = beam.lengths[row], paths.entries[path], paths.entries[path + 1]
    if length * (end - begin + 1) > beam.cells.shape[1]:
        return np.inf
    cost = beam.costs[row]
    for entry in range(begin, end):
        shift, sign = paths.shifts[entry], paths.signs[entry]
        for k in range(length):
            cell = find_cell(cells.keys[beam.cells[row, k]] + shift, cells)
            if cell < 0 or cell == task.banned:
                return np.inf
            cost += price[cell]
            if cost >= limit:
                return np.inf
            above, below = cells.up[task.attacker, cell], cells.down[task.attacker, cell]
            if beam.signs[row, k] * sign < 0:
                above, below = below, above
            if above < task.up or below < task.down:
                return np.inf
    return float(cost)


@inner(merged=True)
def _order_dimensions(target: int, cells: Cells, paths: Paths, order: NDArray[np.int64]) -> None:
    """Order dimensions by the number of paths of the cell, most first: the last one is only scanned."""
    for axis in range(len(order)):
        node = paths.nodes[axis] + cells.codes[target, axis]
        count = paths.starts[node + 1] - paths.starts[node]
        place = axis
        while place > 0:
            other = order[place - 1]
            known = paths.nodes[other] + cells.codes[target, other]
            if paths.starts[known + 1] - paths.starts[known] >= count:
                break
            order[place] = other
            place -= 1
        order[place] = axis


@inner(merged=True)
def _insert(part: int, path: int, cost: float, n_kept: int, keep: int, beam: Beam) -> int:
    """Insert an extension among the cheapest ones; return how many there are."""
    place = n_kept if n_kept < keep else keep - 1
    while place > 0 and beam.prices[place - 1] > cost:
        if place < keep:
            beam.parts[place], beam.paths[place] = beam.parts[place - 1], beam.paths[place - 1]
            beam.prices[place] = beam.prices[place - 1]
        place -= 1
    beam.parts[place], beam.paths[place], beam.prices[place] = part, path, cost
    return n_kept + 1 if n_kept < keep else n_kept


@inner(merged=True)
def _extend(row: int, onto: int, path: int, cells: Cells, paths: Paths, beam: Beam) -> None:
    """Write a part of a move, extended by a path, to another row of the beam."""
    length = beam.lengths[row]
    n = 0
    for k in range(length):
        beam.cells[onto, n], beam.signs[onto, n] = beam.cells[row, k], beam.signs[row, k]
        n += 1
    for entry in range(paths.entries[path], paths.entries[path + 1]):
        for k in range(length):
            cell = find_cell(cells.keys[beam.cells[row, k]] + paths.shifts[entry], cells)
            beam.cells[onto, n], beam.signs[onto, n] = cell, beam.signs[row, k] * paths.signs[entry]
            n += 1
    beam.lengths[onto] = n
