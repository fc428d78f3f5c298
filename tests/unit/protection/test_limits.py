"""A limit is a limit: on tables that cannot be finished every method ends in time, with something safe or an error."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.instances import counts, instance
from hypothesis import strategies as st
from tests.oracles.bare_tables import seeded
from tests.oracles.examples import few_and_many
from tests.oracles.presses import press_after
from tests.oracles.stopwatch import Stopwatch

from celosia import (
    Adjust,
    Attacker,
    Combined,
    Intervals,
    MinFrequency,
    Mixed,
    OutOfTimeError,
    Pattern,
    Perturb,
    PPercent,
    Protection,
    RandomRound,
    Risk,
    Round,
    Suppress,
    assess,
    audit,
    audit_respondents,
    protect,
    tabulate,
)
from celosia.attack.result import Audit
from celosia.protection import protect as verb
from celosia.protection.fallback import Fallback, FallbackParameters
from celosia.protection.method import Method
from celosia.protection.suppression import solve as engine
from celosia.solve import deadline

LIMIT = 0.4
LATEST = 1.1 * LIMIT + 2.0
"""What is promised, in seconds of a machine of one's own: where others work beside, no more are used."""

METHODS: dict[str, tuple[Method, Callable[[], Risk]]] = {
    "suppress": (Suppress(), lambda: instance("d3b")),
    "suppress at most": (Suppress(at_most=1500), lambda: instance("d3b")),
    "interval": (Intervals(conceal=False), lambda: instance("d3b")),
    "sliding": (Intervals(levels="sliding", conceal=False), lambda: instance("d3b")),
    "cuts": (Intervals(search="cuts", conceal=False), lambda: instance("d3b")),
    "combined": (Combined(conceal=False), lambda: instance("d3b")),
    "mixed": (Mixed(conceal=False), lambda: instance("d3b")),
    "mixed with rounding": (Mixed(round_base=5, conceal=False), lambda: counts("d3b", levels=True)),
    "round": (Round(base=5), lambda: counts("d3b", levels=True)),
    "perturb": (Perturb(reach=20, conceal=False), lambda: counts("d3b", levels=True)),
    "adjust": (Adjust(), lambda: instance("d3b")),
    "random": (RandomRound(base=5), lambda: counts("d3b")),
}


def limited(risk: Risk, method: Method, limit: float, **options: Any) -> tuple[Protection | None, float]:  # noqa: ANN401
    """Return what is found in time, None for nothing, and the seconds of work."""
    watch = Stopwatch()
    found = None
    with contextlib.suppress(OutOfTimeError):
        found = protect(risk, method, time_limit=limit, progress=watch, **options)
    return found, watch.seconds


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("name", METHODS)
def test_a_limit_ends_every_method_in_time(name: str) -> None:
    method, risk_of = METHODS[name]
    found, seconds = limited(risk_of(), method, LIMIT)
    assert seconds < LATEST
    assert found is None or found.safe


@cache
def with_contributions(firms: int, by: Sequence[str]) -> Risk:
    """Return a table whose respondents attack each other."""
    rng = np.random.default_rng(4)
    size = {"sector": 40, "region": 12, "size": 5}
    frame = pl.DataFrame(
        {name: [f"{name[0]}{code:02}" for code in rng.integers(0, n, firms)] for name, n in size.items()}
        | {"firm": [f"f{k}" for k in range(firms)], "turnover": np.round(rng.lognormal(6, 2, firms), 0)}
    )
    table = tabulate(frame, by=by, value="turnover", respondent="firm", contributions=True)
    return assess(table, PPercent(10), MinFrequency(3))


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize(
    "method",
    [Suppress(), Intervals(conceal=False), Combined(conceal=False), Mixed(conceal=False)],
    ids=lambda method: method.name,
)
def test_a_limit_ends_searches_against_respondents_in_time(method: Method) -> None:
    risk = with_contributions(4000, ("sector", "region", "size"))
    found, seconds = limited(risk, method, LIMIT)
    assert seconds < LATEST
    if found is not None:
        assert audit_respondents(found.pattern, found.risk).safe


def test_a_limit_holds_with_a_hundred_attackers() -> None:
    risk = instance("d3a")
    truth, rng = risk.table.values, np.random.default_rng(5)
    who = [
        Attacker.between(
            risk.table,
            np.floor(truth * rng.uniform(0, 0.5, len(truth))),
            np.ceil(truth * rng.uniform(1.5, 2.5, len(truth))) + 5,
            f"attacker {k}",
        )
        for k in range(100)
    ]
    found, seconds = limited(replace(risk, attackers=tuple(who)), Suppress(), LIMIT)
    assert seconds < LATEST
    assert found is None or found.safe


