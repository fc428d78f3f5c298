"""What `protect` refuses, and how it says so."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.protection.conftest import refuse

from celosia import Attacker, InfeasibleError, Risk, SolverError, SpecError, Suppress, protect
from celosia.risk.risk import Levels
from celosia.table.fixed import Fixed


def test_negative_costs(grid: Risk) -> None:
    cost = np.ones(16)
    cost[3] = -1
    refuse(grid, Suppress(cost=cost), SpecError, "cost", ["negative", "at 3"])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_costs_that_are_no_numbers(grid: Risk, wrong: float) -> None:
    cost = np.ones(16)
    cost[3] = wrong
    refuse(grid, Suppress(cost=cost), SpecError, "cost", [])


def test_too_few_costs(grid: Risk) -> None:
    refuse(grid, Suppress(cost=[1.0, 2.0]), SpecError, "cost", ["16"])


def test_costs_that_are_all_zero(grid: Risk) -> None:
    refuse(grid, Suppress(cost=np.zeros(16)), SpecError, "cost", ["zero for every cell", "unity"])


def test_costs_of_the_risk_that_are_negative(grid: Risk) -> None:
    refuse(replace(grid, cost=-grid.cost), None, SpecError, "cost", [])


def test_sensitive_cells_without_levels(grid: Risk) -> None:
    zero = Fixed(np.zeros(16, dtype=np.int64))
    bare = replace(grid, levels=Levels(zero, zero, zero))
    refuse(bare, None, SpecError, "levels", ["all zero", repr(grid.table.label(6))])


def test_must_show_on_a_sensitive_cell(grid: Risk) -> None:
    refuse(grid, Suppress(must_show=[6]), SpecError, "must_show", ["sensitive", repr(grid.table.label(6))])


def test_a_cell_that_must_be_both_shown_and_hidden(grid: Risk) -> None:
    refuse(grid, Suppress(must_show=[3], must_hide=[3]), SpecError, "must_show", ["must_hide"])


@pytest.mark.parametrize("wish", ["must_show", "must_hide", "width_if_hidden"])
def test_cells_that_are_not_in_the_table(grid: Risk, wish: str) -> None:
    given = {99: 1.0} if wish == "width_if_hidden" else [99]
    refuse(grid, Suppress(**{wish: given}), SpecError, wish, ["99"])  # type: ignore[arg-type]


def test_all_problems_of_a_method_at_once(grid: Risk) -> None:
    with pytest.raises(SpecError) as caught:
        protect(grid, Suppress(must_show=[6], must_hide=[99], cost=np.zeros(16)))
    assert {problem.place for problem in caught.value.problems} == {"must_show", "must_hide", "cost"}


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_a_time_limit_that_leaves_no_time(grid: Risk, limit: float) -> None:
    with pytest.raises(SpecError, match=r"^time_limit: must be above zero, not"):
        protect(grid, time_limit=limit)


@pytest.mark.parametrize("gap", [-0.1, 1.5, float("nan")])
def test_a_gap_that_is_no_share(grid: Risk, gap: float) -> None:
    with pytest.raises(SpecError, match=r"^gap: must lie between 0 and 1"):
        protect(grid, gap=gap)


def test_an_unknown_solver(grid: Risk) -> None:
    with pytest.raises((SpecError, SolverError), match="higs"):
        protect(grid, solver="higs")


def test_a_negative_at_most() -> None:
    with pytest.raises(SpecError, match=r"^at_most: must be zero or more, not -1"):
        Suppress(at_most=-1)


@pytest.mark.parametrize("width", [0, -1.0, float("nan")])
def test_widths_that_say_nothing(width: float) -> None:
    with pytest.raises(SpecError, match=r"^width_if_hidden: must be above zero"):
        Suppress(width_if_hidden={3: width})


def test_fewer_cells_than_must_be_hidden(grid: Risk) -> None:
    refuse(grid, Suppress(at_most=0), InfeasibleError, "at_most", ["is 0", "1 cell must be hidden"])


def test_fewer_cells_than_safety_needs(grid: Risk) -> None:
    refuse(grid, Suppress(at_most=3), InfeasibleError, "protection", ["so few cells", "at_most"])


def test_levels_beyond_what_an_attacker_knows(grid: Risk) -> None:
    lower = np.zeros(16)
    upper = np.full(16, np.inf)
    lower[6], upper[6] = 15, 100
    insider = Attacker.between(grid.table, lower, upper, "insider")
    refuse(
        replace(grid, attackers=(*grid.attackers, insider)),
        None,
        InfeasibleError,
        "levels",
        ["insider", grid.table.label(6)],
    )


def test_levels_beyond_what_is_left_when_zeros_are_known(grid: Risk) -> None:
    counts = np.zeros(16, dtype=np.int64)
    zeros = replace(grid, table=replace(grid.table, amounts=Fixed(counts)))
    refuse(zeros, Suppress(zeros_known=True), InfeasibleError, "levels", ["'external'"])


def test_nothing_is_sensitive(grid: Risk) -> None:
    found = protect(replace(grid, status=np.full(16, "s")))
    assert found.safe
    assert found.optimal
    assert found.cost == 0
    assert len(found.secondary) == 0


def test_a_width_is_the_decimal_that_was_written(grid: Risk) -> None:
    """A width of 0.2 as a double is a little more than two tenths, which is all there is."""
    values = grid.table.amounts.floats
    tenth = Levels(*(Fixed(np.where(np.arange(16) == 6, own, 0), 1) for own in (0, 1, 0)))
    knows = Attacker.between(grid.table, values - 0.1, values + 0.1, "near")
    risk = replace(grid, attackers=(knows,), levels=tenth)
    plain = protect(risk)
    for width in (0.1, Fraction(1, 10), 0.2):
        kept = protect(risk, Suppress(width_if_hidden=dict.fromkeys(range(16), width)))
        assert kept.cost == plain.cost
    with pytest.raises(SpecError):
        protect(risk, Suppress(width_if_hidden={6: 0.3}))


def test_a_width_finer_than_the_levels_is_not_rounded(grid: Risk) -> None:
    values = grid.table.amounts.floats
    knows = Attacker.between(grid.table, values - 12, values + 12.5, "near")
    risk = replace(grid, attackers=(knows,))
    plain = protect(risk)
    kept = protect(risk, Suppress(width_if_hidden={6: 24.25}))
    assert kept.cost >= plain.cost
    with pytest.raises(SpecError):
        protect(risk, Suppress(width_if_hidden={6: 24.75}))
