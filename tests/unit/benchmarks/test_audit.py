"""The arithmetic of the audit benchmark: what counts as agreeing, and as met."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.audit import Case, Measured, agreeing_intervals, agreeing_verdicts, measured, pattern, row_of
from benchmarks.instances import instance
from benchmarks.plain import Plain

import celosia as cz
from celosia.risk.risk import SAFE, SHOW

_CASE = Case("any", lambda: instance("t20x10"), speed=1000, ratio=10, aim=100)
_GOOD = Measured(cells=1000, seconds=0.5, plain=0.01, compared=5, agreed=5, undecided=0)


def test_speed_and_ratio_are_those_of_the_whole_audit() -> None:
    assert _GOOD.speed == 2000
    assert _GOOD.ratio == pytest.approx(20)


_WORSE = {
    "slow": replace(_GOOD, seconds=2.0),
    "hardly faster": replace(_GOOD, plain=0.001),
    "wrong": replace(_GOOD, agreed=4),
    "open": replace(_GOOD, undecided=1),
}


@pytest.mark.parametrize("name", _WORSE)
def test_a_target_is_met_only_by_right_answers_in_time(name: str) -> None:
    assert row_of(_CASE, _GOOD).met is True
    assert row_of(_CASE, _WORSE[name]).met is False
    assert row_of(_CASE, None).met is False
    assert row_of(replace(_CASE, speed=None, ratio=None, aim=None), _GOOD).met is None


def test_a_pattern_hides_the_sensitive_cells_and_never_what_must_be_shown() -> None:
    risk = instance("hh2", sparse=True)
    hidden = pattern(risk, 0.5)
    assert hidden[risk.sensitive].all()
    assert not hidden[risk.status == SHOW].any()
    assert 0.4 < hidden[risk.status == SAFE].mean() < 0.6
    assert np.array_equal(hidden, pattern(risk, 0.5))


def test_a_pattern_among_leaves_hides_no_total_that_is_not_sensitive() -> None:
    risk = instance("hh1")
    totals = np.diff(risk.table.relations.matrix.tocsc().minimum(0).indptr) > 0
    assert not (pattern(risk, 1.0, leaves=True) & totals & ~risk.sensitive).any()


@pytest.mark.parametrize("name", ["t20x10", "d3a"])
def test_the_plain_way_agrees_and_a_wrong_end_is_noticed(name: str) -> None:
    risk = instance(name)
    hidden = pattern(risk, 0.3)
    audit = cz.audit(cz.Pattern.hide(risk.table, hidden), risk, intervals=True)
    plain = Plain.of(risk.table, hidden, risk.attackers[0])
    places = np.arange(5)
    ends, _ = plain.reaches(np.flatnonzero(hidden)[places])
    assert agreeing_intervals(audit, places, ends).all()
    assert not agreeing_intervals(audit, places, ends + 1).any()
    reaches, _ = plain.reaches(np.flatnonzero(risk.sensitive)[places])
    assert agreeing_verdicts(audit, places, reaches).all()
    other = np.array([0.0 if verdict.result == "met" else 1e9 for verdict in audit.verdicts[:5]])
    assert not agreeing_verdicts(audit, places, np.column_stack([other, other])).any()


def test_a_case_is_measured_in_both_ways() -> None:
    got = measured(Case("t20x10", lambda: instance("t20x10"), intervals=True, sample=4))
    assert (got.compared, got.agreed, got.undecided) == (4, 4, 0)
    assert got.ratio > 0
