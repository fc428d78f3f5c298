"""Widths and moves that tell contributions are counted, and said in words without a value."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import celosia as cz
from celosia.pattern.told_levels import count_told_levels

FIRMS = [("N", "a", 1000), ("N", "b", 300), ("N", "b", 280), ("N", "b", 260), ("S", "a", 400), ("S", "a", 380)]
FIRMS += [("S", "a", 390), ("S", "b", 700), ("S", "b", 690), ("S", "b", 650)]


def protect(method: Any) -> cz.Protection:  # noqa: ANN401
    """Return what a method makes of a table with one firm of 1,000 in N x a."""
    firms = pd.DataFrame(FIRMS, columns=["area", "kind", "v"]).assign(firm=range(len(FIRMS)))
    table = cz.tabulate(firms, by=["area", "kind"], value="v", respondent="firm", contributions=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cz.protect(cz.assess(table, cz.PPercent(10)), method)


@pytest.mark.parametrize(
    ("method", "told"),
    [
        (cz.Intervals(conceal=False), (1, 0)),
        (cz.Intervals(levels="sliding", secret=1, conceal=False), (1, 0)),
        (cz.Intervals(conceal=True, secret=1), (0, 0)),
        (cz.Perturb(reach=1000, secret=1, conceal=False), (0, 1)),
        (cz.Perturb(reach=1000, secret=1, conceal=True), (0, 0)),
        (cz.Adjust(), (0, 1)),
        (cz.Suppress(), (0, 0)),
    ],
    ids=["ranges", "sliding", "concealed", "perturbed", "concealed moves", "adjusted", "hidden"],
)
def test_widths_and_moves_that_tell_are_counted(method: Any, told: tuple[int, int]) -> None:  # noqa: ANN401
    result = protect(method)
    assert count_told_levels(result.pattern, result.risk) == told
    said = [one for one in result.warnings if "know the rule" in one]
    assert len(said) == sum(count > 0 for count in told)
    assert not any("1000" in one or "1,000" in one for one in said)


def test_the_remedy_is_named_where_there_is_one() -> None:
    assert any("(conceal)" in said for said in protect(cz.Intervals(conceal=False)).warnings)
    assert not any("(conceal)" in said for said in protect(cz.Adjust()).warnings)


def test_levels_that_were_given_tell_nothing() -> None:
    result = protect(cz.Intervals(conceal=False))
    bare = cz.Risk(result.risk.table, result.risk.status, result.risk.levels, np.ones(9), result.risk.attackers)
    assert count_told_levels(result.pattern, bare) == (0, 0)
