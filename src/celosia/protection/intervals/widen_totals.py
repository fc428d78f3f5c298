"""Ranges in which cells can move with all of their totals: wide, but found without a linear program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.publish.ranges import RangeSlacks


def widen_with_totals(
    problem: ProtectionProblem, slacks: RangeSlacks, columns: NDArray[np.int64], levels: NDArray[np.float64]
) -> RangeSlacks:
    """Return ranges in which columns can move by their levels, with all columns of which they are parts.

    In every relation a part and its total move by the same, and all else stays: a table that adds up.

    Parameters
    ----------
    problem
        The columns and their relations.
    slacks
        Ranges, which are only widened.
    columns, levels
        What moves, and how far up and down, in counts, ``(k,)`` each.
    """
    rows, more = sp.csr_array(problem.matrix), np.zeros(len(problem))
    by_column = sp.csc_array(rows)
    for column, level in zip(columns.tolist(), levels.tolist(), strict=True):
        moved = _find_totals(rows, by_column, column)
        more[moved] = np.maximum(more[moved], level)
    return replace(slacks, down=np.maximum(slacks.down, more), up=np.maximum(slacks.up, more))


def _find_totals(rows: sp.csr_array, by_column: sp.csc_array, column: int) -> NDArray[np.int64]:
    """Return a column with its totals, their totals, and so on: the one column of other sign of its relations."""
    waiting, known = [column], {column}
    while waiting:
        part = waiting.pop()
        for entry in range(by_column.indptr[part], by_column.indptr[part + 1]):
            row = slice(rows.indptr[by_column.indices[entry]], rows.indptr[by_column.indices[entry] + 1])
            others = rows.indices[row][rows.data[row] * by_column.data[entry] < 0].tolist()
            if len(others) == 1 and others[0] not in known:
                known.add(others[0])
                waiting.append(others[0])
    return np.array(sorted(known), dtype=np.int64)
