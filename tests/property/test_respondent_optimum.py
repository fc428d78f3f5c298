"""Patterns against respondents cost what the cheapest ones do, holdings in several cells among them: brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many, first_few
from tests.oracles.respondent_cases import MOST_SECONDS, Case, case_of, protected
from tests.oracles.respondent_optimum import cheaper_pattern, cheapest_ranges

from celosia import Combined, Intervals, Risk, Suppress, assess
from celosia.protection.method import Method

MOST_CELLS, MOST_CORNERS = 12, 5
HOLDINGS = (9, 51)  # seeds in which a holding must move several of its cells together


def drawn(seed: int, most: int = MOST_CELLS) -> tuple[Case, Risk] | None:
    """Return a case that is small enough for brute force, and its risk."""
    case = case_of(seed)
    risk = assess(case.table, case.rule, cost="unity")
    largest = int(np.unique(case.numbers, return_counts=True)[1].max())
    if not risk.respondents or not risk.sensitive.any() or len(case.table) > most or largest > MOST_CORNERS + 1:
        return None
    return case, risk


def check_ranges(case: Case, risk: Risk, method: Method) -> None:
    """Ranges cost what the program says, but for rounding, and the bound is true and as good."""
    least = cheapest_ranges(risk, case.rule, cell_cost=1.0 if isinstance(method, Combined) else 0.0)
    found = protected(risk, method)
    assert (found is None) == (least is None)
    if found is not None and least is not None and found.seconds < MOST_SECONDS / 2:
        assert found.cost == pytest.approx(least, rel=1e-3)
        assert found.bound <= least * (1 + 1e-6)
        assert found.bound == pytest.approx(least, rel=1e-3)


@few_and_many(3, 30, st.integers(0, 2**32), st.sampled_from([Intervals(conceal=False), Combined(conceal=False)]))
def test_ranges_cost_no_more_than_the_cheapest(seed: int, method: Method) -> None:
    small = drawn(seed)
    if small is not None:
        check_ranges(*small, method)


@pytest.mark.parametrize("seed", first_few(1, HOLDINGS))
def test_holdings_are_asked_for_no_more_than_they_need(seed: int) -> None:
    """Where cells were asked to move alone by what all need together, ranges cost up to twice as much."""
    small = drawn(seed, 16)
    assert small is not None
    check_ranges(*small, Intervals(conceal=False))


@few_and_many(3, 30, st.integers(0, 2**32))
def test_no_pattern_with_fewer_cells_is_safe(seed: int) -> None:
    small = drawn(seed)
    found = None if small is None else protected(small[1], Suppress())
    if small is not None and found is not None and found.seconds < MOST_SECONDS / 2:
        assert found.bound == found.cost
        assert cheaper_pattern(small[1], small[0].rule, round(found.cost)) is None
