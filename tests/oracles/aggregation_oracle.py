"""The largest excess of any aggregation by SciPy: a program for every pair, main cell and choice of signs.

It shares no line with celosia's search: nothing is bounded together, nothing branched on, nothing left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from celosia.risk.respondents.knowledge import Knowledge


def sensitivity(contributions: Sequence[Fraction | int], knowledge: Knowledge) -> Fraction:
    r"""Return :math:`S = (p X^{[1]} - q \sum_{r \ge 3} X^{[r]}) / 100` of absolute contributions, after (5.4).

    Positive where the largest contributor is not protected against the second; zero is a tie.
    """
    ordered = sorted((Fraction(one) for one in contributions), reverse=True)
    first = ordered[0] if ordered else Fraction(0)
    return (knowledge.p * first - knowledge.q * sum(ordered[2:], Fraction(0))) / knowledge.unit


def largest_excess(
    relations: NDArray[np.float64],
    hidden: NDArray[np.bool_],
    sizes: dict[int, dict[str, float]],
    p: float,
    q: float,
) -> dict[tuple[str, str], float]:
    """Return the largest excess over all aggregations, by attacker and target; pairs without any are left out.

    Parameters
    ----------
    relations
        Rows that are zero for every table, ``(m, n)``.
    hidden
        Which cells are, ``(n,)``.
    sizes
        By leaf cell what everybody contributes to it, by its size.
    p, q
        As shares.
    """
    who = sorted({name for own in sizes.values() for name in own})
    out: dict[tuple[str, str], float] = {}
    for attacker, target in product(who, who):
        if attacker != target:
            rest = {
                leaf: sum(size for name, size in own.items() if name not in {attacker, target})
                for leaf, own in sizes.items()
            }
            mine = {leaf: own[target] for leaf, own in sizes.items() if own.get(target)}
            values = [p * size - q * rest[leaf] for leaf, size in mine.items() if not hidden[leaf]]
            inner = {leaf: size for leaf, size in mine.items() if hidden[leaf]}
            values += _excesses(relations, hidden, rest, inner, p, q)
            if values:
                out[attacker, target] = max(values)
    return out


def _excesses(
    relations: NDArray[np.float64],
    hidden: NDArray[np.bool_],
    rest: dict[int, float],
    mine: dict[int, float],
    p: float,
    q: float,
) -> Iterator[float]:
    """Yield the optimum for every main cell and choice of signs, where there is one."""
    leaves = [leaf for leaf in rest if hidden[leaf]]
    totals = [cell for cell in np.flatnonzero(hidden).tolist() if cell not in rest]
    k, m = len(relations), len(leaves)
    factor = relations[:, leaves].T  # coefficients of leaf cells, by multipliers
    sized = np.block([[factor, -np.eye(m)], [-factor, -np.eye(m)]])  # the size of a coefficient is no less
    for main, largest in mine.items():
        equal = np.hstack([np.vstack([relations[:, totals].T, relations[:, [main]].T]), np.zeros((len(totals) + 1, m))])
        right = np.append(np.zeros(len(totals)), 1.0)
        others = [leaf for leaf in mine if leaf != main]
        for signs in product((1, -1), repeat=len(others)):
            sign = dict(zip(others, signs, strict=True)) | {main: 1}
            cost = np.concatenate([np.zeros(k), [q * rest[leaf] for leaf in leaves]])
            for leaf, size in mine.items():
                cost[:k] -= p * size * sign[leaf] * relations[:, leaf]
            rows, most = [sized], [np.zeros(2 * m)]
            for leaf in others:  # the sign is the one said, and the main cell counts most
                one = sign[leaf] * relations[:, leaf]
                rows.append(np.vstack([np.append(-one, np.zeros(m)), np.append(one, np.zeros(m))]))
                most.append(np.array([0.0, largest / mine[leaf]]))
            found = linprog(
                cost,
                A_ub=np.vstack(rows),
                b_ub=np.concatenate(most),
                A_eq=equal,
                b_eq=right,
                bounds=[(None, None)] * k + [(0, None)] * m,
            )
            if found.status == 0:
                yield -found.fun
