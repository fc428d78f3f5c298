"""Patterns made against respondents: the full audit finds nothing, and they cost what the bound says at least."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.respondent_cases import case_of

from celosia.attack.audit import audit
from celosia.attack.respondents import audit_respondents
from celosia.attack.single_contributions import open_attacks
from celosia.errors import InfeasibleError
from celosia.pattern.pattern import Pattern
from celosia.protect.methods import protect
from celosia.protect.suppress import Suppress
from celosia.risk.assess import assess


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_the_full_audit_finds_nothing_in_constructed_patterns(seed: int) -> None:
    """With holdings, singletons, equal contributions, negative values; some tables cannot be protected."""
    case = case_of(seed)
    if len(np.unique(case.numbers)) == 1:
        return
    risk = assess(case.table, case.rule, cost="unity")
    if not risk.sensitive.any():
        return
    try:
        found = protect(risk, Suppress(), respondents=case.rule)
    except InfeasibleError:
        return
    assert open_attacks(found.pattern, case.table, case.rule) == []
    assert found.safe
    assert found.bound <= found.cost
    assert found.closing is not None
    assert found.closing.cost <= found.cost + 0.02 * found.closing.cost  # the first pattern is near its optimum


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32))
def test_no_cell_of_an_optimal_pattern_could_be_shown(seed: int) -> None:
    """Some cell or some respondent would be open."""
    case = case_of(seed)
    if len(np.unique(case.numbers)) == 1 or len(case.table) > 12:
        return
    risk = assess(case.table, case.rule, cost="unity")
    try:
        found = protect(risk, Suppress(), respondents=case.rule)
    except InfeasibleError:
        return
    if found.bound < found.cost:
        return
    hidden = np.flatnonzero(found.pattern.status != "shown")
    must = set(np.flatnonzero(risk.sensitive).tolist())
    for cell in hidden.tolist():
        if cell not in must:
            less = Pattern.suppressing(case.table, np.setdiff1d(hidden, [cell]))
            assert not (audit(less, risk).safe and audit_respondents(less, case.table, rule=case.rule).safe)
