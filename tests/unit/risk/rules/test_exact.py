from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from celosia.risk.rules.exact import divide_rounding_up, roomy, whole


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ((10,), (10, 1)),
        ((12.5, 100), (125, 1000, 10)),
        ((0.1, 33.33), (10, 3333, 100)),
        ((1e-7,), (1, 10**7)),
        ((1e20,), (10**20, 1)),
        ((np.float64(0.25),), (25, 100)),
        ((100.0,), (1000, 10)),
    ],
)
def test_decimals_become_whole_numbers_in_proportion(parameters: tuple[float, ...], expected: tuple[int, ...]) -> None:
    assert whole(*parameters) == expected
    *numbers, scale = whole(*parameters)
    assert [Fraction(number, scale) for number in numbers] == [Fraction(str(parameter)) for parameter in parameters]


def test_64_bits_where_they_suffice_and_python_where_not() -> None:
    small, large = np.array([10]), np.array([2**60])
    assert roomy(1000, small)[0].dtype == np.int64
    assert roomy(1000, small, large)[0].dtype == object
    assert (roomy(1000, large)[0] * 1000)[0] == 2**60 * 1000
    assert roomy(1000, np.zeros(0, dtype=np.int64))[0].dtype == np.int64


def test_room_is_made_for_the_most_negative_number_and_for_sums() -> None:
    amounts = np.array([-(2**61), 2**61])
    first, second = roomy(1, amounts, amounts)
    assert (first + second).tolist() == [-(2**62), 2**62]


def test_quotients_are_rounded_up() -> None:
    assert divide_rounding_up(np.array([0, 1, 9, 10, 11]), 10).tolist() == [0, 1, 1, 1, 2]
    assert divide_rounding_up(np.array([10**30 + 1], dtype=object), 10**29).tolist() == [11]
    assert divide_rounding_up(np.array([-11, -10]), 10).tolist() == [-1, -1]
