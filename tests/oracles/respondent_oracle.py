"""A respondent's attack by SciPy, from nothing but a release, the records behind it and how tables add up.

It shares no line with celosia's audits: unknowns are errors of single records' sums, a row stands for every cell, and
every choice of signs of the target's contributions is a program of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from celosia import Pattern, PPercent, PriorPosterior, Table, publish
from celosia.risk.rules.contributor_rules import RespondentRule

Leaf = tuple[str, ...]

_NOISE = 1e-6  # what is published is contradicted by no less: doubles must not turn a tie into an attack


def exposed(
    entries: Mapping[Leaf, tuple[float, float]],
    parts: Mapping[Leaf, Sequence[Leaf]],
    contributions: Mapping[tuple[Leaf, str], float],
    error: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    q: float,
    coalition: int = 1,
    sums: Collection[Sequence[Leaf]] = (),
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every coalition and target such that the coalition can exclude a corner of the target's box.

    Parameters
    ----------
    entries
        What is published about every cell, by its labels: from where to where it lies, infinite where it is hidden.
    parts
        The leaf cells of every cell.
    contributions
        What everybody contributes to every leaf cell.
    error
        How close nobody may come to contributions of some sizes.
    q
        How well everybody knows the others, in percent.
    coalition
        How many tell each other what they contribute.
    sums
        Leaf cells of which everybody knows others' sums as well as their parts, but for the target's.
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
    more, far, owner = _known_sums(keys, contributions, sums)
    for attackers in combinations(who, min(coalition, len(who) - 1)):
        for target in who:
            if target in attackers:
                continue
            own = [k for k, (_, name) in enumerate(keys) if name == target]
            for signs in product((1, -1), repeat=len(own)):
                most = np.where([name in attackers for _, name in keys], 0.0, q / 100 * size)
                bounds = np.column_stack([-most, most])
                bounds[own] = (np.array(signs) * error(size[own]))[:, None]
                others = owner != target
                left = np.vstack([rows, more[others], -more[others]])
                most_right = np.concatenate([right, *[q / 100 * far[others]] * 2])
                found = linprog(cost, left, most_right, bounds=np.vstack([bounds, [0.0, np.inf]]), method="highs")
                assert found.status == 0, found.message
                if own and found.x[-1] > _NOISE:
                    yield attackers, target
                    break


def _known_sums(
    keys: Sequence[tuple[Leaf, str]],
    contributions: Mapping[tuple[Leaf, str], float],
    sums: Collection[Sequence[Leaf]],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.str_]]:
    """Return a row for everybody's every sum, with the size of that sum, and whose it is."""
    rows: list[NDArray[np.float64]] = []
    sizes, owner = [], []
    for name in sorted({name for _, name in keys}):
        for leaves in sums:
            inside = [own == name and leaf in leaves for leaf, own in keys]
            if any(inside):
                rows.append(np.array([*inside, False], dtype=float))
                sizes.append(abs(sum(contributions[key] for key, here in zip(keys, inside, strict=True) if here)))
                owner.append(name)
    return (
        np.reshape(np.array(rows), (len(rows), len(keys) + 1)),
        np.array(sizes, dtype=float),
        np.array(owner, dtype=np.str_),
    )


def exposed_in(pattern: Pattern, table: Table, rule: RespondentRule) -> list[tuple[tuple[str, ...], str]]:
    """Return whom a release of a flat table exposes to whom, from labels, records and what is published."""
    said = table.contributions
    assert said is not None
    owners = said.respondent if rule.by == "respondent" else said.holding
    labels = [tuple(table.labels(axis)[cell] for axis in range(len(table.axes))) for cell in range(len(table))]
    lower, upper = publish(pattern).bounds()
    low = np.where(lower.infinite, -np.inf, lower.floats)
    high = np.where(upper.infinite, np.inf, upper.floats)
    contributions: dict[tuple[Leaf, str], float] = {}
    for cell, owner, amount in zip(said.cell.tolist(), owners.tolist(), said.amount.tolist(), strict=True):
        key = (labels[cell], str(owner))
        contributions[key] = contributions.get(key, 0) + amount / 10**table.decimals
    leaves = {leaf for leaf, _ in contributions}
    parts = {
        cell: [leaf for leaf in leaves if all(a in ("Total", b) for a, b in zip(cell, leaf, strict=True))]
        for cell in labels
    }
    entries = {cell: (low[k], high[k]) for k, cell in enumerate(labels)}
    unit = 10.0**-table.decimals
    if isinstance(rule, PPercent | PriorPosterior):
        percent, q = rule.p, rule.q if isinstance(rule, PriorPosterior) else 100.0
        return list(exposed(entries, parts, contributions, lambda size: size * percent / 100, q, rule.coalition))
    return list(exposed(entries, parts, contributions, lambda size: np.full(len(size), unit), 100.0))
