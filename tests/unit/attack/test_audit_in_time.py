"""An audit ends with its time limit: what it did not judge by then is not shown safe, and never met."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from benchmarks.instances import instance
from tests.golden.test_daalmans_dewaal_2010 import TABLE_3, TWENTY

from celosia import Pattern, Risk, SpecError, assess, audit
from celosia.attack.findings import MET, MISSED, OPEN
from celosia.attack.result import Audit
from celosia.solve.deadline import DeadlineError, Until, before


def everything(risk: Risk) -> Pattern:
    return Pattern.hide(risk.table, np.ones(len(risk), dtype=bool))


@pytest.fixture(scope="module")
def large() -> Risk:
    """Return a table in three dimensions whose audit takes some seconds."""
    return instance("big1")


@pytest.fixture(scope="module")
def small() -> tuple[Risk, Audit]:
    risk = instance("d3a")
    return risk, audit(everything(risk), risk)


def test_a_limit_ends_the_whole_audit(large: Risk) -> None:
    began = time.process_time()
    found = audit(everything(large), large, time_limit=0.5)
    assert time.process_time() - began < 2.5
    assert not found.safe
    assert found.count(OPEN) > 0
    assert found.count(MISSED) == 0
    assert found.count(MET) + found.count(OPEN) == len(found.verdicts)


def test_with_intervals_and_an_executor_too(large: Risk) -> None:
    with ThreadPoolExecutor(2) as executor:
        began = time.process_time()
        found = audit(everything(large), large, intervals=True, time_limit=0.5, executor=executor)
        assert time.process_time() - began < 4.0
    assert not found.safe
    assert found.count(MISSED) == 0


@pytest.mark.parametrize("limit", [1e-9, 0.02, 0.1, 0.3])
def test_whatever_is_judged_in_time_is_judged_as_without_a_limit(small: tuple[Risk, Audit], limit: float) -> None:
    risk, whole = small
    found = audit(everything(risk), risk, time_limit=limit)
    for one, other in zip(found.verdicts, whole.verdicts, strict=True):
        assert one.result in (OPEN, other.result)
    assert not found.safe or whole.safe


def test_a_limit_that_is_not_reached_changes_nothing(small: tuple[Risk, Audit]) -> None:
    risk, whole = small
    found = audit(everything(risk), risk, time_limit=600)
    assert [one.result for one in found.verdicts] == [one.result for one in whole.verdicts]
    assert np.array_equal(found.verdicts.findings.up.reach, whole.verdicts.findings.up.reach)  # type: ignore[attr-defined]


@pytest.mark.parametrize("limit", [None, 600.0])
def test_who_has_no_time_for_an_audit_gets_none(large: Risk, limit: float | None) -> None:
    """A search must not take an audit that was cut short for one that found something."""
    began = time.perf_counter()
    with before(Until(lambda: 0.3 - (time.perf_counter() - began))), pytest.raises(DeadlineError):
        audit(everything(large), large, time_limit=limit)


def test_contributors_who_were_not_attacked_in_time_are_not_called_safe() -> None:
    risk = assess(TABLE_3, TWENTY, cost="unity", respondents=TWENTY)
    release = everything(risk)
    assert audit(release, risk).safe
    late = audit(release, risk, time_limit=1e-9)
    assert late.unjudged > 0
    assert not late.safe
    assert "not attacked in time" in repr(late)


def test_a_limit_must_be_above_zero(small: tuple[Risk, Audit]) -> None:
    with pytest.raises(SpecError, match="time_limit: must be above zero, not 0"):
        audit(everything(small[0]), small[0], time_limit=0)
