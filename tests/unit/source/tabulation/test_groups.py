from __future__ import annotations

import numpy as np
import pytest

from celosia.source.tabulation.groups import Groups


@pytest.mark.parametrize("n", [1, 2, 1000, 200_000])
def test_groups_are_the_rows_of_equal_numbers(n: int) -> None:
    numbers = np.random.default_rng(n).integers(-n // 3, n // 3 + 1, n)
    groups = Groups.of_whole_numbers(numbers)
    assert sorted(groups.order.tolist()) == list(range(n))
    assert len(groups) == len(np.unique(numbers))
    given = groups.numbers()
    assert len(np.unique(np.column_stack([numbers, given]), axis=0)) == len(groups)
    assert (np.diff(groups.starts) > 0).all()


def test_both_parts_of_a_key_tell_rows_apart() -> None:
    key = np.array([7, 7, 7, 9], dtype=np.uint64)
    second = np.array([1, 2, 1, 1], dtype=np.uint32)
    numbers = Groups.of_keys(key, second).numbers()
    assert numbers[0] == numbers[2]
    assert len(set(numbers.tolist())) == 3


def test_keys_that_share_their_last_bits_do_not_fall_together() -> None:
    """Hash tables look at the last bits first: a thousand keys that agree in them are still a thousand."""
    key = np.arange(1000, dtype=np.uint64) << np.uint64(40)
    assert len(Groups.of_keys(key.copy(), np.zeros(1000, dtype=np.uint32))) == 1000


def test_every_row_alone() -> None:
    groups = Groups.single(3)
    assert groups.numbers().tolist() == [0, 1, 2]
