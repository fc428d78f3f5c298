from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracles import attack_oracle as oracle

from celosia.attack.subproblems.propagation import propagate_bounds
from celosia.tolerance import ENDLESS

Numbers = Sequence[int | None]


def bounds(rows: list[list[int]], down: Numbers, up: Numbers, *, integer: bool = False) -> tuple[list[int], list[int]]:
    matrix = sp.csr_array(np.array(rows, dtype=np.int64).reshape(len(rows), len(up)))
    below, above = (np.array([ENDLESS if room is None else room for room in side]) for side in (down, up))
    low, high = propagate_bounds(matrix, below, above, np.full(len(up), integer))
    return low.tolist(), high.tolist()


def test_a_sum_cannot_move_further_than_its_terms_together() -> None:
    assert bounds([[1, 1, -1]], [3, 4, None], [5, 6, None]) == ([3, 4, 7], [5, 6, 11])


def test_what_one_relation_cuts_goes_on_into_others() -> None:
    assert bounds([[1, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1]], [2, None, None, 9], [None, 7, None, 1]) == (
        [2, 2, 2, 2],
        [1, 1, 1, 1],
    )


def test_factors_round_outwards_and_for_whole_tables_inwards() -> None:
    assert bounds([[2, -1]], [None, 5], [None, 3]) == ([3, 5], [2, 3])
    assert bounds([[2, -1]], [None, 5], [None, 3], integer=True) == ([2, 4], [1, 2])


def test_without_ends_nothing_is_cut() -> None:
    assert bounds([[1, 1, -1]], [None] * 3, [None] * 3) == ([ENDLESS] * 3, [ENDLESS] * 3)


def test_rooms_that_would_overflow_a_sum_count_as_endless() -> None:
    large = ENDLESS - 1
    assert bounds([[1, 1, 1, 1, -1]], [large] * 4 + [5], [large] * 4 + [None])[1] == [large] * 4 + [ENDLESS]


def test_bounds_that_creep_come_to_an_end() -> None:
    low, high = bounds([[1000, -999, 0], [1, -1, 0], [1, 0, -1]], [10**12] * 3, [10**12] * 3)
    assert all(0 <= room < 10**12 for room in [*low, *high])


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("seed", range(100))
def test_no_table_is_cut_off(seed: int, *, integer: bool) -> None:
    """The ends of the oracle lie inside, and a cell in one relation only of size one reaches its bound."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    rows = rng.choice([-2, -1, 0, 1, 1, 3] if seed % 2 else [-1, 0, 1], size=(m, n)).tolist()
    rows = [row for row in rows if any(row)] or [[1] * n]
    down, up = ([None if rng.random() < 0.2 else int(rng.integers(0, 9)) for _ in range(n)] for _ in range(2))
    low, high = bounds(rows, down, up, integer=integer)
    zero = [Fraction(0)] * n
    lower = [None if room is None else Fraction(-room) for room in down]
    upper = [None if room is None else Fraction(room) for room in up]
    situation = oracle.Situation(tuple(map(tuple, rows)), zero, lower, upper)
    ends = oracle.whole_ends(situation) if integer else oracle.ends(situation)
    if ends is None:
        return
    for cell, (lowest, highest) in enumerate(ends):
        assert low[cell] == ENDLESS if lowest is None else -lowest <= low[cell]
        assert high[cell] == ENDLESS if highest is None else highest <= high[cell]
    if len(rows) == 1 and set(rows[0]) <= {-1, 0, 1}:
        assert [None if room == ENDLESS else room for room in high] == [highest for _, highest in ends]
