"""Classes in which levels are concealed: they hold the value, are wide enough, and depend on nothing but the class."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import celosia as cz
from celosia.risk.classes import Classes
from celosia.risk.concealment import conceal_levels, draw_start

PARTS = st.sampled_from([0.02, 0.1, 0.2, 0.4, 0.9])


@given(value=st.integers(0, 10**14), width=PARTS, start=st.floats(0, 0.999), sliding=st.booleans())
def test_a_class_holds_its_value_and_is_as_wide_as_promised(
    *, value: int, width: float, start: float, sliding: bool
) -> None:
    half = 0.0 if sliding else width / 2
    own = Classes(half, half, width, start)
    low, high = own.find(value)
    assert low < value <= high or value == low == 0
    assert high - low - 1 >= max(width * high, 2) - 1e-9
    below, above = own.pad(low, high)
    assert 0 <= below <= max(0, value - half * value)
    assert above >= value + half * value


@given(st.integers(1, 10**14), PARTS, st.floats(0, 0.999), st.floats(0, 1))
def test_every_value_of_a_class_has_the_same_class(value: int, width: float, start: float, place: float) -> None:
    own = Classes(width / 2, width / 2, width, start)
    low, high = own.find(value)
    other = min(high, low + 1 + int(place * (high - low - 1)))
    assert own.find(other) == (low, high)


@given(value=st.integers(0, 10**12), width=PARTS, start=st.floats(0, 0.999), sliding=st.booleans())
def test_a_reader_takes_levels_off_and_is_left_with_the_class(
    *, value: int, width: float, start: float, sliding: bool
) -> None:
    half = 0.0 if sliding else width / 2
    own = Classes(half, half, width, start)
    low, high = own.find(value)
    left = own.strip(*own.pad(low, high))  # type: ignore[arg-type]
    assert left[0] <= low + 1
    assert left[1] == high


def test_the_draw_follows_from_secret_and_name_alone() -> None:
    assert draw_start(1, "N x a") == draw_start(1, "N x a")
    assert len({draw_start(secret, name) for secret in (0, 1, 2**70) for name in ("N x a", "N x b")}) == 6
    assert all(0 <= draw_start(secret, "x") < 1 for secret in range(200))
    assert 0.4 < sum(draw_start(secret, "x") for secret in range(400)) / 400 < 0.6


def test_levels_ask_for_no_less_and_a_total_of_one_cell_has_its_classes() -> None:
    lines = [("N", "a", 1000), ("S", "a", 400), ("S", "a", 380), ("S", "b", 390), ("S", "b", 350), ("S", "b", 340)]
    firms = pd.DataFrame(lines, columns=["area", "kind", "v"]).assign(firm=range(len(lines)))
    table = cz.tabulate(firms, by=["area", "kind"], value="v", respondent="firm")
    risk = cz.assess(table, cz.PPercent(10), respondents=())
    found = conceal_levels(risk, 5)
    changed = found.risk
    assert found.fits
    assert found.concealed.tolist() == risk.sensitive.tolist()
    for name in ("lower", "upper"):
        before, after = (getattr(one.levels, name).floats for one in (risk, changed))
        assert (after >= before).all()
        assert (after > before).sum() == risk.sensitive.sum()
    total, part = table.find(area="N"), table.find(area="N", kind="a")
    assert changed.levels.upper.floats[total] == changed.levels.upper.floats[part]


@pytest.mark.parametrize("rule", [cz.MinFrequency(3, percent=60), cz.ZeroCells(4)])
def test_levels_that_are_no_part_of_the_value_or_too_large_a_one_stay_and_are_counted(rule: cz.MinFrequency) -> None:
    firms = pd.DataFrame([("N", 100), ("S", 0), ("W", 70), ("W", 60), ("W", 50)], columns=["area", "v"])
    table = cz.tabulate(firms.assign(firm=range(5)), by=["area"], value="v", respondent="firm")
    risk = cz.assess(table, rule, respondents=())
    found = conceal_levels(risk, 5)
    assert risk.sensitive.any()
    assert not found.concealed.any()
    assert found.risk.attackers == risk.attackers
    assert found.risk.levels.upper.texts() == risk.levels.upper.texts()