def test_a_limit_holds_with_workers() -> None:
    with ThreadPoolExecutor(2) as executor:
        found, seconds = limited(instance("d3b"), Suppress(), LIMIT, executor=executor)
    assert seconds < LATEST
    assert found is None or found.safe


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@few_and_many(
    4, 60, st.floats(0.05, 0.6), st.sampled_from(["suppress", "interval", "combined", "mixed", "round", "perturb"])
)
def test_whenever_a_limit_comes_what_it_leaves_is_safe(limit: float, name: str) -> None:
    method, _ = METHODS[name]
    risk = counts("d3a", levels=True) if name in ("round", "perturb") else instance("d3a")
    found, seconds = limited(risk, method, limit)
    assert seconds < 1.1 * limit + 2.0
    if found is not None:
        assert audit(found.pattern, risk).safe
        assert found.bound <= found.cost


ANSWERED = 3.0
"""Seconds of the processor after which a press of Ctrl-C is answered at the latest."""


def press(risk: Risk, method: Method, seconds: float) -> None:
    """Press Ctrl-C after some work: soon there is a safe pattern, or the error that there is none yet."""
    found = None
    with press_after(seconds) as pressed, contextlib.suppress(OutOfTimeError, KeyboardInterrupt):
        found = protect(risk, method, time_limit=20.0)
    if pressed:
        assert time.process_time() - pressed[0] < ANSWERED
    if found is not None:
        assert audit(found.pattern, found.risk).safe  # whose levels may be sliding by now
        assert found.bound <= found.cost


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of Unix")
@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("number", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 25))])
@pytest.mark.parametrize("name", ["suppress", "interval", "sliding", "combined", "mixed", "round", "perturb"])
def test_whenever_ctrl_c_comes_what_it_leaves_is_safe(name: str, number: int) -> None:
    method, _ = METHODS[name]
    risk = counts("d3a", levels=True) if name in ("round", "perturb") else instance("d3a")
    press(risk, method, seeded(f"{name} {number}").uniform(0.0, 0.4 if not number else 3.0))


class SlowAudits:
    """Audits of which all but the first few never end by themselves; the first of those is interrupted by Ctrl-C."""

    def __init__(self, quick: int, *, press: bool) -> None:
        self.quick, self.press, self.calls = quick, press, 0

    def __call__(self, pattern: Pattern, risk: Risk, **options: Any) -> Audit:  # noqa: ANN401
        self.calls += 1
        if self.calls <= self.quick:
            return audit(pattern, risk, **options)
        if self.press:
            self.press = False
            signal.raise_signal(signal.SIGINT)
        while True:
            deadline.check()
            time.sleep(0.01)


@pytest.fixture
def audited_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first pattern be audited as soon as it is known."""
    parameters = FallbackParameters(first_seconds=0.0)
    monkeypatch.setattr(verb, "Fallback", partial(Fallback, parameters=parameters))


def test_a_last_audit_that_does_not_end_in_time_leaves_what_was_audited_before(
    monkeypatch: pytest.MonkeyPatch,
    audited_at_once: None,  # noqa: ARG001
) -> None:
    risk = instance("hh1")
    audits = SlowAudits(1, press=False)
    monkeypatch.setattr(engine, "audit", audits)
    found, _ = limited(risk, Suppress(), LIMIT)
    assert audits.calls > 1
    assert found is not None
    assert audit(found.pattern, risk).safe
    assert found.bound <= found.cost


def test_without_an_audit_before_there_is_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "audit", SlowAudits(0, press=False))
    with pytest.raises(OutOfTimeError, match="time_limit: was reached before a pattern was shown to be safe"):
        protect(instance("hh1"), time_limit=LIMIT)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of Unix")
@pytest.mark.parametrize("quick", [0, 1])
def test_ctrl_c_in_the_last_audit_is_answered_soon(
    monkeypatch: pytest.MonkeyPatch,
    audited_at_once: None,  # noqa: ARG001
    quick: int,
) -> None:
    risk = instance("hh1")
    monkeypatch.setattr(engine, "audit", SlowAudits(quick, press=True))
    before, began = signal.signal(signal.SIGINT, signal.default_int_handler), time.perf_counter()
    try:
        if quick:
            assert audit(protect(risk).pattern, risk).safe
        else:
            with pytest.raises(OutOfTimeError, match="was ended before a pattern was shown to be safe"):
                protect(risk)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - began < 20.0


def test_short_searches_are_audited_once(monkeypatch: pytest.MonkeyPatch) -> None:
    audits = SlowAudits(1, press=False)
    monkeypatch.setattr(engine, "audit", audits)
    assert protect(instance("t20x10")).optimal
    assert audits.calls == 1
