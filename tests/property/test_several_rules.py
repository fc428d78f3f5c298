"""Several rules at once: whoever attacks by any of them finds nothing in what is called safe.

The attacks share nothing with celosia (`respondent_oracle`): SciPy's programs over single contributions, coalition by
coalition and corner by corner.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_cases import Case, case_of, protected
from tests.oracles.respondent_oracle import exposed_in
from tests.oracles.single_contributions import every_pair, open_attacks

from celosia import (
    Dominance,
    Intervals,
    MinFrequency,
    Mixed,
    Pattern,
    PPercent,
    PriorPosterior,
    Suppress,
    assess,
    audit,
    audit_respondents,
)
from celosia.protection.method import Method
from celosia.risk.respondents.rules import criteria_of
from celosia.risk.rules.contributor_rules import RespondentRule

SETS: list[tuple[RespondentRule, ...]] = [
    (PPercent(11), PPercent(10, coalition=2)),
    (PPercent(20), PriorPosterior(15, 40)),
    (PPercent(5), MinFrequency(3)),
    (MinFrequency(2), Dominance(1, 80)),
    (PriorPosterior(10, 30), MinFrequency(3), PPercent(5, coalition=2)),
    (PPercent(15, by="respondent"), PPercent(10, by="holding")),
]
FEW = 12  # cells: every corner is a program


def small(seed: int, rules: tuple[RespondentRule, ...]) -> Case:
    """Return a flat table of few cells, in which the rules make sense."""
    case = case_of(seed)
    said = case.table.contributions
    assert said is not None
    flat = all(len(set(axis.depths)) <= 2 for axis in case.table.axes)
    statistics = case.table.statistics
    assert statistics is not None
    known = statistics.holdings is not None or not any(rule.by == "holding" for rule in rules)
    several = len(np.unique(said.holding)) > 1 and len(np.unique(said.respondent)) > 1
    assume(flat and known and several and len(case.table) <= FEW)
    return case


@few_and_many(2, 40, st.integers(0, 2**32), st.sampled_from(SETS))
def test_an_audit_by_several_rules_is_safe_where_attacks_by_each_of_them_find_nothing(
    seed: int, rules: tuple[RespondentRule, ...]
) -> None:
    case = small(seed, rules)
    found = audit_respondents(case.pattern, case.table, rule=rules)
    assert found.rules == rules
    assert found.safe == (not any(exposed_in(case.pattern, case.table, rule) for rule in rules))


@few_and_many(
    2, 40, st.integers(0, 2**32), st.sampled_from([MinFrequency(3), MinFrequency(2, by="respondent"), Dominance(2, 90)])
)
def test_exact_figures_are_found_pair_by_pair(seed: int, rule: RespondentRule) -> None:
    case = small(seed, (rule,))
    fast = audit_respondents(case.pattern, case.table, rule=rule)
    full = open_attacks(case.pattern, case.table, rule)
    assert every_pair(fast) == [(one.attackers[0], one.target) for one in full]


@pytest.mark.parametrize("method", [Suppress(), Intervals(), Mixed()], ids=["suppress", "interval", "mixed"])
@few_and_many(1, 20, st.integers(0, 2**32), st.sampled_from(SETS))
def test_what_is_protected_by_several_rules_withstands_attacks_by_each(
    method: Method, seed: int, rules: tuple[RespondentRule, ...]
) -> None:
    case = small(seed, rules)
    risk = assess(case.table, *rules, cost="unity")
    assert risk.respondents == rules
    assume(bool(risk.sensitive.any()))
    found = protected(risk, method)
    if found is None:
        return
    assert found.bound <= found.cost
    assert audit(found.pattern, risk).safe
    for rule in rules:
        assert exposed_in(found.pattern, case.table, rule) == []


@few_and_many(2, 40, st.integers(0, 2**32), st.sampled_from([rules for rules in SETS if len(rules) < 3]))
def test_no_cell_of_an_optimal_pattern_by_several_rules_could_be_shown(
    seed: int, rules: tuple[RespondentRule, ...]
) -> None:
    case = small(seed, rules)
    risk = assess(case.table, *rules, cost="unity")
    found = protected(risk, Suppress())
    if found is None or found.bound < found.cost:
        return
    hidden = np.flatnonzero(found.pattern.status != "shown")
    for cell in np.setdiff1d(hidden, np.flatnonzero(risk.sensitive)).tolist():
        assert not audit(Pattern.hide(case.table, np.setdiff1d(hidden, [cell])), risk).safe


@few_and_many(
    4, 80, st.integers(0, 2**32), st.permutations([*SETS[0], *SETS[2], PPercent(11), PriorPosterior(11, 100)])
)
def test_rules_that_others_imply_are_left_out_whatever_their_order(seed: int, rules: list[RespondentRule]) -> None:
    case = small(seed, tuple(rules))
    kept = criteria_of(case.table, rules)
    assert 1 < len(kept) <= 3
    together = audit_respondents(case.pattern, case.table, rule=rules).safe
    assert together == all(audit_respondents(case.pattern, case.table, rule=rule).safe for rule in rules)
