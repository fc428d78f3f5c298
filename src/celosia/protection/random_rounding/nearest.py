r"""The table closest to the true one in which some cells have given values: Tiwari's (3.2)-(3.3), exactly.

Wanted are whole numbers :math:`x` with :math:`M x = b` that minimise :math:`\sum_i (x_i - a_i)^2 / a_i`. With fixed
margins that differs from the paper's :math:`z = \sum x_i^2 / a_i` by a constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.redundancy import find_implied_rows
from celosia.protection.adjustment.branch_and_bound import AdjustmentSearch
from celosia.protection.adjustment.formulation import AdjustmentProblem, PublicationGrid
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Risk
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock


@dataclass(frozen=True, slots=True, eq=False)
class NearestTable:
    """A table around given values.

    Parameters
    ----------
    values
        In counts, ``(n_cells,)``.
    cost, bound
        The chi-square distance over all cells that are not kept, those with given values included, and what it is at
        least for these values.
    """

    values: NDArray[np.int64]
    cost: float
    bound: float


def find_nearest_table(
    risk: Risk,
    cells: NDArray[np.int64],
    values: NDArray[np.int64],
    kept: NDArray[np.bool_],
    reach: int | NDArray[np.int64] | None,
    solver: Backend,
    clock: Clock,
) -> NearestTable | None:
    """Return the nearest table, None where there is none or time is up.

    Parameters
    ----------
    risk
        The table, and what attackers know: other cells stay within that.
    cells, values
        Cells with given values, in counts, ``(k,)`` each.
    kept
        Cells that keep their true value, ``(n_cells,)``. Zeros do, too.
    reach
        How far other cells may move, in counts, for all or for each; None for as far as attackers allow.
    solver, clock
        What solves programs with whole numbers, and when to stop.
    """
    grid = PublicationGrid.of(risk.table, risk.table.decimals)
    problem = _formulate(risk, grid, cells, values, kept, reach)
    if problem is None:
        return None
    counts = np.asarray(risk.table.amounts.counts, dtype=np.int64).copy()
    counts[cells] = values
    fixed = counts[cells] - risk.table.amounts.counts[cells]
    own = math.fsum((fixed**2 * _weights(risk)[cells]).tolist())
    cost = bound = own
    for columns in problem.split_components():
        search = AdjustmentSearch(problem.restrict_to(columns), solver, clock, lambda: None)
        search.run(0.0)
        if search.moves is None:
            return None
        counts[problem.cells[columns]] += search.moves * grid.grain[problem.cells[columns]]
        cost, bound = cost + search.cost, bound + search.bound
    return NearestTable(counts, cost, min(cost, bound))


def _formulate(
    risk: Risk,
    grid: PublicationGrid,
    cells: NDArray[np.int64],
    values: NDArray[np.int64],
    kept: NDArray[np.bool_],
    reach: int | NDArray[np.int64] | None,
) -> AdjustmentProblem | None:
    table = risk.table
    truth = np.asarray(table.amounts.counts, dtype=np.int64)
    given = np.zeros(len(table), dtype=np.int64)
    given[cells] = values - truth[cells]
    free = ~kept & (truth != 0)
    free[cells] = False
    moving = np.flatnonzero(free)
    known = Attacker.together(risk.attackers)
    lower, upper = grid.lower(known.lower)[moving], grid.upper(known.upper)[moving]
    if reach is not None:
        far = np.broadcast_to(reach, len(table))[moving] // grid.grain[moving]
        lower, upper = np.maximum(lower, -far), np.minimum(upper, far)
    full = table.relations.matrix
    matrix, right = grid.relations(sp.csr_array(full[:, moving]), -(full @ given), moving)
    used = np.diff(matrix.indptr) > 0
    if bool(right[~used].any()):
        return None
    rows = np.flatnonzero(used & ~find_implied_rows(full))
    none = np.zeros(len(moving), dtype=np.int64)
    return AdjustmentProblem(
        moving,
        sp.csr_array(matrix[rows]),
        np.asarray(right[rows], dtype=np.int64),
        sp.csr_array((0, len(moving)), dtype=np.int64),
        lower,
        upper,
        none,
        none,
        (_weights(risk) * grid.grain**2)[moving],
        np.zeros(len(moving)),
        2,
    )


def _weights(risk: Risk) -> NDArray[np.float64]:
    """Return the weight of a squared error, in counts: the inverse of the value, as in a chi-square distance."""
    size = np.maximum(np.abs(risk.table.values), 10.0**-risk.table.decimals)
    return np.asarray(10.0 ** (-2 * risk.table.decimals) / size)
