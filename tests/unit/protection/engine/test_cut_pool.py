"""The pool of cuts: each once, and as rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.master import EVERY, CutPool

N = 12


def draw_cuts(random: np.random.Generator, many: int) -> list[Cut]:
    """Return cuts with some columns each, or none, in any order."""
    columns = [random.choice(N, random.integers(0, 6), replace=False) for _ in range(many)]
    return [Cut(chosen, random.random(len(chosen)), float(random.integers(0, 3))) for chosen in columns]


@pytest.mark.parametrize("seed", range(10))
def test_rows_are_those_of_the_cuts_in_the_order_asked_for(seed: int) -> None:
    random, pool = np.random.default_rng(seed), CutPool()
    for _ in range(6):
        pool.add(draw_cuts(random, int(random.integers(0, 5))))
        every = np.zeros((len(pool), N))
        for row, cut in zip(every, pool.cuts, strict=True):
            row[cut.columns] = cut.values
        asked = (
            np.arange(len(pool)),
            np.flatnonzero(random.random(len(pool)) < 0.5),
            random.permutation(len(pool)),
            np.zeros(0, dtype=np.int64),
        )
        for places in asked:
            rows = pool.matrix(places, N)
            assert isinstance(rows, sp.csr_array)
            assert rows.indices.dtype == np.int64, "keys of cuts that are made of these depend on it"
            assert np.array_equal(rows.toarray(), every[places])
            assert np.array_equal(pool.right(places), [pool.cuts[place].right for place in places])
        assert np.array_equal(pool.matrix(EVERY, N).toarray(), every)


def test_rows_that_are_known_are_not_copied() -> None:
    pool = CutPool()
    pool.add(draw_cuts(np.random.default_rng(0), 4))
    rows = pool.matrix(EVERY, N)
    assert pool.matrix(np.arange(4), N) is rows


def test_a_cut_enters_once() -> None:
    pool, [first, second] = CutPool(), draw_cuts(np.random.default_rng(1), 2)
    assert pool.add([first, second, first]) == [0, 1, 0]
    assert len(pool) == 2
