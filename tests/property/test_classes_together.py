"""A reader who knows the classes of all cells, and all ranges, is left with what levels promise of every one."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.guessing import draw_class, intersect

import celosia as cz

AREAS = {"N": ["n0", "n1"], "S": ["s0", "s1", "s2"]}
REGIONS = {region: area for area, regions in AREAS.items() for region in regions}


def draw_firms(seed: int, kinds: int, sizes: list[int]) -> pd.DataFrame:
    """Return firms by five regions of two areas, and kinds; some cells are empty."""
    draw = random.Random(seed)  # noqa: S311
    lines = [
        (region, f"k{kind}", draw.randint(1_000, 999_999))
        for region in REGIONS
        for kind in range(kinds)
        for _ in range(draw.choice(sizes))
    ]
    return pd.DataFrame(lines, columns=["region", "kind", "v"]).assign(firm=range(len(lines)))


def assess(firms: pd.DataFrame, *rules: Any) -> cz.Risk:  # noqa: ANN401
    """Return the table of regions in areas by kinds."""
    table = cz.tabulate(
        firms,
        by=["region", "kind"],
        value="v",
        respondent="firm",
        hierarchies={"region": cz.Hierarchy.from_dict(AREAS)},
        contributions=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cz.assess(table, *rules, cost="unity")


def left_of_all(result: cz.Protection) -> list[tuple[int, float, float]]:
    """Return what is left of every sensitive cell, and what is promised: by leaves, a program and the secret."""
    risk, release = result.risk, cz.publish(result)
    frame = risk.table.to_frame()
    leaves = [k for k in range(len(risk)) if frame["region"][k] in REGIONS and frame["kind"][k].startswith("k")]
    sums = np.array([[_is_part(frame, leaf, cell) for leaf in leaves] for cell in range(len(risk))], dtype=float)
    values, shares, method = risk.table.amounts.floats, risk.shares, result.method
    assert shares is not None
    assert isinstance(method, cz.Intervals)
    assert method.secret is not None
    sensitive = np.flatnonzero(risk.sensitive).tolist()
    width = {leaf: max([shares.width[c] for c in sensitive if sums[c, k]], default=0) for k, leaf in enumerate(leaves)}
    classes = {
        leaf: draw_class(int(values[leaf]), width[leaf], method.secret, risk.table.label(leaf))
        if width[leaf] and (values[leaf] or risk.sensitive[leaf])
        else (int(values[leaf]),) * 2
        for leaf in leaves
    }
    lower, upper = (side.floats for side in release.bounds())
    told = []
    for cell in range(len(risk)):
        low, high = float(lower[cell]), float(upper[cell])
        if risk.sensitive[cell]:
            parts = [classes[leaf] for k, leaf in enumerate(leaves) if sums[cell, k]]
            low, high = max(low, sum(one for one, _ in parts)), min(high, sum(other for _, other in parts))
        told.append((low, high))
    promised = np.maximum(risk.levels.sliding.floats, risk.levels.lower.floats + risk.levels.upper.floats)
    left = intersect(sums, told, sensitive)
    return [(cell, high - low, float(promised[cell])) for cell, (low, high) in zip(sensitive, left, strict=True)]


def _is_part(frame: pd.DataFrame, leaf: int, cell: int) -> bool:
    region, kind = frame["region"][leaf], frame["kind"][leaf]
    above = (region, REGIONS[region], *(set(frame["region"]) - set(REGIONS) - set(REGIONS.values())))
    return frame["region"][cell] in above and frame["kind"][cell] in (kind, "Total")


@settings(max_examples=4, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3]),
    st.sampled_from([[1, 2], [0, 1, 2, 3], [1, 2, 5, 8]]),
    st.sampled_from(["own", "sliding"]),
    st.sampled_from([cz.Intervals, cz.Combined]),
)
def test_who_knows_all_classes_is_left_with_what_is_promised(
    seed: int, kinds: int, sizes: list[int], levels: Literal["own", "sliding"], method: type[cz.Intervals]
) -> None:
    """Totals are sensitive, too: where every cell has one firm or two, nearly all of them."""
    risk = assess(draw_firms(seed, kinds, sizes), cz.PPercent(10), cz.MinFrequency(2, percent=15))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cz.protect(risk, method(levels=levels, conceal=True, secret=seed), time_limit=4)
    assert result.safe
    assert not any("closer" in note for note in result.notes)
    for _, left, promised in left_of_all(result):
        assert left >= promised - 1 or math.isinf(left)
    assert not [guess for guess in cz.guesses(result).broken if guess.kind == "together"]


def test_classes_that_do_not_fit_together_would_be_intersected() -> None:
    """The measure can fail: every total with a class of its own, of the same width, leaves less in some cell."""
    broken = 0
    for seed in range(5):
        risk = assess(draw_firms(seed, 2, [1, 2]), cz.PPercent(10))
        frame, share = risk.table.to_frame(), 0.2
        leaves = [k for k in range(len(risk)) if frame["region"][k] in REGIONS and frame["kind"][k].startswith("k")]
        sums = np.array([[_is_part(frame, leaf, cell) for leaf in leaves] for cell in range(len(risk))], dtype=float)
        told: list[tuple[float, float]] = [
            draw_class(int(risk.table.amounts.floats[k]), share, seed, risk.table.label(k))
            if risk.sensitive[k]
            else (0, math.inf)
            for k in range(len(risk))
        ]
        left = intersect(sums, told, np.flatnonzero(risk.sensitive).tolist())
        promised = 2 * risk.levels.upper.floats[risk.sensitive]
        broken += sum(high - low < wide - 1 for (low, high), wide in zip(left, promised, strict=True))
    assert broken


def test_what_must_be_shown_may_tie_classes_and_is_said() -> None:
    firms = pd.DataFrame(
        [
            ("N", "a", 1000),
            ("N", "b", 100),
            *(("S", "a", value) for value in (400, 380, 390)),
            *(("S", "b", value) for value in (700, 690, 650)),
        ],
        columns=["area", "kind", "v"],
    ).assign(firm=range(8))
    table = cz.tabulate(firms, by=["area", "kind"], value="v", respondent="firm", contributions=False)
    risk = cz.assess(table, cz.MinFrequency(2, percent=4))
    assert risk.sensitive.sum() == 2
    shown = [table.find(area="N"), table.find(area="S")]
    method = cz.Intervals(levels="sliding", conceal=True, secret=3, must_show=shown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cz.protect(risk, method)
    assert result.safe
    assert any("closer than promised" in note for note in result.notes)


@pytest.mark.parametrize("negative", [False, True])
def test_tables_with_negative_values_are_protected_as_before(*, negative: bool) -> None:
    cells = list(itertools.product("abc", "xyz"))
    lines = [(*cell, 100 + 37 * k) for k, cell in enumerate(cells)]
    firms = pd.DataFrame(lines, columns=["area", "kind", "v"]).assign(firm=range(len(lines)))
    if negative:
        firms.loc[4, "v"] = -55
    table = cz.tabulate(firms, by=["area", "kind"], value="v", respondent="firm", contributions=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        risk = cz.assess(table, cz.MinFrequency(2, percent=10))
        result = cz.protect(risk, cz.Intervals(levels="sliding", conceal=True, secret=3))
    assert result.safe
    assert any("not concealed" in note for note in result.notes) == negative


def test_the_splitting_method_conceals_levels_too() -> None:
    """It knows one attacker: ranges are widened for readers of classes when they are placed."""
    draw = random.Random(3)  # noqa: S311
    lines = [
        (f"a{i}", f"b{j}", f"c{k}", draw.randint(10_000, 999_999))
        for i in range(4)
        for j in range(3)
        for k in range(3)
        for _ in range(draw.choice([1, 2, 3, 5, 6]))
    ]
    firms = pd.DataFrame(lines, columns=["a", "b", "c", "v"]).assign(firm=range(len(lines)))
    table = cz.tabulate(firms, by=["a", "b", "c"], value="v", respondent="firm", contributions=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        risk = cz.assess(table, cz.PPercent(10), cost="unity")
        result = cz.protect(risk, cz.Intervals(levels="sliding", conceal=True, secret=3, search="splitting"), gap=0.01)
    assert result.safe
    assert not cz.guesses(result).broken


def test_results_know_nothing_of_readers() -> None:
    """Attackers, audits and certificates are those of the risk, with respondents who came too close."""
    firms = draw_firms(4, 2, [1, 2, 5])
    table = cz.tabulate(firms, by=["region", "kind"], value="v", respondent="firm")
    risk = cz.assess(table, cz.PPercent(10), cost="unity")
    assert risk.respondents
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cz.protect(risk, cz.Intervals(levels="sliding", conceal=True, secret=4), time_limit=20)
    assert result.safe
    for one in (result.risk, result.audit.risk):
        assert one.attackers[0].name == risk.attackers[0].name
        assert not any(attacker.told_classes for attacker in one.attackers)
    assert len(result.audit.systems) == len(result.audit.risk.attackers)
    assert cz.audit(result).safe
    assert cz.certify(result.audit).safe


def test_classes_are_read_off_ranges_without_the_secret() -> None:
    risk = assess(draw_firms(5, 2, [1, 2, 5]), cz.PPercent(10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cz.protect(risk, cz.Intervals(conceal=True, secret=5), time_limit=20)
    release = cz.publish(result)
    told = {guess.cell: guess for guess in cz.guesses(release, risk, concealed=True, secret=5) if guess.promised_width}
    read = {guess.cell: guess for guess in cz.guesses(release, risk, concealed=True) if guess.promised_width}
    assert told.keys() == read.keys() == set(np.flatnonzero(risk.sensitive).tolist())
    for cell, guess in told.items():
        assert guess.kind == read[cell].kind == "together"
        assert guess.truth_hit
        assert guess.kept
