"""A reader who inverts the mechanism is left with what levels promise, of every sensitive cell, by its own range."""

from __future__ import annotations

import random
import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.guessing import find_left, read_width

import celosia as cz

RULES: dict[str, tuple[Any, ...]] = {
    "p%": (cz.PPercent(10),),
    "coalitions": (cz.PPercent(15, coalition=2),),
    "p/q": (cz.PriorPosterior(10, 60),),
    "dominance": (cz.Dominance(1, 80),),
    "two rules": (cz.PPercent(10), cz.MinFrequency(3, percent=15)),
}


def draw_firms(seed: int, scale: int) -> pd.DataFrame:
    """Return firms of few cells with one, two, three or more of them, in cents."""
    draw = random.Random(seed)  # noqa: S311
    sizes = [draw.choice([1, 2, 2, 3, 5, 6]) for _ in range(12)]
    lines = [
        (f"r{k // 4}", f"c{k % 4}", round(draw.randint(10_000, 999_999) * scale / 100 + draw.randint(0, 99) / 100, 2))
        for k, size in enumerate(sizes)
        for _ in range(size)
    ]
    return pd.DataFrame(lines, columns=["r", "c", "v"]).assign(
        f=range(len(lines)), g=[k // 2 for k in range(len(lines))]
    )


def protect(
    firms: pd.DataFrame, rules: tuple[Any, ...], method: cz.Intervals, holding: str | None, limit: float
) -> Any:  # noqa: ANN401
    """Return ranges of a drawn table, without respondents."""
    table = cz.tabulate(firms, by=["r", "c"], value="v", respondent="f", holding=holding, contributions=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cz.protect(cz.assess(table, *rules, cost="unity"), method, time_limit=limit)


def left_of(result: cz.Protection, cell: int) -> tuple[float, float]:
    """Return what the reader is left with of a cell, in units of the table."""
    scale = 10.0**result.risk.table.decimals
    low, high = (float(side.floats[cell]) * scale for side in cz.publish(result).bounds())
    shares = result.risk.shares
    assert shares is not None
    return find_left(low, high, (float(shares.lower[cell]), float(shares.upper[cell]), float(shares.width[cell])))


@settings(max_examples=8, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(RULES)),
    st.sampled_from(["own", "sliding"]),
    st.sampled_from([1, 10**8]),
    st.sampled_from([None, "g"]),
    st.sampled_from([20.0, 0.5]),
)
def test_what_is_left_is_as_wide_as_promised(
    seed: int,
    rule: str,
    levels: Literal["own", "sliding"],
    scale: int,
    holding: str | None,
    limit: float,
) -> None:
    """One firm and two, coalitions, two rules, holdings, values of 1e12 with cents, and a limit that ends early."""
    firms = draw_firms(seed, scale)
    try:
        result = protect(firms, RULES[rule], cz.Intervals(levels=levels, conceal=True, secret=seed), holding, limit)
    except cz.OutOfTimeError:
        return
    assert result.safe
    assert cz.audit(cz.publish(result), result.risk).safe
    unit, risk = 10.0**result.risk.table.decimals, result.risk
    promised = np.maximum(risk.levels.sliding.floats, risk.levels.lower.floats + risk.levels.upper.floats) * unit
    for cell in np.flatnonzero(risk.sensitive).tolist():
        low, high = left_of(result, cell)
        truth = risk.table.amounts.floats[cell] * unit
        assert low - 3 <= truth * (1 + 1e-12)
        assert truth * (1 - 1e-12) <= high + 3
        assert high - low >= promised[cell] * 0.999 - 8


@pytest.mark.parametrize("levels", ["own", "sliding"])
def test_without_concealment_the_largest_contribution_is_read_off(levels: Literal["own", "sliding"]) -> None:
    """To four digits, in most cells with one or two firms; with it in none."""
    known, total = {False: 0, True: 0}, 0
    for seed in range(4):
        firms = draw_firms(seed, 1)
        for conceal in (False, True):
            result = protect(firms, RULES["p%"], cz.Intervals(levels=levels, conceal=conceal, secret=seed), None, 20)
            release, frame = cz.publish(result), result.risk.table.to_frame()
            for cell in np.flatnonzero(result.risk.sensitive).tolist():
                own = firms[(firms.r == frame["r"][cell]) & (firms.c == frame["c"][cell])].v
                if 1 <= len(own) <= 2:
                    total += not conceal
                    guess = read_width(release.lower.floats[cell], release.upper.floats[cell], 0.2)
                    known[conceal] += abs(guess - own.max()) <= 1e-4 * own.max()
    assert known[False] >= 0.75 * total > 0
    assert known[True] == 0


def test_the_same_secret_gives_the_same_range_to_a_revised_value() -> None:
    """A reader of two releases does not intersect ranges, unless a value has left its class."""
    firms = draw_firms(3, 1)
    revised = firms.assign(v=(firms.v + 0.01).round(2))
    method = cz.Intervals(levels="sliding", conceal=True, secret=7)
    one, two = (cz.publish(protect(these, RULES["p%"], method, None, 20)) for these in (firms, revised))
    same = [
        (one.lower.floats[cell], one.upper.floats[cell]) == (two.lower.floats[cell], two.upper.floats[cell])
        for cell in np.flatnonzero(one.status == "interval").tolist()
        if two.status[cell] == "interval"
    ]
    assert any(same)


def test_a_secret_that_is_drawn_afresh_is_said_and_kept() -> None:
    result = protect(draw_firms(1, 1), RULES["p%"], cz.Intervals(conceal=True), None, 20)
    assert result.method.secret is not None
    assert any("drawn afresh" in note for note in result.notes)
    assert not any(
        "drawn afresh" in note for note in protect(draw_firms(1, 1), RULES["p%"], result.method, None, 20).notes
    )


@pytest.mark.parametrize("kind", [cz.Combined, cz.Mixed])
def test_combined_and_mixed_releases_conceal_levels_too(kind: type[cz.Intervals]) -> None:
    result = protect(draw_firms(2, 1), RULES["p%"], kind(levels="sliding", conceal=True, secret=2), None, 20)
    assert result.safe
    ranges = np.flatnonzero(result.risk.sensitive & (cz.publish(result).status == "interval")).tolist()
    assert ranges
    for cell in ranges:
        low, high = left_of(result, cell)
        assert high - low >= result.risk.levels.sliding.floats[cell] * 100 * 0.999 - 8
