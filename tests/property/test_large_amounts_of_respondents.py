"""Contributions from a cent to 10^12 with cents, or 10^14 in whole units, in one table: audits and releases are right.

The judge shares nothing with celosia: errors of single contributions, coalition by coalition and corner by corner
(`single_contributions`). Where its doubles say something else, fractions decide (`exact_contributions`).
"""

from __future__ import annotations

import warnings

from hypothesis import strategies as st
from tests.oracles.exact_contributions import comes_too_close, every_coalition
from tests.oracles.examples import few_and_many
from tests.oracles.large_respondent_cases import large_case_of
from tests.oracles.single_contributions import open_attacks

import celosia as cz
from celosia.protection.method import Method

_SECONDS = 8.0
_EXACTLY = 6  # attacks of one release that are judged in fractions: each takes a tenth of a second

METHODS: list[Method] = [cz.Suppress(), cz.Intervals(secret=1), cz.Mixed(secret=1)]


def check(pattern: cz.Pattern, found: cz.RespondentAudit) -> None:
    """Check that an audit finds every attack that succeeds, and no other."""
    for part in found.parts:
        assert not part.unjudged
        fast = every_coalition(part)
        full = {(one.attackers, one.target) for one in open_attacks(pattern, part.table, part.rule)}
        for attackers, target in sorted(fast ^ full)[:_EXACTLY]:
            exactly = comes_too_close(pattern, part.table, part.rule, attackers, target)
            assert exactly == ((attackers, target) in fast), (part.rule, attackers, target)


@few_and_many(2, 150, st.integers(0, 2**32))
def test_an_audit_finds_every_attack_that_succeeds_and_no_other(seed: int) -> None:
    """With two rules, coalitions, holdings, hidden cells and ranges."""
    case = large_case_of(seed)
    check(case.pattern, cz.audit_respondents(case.pattern, case.table, rule=case.rules))


@few_and_many(1, 40, st.integers(0, 2**32), st.sampled_from(METHODS))
def test_a_protection_ends_with_a_release_that_nobody_attacks_with_success(seed: int, method: Method) -> None:
    case = large_case_of(seed)
    risk = cz.assess(case.table, *case.rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        try:
            found = cz.protect(risk, method, time_limit=_SECONDS)
        except (cz.InfeasibleError, cz.OutOfTimeError):
            return
    assert found.safe
    assert found.bound <= found.cost
    audit = cz.audit_respondents(found, rule=case.rules)
    assert audit.safe
    check(found.pattern, audit)
