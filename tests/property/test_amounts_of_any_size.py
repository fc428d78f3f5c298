"""Amounts from one unit to 10^15 units in one table, by every method, against judges in fractions.

No method fails for the size of numbers. What is called safe is safe, and what is called impossible is: not even hiding
everything protects it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.amount_cases import KINDS, Case, drawn, published, put
from tests.oracles.bare_tables import seeded

import celosia as cz
from celosia.protection.method import Method

_FEW, _MANY = 3, 40
_SECONDS = 20.0

OPEN: dict[str, Method] = {
    "suppress": cz.Suppress(),
    "interval": cz.Intervals(secret=1),
    "interval, sliding": cz.Intervals(levels="sliding", secret=1),
    "combined": cz.Combined(secret=1),
    "combined, sliding": cz.Combined(levels="sliding", cell_cost="value", secret=1),
    "mixed": cz.Mixed(secret=1),
}
"""Methods that may hide every cell, or widen every range as far as an attacker's bounds."""

MOVING = ("round", "perturb", "adjust", "adjust by squares", "random round")
"""Methods that change values: there may be no table that adds up and protects."""


def moving(word: str, case: Case) -> Method:
    """Return a method that changes values, by a base or reach that suits the table."""
    most = min(math.log10(max(*case.values, 10)), 9.0)
    base = max(2, int(10 ** seeded(f"{case.values}").uniform(0, most)))
    size = Fraction(base, 10**case.decimals)
    if word.startswith("adjust"):
        return cz.Adjust(norm=2 if word.endswith("squares") else 1)
    if word == "random round":
        return cz.RandomRound(base=float(size), scheme="plain")
    return cz.Round(base=size) if word == "round" else cz.Perturb(reach=size, secret=1)


def check(name: str, kind: str, word: str) -> None:
    case, method = drawn(name, kind), OPEN[word]
    sliding = word.endswith("sliding")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        try:
            found = cz.protect(put(case), method, time_limit=_SECONDS)
        except cz.InfeasibleError:
            assert not case.possible(sliding=sliding)
            return
    assert found.safe
    assert not case.missed(*published(found.pattern, case), sliding=sliding)
    assert found.bound <= found.cost


def first_of(words: Collection[str], word: str) -> int:
    """Return the table that a method gets whenever tests run: methods share the first few of each kind."""
    return list(words).index(word) % _FEW


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", OPEN)
def test_no_method_fails_for_the_size_of_amounts_and_what_it_says_is_true(word: str, kind: str) -> None:
    check(f"amounts {first_of(OPEN, word)} {kind}", kind, word)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", OPEN)
def test_the_same_on_many_tables(word: str, kind: str) -> None:
    for number in range(_MANY):
        check(f"amounts {number} {kind}", kind, word)


def check_moving(name: str, kind: str, word: str) -> None:
    case = drawn(name, kind)
    case.levels.update({cell: (min(1, case.values[cell]), 1, 0) for cell in case.levels})
    risk = put(case)
    try:
        found = cz.protect(risk, moving(word, case), time_limit=_SECONDS)
    except (cz.InfeasibleError, cz.SpecError):
        return
    values = found.pattern.published()
    truth = risk.table.amounts.to(values.decimals).counts
    moves = [int(count) for count in np.where(found.pattern.status == "shown", 0, values.counts - truth)]
    assert not any(sum(factor * move for factor, move in zip(row, moves, strict=True)) for row in case.rows)
    if word in ("round", "perturb"):
        assert found.safe == (not case.missed(*published(found.pattern, case)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", MOVING)
def test_values_of_any_size_are_changed_so_that_all_adds_up_or_it_is_refused(word: str, kind: str) -> None:
    check_moving(f"amounts {first_of(MOVING, word)} {kind}", kind, word)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", MOVING)
def test_many_tables_are_changed_so_or_refused(word: str, kind: str) -> None:
    for number in range(_MANY):
        check_moving(f"amounts {number} {kind}", kind, word)


def check_mixed(name: str, kind: str) -> None:
    """Check a release in which cells may be rounded, too, by the base of `moving`."""
    case = drawn(name, kind)
    rounded = moving("round", case)
    assert isinstance(rounded, cz.Round)
    try:
        found = cz.protect(put(case), cz.Mixed(secret=1, round_base=rounded.base), time_limit=_SECONDS)
    except cz.InfeasibleError:
        assert not case.possible()
        return
    assert found.safe
    assert not case.missed(*published(found.pattern, case))
    assert found.bound <= found.cost


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "cube"])  # a cube takes all of its time
def test_mixed_releases_round_amounts_of_any_size(kind: str) -> None:
    check_mixed(f"amounts 0 {kind}", kind)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_many_mixed_releases_round_amounts_of_any_size(kind: str) -> None:
    for number in range(1, _MANY):
        check_mixed(f"amounts {number} {kind}", kind)
