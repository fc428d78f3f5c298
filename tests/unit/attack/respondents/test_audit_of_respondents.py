"""Audits of respondents: what comes back, and what is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia import (
    DataError,
    Digits,
    Dominance,
    MinFrequency,
    Pattern,
    PPercent,
    PriorPosterior,
    SpecError,
    Table,
    ZeroCells,
    audit_respondents,
    cells,
    publish,
    tabulate,
    with_contributions,
    worst_aggregation,
)
from celosia.attack.respondents.programs.moves import MoveProgram
from celosia.pattern.modes.interval import Interval
from celosia.risk.respondents.knowledge import Knowledge, respondents_of
from celosia.risk.respondents.rules import criteria_of
from celosia.table.fixed import Fixed

RULE = PPercent(20)


def table_2x2() -> Table:
    """Return a table of four leaf cells without contributions."""
    lines = [("A", "I", 100), ("A", "II", 70), ("B", "I", 40), ("B", "II", 40)]
    frame = pl.DataFrame(lines, schema=["row", "column", "v"], orient="row")
    return cells(frame, by=["row", "column"], value="v", totals="compute")


def told(**options: object) -> Table:
    """Return it with contributions: a singleton, a cell of three, and two of four equal ones."""
    table = table_2x2()
    parts = {("A", "I"): [100], ("A", "II"): [50, 10, 10], ("B", "I"): [10] * 4, ("B", "II"): [10] * 4}
    lines = [
        (table.find(row=row, column=column), f"{row}{column}{k}", amount)
        for (row, column), amounts in parts.items()
        for k, amount in enumerate(amounts)
    ]
    return with_contributions(table, *map(list, zip(*lines, strict=True)), **options)  # type: ignore[arg-type]


def leaves(table: Table) -> Pattern:
    return Pattern.hide(table, respondents_of(table).leaves)


def test_contributions_given_by_hand_are_found_again() -> None:
    found = respondents_of(told())
    assert (len(found), len(found.leaves), found.kind) == (12, 4, "respondent")
    assert sorted(found.totals.tolist()) == [40, 40, 70, 100]


def test_holdings_act_as_one() -> None:
    found = respondents_of(told(holdings={"g": ["AI0", "BI0"], "h": ["AII1"]}))
    assert (len(found), found.kind) == (11, "holding")


def test_an_open_pair_names_cells_and_numbers_and_how_close() -> None:
    table = told()
    found = audit_respondents(leaves(table), table, rule=PPercent(25))
    assert not found.safe
    frame = found.to_frame("polars")
    assert frame.rows() == [("p% rule (p = 25)", "respondent 1", "A x II", "respondent 0", "A x I", 20.0, 25.0)]
    assert repr(found) == "RespondentAudit(not safe: 1 open pair, 1 respondent exposed; 12 respondents, 2 targets)"
    assert "safe: no respondent" in repr(audit_respondents(leaves(table), table, rule=RULE))


def test_criteria_that_are_known_are_those_of_the_rules() -> None:
    table, rules = told(), (PPercent(25), MinFrequency(3))
    known, found = (
        audit_respondents(leaves(table), table, rule=rules, criteria=criteria)
        for criteria in (criteria_of(table, rules), None)
    )
    assert known.open == found.open
    assert not known.safe


def test_a_shown_cell_of_one_contributor_is_open_to_anybody() -> None:
    table = told()
    found = audit_respondents(Pattern.hide(table, []), table, rule=RULE)
    assert [one.attackers for one in found.open if table.label(one.cells[0]) == "A x I"] == [()]
    assert found.to_frame("polars")["attackers"].to_list()[0] == "anybody"


def test_published_ranges_differ_by_direction() -> None:
    """A range that ends at the value keeps nobody away from it downwards."""
    table = told()
    cell, hidden = table.find(row="A", column="I"), respondents_of(table).leaves
    for below, safe in ((0, False), (20, True)):
        ends = (Fixed(np.array([100 - below]), 0), Fixed(np.array([200]), 0))
        rest = Pattern.hide(table, np.setdiff1d(hidden, [cell])).modes[0]
        pattern = Pattern.of(table, rest, Interval(np.array([cell]), *ends, table=table))
        assert audit_respondents(pattern, table, rule=RULE).safe is safe


def test_a_release_needs_its_table() -> None:
    with pytest.raises(SpecError, match="risk: is missing"):
        audit_respondents(publish(leaves(told())), rule=RULE)


@pytest.mark.parametrize("verb", [audit_respondents, worst_aggregation])
def test_a_table_without_contributions_is_refused(verb: object) -> None:
    table = table_2x2()
    with pytest.raises(SpecError, match="contributions: the table does not know single contributions"):
        verb(Pattern.hide(table, []), table, rule=RULE)  # type: ignore[operator]


def test_p_must_be_below_q() -> None:
    with pytest.raises(SpecError, match="must be below q, not 50 against 40"):
        Knowledge.of(PriorPosterior(50, 40))


def test_other_rules_do_not_say_what_respondents_know() -> None:
    with pytest.raises(SpecError, match=r"rule: zero cells does not say"):
        Knowledge.of(ZeroCells(1))  # type: ignore[arg-type]


def test_frequency_and_dominance_rules_forbid_exact_figures_only() -> None:
    """(p, q) = (0, 100) with a level of one unit of the last decimal."""
    for rule in (MinFrequency(3), Dominance(1, 80)):
        knowledge = Knowledge.of(rule)
        assert (knowledge.p, knowledge.q / knowledge.unit, knowledge.coalition) == (0, 1, 1)
        assert knowledge.error(1_000_000) == knowledge.unit


def test_contributions_must_add_up_and_the_message_tells_no_amount() -> None:
    table = table_2x2()
    parts = [table.find(row=row, column=column) for row in "AB" for column in ("I", "II")]
    with pytest.raises(DataError, match="A x I: its contributions do not add up to the cell") as raised:
        with_contributions(table, [parts[0], *parts], ["a", *"bcde"], [60, 39, 70, 40, 40])
    assert "99" not in str(raised.value)
    with pytest.raises(DataError, match="the contributions to 8 cells are not known"):
        with_contributions(table, parts[:1] * 2, ["a", "b"], [60, 40])


def test_what_is_wrong_with_holdings_is_said_at_once() -> None:
    with pytest.raises(DataError) as raised:
        told(holdings={"g": [], "h": ["AI0", "nobody"], "i": ["AI0"]})
    assert [problem.place for problem in raised.value.problems] == ["holdings[0]", "holdings[1]", "holdings[2]"]
    assert "holdings[0]: has no members." in str(raised.value)
    assert "nobody" not in str(raised.value)


def test_holdings_that_nobody_named_are_refused() -> None:
    with pytest.raises(SpecError, match="by: asks for holdings"):
        respondents_of(told(), "holding")


def test_contributions_to_totals_are_refused() -> None:
    table = table_2x2()
    listed = [table.find(row="A"), table.find(row="A", column="I"), table.find(row="B", column="I")]
    listed += [table.find(row="B", column="II")]
    with pytest.raises(DataError, match="some are to totals"):
        with_contributions(table, listed * 2, ["a"] * 4 + ["b"] * 4, [85, 50, 20, 20] * 2)


@pytest.mark.parametrize(
    ("cells_", "names", "amounts", "message"),
    [
        ([0], ["a", "b"], [1.0], "are 1 cells, 2 respondents and 1 amounts"),
        ([99], ["a"], [1.0], "are not in the table: 99"),
        ([], [], [], "the list is empty"),
        ([0], ["a"], [float("nan")], "are no numbers with 0 decimals"),
        ([0], ["a"], [0.5], "are no numbers with 0 decimals"),
    ],
)
def test_lists_that_make_no_sense(cells_: list[int], names: list[str], amounts: list[float], message: str) -> None:
    with pytest.raises((SpecError, DataError), match=message):
        with_contributions(table_2x2(), cells_, names, amounts)


def test_one_contributor_attacks_nobody() -> None:
    table = table_2x2()
    parts = [table.find(row=row, column=column) for row in "AB" for column in ("I", "II")]
    with pytest.raises(DataError, match="there is 1 respondent"):
        with_contributions(table, parts, ["a"] * 4, [100, 70, 40, 40])


def test_the_program_of_the_paper_knows_no_coalitions_ranges_or_strangers() -> None:
    table = told()
    with pytest.raises(SpecError, match="is about coalitions"):
        worst_aggregation(leaves(table), table, rule=PPercent(20, coalition=2))
    with pytest.raises(SpecError, match="there is no respondent 77"):
        worst_aggregation(leaves(table), table, rule=RULE, attacker=77)
    ranged = Interval(np.array([0]), Fixed(np.array([0]), 0), Fixed(np.array([900]), 0), table=table)
    with pytest.raises(SpecError, match="is no suppression pattern"):
        worst_aggregation(Pattern.of(table, ranged), table, rule=RULE)


def two_hierarchies() -> Table:
    """Return a table that is no network, in which a holding contributes to two leaf cells."""
    places = [(f"{a}{b}", f"{c}{d}") for a in "AB" for b in "12" for c in "XY" for d in "34"]
    lines = [(row, column, f"firm {row} {column}", 10.0 + k) for k, (row, column) in enumerate(places)]
    lines += [("A1", "X3", "holding", 50.0), ("B2", "Y4", "holding", 60.0)]
    frame = pl.DataFrame(lines, schema=["row", "column", "firm", "v"], orient="row")
    digits = {"row": Digits((1, 1)), "column": Digits((1, 1))}
    return tabulate(frame, by=["row", "column"], value="v", respondent="firm", hierarchies=digits)


def test_where_everything_is_hidden_cells_move_with_their_totals_and_no_program_is_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a program is solved")

    table = two_hierarchies()
    everything = Pattern.hide(table, np.arange(len(table)))
    for name in ("push", "between"):
        monkeypatch.setattr(MoveProgram, name, refuse)
    found = audit_respondents(everything, table, rule=RULE)
    assert (found.safe, found.targets) == (True, 17)  # every leaf, and the holding


def test_where_a_total_is_shown_cells_do_not_move_with_it() -> None:
    table = two_hierarchies()
    total = table.find(row="Total", column="Total")
    shown = Pattern.hide(table, np.setdiff1d(np.arange(len(table)), [total]))
    assert audit_respondents(shown, table, rule=RULE).safe
    few = Pattern.hide(table, [table.find(row="A1", column="X3"), table.find(row="A", column="X3")])
    assert not audit_respondents(few, table, rule=RULE).safe
