"""Simulated annealing of joint patterns, judged by SciPy's programs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

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
HOT = JointParameters(temperature=0.2, steps_a_tableau=10, most_left_out=6)


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


def anneal_to_the_end(combinations: sp.csr_array, targets: Targets, cost: NDArray[np.float64]) -> list[float]:
    """Return costs of patterns that are found from the one that hides everything, the cheapest last."""
    everything, passed = np.ones(len(cost), dtype=bool), iter(np.linspace(0.0, 1.0, 6).tolist())
    found = anneal_pattern(everything, combinations, targets, cost, np.random.default_rng(0), passed.__next__, HOT)
    return [float(cost[hidden].sum()) for hidden in found if hidden is not None]


@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_of_all_patterns_of_a_small_problem_is_found(seed: int) -> None:
    combinations, targets, cost = drawn(seed)
    few = np.r_[0:8, 12:14]  # the coordinates of the others stay, and move these classes only
    combinations, cost = sp.csr_array(combinations[few][:, :5]), cost[few]
    targets = replace(targets, lower=targets.lower[:, few], upper=targets.upper[:, few])

    def is_safe(hidden: NDArray[np.bool_]) -> bool:
        return all(reach(combinations, targets, hidden, t) >= targets.levels[t] - 1e-6 for t in range(len(targets)))

    patterns = (np.array([True, True, True, *others]) for others in product([False, True], repeat=len(few) - 3))
    by_cost = sorted(patterns, key=lambda hidden: float(cost[hidden].sum()))
    cheapest = next(float(cost[hidden].sum()) for hidden in by_cost if is_safe(hidden))
    assert anneal_to_the_end(combinations, targets, cost)[-1] == cheapest


def test_a_level_as_large_as_a_bound_is_met() -> None:
    # The first class must move by a third of a unit, just as far as its cheaper partner can.
    combinations = sp.csr_array(np.array([[1.0, 1.0], [3.0, 0.0], [0.0, 3.0]]))
    room = np.array([[5.0, 1.0, 5.0]])
    first = np.array([0])
    targets = Targets(first, first, np.array([1.0 / 3.0]), first, room, room, first)
    assert anneal_to_the_end(combinations, targets, np.array([0.0, 1.0, 2.0]))[-1] == 1.0


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
