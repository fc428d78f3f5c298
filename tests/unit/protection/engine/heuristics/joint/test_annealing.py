"""Simulated annealing of joint patterns, judged by SciPy's programs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from celosia.protection.engine.heuristics.joint.annealing.search import anneal_pattern
from celosia.protection.engine.heuristics.joint.annealing.tableau import choose_generators
from celosia.protection.engine.heuristics.joint.parameters import JointParameters
from celosia.protection.engine.heuristics.joint.targets import Targets

N, D = 40, 10
HOT = JointParameters(temperature=0.2, moves=2, exchanges=60, most_added=1.0)


def drawn(seed: int) -> tuple[sp.csr_array, Targets, NDArray[np.float64]]:
    """Return random kernel coordinates, three targets and costs; two targets may move both ways, one up."""
    chance = np.random.default_rng(seed)
    sparse = chance.integers(-1, 2, size=(N - D, D)) * (chance.random((N - D, D)) < 0.4)
    combinations = sp.csr_array(np.vstack([np.eye(D), sparse]))
    lower, upper = chance.integers(2, 20, size=(2, N)).astype(float)
    both = np.minimum(lower, upper)
    targets = Targets(
        np.array([0, 1, 2]),
        np.array([0, 0, 1]),
        np.array([1.0, 2.0, 1.5]),
        np.array([0, 0, 1]),
        np.array([both, lower]),
        np.array([both, upper]),
        np.array([0, 0]),
    )
    cost = chance.integers(1, 50, size=N).astype(float)
    cost[:3] = 0.0
    return combinations, targets, cost


def reach(combinations: sp.csr_array, targets: Targets, hidden: NDArray[np.bool_], number: int) -> float:
    box = int(targets.boxes[number])
    rows = combinations.toarray()
    ends = np.where(hidden, targets.upper[box], 0.0), np.where(hidden, targets.lower[box], 0.0)
    sign = int(targets.signs[number]) or 1
    cost = -sign * rows[targets.columns[number]]
    found = linprog(cost, A_ub=np.vstack([rows, -rows]), b_ub=np.concatenate(ends), bounds=(None, None))
    return float(-found.fun)


@pytest.mark.parametrize("seed", range(8))
def test_annealed_patterns_are_safe_and_cheaper_than_the_first(seed: int) -> None:
    combinations, targets, cost = drawn(seed)
    everything = np.ones(N, dtype=bool)
    passed = iter(np.linspace(0.0, 1.0, 6).tolist())
    found = anneal_pattern(everything, combinations, targets, cost, np.random.default_rng(seed), passed.__next__, HOT)
    costs = [float(cost.sum())]
    for hidden in found:
        if hidden is None:
            continue
        costs.append(float(cost[hidden].sum()))
        assert costs[-1] < costs[-2]
        for number in range(len(targets)):
            assert reach(combinations, targets, hidden, number) >= targets.levels[number] - 1e-6


def test_generators_determine_what_is_shown_and_hide_what_they_say() -> None:
    combinations, _, _ = drawn(1)
    rows, shown = combinations.toarray(), np.arange(15, 30)
    table = rows.copy()
    generators = choose_generators(table, shown)
    kept = np.flatnonzero(generators >= 0)
    assert len(kept) == np.linalg.matrix_rank(rows[shown])
    assert np.allclose(table[generators[kept]][:, kept], np.eye(len(kept)))
    assert not table[shown][:, generators < 0].any()
    # the columns span the same moves
    assert np.linalg.matrix_rank(np.hstack([rows, table])) == D
