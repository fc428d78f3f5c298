from __future__ import annotations

import numpy as np
import pytest

from celosia.pattern.arithmetic import (
    differ,
    greater,
    minus,
    outside,
    plus,
    repeat,
    replace_places,
    shortest,
    times,
    zeros,
)
from celosia.table.fixed import INFINITE, Fixed


def fixed(*texts: str) -> Fixed:
    return Fixed.of_texts(texts)


def test_sums_and_differences_are_exact_whatever_the_decimals() -> None:
    assert plus(fixed("0.1", "7"), fixed("0.22", "-7")).texts() == ["0.32", "0"]
    assert minus(fixed("0.1", "7"), fixed("0.22", "-7")).texts() == ["-0.12", "14"]


def test_sums_beyond_64_bits_are_exact() -> None:
    large = Fixed(np.array([INFINITE - 1]))
    assert plus(large, large).texts() == [str(2 * (INFINITE - 1))]
    assert times(large, 3).texts() == [str(3 * (INFINITE - 1))]


def test_a_sum_that_happens_to_be_the_count_of_infinity_stays_finite() -> None:
    total = plus(Fixed(np.array([INFINITE - 1])), fixed("1"))
    assert not total.infinite.any()
    assert total.texts() == [str(INFINITE)]
    assert shortest(total)[0].texts() == [str(INFINITE)]


def test_infinity_swallows_what_is_added() -> None:
    assert plus(fixed("inf", "-inf", "1"), fixed("5", "7.5", "2")).texts() == ["inf", "-inf", "3"]
    assert minus(fixed("5"), fixed("inf")).texts() == ["-inf"]


@pytest.mark.parametrize(
    ("left", "right", "says"),
    [
        ("1.10", "1.1", False),
        ("1.11", "1.1", True),
        ("inf", "1e40", True),
        ("1e40", "inf", False),
        ("-1e40", "-inf", True),
        ("-inf", "-1e40", False),
        ("inf", "inf", False),
    ],
)
def test_greater_is_exact_and_knows_infinity(left: str, right: str, *, says: bool) -> None:
    assert greater(fixed(left), fixed(right)).tolist() == [says]


def test_numbers_differ_or_lie_outside() -> None:
    assert differ(fixed("1", "2", "inf"), fixed("1.0", "2.1", "inf")).tolist() == [False, True, False]
    assert outside(fixed("1", "2", "3"), fixed("1", "2.5", "-inf"), fixed("1", "4", "2.9")).tolist() == [
        False,
        True,
        True,
    ]


def test_the_shortest_form_depends_on_the_numbers_alone() -> None:
    one, other = shortest(Fixed(np.array([1000, INFINITE]), 3), Fixed(np.array([250, 0], dtype=object), 2))
    assert (one.decimals, other.decimals) == (1, 1)
    assert one.counts.tolist() == [10, INFINITE]
    assert other.counts.tolist() == [25, 0]
    assert one.counts.dtype == other.counts.dtype == np.int64


def test_the_shortest_form_of_many_decimals_of_nothing_has_none() -> None:
    (none,) = shortest(Fixed(np.array([0, INFINITE]), 30))
    assert none.decimals == 0
    assert none.texts() == ["0", "inf"]


def test_placing_widens_the_integers_where_needed() -> None:
    mixed = replace_places(zeros(3), [(np.array([1]), fixed("1e30")), (np.array([2]), fixed("0.5"))])
    assert mixed.texts() == ["0", "1" + "0" * 30, "0.5"]


def test_one_number_is_repeated() -> None:
    assert repeat(fixed("5"), 3).texts() == ["5", "5", "5"]
    assert repeat(fixed("5", "6"), 2).texts() == ["5", "6"]
