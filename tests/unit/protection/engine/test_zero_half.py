"""Zero-half cuts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.cuts.zero_half import _eliminate, zero_half_cuts
from celosia.protection.engine.parameters import PARAMETERS


def test_three_pairs_of_three_cells_need_two_cells() -> None:
    rows = sp.csr_array(np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]]))
    [cut] = zero_half_cuts(rows, np.ones(3), np.array([0.5, 0.5, 0.5, 0.0]))
    assert cut.columns.tolist() == [0, 1, 2]
    assert cut.values.tolist() == [1, 1, 1]
    assert cut.right == 2
    assert cut.lean


def test_nothing_is_found_against_a_pattern() -> None:
    rows = sp.csr_array(np.array([[1.0, 1, 0], [0, 1, 1]]))
    assert not zero_half_cuts(rows, np.ones(2), np.array([1.0, 0.0, 1.0]))


@pytest.mark.parametrize("seed", range(30))
def test_patterns_that_satisfy_the_rows_satisfy_the_cuts(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 8
    entries = random.choice([0.0, 0.0, 1.0, 1.0, 0.4, 1e-7, -1.0], size=(10, n))
    right = random.choice([0.0, 1.0, 2.0, 1e-7], size=10)
    points = np.array(list(product([0.0, 1.0], repeat=n)))
    satisfied = points[np.all(points @ entries.T >= right, axis=1)]
    found = 0
    for _ in range(20):
        x = random.choice([0.0, 1.0, 0.5, 0.5, 0.3], size=n)
        for cut in zero_half_cuts(sp.csr_array(entries), right, x):
            found += 1
            assert cut.violation(x) > 0
            assert all(cut.violation(point) <= 0 for point in satisfied)
    assert found or seed


def eliminate_plainly(
    odd: NDArray[np.bool_], parity: NDArray[np.bool_], slack: NDArray[np.float64], away: NDArray[np.float64]
) -> list[list[int]]:
    """Return the members of sums, each weighed anew after every step: those of all rows that are not used up."""
    sums = [({row}, set(np.flatnonzero(odd[row]).tolist()), bool(parity[row])) for row in range(len(odd))]
    idle, found = set(range(len(odd))), []
    for column in range(len(away) + 1):
        for row in sorted(idle):
            members, odd_ones, is_odd = sums[row]
            left = sum(slack[list(members)]) + sum(away[[one for one in odd_ones if one >= column]])
            if is_odd and left < 1.0 - PARAMETERS.cuts.zero_half_violation and sorted(members) not in found:
                found.append(sorted(members))
        if column == len(away) or len(found) >= PARAMETERS.cuts.zero_half_sums:
            break
        holding = [row for row in sorted(idle) if column in sums[row][1]]
        if holding:
            pivot = min(holding, key=lambda row: sum(slack[list(sums[row][0])]))
            idle.remove(pivot)
            for row in holding:
                if row != pivot:
                    (members, odd_ones, is_odd), (others, further, turned) = sums[row], sums[pivot]
                    sums[row] = (members ^ others, odd_ones ^ further, is_odd ^ turned)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_sums_are_those_of_plain_elimination(seed: int) -> None:
    random = np.random.default_rng(seed)
    many, n = random.integers(1, 12, size=2)
    odd, parity = random.random((many, n)) < random.choice([0.1, 0.3, 0.6]), random.random(many) < 0.5
    slack = random.integers(0, 20, size=many) / 64.0  # sums are exact in any order
    away = np.sort(random.integers(1, 33, size=n) / 64.0)[::-1]
    wanted = eliminate_plainly(odd, parity, slack, away)
    found = _eliminate(odd.copy(), parity.copy(), slack, away, PARAMETERS.cuts)
    assert [np.flatnonzero(members).tolist() for members in found] == wanted
