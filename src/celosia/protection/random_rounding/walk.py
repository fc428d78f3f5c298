"""Controlled random rounding in networks: cells walk up and down in circles until all are multiples (Cox 1987).

A cell is an arc between two relations. Around a circle of cells that are no multiples of the base, amounts can be
shifted without any total noticing; one of the two ways round is chosen such that nothing changes on average, and the
shift ends where the first cell becomes a multiple. Every cell stays between its neighbouring multiples all the time.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_ENDS = 2


def arcs_of(matrix: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the tail and the head of every column, ``(n,)`` each, None where the relations are no network.

    Nodes are rows; the last one stands for everything outside. A column leaves the row where its entry is positive,
    after some rows have changed their sign.
    """
    m, n = matrix.shape
    columns = sp.csc_array(matrix)
    if int(np.diff(columns.indptr).max(initial=0)) > _ENDS or bool((np.abs(matrix.data) != 1).any()):
        return None
    sign = _signs(matrix, columns)
    tail, head = np.full(n, m, dtype=np.int64), np.full(n, m, dtype=np.int64)
    for column in range(n):
        for place in range(columns.indptr[column], columns.indptr[column + 1]):
            row = int(columns.indices[place])
            end = tail if sign[row] * columns.data[place] > 0 else head
            if end[column] != m:
                return None
            end[column] = row
    return tail, head


def _signs(matrix: sp.csr_array, columns: sp.csc_array) -> NDArray[np.int64]:
    """Return signs of the rows such that columns have entries of both, as far as one goes through each part."""
    m = matrix.shape[0]
    sign = np.zeros(m, dtype=np.int64)
    for first in range(m):
        if sign[first]:
            continue
        sign[first], waiting = 1, [first]
        while waiting:
            row = waiting.pop()
            for place in range(matrix.indptr[row], matrix.indptr[row + 1]):
                column, here = int(matrix.indices[place]), int(matrix.data[place])
                for other in range(columns.indptr[column], columns.indptr[column + 1]):
                    neighbour = int(columns.indices[other])
                    if not sign[neighbour]:
                        sign[neighbour] = -sign[row] * here * int(columns.data[other])
                        waiting.append(neighbour)
    return sign


def walk(
    values: NDArray[np.int64],
    base: int,
    arcs: tuple[NDArray[np.int64], NDArray[np.int64]],
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """Return multiples of the base, each a neighbour of its value, with the values as expectations.

    Parameters
    ----------
    values
        Whole numbers that balance in every node, modulo the base, ``(n,)``.
    base
        The base.
    arcs
        Tail and head of every cell.
    random
        From where chance comes.

    Guarantee: every relation that holds for the values holds for what is returned; in each step the expected value of
    every cell is what it was before.
    """
    tail, head = (ends.tolist() for ends in arcs)
    now: list[int] = values.tolist()
    at: dict[int, list[int]] = {}
    for cell in random.permutation(np.flatnonzero(values % base != 0)).tolist():
        if tail[cell] == head[cell]:  # nothing but chance holds a cell without relations
            _shift([cell], [1], now, base, random)
        else:
            at.setdefault(tail[cell], []).append(cell)
            at.setdefault(head[cell], []).append(cell)
    for start in at:
        cells: list[int] = []
        nodes, place = [start], {start: 0}
        while (cell := _way(at, nodes[-1], now, base, cells[-1] if cells else -1)) is not None:
            cells.append(cell)
            node = head[cell] if tail[cell] == nodes[-1] else tail[cell]
            if node not in place:
                place[node] = len(nodes)
                nodes.append(node)
                continue
            first = place[node]
            along = [1 if tail[c] == entered else -1 for c, entered in zip(cells[first:], nodes[first:], strict=True)]
            _shift(cells[first:], along, now, base, random)
            cut = next(k for k in range(first, len(cells)) if now[cells[k]] % base == 0)
            for gone in nodes[cut + 1 :]:
                del place[gone]
            del nodes[cut + 1 :], cells[cut:]
        if cells:
            raise ValueError("the values do not balance")
    return np.asarray(now, dtype=np.int64)


def _way(at: dict[int, list[int]], node: int, now: list[int], base: int, last: int) -> int | None:
    """Return an arc at a node, no multiple of the base yet, and not the one by which the walk came; None for none."""
    cells = at[node]
    while cells and now[cells[-1]] % base == 0:
        cells.pop()
    if cells and cells[-1] != last:
        return cells[-1]
    at[node] = [cell for cell in cells if now[cell] % base]
    return next((cell for cell in reversed(at[node]) if cell != last), None)


def _shift(cells: list[int], along: list[int], now: list[int], base: int, random: np.random.Generator) -> None:
    """Shift an amount around a circle, forward or back, until a cell is a multiple; on average by nothing."""
    over = [now[cell] % base for cell in cells]
    forward = min(base - left if way > 0 else left for left, way in zip(over, along, strict=True))
    back = min(left if way > 0 else base - left for left, way in zip(over, along, strict=True))
    amount = forward if int(random.integers(forward + back)) < back else -back
    for cell, way in zip(cells, along, strict=True):
        now[cell] += way * amount
