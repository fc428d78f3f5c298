"""The pool of cuts: each once, and as rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.master import EVERY, CutPool, Master, scales_of
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends

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


def test_a_master_takes_cuts_that_it_does_not_have_in_the_order_of_the_pool() -> None:
    empty = sp.csr_array((0, N))
    base = LinearProgram(empty, np.zeros(0), np.zeros(0), np.zeros(N), np.ones(N), np.ones(N))
    pool, cuts = CutPool(), [Cut(np.array([column, column + 1]), np.ones(2)) for column in range(6)]
    pool.add(cuts)
    master = Master(base, backends()[0], pool)
    assert master.add([cuts[4], cuts[1], cuts[4]]) == 2
    assert master.add([cuts[5], cuts[4], cuts[0]]) == 2
    assert master.add([cuts[1]]) == master.add([]) == 0
    rows, right = master.inside
    places = [1, 4, 0, 5]
    assert np.array_equal(rows.toarray(), pool.matrix(EVERY, N).toarray()[places])
    assert np.array_equal(right, pool.right(places))


def test_only_right_sides_of_unusual_size_are_scaled() -> None:
    assert scales_of(np.array([0.0, 1.0, -3.0])).tolist() == [1.0, 1.0, 1.0]
    assert scales_of(np.zeros(0)).tolist() == []
    first, tiny, huge = scales_of(np.array([1.0, 2.0**-40, 2.0**60]))
    assert first == 1.0 < tiny
    assert 0.0 < huge < 1.0
