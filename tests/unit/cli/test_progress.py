"""Progress on standard error: silent about quick steps, and never deaf to Ctrl-C."""

from __future__ import annotations

import signal

import pytest

from celosia.cli import bars
from celosia.cli.bars import LineProgress, QuietProgress, show_progress
from celosia.cli.interrupt import answer_to_the_end, check, remember_presses, was_pressed
from celosia.presses import answer_presses


class Clock:
    """A clock that tests set."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(bars, "time", clock)
    return clock


def test_a_quick_step_is_not_worth_a_line(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    lines = LineProgress()
    lines.start("reading", total=10)
    clock.now = 1.9
    lines.advance(10)
    lines.done()
    assert capsys.readouterr().err == ""


def test_a_long_step_gets_a_line_now_and_again(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    lines = LineProgress()
    lines.start("reading", total=10)
    for clock.now in (2.5, 3, 4, 13, 14):
        lines.advance(1)
    lines.done()
    assert capsys.readouterr().err == "reading (2 s, 10%) ...\nreading (13 s, 40%) ...\nreading: 14.0 s\n"


def test_quiet_shows_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress(quiet=True) as progress:
        progress.start("reading")
        clock.now = 100
        progress.done()
    assert capsys.readouterr().err == ""


def test_an_interrupt_that_a_library_swallows_is_raised_at_the_next_step() -> None:
    with remember_presses():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        for progress in (QuietProgress(), LineProgress()):
            with pytest.raises(KeyboardInterrupt):
                progress.advance()
    assert not was_pressed()
    check()


def test_a_search_tells_how_far_it_has_come(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    lines = LineProgress()
    lines.start("protecting")
    lines.search(None, 10.0, 1)
    clock.now = 3
    lines.search(None, 10.0, 1)
    clock.now = 14
    lines.search(1250.0, 1000.0, 2345)
    lines.done()
    assert capsys.readouterr().err == (
        "protecting (3 s; no safe pattern yet, bound 10, 1 cut) ...\n"
        "protecting (14 s; cost 1,300, bound 1,000, gap 20.00%, 2,345 cuts) ...\n"
        "protecting: 14.0 s\n"
    )


def test_a_press_that_a_search_answers_does_no_more_harm() -> None:
    with remember_presses():
        with answer_presses():
            signal.raise_signal(signal.SIGINT)
            QuietProgress().done()
        assert not was_pressed()
        check()


def test_a_press_after_the_end_comes_too_late() -> None:
    with remember_presses():
        with answer_to_the_end():
            pass
        signal.raise_signal(signal.SIGINT)
        assert not was_pressed()
    with remember_presses(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
