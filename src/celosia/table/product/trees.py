"""The trees of which the relations of a table are the product, found without its labels.

A cell is a part in as many relations as it has nodes that are no roots. So the parts of the grand total's relations
begin the dimensions, cells that are a part in one relation carry these on, and every other cell has, in each dimension,
the deepest of the nodes of the cells that it is a part of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """The nodes of cells in the dimensions of a table.

    Parameters
    ----------
    codes
        The node of every cell in every dimension, 0 for the root, ``(n, d)``.
    parents
        For every dimension the parent of every node, -1 for the root; parents come before their children.
    """

    codes: NDArray[np.int64]
    parents: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Which cell is a part of which other in which relation, ``(k,)`` each."""

    part: NDArray[np.int64]
    above: NDArray[np.int64]
    relation: NDArray[np.int64]


def find_trees(matrix: sp.csr_array) -> Trees | None:
    """Return the trees whose product the relations may be, None where there are none.

    Whether the relations are those of the product is left to the caller to check.
    """
    n_rows, n = matrix.shape
    if not matrix.nnz or bool((np.abs(matrix.data) != 1).any()):
        return None
    row, totals = np.repeat(np.arange(n_rows), np.diff(matrix.indptr)), find_totals(matrix)
    is_part = np.ones(matrix.nnz, dtype=bool)
    is_part[totals] = False
    columns = matrix.indices.astype(np.int64)
    parts = _Parts(columns[is_part], columns[totals][row[is_part]], row[is_part])
    level = _find_levels(n, parts)
    return None if level is None else _walk(n, parts, level)


def find_totals(matrix: sp.csr_array) -> NDArray[np.int64]:
    """Return the entry of every relation that is its total: the only one of its sign, of two that as in most others."""
    sizes = np.diff(matrix.indptr)
    row = np.repeat(np.arange(matrix.shape[0]), sizes)
    below = np.bincount(row[matrix.data < 0], minlength=matrix.shape[0])
    long = sizes > 2  # noqa: PLR2004 - of two cells either may be the total
    common = -1 if 2 * int((below[long] == 1).sum()) >= int(long.sum()) else 1
    sign = np.where(long, np.where(below == 1, -1, 1), common)
    places = np.flatnonzero(matrix.data == sign[row])
    out = np.zeros(matrix.shape[0], dtype=np.int64)
    out[row[places]] = places
    return out


def _find_levels(n: int, parts: _Parts) -> NDArray[np.int64] | None:
    """Return how many sums below the one grand total every cell is, None where that depends on the way."""
    level = np.full(n, -1, dtype=np.int64)
    below = sp.csr_array((np.ones(len(parts.part), dtype=np.int8), (parts.above, parts.part)), shape=(n, n))
    now, depth = np.setdiff1d(np.arange(n), parts.part), 0
    if len(now) != 1:
        return None
    while len(now):
        level[now] = depth
        some = below[now].indices
        now, depth = np.unique(some[level[some] < 0]), depth + 1
    if bool((level < 0).any()) or bool((level[parts.part] != level[parts.above] + 1).any()):
        return None
    return level


def _walk(n: int, parts: _Parts, level: NDArray[np.int64]) -> Trees | None:
    """Walk down from the grand total, level by level."""
    part, above, relation = parts.part, parts.above, parts.relation
    root, times = int(np.argmin(level)), np.bincount(part, minlength=n)
    axes = np.unique(relation[above == root])
    axis_of, codes = np.full(n, -1, dtype=np.int64), np.zeros((n, len(axes)), dtype=np.int64)
    parents = [np.full(1, -1, dtype=np.int64) for _ in axes]
    depths = [np.zeros(1, dtype=np.int64) for _ in axes]
    order = np.lexsort((part, level[part]))
    begins = np.searchsorted(level[part[order]], np.arange(1, int(level.max(initial=0)) + 2))
    for depth, (begin, end) in enumerate(zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True), start=1):
        some = order[begin:end]
        single = some[times[part[some]] == 1]
        own = np.where(above[single] == root, np.searchsorted(axes, relation[single]), axis_of[above[single]])
        if bool((own < 0).any()):
            return None
        axis_of[part[single]] = own
        for axis in range(len(axes)):
            new = single[own == axis]
            codes[part[new], axis] = len(parents[axis]) + np.arange(len(new))
            parents[axis] = np.append(parents[axis], codes[above[new], axis])
            depths[axis] = np.append(depths[axis], np.full(len(new), depth))
        _take_deepest(codes, parts, some[times[part[some]] > 1], depths)
    return Trees(codes, tuple(parents))


def _take_deepest(
    codes: NDArray[np.int64], parts: _Parts, some: NDArray[np.int64], depths: list[NDArray[np.int64]]
) -> None:
    """Give cells in every dimension the deepest node of those that they are a part of."""
    if not len(some):
        return
    cells, first = np.unique(parts.part[some], return_index=True)  # the relations of a cell lie side by side
    for axis, depth in enumerate(depths):
        code = codes[parts.above[some], axis]
        deepest = np.maximum.reduceat(depth[code] * len(depth) + code, first)
        codes[cells, axis] = deepest % len(depth)
