"""Search for whole tables: against trying all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from celosia.attack.subproblems.integer.search import MOST_CELLS, SearchEnd, search_whole_moves
from celosia.tolerance import ENDLESS


def every_move(matrix: sp.csr_array, lower: list[int], upper: list[int]) -> bool:
    """Return whether there are moves, by trying all of them."""
    ranges = [range(low, high + 1) for low, high in zip(lower, upper, strict=True)]
    return any(not (matrix @ np.array(moves)).any() for moves in product(*ranges))


def test_the_search_finds_what_trying_everything_finds() -> None:
    chance = np.random.default_rng(3)
    seen = set()
    for _ in range(400):
        rows, cells = int(chance.integers(1, 4)), int(chance.integers(2, 6))
        matrix = sp.csr_array(chance.integers(-3, 4, size=(rows, cells)))
        lower = chance.integers(-3, 2, size=cells)
        upper = lower + chance.integers(0, 4, size=cells)
        ended, moves = search_whole_moves(matrix, lower, upper, chance.integers(-3, 4, size=cells))
        assert ended is (SearchEnd.FOUND if every_move(matrix, lower.tolist(), upper.tolist()) else SearchEnd.NONE)
        if ended is SearchEnd.FOUND:
            assert not (matrix @ moves).any()
            assert ((lower <= moves) & (moves <= upper)).all()
        seen.add(ended)
    assert seen == {SearchEnd.FOUND, SearchEnd.NONE}


@pytest.mark.parametrize(("least", "ended"), [(3, SearchEnd.FOUND), (4, SearchEnd.NONE)])
def test_ranges_without_an_end_are_no_hindrance_where_relations_end_them(least: int, ended: SearchEnd) -> None:
    matrix = sp.csr_array([[1, 1, -1], [0, 1, 1]])  # x = 2 z where y = -z, and z is at most 3 / 2
    lower, upper = np.array([least - 1, -ENDLESS, -ENDLESS]), np.array([ENDLESS, ENDLESS, 1])
    assert search_whole_moves(matrix, lower, upper, np.zeros(3, dtype=np.int64))[0] is ended


def test_what_has_no_end_or_is_too_large_is_given_up() -> None:
    matrix = sp.csr_array([[2, -3, 5, -7]])
    free = np.full(4, ENDLESS)
    assert search_whole_moves(matrix, -free, free, free)[0] is SearchEnd.GAVE_UP
    many = np.ones(MOST_CELLS + 1, dtype=np.int64)
    assert search_whole_moves(sp.csr_array(many[None, :]), many, many, many)[0] is SearchEnd.GAVE_UP
    large = np.full(4, ENDLESS - 1)
    assert search_whole_moves(matrix, -large, large, large)[0] is SearchEnd.GAVE_UP


def test_parity_is_found_out() -> None:
    matrix = sp.csr_array([[2, 2, 2, 1]])
    one = np.ones(4, dtype=np.int64)
    assert (
        search_whole_moves(
            matrix, np.array([-9, -9, -9, 1]), 9 * one * np.array([1, 1, 1, 0]) + np.array([0, 0, 0, 1]), one
        )[0]
        is SearchEnd.NONE
    )
