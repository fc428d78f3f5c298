"""Whether what is published adds up: some table has its numbers, and values within its ranges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.pattern.entries import WITH_VALUE, of_status
from celosia.pattern.pattern import Pattern
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed


def adds_up(pattern: Pattern) -> bool:
    """Return whether the numbers of a pattern add up: exactly where a relation has nothing else, else within ranges."""
    return completion(pattern, pattern.bounds()) is not None


def completion(pattern: Pattern, near: tuple[Fixed, Fixed]) -> NDArray[np.float64] | None:
    """Return a table with the numbers of a pattern and values within its ranges, None where there is none.

    Parameters
    ----------
    pattern
        What is published.
    near
        Lower and upper ends of every cell, ``(n_cells,)`` each: values leave them by as little as possible in all.
    """
    table, published = pattern.table, pattern.published()
    matrix, right = table.relations.matrix, table.relations.right
    silent = ~of_status(pattern.status, WITH_VALUE)
    decimals = max(published.decimals, table.decimals)
    numbers = published.to(decimals)
    counts = np.where(silent, 0, numbers.counts)
    missing = right * 10 ** (decimals - table.decimals) - matrix @ counts
    alone = (abs(matrix) @ silent.astype(np.int64)) == 0
    if bool(missing[alone].any()):
        return None
    values = np.where(silent, 0.0, numbers.floats)
    open_ = np.flatnonzero(silent)
    if not len(open_):
        return values
    (lower, upper), (low, high) = ([side[open_].floats for side in sides] for sides in (pattern.bounds(), near))
    many, one = len(open_), sp.eye_array(len(open_))
    rows = sp.csr_array(matrix[~alone][:, open_], dtype=np.float64)
    side = np.asarray(missing[~alone], dtype=np.float64) / 10.0**decimals
    endless = np.full(many, np.inf)
    program = LinearProgram(
        sp.csr_array(sp.block_array([[rows, None, None], [one, one, None], [one, None, -one]])),
        np.concatenate([side, low, -endless]),
        np.concatenate([side, endless, high]),
        np.concatenate([lower, np.zeros(2 * many)]),
        np.concatenate([upper, endless, endless]),
        np.concatenate([np.zeros(many), np.ones(2 * many)]),
    )
    found = backends()[0].open(program).solve(duals=False).x
    if found is None:
        return None
    values[open_] = found[:many]
    return values
