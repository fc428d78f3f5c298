"""Blocks of a large product table: disjoint sets of cells that are product tables themselves, and small enough.

A block has some leaves of each dimension, and those nodes above them that have no other leaves. What lies above does
not move, so what moves within a block moves nothing else: blocks can be protected one by one, or side by side, whatever
is hidden elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.table.product.structure import ProductStructure


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """Which nodes of every dimension a block has, and its cells."""

    nodes: tuple[NDArray[np.bool_], ...]
    columns: NDArray[np.int64]


def list_blocks(product: ProductStructure, most: int) -> list[NDArray[np.int64]]:
    """Return the columns of blocks, each increasing and at most so many, in the order of their first cells.

    A block that is too large is split along its longest dimension: into sub-trees without their roots, and siblings in
    halves. Cells of what lies above, which move with several blocks, are in none.
    """
    everything = tuple(np.ones(size, dtype=bool) for size in product.sizes)
    found = list(_split(product, _Box(everything, np.arange(len(product))), most))
    return sorted(found, key=lambda columns: int(columns[0]))


def _split(product: ProductStructure, box: _Box, most: int) -> Iterator[NDArray[np.int64]]:
    if len(box.columns) <= most:
        if len(box.columns):
            yield box.columns
        return
    axis = int(
        np.argmax([_count_leaves(holding, nodes) for holding, nodes in zip(product.holding, box.nodes, strict=True)])
    )
    parts = _part_nodes(product.holding[axis], box.nodes[axis])
    codes = product.codes[box.columns, axis]
    for part in parts:
        nodes = (*box.nodes[:axis], part, *box.nodes[axis + 1 :])
        yield from _split(product, replace(box, nodes=nodes, columns=box.columns[part[codes]]), most)


def _count_leaves(holding: sp.csc_array, nodes: NDArray[np.bool_]) -> int:
    """Return how many leaves of a dimension are among some nodes."""
    return int((nodes & (np.diff(sp.csr_array(holding).indptr) == 1)).sum())


def _part_nodes(holding: sp.csc_array, nodes: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Return what lies below each of the topmost nodes of a dimension, or halves of them where nothing does."""
    held = sp.csr_array(holding, dtype=np.int64)
    sizes = np.diff(held.indptr)
    inside = np.flatnonzero(nodes)
    among = held[inside]
    overlap = sp.csr_array(among @ among.T)  # leaves that two nodes have in common
    below = np.zeros((len(inside), len(inside)), dtype=bool)
    rows = np.repeat(np.arange(len(inside)), np.diff(overlap.indptr))
    below[rows, overlap.indices] = overlap.data == sizes[inside][overlap.indices]
    np.fill_diagonal(below, val=False)
    tops = ~below.any(axis=0)
    if not bool(below.any()):
        return [_mark(half, len(nodes)) for half in np.array_split(inside, 2)]
    siblings = tops & ~below.any(axis=1)  # leaves beside sub-trees
    parts = [inside[siblings], *(inside[below[top]] for top in np.flatnonzero(tops & ~siblings).tolist())]
    return [_mark(part, len(nodes)) for part in parts if len(part)]


def _mark(places: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    marked = np.zeros(n, dtype=bool)
    marked[places] = True
    return marked
