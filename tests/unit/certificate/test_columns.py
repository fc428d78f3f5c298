"""Columns: exact there and back, and only one way of writing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.certificate.columns import (
    UnreadableError,
    column,
    decimal_column,
    numbers_of,
    partial_column,
    read_column,
    read_decimals,
    read_partial,
)
from celosia.certificate.whole import compact, minus, plus, sums, times
from celosia.table.fixed import Fixed

whole = st.one_of(st.integers(-3, 3), st.integers(), st.integers(-(2**63), 2**63), st.integers(-(10**18), 10**18))
lists = st.lists(whole, max_size=20)


@given(lists)
def test_numbers_come_back_as_they_were(numbers: list[int]) -> None:
    assert read_column(column(np.array(numbers, dtype=object)), "", len(numbers)).tolist() == numbers


@given(st.lists(st.tuples(whole, st.booleans()), max_size=20), st.integers(0, 4))
def test_decimals_come_back_though_some_are_missing(entries: list[tuple[int, bool]], decimals: int) -> None:
    counts, given_ = np.array([number for number, _ in entries], dtype=object), [has for _, has in entries]
    said, back, own = read_partial(
        partial_column(Fixed(counts, decimals), np.array(given_, dtype=bool)), "", len(counts)
    )
    assert said.tolist() == given_
    for number, has, read in zip(counts.tolist(), given_, back.tolist(), strict=True):
        assert read * 10**decimals == (number * 10**own if has else 0)


def test_decimals_are_written_in_one_way_only() -> None:
    assert decimal_column(Fixed(np.array([1200, 50]), 3)) == decimal_column(Fixed(np.array([120, 5]), 2))
    assert read_decimals(decimal_column(Fixed(np.array([1200, 50]), 3)), "")[1] == 2


def test_runs_are_written_once() -> None:
    assert column(np.zeros(1_000_000, dtype=np.int64)) == {"numbers": "0", "times": "1000000"}


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "1 ",
        " 1",
        "1  2",
        "+1",
        "01",
        "-0",
        "-",
        "1.0",
        "1e3",
        "1_0",
        "1\n2",
        "\u0661",
        "0x1",
        "1" * 1001,
        12,
        None,
    ],
)
def test_other_ways_of_writing_numbers_are_refused(text: object) -> None:
    with pytest.raises(UnreadableError):
        numbers_of(text, "")


@pytest.mark.parametrize(
    "part",
    [
        {"numbers": "1 2", "times": "1"},
        {"numbers": "1", "times": "-1"},
        {"numbers": "1", "times": "999999999999"},
        {"numbers": "1"},
        {"numbers": "1", "times": "", "more": ""},
        "1",
    ],
)
def test_columns_that_do_not_fit_together_are_refused(part: object) -> None:
    with pytest.raises(UnreadableError):
        read_column(part, "")


@given(st.lists(st.tuples(whole, whole), max_size=12))
def test_arithmetic_never_overflows(pairs: list[tuple[int, int]]) -> None:
    one, other = (compact(np.array([pair[side] for pair in pairs], dtype=object)) for side in (0, 1))
    assert times(one, other).tolist() == [a * b for a, b in pairs]
    assert plus(one, other).tolist() == [a + b for a, b in pairs]
    assert minus(one, other).tolist() == [a - b for a, b in pairs]
    assert times(one, 10**19).tolist() == [a * 10**19 for a, _ in pairs]
    assert sums(one, np.array([0, 0, len(pairs)])).tolist() == [0, sum(a for a, _ in pairs)]
