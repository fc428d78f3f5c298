"""Fingerprints notice a changed result, and only that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks import fingerprints
from benchmarks.fingerprints import Fingerprint, Run, fingerprint_of, runs
from benchmarks.instances import instance

import celosia as cz

RUN = Run("small", lambda: instance("t20x10"), cz.Suppress(), "highs")
KEPT = fingerprint_of(RUN)


def failures(
    monkeypatch: pytest.MonkeyPatch, kept: Fingerprint, *, unique: bool = True, same_processor: bool = True
) -> list[str]:
    monkeypatch.setattr(fingerprints, "runs", lambda: iter([replace(RUN, unique=unique)]))
    monkeypatch.setattr(fingerprints, "_committed", lambda: ({"small": kept}, same_processor))
    return [row.measured for row in fingerprints.fingerprints(smoke=True) if not row.met]


def test_the_same_result_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not failures(monkeypatch, KEPT)


@pytest.mark.parametrize(
    "other", [replace(KEPT, safe=False), replace(KEPT, cost=1.0), replace(KEPT, bound=1.0)], ids=str
)
def test_another_verdict_cost_or_bound_fails_everywhere(monkeypatch: pytest.MonkeyPatch, other: Fingerprint) -> None:
    for unique in (True, False):
        for same_processor in (True, False):
            assert failures(monkeypatch, other, unique=unique, same_processor=same_processor)


def test_a_last_digit_may_differ_and_the_one_before_it_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not failures(monkeypatch, replace(KEPT, bound=KEPT.bound * (1 + 1e-9)))
    assert failures(monkeypatch, replace(KEPT, bound=KEPT.bound * (1 + 1e-7)))


def test_another_release_fails_where_the_optimum_is_unique_and_the_processor_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = replace(KEPT, release="another")
    assert failures(monkeypatch, other)
    assert not failures(monkeypatch, other, unique=False)
    assert not failures(monkeypatch, other, same_processor=False)


def test_every_run_has_a_name_of_its_own_and_a_committed_fingerprint() -> None:
    names = [run.name for run in runs()]
    assert len(set(names)) == len(names) >= 60
    known, _ = fingerprints._committed()
    assert set(names) == set(known)
