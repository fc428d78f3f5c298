"""Whether what is published adds up: some table has its numbers, and values within its ranges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from celosia.pattern.entries import WITH_VALUE, of_status
from celosia.pattern.pattern import Pattern
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends


def adds_up(pattern: Pattern) -> bool:
    """Return whether the numbers of a pattern add up: exactly where a relation has nothing else, else within ranges."""
    table, published = pattern.table, pattern.published()
    matrix, right = table.relations.matrix, table.relations.right
    silent = ~of_status(pattern.status, WITH_VALUE)
    decimals = max(published.decimals, table.decimals)
    counts = np.where(silent, 0, published.to(decimals).counts)
    missing = right * 10 ** (decimals - table.decimals) - matrix @ counts
    alone = (abs(matrix) @ silent.astype(np.int64)) == 0
    if bool(missing[alone].any()):
        return False
    open_ = np.flatnonzero(silent)
    if not len(open_):
        return True
    lower, upper = (side[open_].floats for side in pattern.bounds())
    rows = sp.csr_array(matrix[~alone][:, open_], dtype=np.float64)
    side = np.asarray(missing[~alone], dtype=np.float64) / 10.0**decimals
    program = LinearProgram(rows, side, side, lower, upper, np.zeros(len(open_)))
    return backends()[0].open(program).solve(duals=False).x is not None
