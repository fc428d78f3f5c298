"""Ranges, combined suppression and mixed releases of small tables against one plain program with whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.oracles.bare_tables import seeded
from tests.oracles.first_mixed_model import Ways, least_cost, mask
from tests.oracles.suppression_cases import KINDS, drawn, put
from tests.unit.protection.conftest import make_risk

from celosia import Combined, InfeasibleError, Intervals, Mixed, Risk, SpecError, protect

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")

_CLOSE = 2e-4
"""Rounding of ends and tolerances of whole numbers."""

METHODS = ("interval", "combined", "mixed", "mixed with numbers")


def case(name: str, kind: str, method: str) -> tuple[Risk, Intervals, Ways]:
    """Return a table that is drawn, a method with drawn wishes, and the same in plain numbers."""
    chance = seeded(f"{name} {kind} {method}")
    risk, _ = put(drawn(chance, kind, wishes=False))
    n = len(risk)

    def some(values: list[float]) -> np.ndarray:
        return np.array([chance.choice(values) for _ in range(n)])

    others = np.flatnonzero(~risk.sensitive).tolist()
    shown = chance.sample(others, min(len(others), chance.choice([0, 0, 2])))
    least = {cell: 3.0 for cell in others[:1] if cell not in shown and chance.random() < 0.3}
    most = {cell: chance.choice([2.0, 6.0, 20.0]) for cell in chance.sample(range(n), 2) if chance.random() < 0.3}
    width, fixed, hide = some([1.0, 2.0]), some([1.0, 5.0, 10.0]), some([3.0, 9.0, 30.0])
    wishes: dict[str, Any] = {
        "cost": width,
        "must_show": shown,
        "least_width": least,
        "most_width": most,
        "secret": 1,
        "decimals": 6,
    }
    known = np.all([one.lower.floats == one.upper.floats for one in risk.attackers], axis=0)  # these are shown
    nothing, ranges, hidden = np.zeros(n), ~mask(shown, n) & ~known, np.full(n, np.inf)
    if method == "interval":
        return risk, Intervals(**wishes), Ways(width, nothing, hidden, ranges, mask([], n), least=least, most=most)
    if method == "combined":
        most_ranges = chance.choice([None, None, 4, 6])
        ways = Ways(width, fixed, hidden, ranges, mask([], n), at_most=most_ranges, least=least, most=most)
        return risk, Combined(**wishes, cell_cost=fixed, at_most=most_ranges), ways
    may_hide, may_range, may_round = (some([0.0, 1.0]) > 0 for _ in range(3))
    hidden = np.where(may_hide & ranges, hide, np.inf)
    free = Mixed(**wishes, hide_cost=hide, may_hide=may_hide, may_range=may_range)
    if method == "mixed":
        return risk, free, Ways(width, nothing, hidden, ranges & may_range, mask([], n), least=least, most=most)
    base, number, move = chance.choice([2, 3, 5]), np.full(n, 0.5), np.full(n, 0.3)
    rounds = ranges & may_round
    numbers: dict[str, Any] = {"round_base": base, "may_round": rounds, "number_cost": number, "move_cost": move}
    ways = Ways(
        width, nothing, hidden, ranges & may_range, rounds, base=base, number=0.5, move=0.3, least=least, most=most
    )
    return risk, Mixed(**wishes, hide_cost=hide, may_hide=may_hide, may_range=may_range, **numbers), ways


def limited_case(name: str, kind: str, method: str) -> tuple[Risk, Intervals, Ways]:
    """Return the same, with at most so many cells that are not shown: often too few, mostly some less than else."""
    risk, how, ways = case(name, kind, method)
    at_most = int(risk.sensitive.sum()) + seeded(f"at most {name} {kind} {method}").choice([1, 2, 3, 3, 4, 4, 5, 6])
    return risk, replace(how, at_most=at_most), replace(ways, at_most=at_most)


def conditional_case(name: str, kind: str, method: str) -> tuple[Risk, Intervals, Ways]:
    """Return the same, with levels of most cells if they are not shown, as far as no attacker knows more."""
    risk, how, ways = case(name, kind, method)
    chance = seeded(f"conditional {name} {kind} {method}")
    asked: dict[int, tuple[float, float, float]] = {}
    for cell in np.flatnonzero(~risk.sensitive).tolist():
        levels = chance.choice([(0.0, 0.0, 6.0), (0.0, 0.0, 2.0), (2.0, 0.0, 0.0), (0.0, 3.0, 0.0), (1.0, 2.0, 8.0)])
        truth = risk.table.values[cell]
        room = [(truth - one.lower.floats[cell], one.upper.floats[cell] - truth) for one in risk.attackers]
        if chance.random() < 0.7 and all(d >= levels[0] and u >= levels[1] and d + u >= levels[2] for d, u in room):
            asked[cell] = levels
    lower, upper, width = ({cell: own[k] for cell, own in asked.items() if own[k]} for k in range(3))
    how = replace(how, lower_if_not_shown=lower, upper_if_not_shown=upper, width_if_not_shown=width)
    return risk, how, replace(ways, if_not_shown=asked)


def compare(name: str, kind: str, method: str, make: Callable[..., tuple[Risk, Intervals, Ways]] = case) -> None:
    risk, how, ways = make(name, kind, method)
    wanted = least_cost(risk, ways)
    if np.isnan(wanted):
        return
    try:
        found = protect(risk, how)
    except (InfeasibleError, SpecError):
        assert wanted == np.inf
        return
    assert found.safe
    assert found.cost == pytest.approx(wanted, rel=_CLOSE, abs=_CLOSE)
    assert found.bound <= wanted + _CLOSE * max(1.0, wanted)
    assert how.at_most is None or int((found.pattern.status != "shown").sum()) <= how.at_most


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_is_that_of_one_plain_program(kind: str, method: str) -> None:
    compare("plain 0", kind, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_with_few_cells_that_are_not_shown_is_that_of_one_plain_program(kind: str, method: str) -> None:
    compare("limited 0", kind, method, limited_case)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_with_few_cells_that_are_not_shown_is_that_of_one_plain_program_many_times(
    kind: str, method: str
) -> None:
    for number in range(25):
        compare(f"limited {number}", kind, method, limited_case)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_with_levels_under_a_condition_is_that_of_one_plain_program(kind: str, method: str) -> None:
    compare("conditional 0", kind, method, conditional_case)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_with_levels_under_a_condition_is_that_of_one_plain_program_many_times(kind: str, method: str) -> None:
    for number in range(25):
        compare(f"conditional {number}", kind, method, conditional_case)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        pytest.param(6, "flat", id="ranges that must add up with numbers"),
        pytest.param(15, "flat", id="cuts below the tolerance of a tree"),
        pytest.param(1, "cube", id="cuts below the tolerance of a tree, in a cube"),
    ],
)
def test_numbers_beside_ranges_are_as_cheap_as_those_of_one_plain_program(number: int, kind: str) -> None:
    compare(f"slow plain {number}", kind, "mixed with numbers")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_is_that_of_one_plain_program_many_times(kind: str, method: str) -> None:
    for number in range(25):
        compare(f"slow plain {number}", kind, method)


def test_completions_go_further_than_numbers_move_where_coefficients_are_not_one() -> None:
    """The hidden cell is 18 off, though numbers move by no more than 5 each."""
    rows = [[1, 0, 3, -1, 1], [0, -1, -2, 0, 1], [-1, -1, 1, 3, 1]]
    risk = make_risk(rows, [10, 2, 38, 25, 11], {2: (1, 0, 0), 3: (0, 0, 1)}, cost=[1.0] * 5)
    hide, half, ones = np.array([3.0, 30, 3, 30, 30]), np.full(5, 0.5), np.ones(5)
    how = Mixed(
        cost=ones,
        hide_cost=hide,
        may_hide=[0, 4],
        may_range=[1, 3],
        round_base=5,
        may_round=[2, 3, 4],
        number_cost=half,
        move_cost=half,
    )
    allowed = np.where(mask([0, 4], 5), hide, np.inf)
    ways = Ways(ones, 0 * ones, allowed, mask([1, 3], 5), mask([2, 3, 4], 5), base=5, number=0.5, move=0.5)
    assert protect(risk, how).cost == pytest.approx(least_cost(risk, ways), rel=_CLOSE)


def test_a_greatest_width_is_none_of_a_cell_that_is_hidden() -> None:
    risk = make_risk([[1, 1, -1]], [7, 13, 20], {0: (2, 2, 0)}, cost=[1.0] * 3)
    found = protect(risk, Mixed(may_range=[0], most_width={0: 3}))
    assert found.pattern.status[0] == "hidden"
    with pytest.raises(SpecError, match="most_width: is less than what must be reached: 'cell 0'"):
        protect(risk, Mixed(may_range=[0], may_hide=[1, 2], most_width={0: 3}))
