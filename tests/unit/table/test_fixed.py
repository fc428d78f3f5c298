from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from celosia.table.fixed import INFINITE, Fixed, shortest_decimals


@pytest.mark.parametrize(
    ("texts", "counts", "decimals"),
    [
        (["1", "2"], [1, 2], 0),
        (["0.1", "12.75"], [10, 1275], 2),
        (["-0.05", "3"], [-5, 300], 2),
        (["1.50", "2.0"], [15, 20], 1),
        (["1e3", "2.5e-1"], [100000, 25], 2),
        (["0.1234567890123456789"], [1234567890123456789], 19),
        (["9007199254740993"], [9007199254740993], 0),
        (["123456789012345.67", "1"], [12345678901234567, 100], 2),
        ([], [], 0),
    ],
)
def test_texts_are_read_digit_by_digit(texts: list[str], counts: list[int], decimals: int) -> None:
    fixed = Fixed.of_texts(texts)
    assert (fixed.counts.tolist(), fixed.decimals) == (counts, decimals)


def test_numbers_too_long_for_64_bits_stay_exact() -> None:
    fixed = Fixed.of_texts(["1e30", "0.1"])
    assert fixed.counts.tolist() == [10**31, 1]
    assert fixed.fraction(0) == 10**30
    assert fixed.texts() == ["1" + "0" * 30, "0.1"]


def test_infinities_are_kept_in_every_direction() -> None:
    fixed = Fixed.of_texts(["inf", "-inf", "1.5"])
    assert fixed.infinite.tolist() == [True, True, False]
    assert fixed.floats.tolist() == [float("inf"), float("-inf"), 1.5]
    assert fixed.texts() == ["inf", "-inf", "1.5"]
    assert fixed.to(3).counts.tolist() == [INFINITE, -INFINITE, 1500]
    assert Fixed.of_floats([float("inf"), 0.25]).counts.tolist() == [INFINITE, 25]


@pytest.mark.parametrize("text", ["x", "1,5", "", "nan"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        Fixed.of_texts([text])


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not a number"):
        Fixed.of_floats([1.0, float("nan")])


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-7, 123456.789, 2.0**60, 5e-324, 1e22])
def test_doubles_become_the_shortest_decimals_that_read_back(value: float) -> None:
    fixed = Fixed.of_floats([value])
    assert fixed.fraction(0) == Fraction(repr(value))
    assert float(fixed.texts()[0]) == value


def test_a_finer_decimal_changes_no_number() -> None:
    fixed = Fixed.of_texts(["1.5", "-2"])
    assert fixed.to(1) is fixed
    assert fixed.to(4).texts() == fixed.texts()
    assert fixed.to(25).fraction(0) == Fraction(3, 2)


def test_a_coarser_decimal_is_refused() -> None:
    with pytest.raises(ValueError, match="2 decimals do not fit into 1"):
        Fixed.of_texts(["0.25"]).to(1)


def test_parts_keep_the_decimal() -> None:
    part = Fixed.of_texts(["0.5", "1", "1.5"])[np.array([2, 0])]
    assert part.texts() == ["1.5", "0.5"]
    assert Fixed.of_texts(["0.5", "1"])[1].texts() == ["1"]


@pytest.mark.parametrize(
    ("doubles", "decimals"),
    [([1.0, 2.0], 0), ([0.5], 1), ([0.1, 0.123], 3), ([1 / 3], None), ([2.0**53], None), ([], 0)],
)
def test_shortest_decimals(doubles: list[float], decimals: int | None) -> None:
    assert shortest_decimals(np.array(doubles)) == decimals


def test_whole_numbers_are_written_as_they_are_beside_infinite_ones() -> None:
    counts = [0, -7, 10**18, 1 - INFINITE]
    alone, beside = Fixed(np.array(counts)), Fixed(np.array([*counts, INFINITE, -INFINITE]))
    assert alone.texts() == [str(count) for count in counts]
    assert beside.texts() == [*alone.texts(), "inf", "-inf"]
