"""Tableaux of kernel coordinates against elimination by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.protection.engine.cuts.tableau import RowPrices, Tableau, shorten_row, sum_rows, take_lightest_basis

SEEDS = range(6)


def drawn(seed: int, n: int = 9, d: int = 3) -> tuple[NDArray[np.float64], Tableau]:
    """Return the rows of some classes in coordinates, and the tableau of the first ones, which are units."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([np.eye(d), rng.integers(-1, 2, size=(n - d, d))])
    place = np.full(n, -1)
    place[:d] = np.arange(d)
    return rows, Tableau(rows.copy(), np.arange(d), place)


def expects(rows: NDArray[np.float64], tableau: Tableau) -> None:
    """Assert that every class is the combination of the basis that its row says."""
    assert np.allclose(tableau.table @ rows[tableau.basis], rows)
    assert np.array_equal(tableau.place[tableau.basis], np.arange(len(tableau.basis)))
    assert (tableau.place >= 0).sum() == len(tableau.basis)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_lightest_basis_is_the_lightest_of_all(seed: int) -> None:
    rows, tableau = drawn(seed)
    weight = np.random.default_rng(seed + 100).random(len(rows))
    take_lightest_basis(tableau, np.argsort(weight), weight)
    expects(rows, tableau)
    independent = (
        list(one)
        for one in itertools.combinations(range(len(rows)), rows.shape[1])
        if np.linalg.matrix_rank(rows[list(one)]) == rows.shape[1]
    )
    assert weight[tableau.basis].sum() == pytest.approx(min(weight[one].sum() for one in independent))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_class_outside_the_lightest_basis_weighs_as_much_as_any_of_its_row(seed: int) -> None:
    rows, tableau = drawn(seed)
    weight = np.random.default_rng(seed).random(len(rows))
    take_lightest_basis(tableau, np.argsort(weight), weight)
    for row in np.flatnonzero(tableau.place < 0).tolist():
        used = tableau.basis[tableau.table[row] != 0.0]
        assert (weight[used] <= weight[row]).all()
        assert sum_rows(tableau, weight)[row] == pytest.approx(weight[used].sum())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", [0.0, 2.0])
def test_exchanges_make_a_row_cheaper_and_keep_the_tableau(seed: int, level: float) -> None:
    rows, tableau = drawn(seed, n=14, d=4)
    rng = np.random.default_rng(seed)
    prices = RowPrices(
        rng.random(len(rows)), rng.integers(0, 4, len(rows)).astype(np.float64), np.ones(len(rows)), level
    )
    row = next(i for i in range(4, 14) if rows[i].any())
    before = shorten_row(tableau, row, prices, 0, 1e-9)
    after = shorten_row(tableau, row, prices, 50, 1e-9)
    expects(rows, tableau)
    assert after <= before
    assert tableau.place[row] < 0
    entries = [(prices, int(b), t) for b, t in zip(tableau.basis, tableau.table[row], strict=True) if t != 0.0]
    assert after == pytest.approx(sum(price_of(*entry) for entry in entries))


def price_of(prices: RowPrices, one: int, coefficient: float) -> float:
    capacity = prices.up[one] if coefficient > 0 else prices.down[one]
    part = 1.0 if prices.level == 0.0 else min(1.0, abs(coefficient) * capacity / prices.level)
    return float(prices.weight[one] * part)
