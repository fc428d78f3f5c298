"""Respondents are protected, or the reason is named, whatever else is asked for: cells to show, few cells, widths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.golden.test_daalmans_dewaal_2010 import TABLE_3, TWENTY
from tests.oracles.respondent_cases import case_of
from tests.oracles.single_contributions import open_attacks

from celosia import (
    Attacker,
    InfeasibleError,
    Intervals,
    MinFrequency,
    PPercent,
    Suppress,
    assess,
    audit,
    protect,
    tabulate,
)
from celosia.pattern.entries import SHOWN
from celosia.protection.engine.problem import problem_of
from celosia.risk.requirement import Requirements
from celosia.table.fixed import Fixed


def test_somebody_exposed_in_a_cell_that_must_be_shown_is_named() -> None:
    """The search for what to free took for ever: it freed the cell, which then was shown all the same."""
    lines = [("x", "u", 100, "a"), ("x", "u", 1, "b"), ("x", "v", 50, "c"), ("x", "v", 40, "d"), ("x", "v", 30, "e")]
    lines += [("y", place, amount, f"{place}{amount}") for place in "uv" for amount in (60, 50, 40)]
    frame = pl.DataFrame(lines, schema=["a", "b", "v", "firm"], orient="row")
    table = tabulate(frame, by=["a", "b"], value="v", respondent="firm", contributions=True)
    risk = assess(table, MinFrequency(1), cost="unity")
    cell = next(cell for cell in range(len(table)) if table.values[cell] == 101)
    with pytest.raises(InfeasibleError, match="while these cells must be shown: 'x x u'"):
        protect(risk, Suppress(must_show=[cell]), respondents=PPercent(10))


def test_holdings_do_not_make_few_cells_impossible() -> None:
    """Cells that must move together are asked for as such, with at_most, too; it asked for more, and gave up."""
    case = case_of(1140)
    risk = assess(case.table, case.rule, cost="unity")
    best = protect(risk, Suppress(), respondents=case.rule)
    few = protect(risk, Suppress(at_most=round(best.cost)), respondents=case.rule)
    assert few.cost == few.bound == best.cost
    assert open_attacks(few.pattern, case.table, case.rule) == []


def test_a_pattern_for_whole_numbers_claims_no_more_than_the_audit_of_respondents_does() -> None:
    """Their tables need not be whole: a pattern with ten cells passes both audits, and eleven were called optimal."""
    case = case_of(1100)
    found = protect(assess(case.table, case.rule, cost="unity"), Suppress(), respondents=case.rule, integer=True)
    assert open_attacks(found.pattern, case.table, case.rule) == []
    assert found.bound <= 10


def test_only_attackers_without_requirements_of_their_own_are_asked_for_widths() -> None:
    risk = assess(TABLE_3, TWENTY, cost="unity")
    amounts = TABLE_3.amounts
    close = Attacker("close", *(Fixed(amounts.counts + way, amounts.decimals) for way in (-1, 1)))
    cell, none = int(np.flatnonzero(risk.sensitive)[0]), Fixed(np.zeros(1, dtype=np.int64))
    one = Requirements(np.array([cell]), np.array([1], dtype=np.int32), none, Fixed(np.ones(1, dtype=np.int64)), none)
    free = int(np.flatnonzero(~risk.sensitive)[0])
    more = replace(risk, attackers=(*risk.attackers, close), further=one, respondents=())
    problem = problem_of(more, conditional=Suppress(width_if_hidden={free: 5}).conditional, integer=False)
    wide = problem.requirements.attackers[problem.cells[problem.requirements.columns] == free]
    assert wide.tolist() == [0]


def test_widths_of_hidden_cells_and_respondents_go_together() -> None:
    risk = assess(TABLE_3, TWENTY, cost="unity")
    cells = np.flatnonzero(~risk.sensitive)
    found = protect(risk, Suppress(width_if_hidden={int(cell): 4 for cell in cells}), respondents=TWENTY)
    assert open_attacks(found.pattern, TABLE_3, TWENTY) == []
    assert (found.pattern.status[risk.sensitive] != SHOWN).all()


def test_cells_that_must_move_together_leave_no_gap() -> None:
    """The first pattern met what was told of each cell alone; it was left out then, and the bound stayed behind."""
    case = case_of(109)
    risk = replace(assess(case.table, PPercent(max(case.rule.p // 4, 1)), cost="unity"), respondents=())
    cost = [0.869, 0.314, 0.012, 0.124, 0.307, 0.242, 0.739, 0.773, 0.463, 0.328, 0.763, 0.906]
    found = protect(risk, Suppress(cost=cost), respondents=case.rule)
    assert found.optimal


def test_zeros_that_respondents_do_not_know_make_nothing_impossible() -> None:
    """A cell in which contributions cancel out is zero, and respondents are judged without knowing that."""
    case = case_of(421)
    risk = replace(assess(case.table, MinFrequency(1), cost="unity"), respondents=())
    found = protect(risk, Suppress(zeros_known=True), respondents=case.rule)
    assert open_attacks(found.pattern, case.table, case.rule) == []


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("method", [Suppress(), Intervals(secret=1, conceal=False)], ids=["suppress", "interval"])
def test_an_attacker_has_his_own_levels_beside_respondents_in_several_cells(method: Suppress | Intervals) -> None:
    case = case_of(1140)
    place = int(np.argmax(case.table.amounts.counts))
    rival = Attacker.external(case.table, "rival").with_levels(case.table, {place: 7})
    attackers = [Attacker.external(case.table), rival]
    found = protect(assess(case.table, case.rule, attackers=attackers), method, respondents=case.rule)
    assert open_attacks(found.pattern, case.table, case.rule) == []
    ends = next(one for one in audit(found, intervals=True).intervals if (one.cell, one.attacker) == (place, 1))
    truth = case.table.amounts.fraction(place)
    assert ends.lower is None or ends.lower <= truth - 7
    assert ends.upper is None or ends.upper >= truth + 7
