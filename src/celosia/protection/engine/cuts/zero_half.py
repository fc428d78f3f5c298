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
    place = np.zeros(used.shape[1], dtype=used.indices.dtype)
    place[used.indices] = 1
    columns = np.flatnonzero(place).astype(place.dtype)
    place[columns] = np.arange(len(columns))
    used = sp.csr_array((used.data, place[used.indices], used.indptr), shape=(len(tight), len(columns)))
    chosen = sp.csr_array(_sums(used, sides[tight], slack[tight], x[columns], parameters))
    # Products of dense matrices would wake a thread for each processor, which wait for more long after the last.
    return _halve((chosen @ used).toarray(), chosen @ sides[tight], x[columns], columns, parameters)


def _sums(
    rows: sp.csr_array,
    right: NDArray[np.float64],
    slack: NDArray[np.float64],
    x: NDArray[np.float64],
    parameters: CutParameters,
) -> NDArray[np.float64]:
    """Return which rows to sum, 0 or 1, ``(k, m)``: odd on the right, nearly even and tight on the left."""
    away = np.minimum(x, 1.0 - x)
    broken = np.flatnonzero(away > INTEGRAL)
    order = broken[np.argsort(-away[broken], kind="stable")]
    odd = rows[:, order].toarray() % 2 != 0
    # A column at 1 is taken at its upper bound, and changes the right side.
    parity = (right - rows @ (x >= 1.0 - INTEGRAL).astype(np.float64)) % 2 != 0
    found = _eliminate(odd, parity, slack, away[order], parameters)
    return np.array(found, dtype=np.float64).reshape(len(found), len(right))


def _eliminate(
    odd: NDArray[np.bool_],
    parity: NDArray[np.bool_],
    slack: NDArray[np.float64],
    away: NDArray[np.float64],
    parameters: CutParameters,
) -> list[NDArray[np.bool_]]:
    """Return which rows make sums that are odd on the right and nearly even on the left, each ``(m,)``.

    Parameters
    ----------
    odd
        Which columns with fractions are odd in a row, ``(m, n)``; the first goes first.
    parity
        Which rows are odd on the right, ``(m,)``.
    slack
        By how much each row is not tight, ``(m,)``.
    away
        How far each column is from a whole number, ``(n,)``.
    parameters
        How many sums, and how violated.
    """
    many, n = odd.shape
    # A sum is a row of what is odd in it, behind which its members stand; what it weighs is the sum of their numbers.
    sums = np.hstack([odd, np.eye(many, dtype=bool)])
    numbers = np.concatenate([away, slack])
    weight, idle = slack.copy(), np.ones(many, dtype=bool)
    left = weight + np.where(odd, away, 0.0).sum(axis=1)
    found: dict[bytes, NDArray[np.bool_]] = {}
    new = np.arange(many)
    for step in range(1, n + 2):
        for row in new[parity[new] & (left[new] < 1.0 - parameters.zero_half_violation)].tolist():
            members = sums[row, n:]
            found.setdefault(members.tobytes(), members.copy())
        if step > n or len(found) >= parameters.zero_half_sums:
            break
        new = np.flatnonzero(sums[:, step - 1] & idle)
        if len(new):
            tightest = int(np.argmin(weight[new]))
            pivot, new = new[tightest], np.concatenate([new[:tightest], new[tightest + 1 :]])
            idle[pivot] = False
            rest = sums[new, step:] ^ sums[pivot, step:]
            sums[new, step:] = rest
            parity[new] ^= parity[pivot]
            parts = np.where(rest, numbers[step:], 0.0)
            weight[new] = parts[:, n - step :].sum(axis=1)
            left[new] = weight[new] + parts[:, : n - step].sum(axis=1)
    return list(found.values())


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
