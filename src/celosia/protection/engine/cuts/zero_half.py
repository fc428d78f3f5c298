r"""Zero-half cuts: rows of the master added up, halved, and rounded.

If rows :math:`A x \ge b` in whole numbers sum to :math:`\sum a_i x_i \ge \beta` with :math:`\beta` odd, then
:math:`\sum \lceil a_i / 2 \rceil x_i \ge (\beta + 1) / 2` holds for all whole :math:`x \ge 0` (Caprara and Fischetti
1996). It is violated when the rows are tight and few columns with odd sums have fractions. Such sums are found by
elimination modulo 2 (Koster, Zymolka and Kutschka 2009): a column that is nearly a half goes first, out of all rows but
the tightest, which is then used up.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.parameters import PARAMETERS, CutParameters
from celosia.tolerance import INTEGRAL


def zero_half_cuts(
    rows: sp.csr_array,
    right: NDArray[np.float64],
    x: NDArray[np.float64],
    parameters: CutParameters = PARAMETERS.cuts,
) -> list[Cut]:
    """Return zero-half cuts of some rows that a point violates, the most violated first.

    Parameters
    ----------
    rows, right
        Inequalities ``rows @ x >= right``; what is not in whole numbers is weakened to such.
    x
        The point, between 0 and 1.
    parameters
        How many rows, sums and cuts are tried.
    """
    if not ((x > INTEGRAL) & (x < 1.0 - INTEGRAL)).any():
        return []
    whole = sp.csr_array((np.ceil(rows.data), rows.indices, rows.indptr), shape=rows.shape)  # the tiniest counts
    sides = np.ceil(right - INTEGRAL)
    slack = np.maximum(whole @ x - sides, 0.0)
    tight = np.argsort(slack, kind="stable")[: parameters.zero_half_rows]
    tight = tight[slack[tight] < 1.0 - parameters.zero_half_violation]
    used = sp.csr_array(whole[tight])
    columns = np.unique(used.indices)
    used = sp.csr_array(used[:, columns])
    chosen = sp.csr_array(_sums(used.toarray(), sides[tight], slack[tight], x[columns], parameters))
    # Products of dense matrices would wake a thread for each processor, which wait for more long after the last.
    return _halve((chosen @ used).toarray(), chosen @ sides[tight], x[columns], columns, parameters)


def _sums(
    rows: NDArray[np.float64],
    right: NDArray[np.float64],
    slack: NDArray[np.float64],
    x: NDArray[np.float64],
    parameters: CutParameters,
) -> NDArray[np.float64]:
    """Return which rows to sum, 0 or 1, ``(k, m)``: odd on the right, nearly even and tight on the left."""
    away = np.minimum(x, 1.0 - x)
    broken = np.flatnonzero(away > INTEGRAL)
    order = broken[np.argsort(-away[broken], kind="stable")]
    odd = rows[:, order] % 2 != 0
    # A column at 1 is taken at its upper bound, and changes the right side.
    parity = (right - rows[:, x >= 1.0 - INTEGRAL].sum(axis=1)) % 2 != 0
    members = np.eye(len(right), dtype=bool)
    weight, idle = slack.copy(), np.ones(len(right), dtype=bool)
    left = weight + _sum_over(odd, away[order])
    found: dict[bytes, NDArray[np.bool_]] = {}
    for step in range(len(order) + 1):
        for row in np.flatnonzero(parity & idle & (left < 1.0 - parameters.zero_half_violation)).tolist():
            found.setdefault(members[row].tobytes(), members[row].copy())
        if step == len(order) or len(found) >= parameters.zero_half_sums:
            break
        holding = np.flatnonzero(odd[:, step] & idle)
        if len(holding):
            pivot = holding[np.argmin(weight[holding])]
            others = holding[holding != pivot]
            odd[others] ^= odd[pivot]
            members[others] ^= members[pivot]
            parity[others] ^= parity[pivot]
            weight[others] = _sum_over(members[others], slack)
            left[others] = weight[others] + _sum_over(odd[others, step + 1 :], away[order[step + 1 :]])
            idle[pivot] = False
    return np.array(list(found.values()), dtype=np.float64).reshape(len(found), len(right))


def _sum_over(members: NDArray[np.bool_], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the numbers that each row has."""
    return np.asarray(np.where(members, numbers, 0.0).sum(axis=1))


def _halve(
    total: NDArray[np.float64],
    side: NDArray[np.float64],
    x: NDArray[np.float64],
    columns: NDArray[np.int64],
    parameters: CutParameters,
) -> list[Cut]:
    """Return the best cuts of some sums, each made even on the left by the nearer bound of every odd column."""
    odd = total % 2 != 0
    above = odd & (x > 0.5)  # noqa: PLR2004  (nearer to 1)
    even = (total + odd - 2.0 * above) / 2.0
    rest = side - above.sum(axis=1)
    right = np.ceil(rest / 2.0)
    small = np.abs(even).max(axis=1, initial=0.0) <= parameters.zero_half_coefficient
    missing = np.where((rest % 2 != 0) & small, right - (even * x).sum(axis=1), 0.0)
    missing[missing <= parameters.zero_half_violation] = 0.0
    deep = missing / np.maximum(np.sqrt((even**2).sum(axis=1)), 1.0)  # how far the point is from the cut
    cuts: dict[bytes, Cut] = {}
    for k in np.argsort(-deep, kind="stable").tolist():
        if not deep[k] or len(cuts) == parameters.zero_half_cuts:
            break
        terms = np.flatnonzero(even[k])
        cut = Cut(columns[terms], even[k, terms], float(right[k]), lean=True, rounded=True)
        cuts[cut.key] = cut
    return list(cuts.values())
