"""Controlled rounding and cell perturbation on published tables: Salazar (2002), Figures 1, 8 and 11; and classics."""

from __future__ import annotations

import numpy as np
import pytest
from tests.golden.test_suppression import II_C, SALAZAR, SALAZAR_ROWS, intervals, risk_of
from tests.oracles.bare_tables import lattice
from tests.oracles.moving_oracle import Case, distance, nearest_rounding, roundings

import celosia as cz
from celosia import InfeasibleError, Pattern, Risk, audit
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.table.fixed import Fixed

FIGURE_8 = [20, 50, 10, 80, 10, 20, 20, 50, 20, 30, 10, 60, 50, 100, 40, 190]
FIGURE_11 = [20, 50, 10, 80, 7, 16, 26, 49, 18, 35, 8, 61, 45, 101, 44, 190]
LEVELS = {II_C: (10, 12, 0)}


def salazar() -> Risk:
    return risk_of(SALAZAR_ROWS, SALAZAR, LEVELS)


def with_reach(risk: Risk, values: list[int], reach: int) -> Pattern:
    return Pattern.of(risk.table, Perturbed(np.arange(16), Fixed(np.array(values)), Fixed(np.array([reach]))))


@pytest.mark.parametrize("printed", [FIGURE_8, FIGURE_11])
def test_salazar_figures_8_and_11_are_additive(printed: list[int]) -> None:
    assert not (np.array(SALAZAR_ROWS) @ printed).any()


def test_salazar_figure_8_gives_10_to_30_as_printed_and_so_misses_the_upper_level() -> None:
    risk = salazar()
    found = audit(with_reach(risk, FIGURE_8, 10), risk, intervals=True)
    assert intervals(found)[II_C] == (10, 30)
    assert 30 < 22 + 12
    assert not found.safe


def test_salazar_figure_8_gives_11_to_29_because_rounding_never_reaches_the_next_multiple() -> None:
    risk = salazar()
    pattern = Pattern.of(risk.table, Rounded(np.arange(16), Fixed(np.array(FIGURE_8)), Fixed(np.array([10])), 0))
    found = audit(pattern, risk, intervals=True)
    assert intervals(found)[II_C] == (11, 29)
    assert not found.safe


def test_salazar_figure_11_meets_its_levels_only_with_a_reach_of_at_least_14() -> None:
    risk = salazar()
    assert FIGURE_11[II_C] - 14 <= 22 - 10
    assert FIGURE_11[II_C] + 14 >= 22 + 12
    assert [audit(with_reach(risk, FIGURE_11, reach), risk).safe for reach in range(5, 20)] == [
        reach >= 14 for reach in range(5, 20)
    ]


def test_no_rounding_of_figure_1_to_tens_meets_its_levels_and_18_is_the_first_base_that_can() -> None:
    with pytest.raises(InfeasibleError, match=r"base: is too small .*'cell 6'.* A base of 20 could meet them"):
        cz.protect(salazar(), cz.Round(10))
    result = cz.protect(salazar(), cz.Round(18))
    assert result.safe
    assert result.method.extra == 0  # type: ignore[attr-defined]


def test_figure_1_rounded_to_tens_without_levels_is_nearer_than_or_as_near_as_figure_8() -> None:
    risk = risk_of(SALAZAR_ROWS, SALAZAR, {})
    result = cz.protect(risk, cz.Round(10))
    case = Case(SALAZAR_ROWS, SALAZAR, {}, [([0] * 16, [np.inf] * 16)], [1] * 16, whole=False)
    assert result.optimal
    assert result.cost == distance(case, roundings(case, [10] * 16, 0)[0]) <= distance(case, FIGURE_8)


# The nearest controlled rounding is unsafe, and the cheapest safe one is dearer

SQUARE = lattice([{0: [1, 2]}, {0: [1, 2]}])
SQUARE_VALUES = [42, 22, 20, 17, 8, 9, 25, 14, 11]


def test_the_nearest_rounding_is_unsafe_and_the_cheapest_safe_one_is_dearer() -> None:
    levels = {4: (2, 2, 0)}  # 8 is nearest as 5, which says 1..9: one above the truth is too little
    case = Case(SQUARE, SQUARE_VALUES, levels, [([0] * 9, [np.inf] * 9)], [1] * 9)
    nearest = roundings(case, [5] * 9, 0)[0]
    cheapest = nearest_rounding(case, [5] * 9, 0)
    assert cheapest is not None
    assert cheapest != nearest
    assert distance(case, cheapest) > distance(case, nearest)
    risk = risk_of(SQUARE, SQUARE_VALUES, levels)
    result = cz.protect(risk, cz.Round(5))
    assert result.safe
    assert result.optimal
    assert result.cost == distance(case, cheapest)
    bare = cz.protect(risk_of(SQUARE, SQUARE_VALUES, {}), cz.Round(5))
    assert bare.cost == distance(case, nearest)
    assert not audit(bare.pattern, risk).safe


# Causey, Cox and Ernst (1985): a table of 2 x 2 x 2 cells without a zero-restricted rounding

CUBE = lattice([{0: [1, 2]}] * 3)


def cube(leaves: list[int]) -> list[int]:
    """Return the cells of a 2 x 2 x 2 table with all totals."""
    inner = np.array(leaves).reshape(2, 2, 2)
    for axis in range(3):
        inner = np.concatenate([inner.sum(axis=axis, keepdims=True), inner], axis=axis)
    return [int(value) for value in inner.ravel()]


NO_ROUNDING = cube([0, 0, 0, 1, 0, 1, 1, 0])


def test_a_table_without_a_zero_restricted_rounding_goes_through_the_relaxation() -> None:
    case = Case(CUBE, NO_ROUNDING, {}, [([0] * 27, [np.inf] * 27)], [1] * 27)
    assert not roundings(case, [2] * 27, 0)
    result = cz.protect(risk_of(CUBE, NO_ROUNDING, {}), cz.Round(2))
    published = result.pattern.published().counts.tolist()
    assert result.method.extra == 1  # type: ignore[attr-defined]
    assert tuple(published) in roundings(case, [2] * 27, 1)
    assert result.cost == distance(case, roundings(case, [2] * 27, 1)[0])
    lower, upper = (part.counts for part in result.pattern.bounds())
    assert ((upper - np.array(published)) == 2 * 2 - 1).all(), "the published reach is twice the base less one"
    assert ((np.array(published) - lower) == 2 * 2 - 1).all()


def test_without_the_relaxation_it_says_that_there_is_none() -> None:
    with pytest.raises(InfeasibleError, match="no rounding that adds up with extra=0 exists"):
        cz.protect(risk_of(CUBE, NO_ROUNDING, {}), cz.Round(2, extra=0))
