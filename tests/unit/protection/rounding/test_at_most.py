"""Rounding with at most so many cells that change, against every rounding that adds up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.bare_tables import seeded
from tests.oracles.moving_cases import put
from tests.oracles.moving_oracle import Case, roundings, safe
from tests.unit.protection.conftest import make_risk

from celosia import InfeasibleError, Mixed, Protection, Risk, Round, SpecError, protect


def changed(result: Protection) -> int:
    return int((result.pattern.published().floats != result.risk.table.values).sum())


def cheapest(case: Case, base: int, extra: int, at_most: int) -> float | None:
    """Return what the nearest safe rounding costs that changes few cells, None where there is none."""
    reach = base * (extra + 1) - 1
    for table in roundings(case, [base] * len(case.values), extra):
        few = sum(v != a for v, a in zip(table, case.values, strict=True)) <= at_most
        if few and safe(case, [v - reach for v in table], [v + reach for v in table]):
            return sum(w * abs(v - a) for w, v, a in zip(case.cost, table, case.values, strict=True))
    return None


SQUARE = [
    [1, 1, 0, 0, -1, 0, 0, 0, 0],
    [0, 0, 1, 1, 0, -1, 0, 0, 0],
    [1, 0, 1, 0, 0, 0, -1, 0, 0],
    [0, 1, 0, 1, 0, 0, 0, -1, 0],
    [0, 0, 0, 0, 1, 1, 0, 0, -1],
    [0, 0, 0, 0, 0, 0, 1, 1, -1],
]
"""Two rows and two columns with their totals."""


@pytest.mark.parametrize("number", range(10))
def test_the_nearest_safe_rounding_that_changes_few_cells_is_found(number: int) -> None:
    """Most cells are multiples of the base, which change only where a level needs it."""
    chance, base = seeded(f"few roundings {number}"), 3
    a, b, c, d = (base * chance.randint(0, 3) + chance.choice([0, 0, 0, 1]) for _ in range(4))
    values = [a, b, c, d, a + b, c + d, a + c, b + d, a + b + c + d]
    levels = {chance.randrange(4): (0.0, float(chance.choice([4, 6])), 0.0)}
    cost = [float(chance.choice([1, 2, 5])) for _ in values]
    case = Case(SQUARE, values, levels, [([0.0] * 9, [np.inf] * 9)], cost)
    off = sum(value % base > 0 for value in values)
    for at_most in (off, off + 3, off + 4):
        how = Round(base, cost=np.array(cost), extra=1, at_most=at_most)
        wanted = cheapest(case, base, 1, at_most)
        if wanted is None:
            with pytest.raises(InfeasibleError):
                protect(put(case), how)
            continue
        found = protect(put(case), how)
        assert found.cost == pytest.approx(wanted)
        assert found.optimal
        assert changed(found) <= at_most


@pytest.fixture
def square() -> Risk:
    """Return a table of which a cell must leave its multiple: it is on it, and its level needs more than one base."""
    return make_risk([[1, 1, -1]], [5, 10, 15], {0: (0, 6, 0)}, cost=[1.0] * 3, counts=True)


def test_multiples_move_no_more_than_so_many(square: Risk) -> None:
    free = protect(square, Round(5, extra=1))
    assert free.safe
    limited = protect(square, Round(5, extra=1, at_most=changed(free)))
    assert limited.cost == free.cost


def test_cells_that_are_no_multiples_change_anyway() -> None:
    risk = make_risk([[1, 1, -1]], [6, 9, 15], {}, cost=[1.0] * 3, counts=True)
    assert changed(protect(risk, Round(5, at_most=2))) == 2
    said = r"at_most: is 1, but 2 cells are no multiples of the base: each is published with another value"
    with pytest.raises(InfeasibleError, match=said):
        protect(risk, Round(5, at_most=1))


def test_fewer_cells_change_where_the_others_may_be_shown() -> None:
    risk = make_risk([[1, 1, 1, -1]], [6, 9, 12, 27], {0: (0, 2, 0)}, cost=[1.0] * 4, counts=True)
    few = protect(risk, Mixed(round_base=5, may_hide=[], may_range=[], at_most=2))
    assert int((few.pattern.status == "rounded").sum()) == 2
    with pytest.raises(InfeasibleError):
        protect(risk, Mixed(round_base=5, may_hide=[], may_range=[], at_most=1))


def test_a_limit_below_zero_is_refused() -> None:
    with pytest.raises(SpecError, match="at_most: must be zero or more, not -1"):
        Round(5, at_most=-1)
