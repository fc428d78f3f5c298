"""Ties as Daalmans and de Waal (2010) have them: a cell is sensitive if and only if S is not negative (section 5)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.aggregation_oracle import sensitivity

import celosia as cz
from celosia.risk.respondents.knowledge import Knowledge

PAPER = cz.PPercent(10, ties="sensitive")


def cell_of(amounts: list[int], waived: list[bool] | None = None) -> cz.Table:
    """Return a table of one area with these contributions."""
    firms = [f"f{k}" for k in range(len(amounts))]
    frame = pd.DataFrame({"area": "N", "firm": firms, "v": amounts, "agreed": waived or [False] * len(amounts)})
    return cz.tabulate(frame, by=["area"], value="v", respondent="firm", waiver="agreed")


def is_sensitive(table: cz.Table, rule: cz.PPercent | cz.PriorPosterior) -> bool:
    return bool(cz.assess(table, rule).sensitive[table.find(area="N")])


def test_a_tie_is_sensitive_where_the_rule_says_so() -> None:
    tie = cell_of([10, 5, 1])
    assert not is_sensitive(tie, cz.PPercent(10))
    assert is_sensitive(tie, PAPER)
    assert not is_sensitive(cell_of([10, 5, 2]), PAPER)


def test_levels_must_be_exceeded_and_are_a_little_larger() -> None:
    table = cell_of([100, 50, 5])
    cell = table.find(area="N")
    own = cz.assess(table, cz.PPercent(10)).levels.upper.fraction(cell)
    larger = cz.assess(table, PAPER).levels.upper.fraction(cell)
    assert own == 5
    assert own < larger < own + Fraction(1, 100)


def test_section_2_a_cell_of_zeros_is_sensitive_unless_all_waived_their_protection() -> None:
    table = cell_of([0, 0, 0])
    assert not is_sensitive(table, cz.PPercent(10))
    assert is_sensitive(table, PAPER)
    assert not is_sensitive(cell_of([0, 0, 0], [True] * 3), PAPER)
    risk = cz.assess(table, PAPER)
    assert risk.levels.upper.fraction(table.find(area="N")) == 1


def test_nobody_contributes_an_unknown_zero_so_respondents_are_not_kept_from_zeros() -> None:
    """Everybody knows a contribution within q percent, and q percent of nothing is nothing."""
    table = cell_of([0, 0, 0])
    assert cz.audit_respondents(cz.Pattern.hide(table, []), table, rule=PAPER).safe


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-12, 12), min_size=1, max_size=6),
    st.sampled_from([cz.PPercent(10), cz.PPercent(50), cz.PriorPosterior(10, 20), cz.PriorPosterior(12.5, 50)]),
)
def test_a_cell_is_sensitive_if_and_only_if_its_sensitivity_is_not_negative(
    amounts: list[int], rule: cz.PPercent | cz.PriorPosterior
) -> None:
    table = cell_of(amounts)
    paper = type(rule)(**{name: getattr(rule, name) for name in ("p", "q") if hasattr(rule, name)}, ties="sensitive")
    value = sensitivity([abs(amount) for amount in amounts], Knowledge.of(rule))
    assert is_sensitive(table, paper) == (value >= 0)
    assert is_sensitive(table, rule) == (value > 0)
    level = cz.assess(table, paper).levels.upper.fraction(table.find(area="N"))
    assert level > value or value < 0


def test_a_rule_in_which_ties_are_sensitive_implies_the_one_in_which_they_are_not() -> None:
    assert Knowledge.of(PAPER).implies(Knowledge.of(cz.PPercent(10)))
    assert not Knowledge.of(cz.PPercent(10)).implies(Knowledge.of(PAPER))
    assert Knowledge.of(PAPER).with_larger_p() == Knowledge.of(PAPER)
    assert PAPER.words == "p% rule (p = 10), ties sensitive"
    with pytest.raises(cz.SpecError, match="ties: must be 'safe' or 'sensitive', not 'never'"):
        cz.PPercent(10, ties="never")  # type: ignore[arg-type]


def test_a_cell_of_zeros_is_protected_by_hiding_and_the_audit_says_so() -> None:
    frame = pd.DataFrame(
        [(r, c, f"{r}{c}{k}", 0 if (r, c) == ("N", "a") else 10) for r in "NS" for c in "ab" for k in range(4)],
        columns=["row", "column", "firm", "v"],
    )
    table = cz.tabulate(frame, by=["row", "column"], value="v", respondent="firm")
    risk = cz.assess(table, PAPER)
    assert np.flatnonzero(risk.sensitive).tolist() == [table.find(row="N", column="a")]
    found = cz.protect(risk)
    assert found.pattern.status[table.find(row="N", column="a")] == "hidden"
    assert cz.audit(found).safe
