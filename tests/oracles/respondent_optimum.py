"""The cheapest releases that are safe against outsiders and every respondent, by brute force.

Patterns are enumerated and judged by the full audit; ranges are one program, with a table for every requirement, and
one of single contributions for every coalition, target and corner of his box. Nothing is shared with the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.oracles.single_contributions import is_open

from celosia import Pattern, PPercent, PriorPosterior, Risk, audit

Rule = PPercent | PriorPosterior


def cheaper_pattern(risk: Risk, rule: Rule, cost: int) -> NDArray[np.int64] | None:
    """Return the cells of a safe pattern with fewer cells than so many, None where there is none.

    Hiding more is never less safe, so only patterns with one cell less need to be tried.
    """
    cells_only = replace(risk, respondents=())
    must = np.flatnonzero(risk.sensitive)
    free = np.flatnonzero(~risk.sensitive)
    for more in combinations(free.tolist(), max(cost - 1 - len(must), 0)):
        cells = np.union1d(must, np.array(more, dtype=np.int64))
        pattern = Pattern.hide(risk.table, cells)
        if len(cells) < cost and audit(pattern, cells_only).safe and not is_open(pattern, risk.table, rule):
            return cells
    return None


def cheapest_ranges(risk: Risk, rule: Rule, *, cell_cost: float = 0.0) -> float | None:
    """Return what the cheapest safe ranges cost, by unit of width and by range; None where there are none."""
    model = _Model(risk, cell_cost)
    for copy in (*_cells(risk), *_corners(risk, rule)):
        model.add(*copy)
    return model.least()


Copy = tuple[NDArray[np.float64], NDArray[np.float64], sp.csr_array | None]


def _cells(risk: Risk) -> Iterator[Copy]:
    """Yield bounds on the moves of all cells, for every requirement and direction."""
    required, values = risk.requirements, risk.table.values
    for k in range(len(required)):
        who = risk.attackers[int(required.attackers[k])]
        low = np.where(who.lower.infinite, -np.inf, who.lower.floats - values)
        high = np.where(who.upper.infinite, np.inf, who.upper.floats - values)
        cell = int(required.cells[k])
        assert not required.sliding.counts[k]
        for sign, level in ((1, float(required.upper.floats[k])), (-1, float(required.lower.floats[k]))):
            lower, upper = low.copy(), high.copy()
            if sign > 0:
                lower[cell] = level
            else:
                upper[cell] = -level
            if level > 0:
                yield lower, upper, None


def _corners(risk: Risk, rule: Rule) -> Iterator[Copy]:
    """Yield bounds on the errors of all contributions, for every coalition, target and corner."""
    said = risk.table.contributions
    assert said is not None
    sums: dict[tuple[int, int], int] = {}
    for cell, own, amount in zip(said.cell.tolist(), said.holding.tolist(), said.amount.tolist(), strict=True):
        sums[cell, own] = sums.get((cell, own), 0) + amount
    keys = [key for key, amount in sums.items() if amount]
    sizes = np.array([abs(sums[key]) / 10**risk.table.decimals for key in keys])
    owner = np.array([own for _, own in keys])
    cells = np.array([cell for cell, _ in keys])
    leaves = np.unique(np.array([cell for cell, _ in sums]))
    errors = sp.csr_array(
        (np.ones(len(keys)), (np.searchsorted(leaves, cells), np.arange(len(keys)))), shape=(len(leaves), len(keys))
    )
    place = sp.csr_array((-np.ones(len(leaves)), (np.arange(len(leaves)), leaves)), shape=(len(leaves), len(risk)))
    rows = sp.csr_array(sp.hstack([place, errors]))
    free = np.full(len(risk), np.inf)
    q = rule.q if isinstance(rule, PriorPosterior) else 100
    who = sorted(set(owner.tolist()))
    for target in who:
        mine = np.flatnonzero(owner == target)
        for coalition in combinations([one for one in who if one != target], min(rule.coalition, len(who) - 1)):
            for signs in product((1, -1), repeat=len(mine)):
                most = np.where(np.isin(owner, coalition), 0.0, sizes * q / 100)
                lower, upper = -most, most.copy()
                lower[mine] = upper[mine] = np.array(signs) * sizes[mine] * rule.p / 100
                yield np.concatenate([-free, lower]), np.concatenate([free, upper]), rows


class _Model:
    """Widths below and above, and copies of the table within them."""

    def __init__(self, risk: Risk, cell_cost: float) -> None:
        self._n, self._table = len(risk), risk.table
        self._by_cell = cell_cost > 0
        self._most = float(np.abs(risk.table.values).sum() * 3 + 1)
        self._cost = [np.repeat(risk.cost, 2), np.full(self._n if self._by_cell else 0, cell_cost)]
        self._lower: list[NDArray[np.float64]] = []
        self._upper: list[NDArray[np.float64]] = []
        self._copies: list[sp.csr_array] = []

    def add(self, lower: NDArray[np.float64], upper: NDArray[np.float64], rows: sp.csr_array | None) -> None:
        """Ask for one more table within the published ranges and these bounds."""
        relations = sp.csr_array(self._table.relations.matrix, dtype=np.float64)
        extra = len(lower) - self._n
        blocks = [sp.csr_array(sp.hstack([relations, sp.csr_array((relations.shape[0], extra))]))]
        blocks += [] if rows is None else [rows]
        self._copies.append(sp.csr_array(sp.vstack(blocks)))
        self._lower.append(lower)
        self._upper.append(upper)

    def least(self) -> float | None:
        """Return the least cost."""
        n, ends = self._n, 2 * self._n
        head = ends + (n if self._by_cell else 0)
        equal = sp.block_diag([sp.csr_array((0, head)), *self._copies], format="csr")
        start, within = head, []
        for lower in self._lower:
            one = sp.coo_array((np.ones(n), (np.arange(n), start + np.arange(n))), shape=(n, equal.shape[1]))
            for side, sign in ((0, -1.0), (1, 1.0)):  # sign * move <= end
                own = sp.coo_array((np.ones(n), (np.arange(n), 2 * np.arange(n) + side)), shape=(n, equal.shape[1]))
                within.append(sp.csr_array(own) - sign * sp.csr_array(one))
            start += len(lower)
        if self._by_cell:
            for side in (0, 1):
                own = sp.coo_array((np.ones(n), (np.arange(n), 2 * np.arange(n) + side)), shape=(n, equal.shape[1]))
                open_ = sp.coo_array(
                    (np.full(n, self._most), (np.arange(n), ends + np.arange(n))), shape=(n, equal.shape[1])
                )
                within.append(sp.csr_array(open_) - sp.csr_array(own))
        inside = sp.csr_array(sp.vstack(within))
        cost = np.concatenate([*self._cost, np.zeros(equal.shape[1] - head)])
        integer = np.zeros(len(cost))
        integer[ends:head] = 1
        lower = np.concatenate([np.zeros(head), *self._lower])
        upper = np.concatenate([np.full(ends, self._most), np.ones(head - ends), *self._upper])
        rows = sp.csr_array(sp.vstack([equal, inside]))
        right = np.concatenate([np.zeros(equal.shape[0]), np.full(inside.shape[0], np.inf)])
        found = milp(
            cost,
            integrality=integer,
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(rows, np.zeros(len(right)), right),
            options={"mip_rel_gap": 0.0},
        )
        return None if found.x is None else float(found.fun)
