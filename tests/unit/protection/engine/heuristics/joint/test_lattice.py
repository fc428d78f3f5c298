"""Moves of a pattern in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from celosia.protection.engine.heuristics.joint.lattice import find_whole_moves


@pytest.mark.parametrize("seed", range(6))
def test_a_basis_in_whole_numbers_leaves_shown_classes_where_they_are(seed: int) -> None:
    chance = np.random.default_rng(seed)
    combinations = sp.csr_array(np.vstack([np.eye(8, dtype=np.int64), chance.integers(-1, 2, size=(20, 8))]))
    hidden = np.ones(28, dtype=bool)
    hidden[chance.choice(28, size=4, replace=False)] = False
    basis = find_whole_moves(combinations, hidden)
    assert basis is not None
    rank = np.linalg.matrix_rank(combinations.toarray()[~hidden])
    assert basis.shape == (28, 8 - rank)
    assert np.linalg.matrix_rank(basis) == 8 - rank
    assert not basis[~hidden].any()


def test_every_whole_move_is_a_combination_of_the_basis() -> None:
    # 3 a = 5 b leaves the moves (5, 3) alone, 2 a = 4 b those of (2, 1)
    combinations = sp.csr_array(np.array([[1, 0], [0, 1], [3, -5], [2, -4]]))
    for shown, move in ((2, (5, 3)), (3, (2, 1))):
        hidden = np.arange(4) != shown
        basis = find_whole_moves(combinations, hidden)
        assert basis is not None
        assert tuple(np.abs(basis[:2, 0]).tolist()) == move


def test_vectors_that_grow_long_are_shortened() -> None:
    """Chains of x_i = 2 x_(i+1) grow to powers of two, whatever is done; their sums with units do not."""
    d = 12
    chance = np.random.default_rng(3)
    rows = np.vstack([np.eye(2 * d, dtype=np.int64), chance.integers(-2, 3, size=(d, 2 * d))])
    hidden = np.arange(len(rows)) < 2 * d
    basis = find_whole_moves(sp.csr_array(rows), hidden)
    assert basis is not None
    assert basis.shape[1] == d
    assert not basis[~hidden].any()
    assert int(np.abs(basis).max()) <= 8
