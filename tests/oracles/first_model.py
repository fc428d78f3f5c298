"""The first model of interval publication (Salazar 2002, Figure 6), written down plainly as one linear program."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from celosia import Risk


def least_loss(risk: Risk, lower_cost: np.ndarray | None = None, upper_cost: np.ndarray | None = None) -> float:
    """Return what the cheapest safe ranges cost, infinite where there are none.

    Columns: slacks down, slacks up, and for every requirement the tables f and g (as distances from the truth).
    """
    table = risk.table
    n, matrix = len(table), sp.csr_array(table.relations.matrix, dtype=float)
    below = risk.cost if lower_cost is None else lower_cost
    above = risk.cost if upper_cost is None else upper_cost
    required = risk.requirements
    q, one, truth = len(required), sp.eye_array(n), table.values
    shown = risk.status == "z"
    slack = np.where(shown, 0.0, np.inf)
    bounds = [np.zeros((2 * n, 2))]
    bounds[0][:, 1] = np.tile(slack, 2)
    equal, less, right = [], [], []
    for k, wanted in enumerate(required):
        attacker = risk.attackers[wanted.attacker]
        low, high = attacker.lower.floats - truth, attacker.upper.floats - truth
        for side in range(2):
            own = np.stack([low, high], axis=1)
            if side == 0:
                own[wanted.cell, 0] = max(own[wanted.cell, 0], float(wanted.upper))
            else:
                own[wanted.cell, 1] = min(own[wanted.cell, 1], -float(wanted.lower))
            bounds.append(own)
            place = [None] * (2 * q)
            place[2 * k + side] = matrix
            equal.append(sp.hstack([sp.csr_array((matrix.shape[0], 2 * n)), _block(place, matrix.shape[0], n)]))
            place[2 * k + side] = one
            block = _block(place, n, n)
            less.append(sp.hstack([sp.hstack([sp.csr_array((n, n)), -one]), block]))
            less.append(sp.hstack([sp.hstack([-one, sp.csr_array((n, n))]), -block]))
            right += [np.zeros(n), np.zeros(n)]
        pick = sp.csr_array((np.ones(1), ([0], [wanted.cell])), shape=(1, n))
        place = [None] * (2 * q)
        place[2 * k], place[2 * k + 1] = -pick, pick
        less.append(sp.hstack([sp.csr_array((1, 2 * n)), _block(place, 1, n)]))
        right.append(np.array([-float(wanted.sliding)]))
    found = linprog(
        np.concatenate([below, above, np.zeros(2 * q * n)]),
        A_ub=sp.vstack(less),
        b_ub=np.concatenate(right),
        A_eq=sp.vstack(equal),
        b_eq=np.zeros(2 * q * matrix.shape[0]),
        bounds=np.concatenate(bounds),
        method="highs",
    )
    return float(found.fun) if found.status == 0 else np.inf


def _block(parts: list[sp.csr_array | None], m: int, n: int) -> sp.csr_array:
    return sp.hstack([sp.csr_array((m, n)) if part is None else part for part in parts])
