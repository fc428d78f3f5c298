"""Attacks of respondents end when time is up, and at Ctrl-C; what they did not judge is never called safe."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from tests.golden.test_daalmans_dewaal_2010 import TABLE_3, TABLE_6, TWENTY
from tests.oracles.single_contributions import open_attacks

from celosia import (
    InfeasibleError,
    Intervals,
    Mixed,
    OutOfTimeError,
    PPercent,
    Protection,
    RespondentAudit,
    Suppress,
    assess,
    audit_respondents,
    protect,
)
from celosia.pattern.entries import HIDDEN, SHOWN
from celosia.protection.respondents import oracle as watching
from celosia.solve.clock import Clock, PartOfClock

Attacks = Callable[..., RespondentAudit]


def expired() -> Clock:
    clock = Clock(None)
    clock.stop()
    return clock


def late(when: Callable[[int], bool]) -> Attacks:
    """Return attacks for some of which there is no time; they are counted from 1."""
    calls = []

    def attacked(*release: object, clock: Clock, **options: object) -> RespondentAudit:
        calls.append(1)
        clock = expired() if when(len(calls)) else clock
        return audit_respondents(*release, clock=clock, **options)  # type: ignore[arg-type]

    return attacked


def pressing(call: int) -> Attacks:
    """Return attacks during one of which somebody presses Ctrl-C."""
    calls = []

    def attacked(*release: object, **options: object) -> RespondentAudit:
        calls.append(1)
        if len(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return audit_respondents(*release, **options)  # type: ignore[arg-type]

    return attacked


def protected(monkeypatch: pytest.MonkeyPatch, attacks: Attacks, limit: float | None = None) -> Protection:
    monkeypatch.setattr(watching, "audit_respondents", attacks)
    return protect(assess(TABLE_3, TWENTY, cost="unity"), Suppress(), respondents=TWENTY, time_limit=limit)


def test_a_limit_that_is_over_at_once_leaves_time_to_judge_what_there_is() -> None:
    risk = assess(TABLE_3, TWENTY, cost="unity")
    found = protect(risk, Suppress(), respondents=TWENTY, time_limit=1e-6)
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
def test_ranges_for_which_there_is_no_time_are_opened_as_wide_as_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(_: object) -> None:
        raise OutOfTimeError.one("time_limit", "was reached.")

    monkeypatch.setattr("celosia.protection.respondents.solve._RespondentSearch._search", give_up)
    found = protect(assess(TABLE_3, TWENTY, cost="unity"), Intervals(secret=1, conceal=False), respondents=TWENTY)
    assert found.safe
    assert found.bound == 0.0
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []


def test_without_time_for_the_first_pattern_everything_is_hidden_and_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    found = protected(monkeypatch, late(lambda call: call == 1))
    assert (found.pattern.status != SHOWN).all()
    assert found.closing is None  # nobody knows how many pairs were open
    assert found.bound < found.cost
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
def test_what_may_be_ranges_is_hidden_where_everything_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "audit_respondents", late(lambda call: call == 1))
    found = protect(assess(TABLE_3, TWENTY, cost="unity"), Mixed(secret=1, conceal=False), respondents=TWENTY)
    assert (found.pattern.status == HIDDEN).all()
    assert found.cost == pytest.approx(found.cost_of_hiding_everything)
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
def test_a_method_that_may_not_hide_everything_does_not_call_exposure_impossible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching, "audit_respondents", late(lambda call: call == 1))
    with pytest.raises(InfeasibleError, match="could not be protected by what the method allows"):
        protect(assess(TABLE_3, TWENTY, cost="unity"), Mixed(secret=1, may_hide=[0], conceal=False), respondents=TWENTY)


def test_without_time_for_that_either_there_is_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutOfTimeError, match="time_limit: was reached before a pattern was shown to be safe"):
        protected(monkeypatch, late(lambda _: True))


def test_a_later_pattern_that_was_not_judged_is_not_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    found = protected(monkeypatch, late(lambda call: call > 2), limit=60)
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []


def test_ranges_that_were_not_judged_are_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "audit_respondents", late(lambda _: True))
    risk = assess(TABLE_3, TWENTY, levels="sliding")
    with pytest.raises(OutOfTimeError, match="safe against respondents"):
        protect(risk, Intervals(conceal=False), respondents=TWENTY, time_limit=1e-6)


class _Over(Clock):
    """A clock that nobody stopped, and that leaves no time."""

    @property
    def left(self) -> float:
        """Nothing."""
        return 0.0


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("method", [Intervals(secret=1, conceal=False), Suppress()])
def test_those_whom_an_attack_on_the_last_pattern_left_are_judged_a_little_later(
    monkeypatch: pytest.MonkeyPatch, method: Intervals | Suppress
) -> None:
    """The third attack is on what would be published: ranges, or the pattern with more hidden."""
    asked: list[list[int]] = []

    def attacked(
        *release: object, clock: Clock, again: RespondentAudit | None = None, **options: object
    ) -> RespondentAudit:
        asked.append([] if again is None else [number for part in again.parts for number in part.suspected])
        clock = _Over(None) if len(asked) == 3 else clock
        return audit_respondents(*release, clock=clock, again=again, **options)  # type: ignore[arg-type]

    risk = assess(TABLE_3, TWENTY, cost="unity")
    undisturbed = protect(risk, method, respondents=TWENTY, time_limit=60)
    monkeypatch.setattr(watching, "audit_respondents", attacked)
    found = protect(risk, method, respondents=TWENTY, time_limit=60)
    assert found.cost == pytest.approx(undisturbed.cost)
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []
    if method.only_widens:
        assert len(asked) == 4
        assert asked[3]


def test_ctrl_c_during_the_first_attack_leaves_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutOfTimeError, match="respondents: were still attacking when the search was ended"):
        protected(monkeypatch, pressing(1))


def test_ctrl_c_during_a_later_attack_leaves_what_was_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pattern is the first one with more hidden; the third is sought."""
    found = protected(monkeypatch, pressing(3))
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []


def test_a_first_pattern_that_is_safe_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is short of the gap a better one is sought, and Ctrl-C ends that."""
    rule = PPercent(1)
    monkeypatch.setattr(watching, "audit_respondents", pressing(2))
    found = protect(assess(TABLE_6, rule, cost="unity"), Suppress(), respondents=rule)
    assert open_attacks(found.pattern, TABLE_6, rule) == []


def test_a_search_that_has_kept_a_pattern_need_not_leave_time_for_hiding_more() -> None:
    whole = Clock(100.0)
    part = PartOfClock(whole, 1.0)
    assert part.left <= 1.0
    part.take_everything()
    assert part.left == pytest.approx(whole.left, abs=1.0)
    assert part.left_at_most == pytest.approx(whole.left_at_most, abs=1.0)
    whole.stop()
    part.take_everything()
    assert part.left == 0
