"""Interval publication: its options, what it refuses, and what it does when time is up."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.instances import drawn, instance
from tests.golden.test_intervals import SQUARE
from tests.unit.protection.conftest import GRID, make_risk

from celosia import (
    Attacker,
    Combined,
    Intervals,
    MidpointWarning,
    Mixed,
    OutOfTimeError,
    Protection,
    Risk,
    SpecError,
    protect,
)
from celosia.pattern.midpoint import midpoint_share, midpoints
from celosia.progress import Silent
from celosia.protection.intervals.admm.product import gather, product_of, project, relations_of

SENSITIVE = 6
FEW_VALUES = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
"""Ranges of three whole numbers have the truth in their middle rather often."""


def square(sliding: int = 6, **options: Any) -> Risk:  # noqa: ANN401
    """Return three rows and three columns, of which II, C = 22 must keep a width."""
    return make_risk(SQUARE, GRID, {SENSITIVE: (0, 0, sliding)}, cost=[1.0] * 16, **options)


def widths(found: Protection) -> dict[int, float]:
    lower, upper = (side.floats for side in found.pattern.bounds())
    return {int(cell): float(upper[cell] - lower[cell]) for cell in np.flatnonzero(found.pattern.status == "interval")}


def test_ranges_are_as_wide_as_the_level() -> None:
    found = protect(square(), Intervals(secret=3))
    assert len(widths(found)) == 4
    assert set(widths(found).values()) == {6.0}
    assert found.cost == pytest.approx(24)
    assert found.method.name == "interval"


def test_a_secret_places_the_ranges_again_and_another_elsewhere() -> None:
    one, two, other = (protect(square(), Intervals(secret=secret)).pattern.bounds()[0].floats for secret in (5, 5, 6))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_a_secret_is_drawn_where_none_is_given_and_known_to_the_result() -> None:
    found = protect(square(), Intervals())
    assert isinstance(found.method, Intervals)
    assert found.method.secret is not None
    assert Intervals().secret is None


def test_costs_below_and_above_may_differ() -> None:
    """Where a unit below costs ten times as much, ranges lie above the truth as far as they can."""
    found = protect(square(), Intervals(lower_cost=np.full(16, 10.0)))
    assert found.cost <= 2 * 6 * 1 + 2 * 6 * 10
    assert found.safe


def test_a_least_width_is_a_requirement_on_its_cell() -> None:
    found = protect(square(), Intervals(least_width={1: 7.5}))
    assert widths(found)[1] >= 7.5
    assert found.safe


def test_no_range_is_wider_than_the_most_width() -> None:
    found = protect(square(), Intervals(most_width={0: 2, 4: 2}))
    assert widths(found).get(0, 0.0) <= 2 + 1e-9
    assert widths(found).get(4, 0.0) <= 2 + 1e-9
    assert found.safe


def test_cells_that_must_be_shown_stay_points() -> None:
    found = protect(square(), Intervals(must_show=[0, 1]))
    assert {0, 1}.isdisjoint(widths(found))
    assert found.safe


def test_sliding_levels_ask_for_the_sum_of_separate_ones() -> None:
    risk = make_risk(SQUARE, GRID, {SENSITIVE: (2, 4, 0)}, cost=[1.0] * 16)
    assert protect(risk, Intervals(levels="sliding")).cost == pytest.approx(24)


@FEW_VALUES
@pytest.mark.parametrize(("option", "step"), [({"base": 5}, 5), ({"digits": 1}, 1)])
def test_ends_are_rounded_outward(option: dict[str, int], step: int) -> None:
    found = protect(square(), Intervals(secret=1, **option))  # type: ignore[arg-type]
    ends = np.concatenate([side.floats[list(widths(found))] for side in found.pattern.bounds()])
    assert found.safe
    assert not (ends % step).any()


@FEW_VALUES
def test_counts_have_whole_ends() -> None:
    found = protect(square(5, counts=True), Intervals(secret=1))
    assert found.audit.integer
    assert found.audit.release.decimals == 0
    assert found.safe


def test_symmetric_levels_are_warned_of() -> None:
    """With equal lower and upper levels every range has the truth in its middle."""
    risk = drawn(((4,), (4,)), 1, unity=True)
    with pytest.warns(MidpointWarning, match="levels='sliding'"):
        found = protect(risk, Intervals())
    assert midpoint_share(found) > 0.2
    assert midpoint_share(protect(risk, Intervals(levels="sliding", secret=1))) <= 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least_width": {1: 0}}, "least_width: must be above zero; it is not for 1."),
        ({"most_width": {1: -1}}, "For points say must_show."),
        ({"levels": "own and sliding"}, "levels: must be 'own' or 'sliding'"),
        ({"decimals": 20}, "decimals: must lie between 0 and 9, not 20."),
        ({"digits": 0}, "digits: must be 1 or more, not 0."),
        ({"base": 0}, "base: must be above zero, not 0."),
        ({"base": 5, "digits": 2}, "Round ends in one way."),
        ({"search": "luck"}, "search: must be 'auto', 'cuts' or 'splitting', not 'luck'."),
    ],
)
def test_wishes_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        Intervals(**options)
    assert message in str(caught.value)


def test_widths_that_contradict_attackers_are_named() -> None:
    risk = square()
    wise = replace(risk, attackers=(Attacker.percentage(risk.table, 10),))
    with pytest.raises(SpecError, match=r"least_width: is more than attackers' bounds leave open: .*attacker"):
        protect(replace(wise, levels=square(1).levels), Intervals(least_width={1: 50}))


def test_a_most_width_below_the_level_is_named() -> None:
    with pytest.raises(SpecError, match="most_width: is less than what must be reached: 'cell 6'"):
        protect(square(), Intervals(most_width={SENSITIVE: 3}))


def test_a_least_width_above_what_the_table_can_give_is_named() -> None:
    """Cell 0 cannot move while its row must be shown."""
    with pytest.raises(SpecError, match=r"least_width: is impossible: .* 'cell 0'"):
        protect(square(), Intervals(least_width={0: 3}, must_show=[1, 2, 3]))


def test_rounding_beyond_attackers_bounds_is_named() -> None:
    risk = square()
    most = np.array(GRID) + 4.0
    known = replace(risk, attackers=(Attacker.between(risk.table, np.zeros(16), most),))
    with pytest.raises(SpecError, match=r"base: would round ends beyond what attackers know anyway: 'cell"):
        protect(known, Intervals(base=1000, secret=1))


def test_cells_that_cannot_be_ranges_are_refused() -> None:
    risk = square()
    status = risk.status.copy()
    status[1] = "m"
    with pytest.raises(SpecError, match="these must be hidden: 'cell 1'"):
        protect(replace(risk, status=status), Intervals())


class Impatient(Silent):
    """Presses Ctrl-C as soon as something is heard."""

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        raise KeyboardInterrupt


@pytest.mark.parametrize("options", [{"time_limit": 1e-3}, {"progress": Impatient()}])
@pytest.mark.parametrize("shape", [((5,), (4,)), ((3,), (3,), (3,))])
def test_time_is_up_and_ranges_are_safe_all_the_same(options: dict[str, Any], shape: Any) -> None:  # noqa: ANN401
    risk = drawn(shape, 0, unity=True, sliding=True)
    found = protect(risk, Intervals(secret=1), **options)
    assert found.safe
    assert 0 <= found.bound <= found.cost


@pytest.mark.parametrize("name", ["t20x10", "h1", "hh1", "d3a", "d3h"])
def test_products_are_recognised_and_projected_on(name: str) -> None:
    matrix = instance(name).table.relations.matrix
    product = product_of(matrix)
    assert product is not None
    rng = np.random.default_rng(0)
    x = rng.normal(size=(len(product), 3))
    y = x.copy()
    project(y.reshape(-1), product.arrays(), 3)
    relations = relations_of(product.parents)
    assert np.abs(relations @ y).max() < 1e-12
    assert np.abs(matrix @ y[product.place]).max() < 1e-12
    rest = x - y
    assert abs(np.sum(rest * y)) < 1e-9
    gather(rest.reshape(-1), product.arrays(), 3)
    assert np.abs(rest[product.leaves()]).max() < 1e-12


def test_other_relations_are_no_product() -> None:
    matrix = instance("t20x10").table.relations.matrix
    assert product_of(matrix[1:]) is None


@pytest.mark.parametrize("shape", [((5,), (4,)), ((2,), (3,), (2,))])
@FEW_VALUES
def test_sliding_levels_are_placed_at_random_against_several_attackers(shape: Any) -> None:  # noqa: ANN401
    """At the same cost as without, by the secret, and seldom with the truth in the middle or at an end."""
    risk = drawn(shape, 1, unity=True, sliding=True)
    wiser = Attacker.together([risk.attackers[0], Attacker.percentage(risk.table, 60)])
    both = replace(risk, attackers=(*risk.attackers, wiser))
    plain, one, again, other = (
        protect(both, Intervals(shift=shift, secret=secret))
        for shift, secret in ((False, 1), (True, 1), (True, 1), (True, 2))
    )
    assert one.cost == pytest.approx(plain.cost, rel=1e-4)
    assert one.safe
    ends = [found.pattern.bounds()[0].floats.tolist() for found in (one, again, other)]
    assert ends[0] == ends[1] != ends[2]
    at_ends = midpoints(plain).shares["-50"] + midpoints(plain).shares["50"]
    assert midpoints(one).shares["-50"] + midpoints(one).shares["50"] < at_ends


@FEW_VALUES
def test_ends_that_are_rounded_outward_are_reported() -> None:
    said = protect(square(), Intervals(secret=1, base=5)).notes
    assert said[0] == "Ends are rounded outward to multiples of 5: ranges are wider than need be."
    said = protect(square(), Intervals(secret=1, digits=1)).notes
    assert said[0] == "Ends are rounded outward to 1 significant digit: ranges are wider than need be."
    assert not any("Ends" in note for note in protect(square(), Intervals(secret=1, shift=False)).notes)


@pytest.mark.parametrize("method", [Intervals, Combined, Mixed])
@FEW_VALUES
def test_a_time_limit_bounds_search_and_placing(method: type[Intervals]) -> None:
    risk = instance("hh1", unity=True, sliding=True)
    protect(instance("t20x10", unity=True, sliding=True), method(secret=1), gap=0.5)  # everything is compiled
    began = time.process_time()
    try:
        found = protect(risk, method(secret=1), time_limit=0.7)
    except OutOfTimeError:  # other programs had the processor
        found = None
    assert time.process_time() - began < 0.8 + 2.0
    if found is not None:
        assert found.safe
        assert 0 <= found.bound <= found.cost


@pytest.mark.parametrize("base", [2.5, Fraction(1, 4), 7])
def test_ends_are_multiples_of_a_base_with_decimals(base: float) -> None:
    found = protect(square(), Intervals(base=base, secret=1))
    own = found.pattern.status == "interval"
    ends = np.concatenate([side.floats[own] for side in found.pattern.bounds()])
    assert found.safe
    assert not (ends % float(base)).any()


def test_a_base_that_ends_cannot_have_is_refused() -> None:
    with pytest.raises(SpecError, match=r"base: is 2.5, and ends have 0 decimals."):
        protect(square(), Intervals(base=2.5, decimals=0))
    with pytest.raises(SpecError, match=r"base: is 2.5, and ends of counts are whole."):
        protect(square(), Intervals(base=2.5), integer=True)
    with pytest.raises(SpecError, match=r"base: has too many decimals: 1/3."):
        Intervals(base=Fraction(1, 3))
