"""Patterns made against respondents: the full audit finds nothing, and they cost what the bound says at least.

Some tables of `case_of` have tables of several levels, holdings, singletons, equal contributions, negative values; an
attack that shares nothing with celosia (`respondent_oracle`) finds nothing either.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_cases import case_of, protected
from tests.oracles.respondent_oracle import exposed_in
from tests.oracles.single_contributions import every_pair, open_attacks

from celosia import (
    Attacker,
    Combined,
    Intervals,
    Mixed,
    OutOfTimeError,
    Pattern,
    Suppress,
    assess,
    audit,
    audit_respondents,
    protect,
)
from celosia.protection.method import Method

MOST_CELLS, FEW_CELLS = 16, 12


@few_and_many(3, 50, st.integers(0, 2**32))
def test_the_full_audit_finds_nothing_in_constructed_patterns(seed: int) -> None:
    """With holdings, singletons, equal contributions, negative values; some tables cannot be protected."""
    case = case_of(seed)
    if len(np.unique(case.numbers)) == 1:
        return
    risk = assess(case.table, case.rule, cost="unity")
    if not risk.sensitive.any():
        return
    found = protected(risk, Suppress(), case.rule)
    if found is None:
        return
    assert open_attacks(found.pattern, case.table, case.rule) == []
    assert found.safe
    assert found.bound <= found.cost
    assert found.closing is not None
    assert found.closing.cost <= found.cost + 0.02 * found.closing.cost  # the first pattern is near its optimum


@few_and_many(2, 40, st.integers(0, 2**32))
def test_where_ties_are_sensitive_nobody_is_kept_away_exactly_as_far_as_the_rule_says(seed: int) -> None:
    case = case_of(seed)
    if len(np.unique(case.numbers)) == 1:
        return
    rule = replace(case.rule, ties="sensitive")
    risk = assess(case.table, rule, cost="unity")
    assert (risk.sensitive | ~assess(case.table, case.rule).sensitive).all()
    if not risk.sensitive.any():
        return
    found = protected(risk, Suppress(), rule)
    if found is None:
        return
    assert open_attacks(found.pattern, case.table, case.rule, ties="sensitive") == []


@few_and_many(3, 30, st.integers(0, 2**32))
def test_in_patterns_against_outsiders_alone_both_audits_find_the_same_pairs(seed: int) -> None:
    case = case_of(seed)
    risk = assess(case.table, case.rule, cost="unity", attackers=[Attacker.external(case.table)])
    if len(np.unique(case.numbers)) == 1 or not risk.sensitive.any():
        return
    found = protect(risk, Suppress())
    fast = audit_respondents(found.pattern, case.table, rule=case.rule)
    full = open_attacks(found.pattern, case.table, case.rule)
    assert every_pair(fast) == [(one.attackers[0], one.target) for one in full]


@pytest.mark.parametrize("method", [Intervals(), Combined(), Mixed()], ids=["interval", "combined", "mixed"])
@few_and_many(1, 20, st.integers(0, 2**32))
def test_it_finds_nothing_in_ranges_and_mixtures(method: Method, seed: int) -> None:
    """Of coalitions, too; their bounds are true: a pattern that is known to be safe costs no less."""
    case = case_of(seed, coalition=1 + seed % 2)
    risk = assess(case.table, case.rule, cost="unity")
    if not risk.respondents or not risk.sensitive.any() or len(case.table) > MOST_CELLS:
        return
    found = protected(risk, method)
    if found is None:
        return
    assert found.closing is not None
    assert found.safe
    assert open_attacks(found.pattern, case.table, case.rule) == []
    assert found.bound <= found.cost


@few_and_many(3, 30, st.integers(0, 2**32), st.sampled_from([Suppress(), Intervals()]))
def test_an_attack_by_other_means_on_what_is_published_finds_nothing_either(seed: int, method: Method) -> None:
    """Respondents attack by default: nobody asked for it here."""
    case = case_of(seed)
    risk = assess(case.table, case.rule, cost="unity")
    flat = all(len(set(axis.depths)) <= 2 for axis in case.table.axes)
    if not risk.respondents or not flat or len(case.table) > FEW_CELLS or case.table.decimals:
        return
    found = protected(risk, method)
    if found is None:
        return
    assert exposed_in(found.pattern, case.table, case.rule) == []


@few_and_many(3, 30, st.integers(0, 2**32))
def test_no_cell_of_an_optimal_pattern_could_be_shown(seed: int) -> None:
    """Some cell or some respondent would be open."""
    case = case_of(seed)
    if len(np.unique(case.numbers)) == 1 or len(case.table) > 12:
        return
    risk = assess(case.table, case.rule, cost="unity")
    found = protected(risk, Suppress(), case.rule)
    if found is None:
        return
    if found.bound < found.cost:
        return
    hidden = np.flatnonzero(found.pattern.status != "shown")
    must = set(np.flatnonzero(risk.sensitive).tolist())
    for cell in hidden.tolist():
        if cell not in must:
            less = Pattern.hide(case.table, np.setdiff1d(hidden, [cell]))
            assert not (audit(less, risk).safe and audit_respondents(less, case.table, rule=case.rule).safe)


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
def test_where_there_is_no_time_for_corners_ranges_are_safe_all_the_same() -> None:
    """Two of a coalition against holdings in several cells: exact ranges take half a minute."""
    case = case_of(3009, coalition=2)
    try:
        found = protect(assess(case.table, case.rule, cost="unity"), Combined(), time_limit=1.5)
    except OutOfTimeError:
        return
    assert open_attacks(found.pattern, case.table, case.rule) == []
    assert found.bound <= found.cost
