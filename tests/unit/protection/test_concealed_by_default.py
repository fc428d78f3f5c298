"""Levels are concealed wherever that can be; where it cannot, a note says so, and what was asked for is refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.property.test_concealed_levels import draw_firms

import celosia as cz
from celosia.risk.risk import Levels
from celosia.table.fixed import Fixed


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Leave out what is said of middles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        yield


def assess(*, contributions: bool = False) -> cz.Risk:
    """Return a table with cells of one firm and two."""
    table = cz.tabulate(draw_firms(3, 1), by=["r", "c"], value="v", respondent="f", contributions=contributions)
    return cz.assess(table, cz.PPercent(10), cost="unity")


def describe(result: cz.Protection) -> str:
    return " ".join((*result.notes, *result.warnings))


def come_closer(result: cz.Protection) -> list[str]:
    """Return what guesses go by that come too close, but not by chance, as middles and ends do now and then."""
    kinds = [guess.kind for guess in cz.guesses(result).broken]
    return [kind for kind in kinds if kind not in ("middle", "lower end", "upper end")]


METHODS: dict[str, Any] = {
    "interval": cz.Intervals,
    "combined": cz.Combined,
    "mixed": cz.Mixed,
    "perturb": lambda **options: cz.Perturb(reach=5000, **options),
}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_it_is_the_default_of_every_method_that_publishes_numbers_made_from_levels(name: str) -> None:
    result = cz.protect(assess(), METHODS[name](), time_limit=20)
    assert result.safe
    assert result.method.conceals_levels
    assert "drawn afresh" in describe(result)
    assert "not concealed" not in describe(result)
    assert not come_closer(result)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_who_does_without_is_warned_of_what_readers_read_off(name: str) -> None:
    result = cz.protect(assess(), METHODS[name](conceal=False, secret=1), time_limit=20)
    assert not result.method.conceals_levels
    assert any("know the rule" in said and "(conceal)" in said for said in result.warnings)
    assert cz.guesses(result).broken


@pytest.mark.parametrize(
    "option",
    [{"least_width": {0: 10}}, {"width_if_not_shown": {0: 10}}],
    ids=["least width", "under a condition"],
)
def test_what_would_tell_levels_switches_it_off_and_a_note_says_so(option: dict[str, Any]) -> None:
    result = cz.protect(assess(), cz.Intervals(**option), time_limit=20)
    assert not result.method.conceals_levels
    assert f"because {next(iter(option))} asks for what would tell them" in describe(result)
    with pytest.raises(cz.SpecError, match="do not go together"):
        cz.Intervals(**option, conceal=True)


def test_a_move_of_ones_own_does_the_same() -> None:
    result = cz.protect(assess(), cz.Perturb(reach=5000, move=1500))
    assert "because move asks for what would tell them" in describe(result)


def test_levels_that_were_given_are_not_concealed() -> None:
    result = cz.protect(replace(assess(), shares=None), cz.Intervals())
    assert "not concealed: they are no parts of contributions" in describe(result)
    assert "drawn afresh" not in describe(result)
    assert not result.method.conceals_levels


def test_without_sensitive_cells_there_is_nothing_to_say() -> None:
    risk = assess()
    status = np.where(risk.sensitive, "s", risk.status)
    nothing = Levels(*(Fixed(np.zeros(len(risk), dtype=np.int64)) for _ in range(3)))
    result = cz.protect(replace(risk, status=status, levels=nothing), cz.Intervals())
    assert not any("conceal" in note for note in result.notes)


def test_a_reach_without_room_leaves_out_some_cells_and_says_so() -> None:
    risk = assess()
    reach = int(2.1 * float(risk.levels.upper.floats.max()))
    result = cz.protect(risk, cz.Perturb(reach=reach, secret=1))
    assert result.safe
    assert "are not concealed" in describe(result)
    assert "not concealed" not in describe(cz.protect(risk, cz.Perturb(reach=5 * reach, secret=1)))
    with pytest.raises(cz.InfeasibleError, match="reach"):
        cz.protect(risk, cz.Perturb(reach=reach, secret=1, conceal=True))


def test_ranges_that_may_not_be_wide_are_not_concealed() -> None:
    risk = assess()
    cell = int(np.flatnonzero(risk.sensitive)[0])
    most = float(risk.levels.lower.floats[cell] + risk.levels.upper.floats[cell]) * 1.2
    result = cz.protect(risk, cz.Intervals(most_width={cell: most}))
    assert "Levels of 1 sensitive cell are not concealed" in describe(result)
    lower, upper = (side.floats[cell] for side in cz.publish(result).bounds())
    assert upper - lower <= most + 0.01  # ends are rounded outward to the decimals of the values


def test_what_is_impossible_with_concealed_levels_is_done_without(tmp_path: Path) -> None:
    """And nothing that was learnt of the stricter problem counts for the other: cost and bound are those of its own."""
    risk, state = assess(), tmp_path / "state.bin"
    plain = cz.protect(risk, cz.Intervals(at_most=8, conceal=False, secret=1))
    result = cz.protect(risk, cz.Intervals(at_most=8, secret=1), state=state)
    assert "no safe release was found that conceals them" in describe(result)
    assert "(conceal)" in describe(result)
    assert not result.method.conceals_levels
    for other in (result, cz.protect(risk, cz.Intervals(at_most=8, secret=1), resume=state)):
        assert other.cost == pytest.approx(plain.cost)
        assert other.bound <= plain.cost * (1 + 1e-9)
    with pytest.raises(cz.InfeasibleError, match="impossible"):
        cz.protect(risk, cz.Intervals(at_most=8, conceal=True, secret=1))


def test_respondents_are_not_asked_about_classes_and_a_note_says_so() -> None:
    risk = assess(contributions=True)
    assert risk.respondents
    result = cz.protect(risk, cz.Intervals(), time_limit=20)
    assert result.safe
    assert "What single respondents conclude from the classes" in describe(result)
    assert "What single respondents" not in describe(cz.protect(risk, cz.Intervals(conceal=False), time_limit=20))


def test_a_state_is_resumed_with_its_secret(tmp_path: Path) -> None:
    risk, state = assess(), tmp_path / "state.bin"
    first = cz.protect(risk, cz.Intervals(), gap=0.5, state=state)
    later = cz.protect(risk, cz.Intervals(), resume=state)
    assert getattr(later.method, "secret", None) == getattr(first.method, "secret", 0)
    assert later.cost <= first.cost * (1 + 1e-9)
    assert not come_closer(later)


def test_releases_of_a_curve_are_drawn_by_one_secret() -> None:
    curve = cz.trade_off(assess(), points=2, time_limit=10)
    assert curve.points[0].cells <= curve.points[-1].cells


def test_why_speaks_of_those_who_guess_classes_and_weighs_only_what_conceals_levels() -> None:
    result = cz.protect(assess(), cz.Intervals(secret=1), time_limit=20)
    said = [cz.why(result, cell, time_limit=5) for cell in result.secondary[:3].tolist()]
    assert not any("could be shown alone" in str(one) for one in said)
    for one in said:
        assert one.cost is None or one.cost >= result.bound * (1 - 1e-6)


def test_ends_that_are_rounded_beyond_what_attackers_know_are_done_without_it() -> None:
    table = assess().table
    risk = cz.assess(table, cz.PPercent(10), cost="unity", attackers=[cz.Attacker.percentage(table, 60)])
    result = cz.protect(risk, cz.Intervals(base=1000, secret=1))
    assert result.safe
    assert "no safe release was found that conceals them" in describe(result)
    with pytest.raises(cz.SpecError, match="base"):
        cz.protect(risk, cz.Intervals(base=1000, conceal=True, secret=1))
