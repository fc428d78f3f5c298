"""The judge of respondents against the full audit: whom it calls protected nobody exposes, and the other way round.

The judge sees tables and contributions. It is given all tables that an audit kept, of safe and of unsafe releases; the
full audit (`single_contributions`) shares nothing with either.
"""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_cases import Case, case_of
from tests.oracles.single_contributions import open_attacks

from celosia import Pattern, Release, Risk, assess, audit, audit_respondents, certify, publish, verify
from celosia.certificate.canonical import NO_RANGES
from celosia.certificate.columns import column
from celosia.certificate.judge import WitnessJudge
from celosia.certificate.read import claim_of
from celosia.certificate.respondents.judge import judge_respondents
from celosia.certificate.respondents.tables import collect_tables, write_tables
from celosia.certificate.witnesses import WitnessCollector

SHARE = 0.85  # of cells that are hidden, where most respondents are safe


def released(case: Case, seed: int, *, much: bool) -> Release:
    if not much:
        return publish(case.pattern)
    rng = np.random.default_rng(seed)
    return publish(Pattern.hide(case.table, np.flatnonzero(rng.random(len(case.table)) < SHARE)))


def not_proved(release: Release, risk: Risk) -> set[int]:
    """Return the numbers of those whom the judge does not find protected by the tables that an audit has kept."""
    content = dict(certify(audit(release, risk)).content)
    witnesses, nothing = WitnessCollector(), column(np.zeros(0, dtype=np.int64))
    given = collect_tables(audit_respondents(release, risk, prove=True), witnesses)
    proofs = claim_of(content).proofs
    content["contributors"], content["witnesses"] = write_tables(given), witnesses.content()
    content["proofs"] = dict.fromkeys(("down", "up"), column(np.full(len(proofs.down), -1)))
    content["ranges"] = {"claim": NO_RANGES, "cells": nothing, "down": nothing, "up": nothing}
    claim = claim_of(content)
    found = judge_respondents(claim, WitnessJudge(claim), risk)
    return {int(one.one.respondents.numbers[which.place]) for one in found for which in one.unproved}


@few_and_many(6, 100, st.integers(0, 2**32), st.integers(1, 2), st.sampled_from(["much", "drawn"]))
def test_whoever_the_judge_does_not_find_protected_is_exposed_and_nobody_else_is(
    seed: int, coalition: int, hidden: str
) -> None:
    case = case_of(seed, coalition=coalition)
    assume(len(np.unique(case.numbers)) > 1)
    risk = assess(case.table, case.rule, cost="unity")
    assume(bool(risk.respondents))
    release = released(case, seed, much=hidden == "much")
    exposed = {one.target for one in open_attacks(release, case.table, case.rule)}
    assert not_proved(release, risk) == exposed
    certificate = certify(audit(release, risk))
    if exposed:
        assert not certificate.safe
        assert not verify(certificate, risk, release).proved
    else:
        assert certificate.safe == audit(release, risk).safe
        assert verify(certificate, risk, release).proved == certificate.safe
