"""Zero-half cuts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from celosia.protection.engine.cuts.zero_half import zero_half_cuts


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
