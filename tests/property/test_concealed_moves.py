"""Perturbed values of sensitive cells depend on the class of the truth alone, and so tell no more."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.guessing import draw_class
from tests.property.test_concealed_levels import draw_firms

import celosia as cz

OTHERS = [("N", "b", 300), ("N", "b", 280), ("N", "b", 260), ("S", "a", 400), ("S", "a", 380), ("S", "a", 390)]
OTHERS += [("S", "b", 700), ("S", "b", 690), ("S", "b", 650)]


def publish(value: int, secret: int) -> float:
    """Return what is published of a cell of one firm."""
    lines = [("N", "a", value), *OTHERS]
    firms = pd.DataFrame(lines, columns=["area", "kind", "v"]).assign(firm=range(len(lines)))
    table = cz.tabulate(firms, by=["area", "kind"], value="v", respondent="firm", contributions=False)
    risk = cz.assess(table, cz.PPercent(10), cost="unity")
    cell = table.find(area="N", kind="a")
    assert np.flatnonzero(risk.sensitive).tolist() == [cell]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cz.protect(risk, cz.Perturb(reach=2000, secret=secret, conceal=True))
    assert result.safe
    return float(cz.publish(result).published.floats[cell])


@settings(max_examples=8, deadline=None)
@given(st.integers(900, 1100), st.integers(0, 10**9))
def test_all_values_of_a_class_are_published_as_one_number(value: int, secret: int) -> None:
    least, most = draw_class(value, 0.2, secret, "N x a")
    told = {publish(other, secret) for other in (least, value, most)}
    assert len(told) == 1
    published = told.pop()
    assert published > most * 1.1 or published < least * 0.9


@pytest.mark.parametrize("conceal", [False, True])
def test_moves_by_levels_are_undone_unless_they_are_concealed(*, conceal: bool) -> None:
    undone = 0
    for seed in range(3):
        firms = draw_firms(seed, 1)
        table = cz.tabulate(firms, by=["r", "c"], value="v", respondent="f", contributions=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            risk = cz.assess(table, cz.PPercent(10), cost="unity")
            result = cz.protect(risk, cz.Perturb(reach=2_000_000, secret=seed, conceal=conceal), time_limit=20)
        assert result.safe
        assert cz.audit(cz.publish(result), risk).safe
        numbers, truth = cz.publish(result).published.floats[risk.sensitive], table.amounts.floats[risk.sensitive]
        for share in (1.1, 0.9):
            undone += int((np.abs(numbers / share - truth) <= 1e-4 * truth).sum())
        broken = {guess.kind for guess in cz.guesses(result).broken}
        assert broken == set() if conceal else broken <= {"moved up", "moved down"}
    assert (undone == 0) == conceal


def test_a_move_that_is_given_cannot_be_concealed() -> None:
    with pytest.raises(cz.SpecError, match="move: and conceal are both given"):
        cz.Perturb(reach=10, move=1, conceal=True)


def test_a_reach_that_is_too_small_for_classes_is_refused() -> None:
    firms = draw_firms(1, 1)
    table = cz.tabulate(firms, by=["r", "c"], value="v", respondent="f", contributions=False)
    risk = cz.assess(table, cz.PPercent(10), cost="unity")
    largest = float(risk.levels.upper.floats.max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(cz.InfeasibleError, match="conceal"):
            cz.protect(risk, cz.Perturb(reach=round(2 * largest), secret=1, conceal=True))
