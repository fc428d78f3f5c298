"""Draws that keep the sum of the sensitive cells, and values that are given in place of a draw."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from tests.oracles.bare_tables import seeded
from tests.oracles.moving_oracle import Case, safe
from tests.unit.protection.conftest import make_risk, refuse

from celosia import Attacker, InfeasibleError, PPercent, RandomRound, Risk, SpecError, assess, protect, tabulate
from celosia.protection.random_rounding.formulation import Sets


class Chance:
    """A generator that gives one start, and keeps the order or turns it round."""

    def __init__(self, start: int, *, turned: bool) -> None:
        self._start, self._turned = start, turned

    def integers(self, _base: int) -> int:
        return self._start

    def permutation(self, many: int) -> NDArray[np.int64]:
        return np.arange(many)[:: -1 if self._turned else 1]


@pytest.mark.parametrize("number", range(8))
def test_every_cell_is_right_on_average_and_the_sum_always(number: int) -> None:
    chance = seeded(f"sum {number}")
    base, k = chance.choice([3, 5, 7, 10]), chance.randint(2, 6)
    truth = np.array([chance.randint(0, 40) for _ in range(k)])
    truth[-1] += -truth.sum() % base
    both = np.ones(k, dtype=bool)
    sets = Sets(np.arange(k), truth, base, both, truth % base > 0, keeps_sum=True)
    for turned in (False, True):
        drawn = np.array([sets.draw(cast("Any", Chance(start, turned=turned))) for start in range(base)])
        assert (drawn.sum(axis=1) == truth.sum()).all()
        assert (drawn.sum(axis=0) == base * truth).all()
        assert (np.abs(drawn - truth) < base).all()
        assert not (drawn % base).any()


ROW = [[1, 1, 1, 1, 1, 1, -1]]
VALUES = [12, 18, 40, 33, 25, 31, 159]


@pytest.fixture
def row() -> Risk:
    """Return a row of six cells, the first three sensitive, whose sum is 70."""
    return make_risk(ROW, VALUES, dict.fromkeys((0, 1, 2), (1, 1, 0)), cost=[1.0] * 7, counts=True)


@pytest.mark.parametrize("seed", range(1, 9))
def test_the_sum_is_published_as_it_is_and_readers_may_know_it(row: Risk, seed: int) -> None:
    found = protect(row, RandomRound(10, keep_sum=True), seed=seed)
    published = found.pattern.published().counts
    assert published[:3].sum() == 70
    assert not (published[:3] % 10).any()
    assert any("attacked by readers who know that" in note for note in found.notes)
    lower, upper = (side.floats for side in found.pattern.bounds())
    known = [*ROW, [1, 1, 1, 0, 0, 0, 0]]
    case = Case(known, VALUES, dict.fromkeys((0, 1, 2), (1.0, 1.0, 0.0)), [([0.0] * 7, [np.inf] * 7)], [1.0] * 7)
    assert safe(case, lower.tolist(), upper.tolist())


def test_what_the_sum_gives_away_is_refused() -> None:
    """One sensitive cell whose sum is known is known."""
    alone = make_risk(ROW, [10, *VALUES[1:-1], 157], {0: (1, 1, 0)}, cost=[1.0] * 7, counts=True)
    assert protect(alone, RandomRound(10), seed=1).safe
    with pytest.raises(InfeasibleError, match=r"found no safe table in .* draws; at last attackers came too close"):
        protect(alone, RandomRound(10, keep_sum=True), seed=1)


def test_a_sum_beside_respondents_who_attack_is_refused_by_its_name() -> None:
    """They know the sum, too, and with it contributions hang together across cells."""
    areas, amounts = list("abcccddd"), [10, 20, 30, 30, 30, 40, 41, 39]
    firms = pd.DataFrame({"area": areas, "turnover": amounts, "firm": range(8)})
    table = tabulate(firms, by=["area"], value="turnover", respondent="firm")
    method = RandomRound(15, keep_sum=True)
    refuse(assess(table, PPercent(10)), method, SpecError, "keep_sum", ["respondents who know the sum cannot be asked"])
    outsiders = assess(table, PPercent(10), attackers=[Attacker.external(table)])
    assert protect(outsiders, method, seed=77).safe


def test_a_base_that_does_not_divide_the_sum_is_refused(row: Risk) -> None:
    said = ["the base does not divide the sum of the sensitive cells"]
    refuse(row, RandomRound(9, keep_sum=True), SpecError, "keep_sum", said)


def test_values_are_given_in_place_of_a_draw(row: Risk) -> None:
    found = protect(row, RandomRound(10, cells={0: 20, 1: 10, 2: 40}))
    assert found.pattern.published().counts[:3].tolist() == [20, 10, 40]
    assert found.notes[0].startswith("Rounded values were given, not drawn")
    by_label = protect(row, RandomRound(10, cells={"cell 0": 20, "cell 1": 10, "cell 2": 40}))  # type: ignore[dict-item]
    assert by_label.cost == found.cost


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({0: 20, 1: 10}, "leave out sensitive cells: 'cell 2'"),
        ({0: 20, 1: 10, 2: 40, 3: 30}, "name cells that are not sensitive: 3"),
        ({0: 20, 1: 10, 2: 50}, "are no neighbouring multiples of the base: 'cell 2'"),
        ({0: 15, 1: 10, 2: 40}, "are no neighbouring multiples of the base: 'cell 0'"),
    ],
)
def test_values_that_are_no_roundings_of_the_sensitive_cells_are_refused(
    row: Risk, cells: dict[int, int], said: str
) -> None:
    refuse(row, RandomRound(10, cells=cells), SpecError, "cells", [said])


def test_given_values_with_another_sum_are_refused_where_it_is_to_be_kept(row: Risk) -> None:
    given = {0: 20, 1: 20, 2: 40}
    refuse(row, RandomRound(10, cells=given, keep_sum=True), SpecError, "cells", ["have another sum"])


@pytest.mark.parametrize("options", [{"keep_sum": True}, {"cells": {0: 10}}])
def test_other_schemes_take_neither(options: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="goes with the scheme 'sensitive', not 'plain'"):
        RandomRound(10, "plain", **options)
