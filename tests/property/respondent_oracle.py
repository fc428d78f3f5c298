"""A respondent's attack by SciPy, from nothing but a release, the records behind it and how tables add up.

It shares no line with celosia's audits: unknowns are errors of single records' sums, a row stands for every cell, and
every choice of signs of the target's contributions is a program of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from scipy.optimize import linprog

Leaf = tuple[str, ...]

_NOISE = 1e-6  # what is published is contradicted by no less: doubles must not turn a tie into an attack


def exposed(
    entries: Mapping[Leaf, tuple[float, float]],
    parts: Mapping[Leaf, Sequence[Leaf]],
    contributions: Mapping[tuple[Leaf, str], float],
    p: float,
    q: float,
) -> Iterator[tuple[str, str]]:
    """Yield every attacker and target such that the attacker can exclude a corner of the target's box.

    Parameters
    ----------
    entries
        What is published about every cell, by its labels: from where to where it lies, infinite where it is hidden.
    parts
        The leaf cells of every cell.
    contributions
        What everybody contributes to every leaf cell.
    p, q
        Percentages: how close nobody may come, and how well everybody knows the others.
    """
    keys = [key for key, amount in contributions.items() if amount]
    size = np.array([abs(contributions[key]) for key in keys])
    cells = list(entries)
    matrix = np.array([[float(leaf in parts[cell]) for leaf, _ in keys] for cell in cells])
    truth = np.array([sum(contributions[key] for key in keys if key[0] in parts[cell]) for cell in cells])
    low = np.array([entries[cell][0] for cell in cells]) - truth
    high = np.array([entries[cell][1] for cell in cells]) - truth
    upper, lower = np.isfinite(high), np.isfinite(low)
    rows = np.vstack([matrix[upper], -matrix[lower]])
    rows = np.hstack([rows, -np.ones((len(rows), 1))])  # by how much what is published would be contradicted
    cost = np.concatenate([np.zeros(len(keys)), [1.0]])
    right = np.concatenate([np.maximum(high[upper], 0), np.maximum(-low[lower], 0)])
    who = sorted({name for _, name in contributions})
    for attacker in who:
        for target in who:
            if attacker == target:
                continue
            own = [k for k, (_, name) in enumerate(keys) if name == target]
            for signs in product((1, -1), repeat=len(own)):
                most = np.where([name == attacker for _, name in keys], 0.0, q / 100 * size)
                bounds = np.column_stack([-most, most])
                bounds[own] = (np.array(signs) * size[own] * p / 100)[:, None]
                found = linprog(cost, rows, right, bounds=np.vstack([bounds, [0.0, np.inf]]), method="highs")
                assert found.status == 0, found.message
                if own and found.x[-1] > _NOISE:
                    yield attacker, target
                    break
