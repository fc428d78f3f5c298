"""A table of counts beside amounts with decimals: counts stay whole, and their unit is 1, whatever the method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import celosia as cz
from celosia import Risk, SpecError
from celosia.protection.method import Method
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed

BOTH = {"turnover": (1, 2), "count": (1, 1)}
"""Levels of a sensitive cell of each variable, in whole numbers."""


@pytest.fixture(scope="module")
def risk() -> Risk:
    """Return turnover with a decimal and the number of firms, by industry and region, a cell of each sensitive."""
    random = np.random.default_rng(0)
    firms = [
        {
            "firm": f"f{k}",
            "industry": str(random.choice(list("ABC"))),
            "region": str(random.choice(list("NSW"))),
            "turnover": round(float(random.lognormal(2, 1)), 1),
        }
        for k in range(60)
    ]
    data, by = pa.Table.from_pylist(firms), ["industry", "region"]
    table = cz.link(
        [cz.tabulate(data, by=by, value="turnover", respondent="firm"), cz.tabulate(data, by=by, respondent="firm")]
    )
    assert table.decimals == 1
    status, numbers = np.full(len(table), SAFE), np.zeros((3, len(table)), dtype=np.int64)
    for name, (lower, upper) in BOTH.items():
        cell = table.find(name, industry="B", region="N")
        status[cell], numbers[:2, cell] = SENSITIVE, (lower, upper)
    levels = Levels(*(Fixed(part) for part in numbers))
    return Risk(table, status, levels, np.ones(len(table)), (cz.Attacker.external(table),))


@pytest.mark.parametrize(
    "method",
    [
        cz.Round(10),
        cz.Perturb(8, secret=3),
        cz.Adjust(1, "1"),
        cz.Adjust(2),
        cz.RandomRound(10),
        cz.RandomRound(10, scheme="controlled"),
        cz.Mixed(may_hide=(), may_range=(), round_base=10),
        cz.Mixed(may_hide=(), may_range=(), reach=8, secret=3),
    ],
)
def test_counts_stay_whole_and_amounts_need_not(risk: Risk, method: Method) -> None:
    result = cz.protect(risk, method, seed=5)
    assert result.safe
    release, counts = cz.publish(result), risk.table.is_count
    published = release.published.floats
    assert not (published[counts] % 1).any()
    assert not risk.table.relations.residuals(release.published.to(1).counts).any()
    lower, upper = (part.floats for part in release.bounds())
    if np.isfinite(lower).all():
        assert not (lower[counts] % 1).any()
        assert not (upper[counts] % 1).any()


def test_readers_of_a_rounded_count_conclude_whole_numbers(risk: Risk) -> None:
    release = cz.publish(cz.protect(risk, cz.Round(10)))
    lower, upper = (part.floats for part in release.bounds())
    reach = np.where(risk.table.is_count, 10 - 1, 10 - 0.1)
    assert release.published.floats - lower == pytest.approx(reach)
    assert upper - release.published.floats == pytest.approx(reach)


@pytest.mark.parametrize("method", [cz.Round(2.5), cz.Perturb(2.5), cz.RandomRound(2.5)])
def test_numbers_that_suit_amounts_alone_are_refused(risk: Risk, method: Method) -> None:
    with pytest.raises(SpecError, match="is no whole number"):
        cz.protect(risk, method)
    many = np.where(risk.table.is_count, 10.0, 12.5)
    assert cz.protect(risk, cz.Round(many)).safe


@pytest.mark.parametrize(
    "method", [cz.Intervals(secret=3), cz.Combined(secret=3), cz.Mixed(round_base=10, reach=8, secret=3)]
)
@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
def test_ranges_of_counts_have_whole_ends(risk: Risk, method: Method) -> None:
    """Readers know that counts are whole: from 3.5 .. 4.5 they would conclude 4."""
    halves = replace(risk, levels=replace(risk.levels, upper=Fixed(risk.levels.upper.counts * 5, 1)))
    result = cz.protect(halves, method)
    assert result.safe
    own = risk.table.is_count & (result.pattern.status != "hidden")
    for side in cz.publish(result).bounds():
        assert not (side.floats[own] % 1).any()
