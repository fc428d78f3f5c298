"""Whoever is protected by a pattern is attacked again by one that gives away more, and only then left out."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.protection.conftest import make_risk

from celosia import Pattern
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.suppressed import Suppressed
from celosia.protection.respondents.oracle import _gives_away_no_more
from celosia.table.fixed import Fixed

TABLE = make_risk([[1, 1, -1]], [7, 13, 20], {0: (2, 2, 0)}, cost=[1.0] * 3).table


def ranges(lower: str, upper: str, *hidden: int) -> Pattern:
    ends = Fixed.of_texts([lower]), Fixed.of_texts([upper])
    return Pattern.of(
        TABLE, Interval(np.array([0]), *ends, table=TABLE), *[Suppressed(np.array(hidden))][: len(hidden)]
    )


@pytest.mark.parametrize(
    ("pattern", "other", "no_more"),
    [
        pytest.param(ranges("5", "9"), ranges("5", "9"), True, id="the same"),
        pytest.param(ranges("4.5", "9"), ranges("5", "9"), True, id="wider, in finer decimals"),
        pytest.param(ranges("5.001", "9"), ranges("5", "9"), False, id="narrower below by a thousandth"),
        pytest.param(ranges("0", "8"), ranges("5", "9"), False, id="wider below and narrower above"),
        pytest.param(Pattern.hide(TABLE, [0]), ranges("5", "9"), True, id="hidden in place of a range"),
        pytest.param(ranges("5", "9"), Pattern.hide(TABLE, [0]), False, id="a range in place of a hidden cell"),
        pytest.param(ranges("5", "9", 1), ranges("5", "9"), True, id="one more hidden"),
        pytest.param(ranges("0", "99"), ranges("5", "9", 1), False, id="one more shown"),
        pytest.param(Pattern.hide(TABLE, [0, 1]), Pattern.hide(TABLE, [0]), True, id="hiding more"),
        pytest.param(Pattern.hide(TABLE, [0]), Pattern.hide(TABLE, [1]), False, id="hiding others"),
    ],
)
def test_patterns_are_compared_by_all_that_they_give_away(pattern: Pattern, other: Pattern, *, no_more: bool) -> None:
    assert _gives_away_no_more(pattern, other) is no_more
