"""Small tables drawn for methods that move values, and how they are put to celosia."""

from __future__ import annotations

import random

import numpy as np
import scipy.sparse as sp
from tests.oracles.moving_oracle import Case
from tests.oracles.suppression_cases import drawn_rows, drawn_values

from celosia import Attacker, Risk, Table
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.relations import Relations

KINDS = ("flat", "tree", "cube", "linked")


def drawn(chance: random.Random, kind: str, *, whole: bool) -> Case:
    """Return a table of one kind with a few sensitive cells and one or two attackers."""
    rows = drawn_rows(chance, kind)
    values = drawn_values(chance, rows, kind)
    n = len(values)
    sensitive = chance.sample(range(n), chance.choice([0, 1, 1, 2]))
    asked = {cell: chance.choice([(1, 1, 0), (0, 2, 0), (2, 0, 0), (0, 0, 3), (1, 2, 4)]) for cell in sensitive}
    levels = {cell: (min(own[0], values[cell]), own[1], own[2]) for cell, own in asked.items()}
    levels = {cell: own for cell, own in levels.items() if any(own)}
    attackers = [([0.0] * n, [np.inf] * n)]
    if chance.random() < 0.4:
        near = [chance.choice([0, 1, 3, 9, 9, 9]) for _ in range(n)]
        pairs = list(zip(values, near, strict=True))
        attackers.append(([max(0, v - k) for v, k in pairs], [v + k for v, k in pairs]))
    cost = [float(chance.choice([1, 1, 2, 5])) for _ in range(n)]
    return Case(rows, values, levels, attackers, cost, whole)


def put(case: Case) -> Risk:
    """Return a case as celosia takes it."""
    n = len(case.values)
    matrix = sp.csr_array(np.array(case.rows, dtype=np.int64))
    counts = np.array(case.values, dtype=np.int64)
    table = Table(
        axes=(),
        codes=np.zeros((n, 0), dtype=np.int32),
        variables=("value",),
        variable=np.zeros(n, dtype=np.int32),
        amounts=Fixed(counts),
        relations=Relations(matrix, np.asarray(matrix @ counts)),
        counts=frozenset({"value"} if case.whole else ()),
    )
    numbers = np.zeros((3, n), dtype=np.int64)
    for cell, own in case.levels.items():
        numbers[:, cell] = own

    def ends(side: object) -> Fixed:
        array = np.array(side, dtype=float)
        far = np.isinf(array)
        return Fixed(np.where(far, INFINITE, np.where(far, 0, array).astype(np.int64)))

    return Risk(
        table,
        np.array([SENSITIVE if cell in case.levels else SAFE for cell in range(n)]),
        Levels(*(Fixed(part) for part in numbers)),
        np.array(case.cost),
        tuple(Attacker(f"attacker {k}", ends(low), ends(high)) for k, (low, high) in enumerate(case.attackers)),
    )
