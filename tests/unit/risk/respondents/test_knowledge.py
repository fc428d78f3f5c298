"""Whom contributors are protected from by default, and whose contributions nobody asks to protect."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.oracles.single_contributions import every_pair, open_attacks

from celosia import (
    Attacker,
    Dominance,
    MinFrequency,
    OwnRule,
    Pattern,
    PPercent,
    PriorPosterior,
    SpecError,
    Table,
    ZeroCells,
    assess,
    audit_respondents,
    certify,
    link,
    protect,
    tabulate,
    worst_aggregation,
)
from celosia.risk.respondents.knowledge import respondents_of
from celosia.risk.rules.finding import Rule

RULE = PPercent(20)
LINES = [
    *[("A", "I", 100), ("A", "III", 150), *[("A", "II", 50)] * 4],
    *[(row, column, 60) for row in "BC" for column in ("I", "II", "III") for _ in range(5)],
]
FIRMS = pl.DataFrame(
    [(*line, f"f{k}", k == 0, 1 + (k == 20), line[0] + line[1]) for k, line in enumerate(LINES)],
    schema=["row", "column", "v", "firm", "waives", "weight", "group"],
    orient="row",
)


def table(**options: object) -> Table:
    given = {"by": ["row", "column"], "value": "v", "respondent": "firm", "contributions": True} | options
    return tabulate(FIRMS, **given)  # type: ignore[arg-type]


def test_contributions_and_a_rule_about_them_are_enough() -> None:
    assert assess(table(), RULE).respondents == (RULE,)
    assert assess(table(), RULE).unasked_note is None
    found = protect(assess(table(), RULE, cost="unity"))
    assert found.closing is not None
    assert found.closing.pairs == 2
    assert open_attacks(found.pattern, found.risk.table, RULE) == []


def test_all_rules_about_contributors_hold_not_the_strictest_alone() -> None:
    rules = (MinFrequency(3), RULE, PriorPosterior(20, 50), PPercent(10, coalition=2), Dominance(1, 80))
    assert assess(table(), ZeroCells(1), *rules).respondents == rules


@pytest.mark.parametrize(
    ("options", "rule", "reason"),
    [
        ({"contributions": False}, RULE, "the table does not know single contributions"),
        ({}, OwnRule(lambda one: one.values > 200), "no p%, prior-posterior, frequency or dominance rule says"),
        ({}, MinFrequency(1), "no p%, prior-posterior, frequency or dominance rule says"),
        ({"weight": "weight"}, RULE, "the values are weighted by a sample"),
        ({"value": None}, RULE, "the table counts contributors"),
        ({"shadow": "weight"}, RULE, "the rules look at a shadow variable"),
    ],
    ids=[
        "no contributions",
        "no rule about them",
        "a rule of no effect",
        "weights",
        "counts",
        "shadow",
    ],
)
def test_otherwise_an_outsider_attacks_alone_and_the_result_says_why(
    options: dict[str, object], rule: Rule, reason: str
) -> None:
    risk = assess(table(**options), rule)
    assert risk.respondents == ()
    said = f"Respondents were not asked: {reason}"
    assert str(risk.unasked_note).startswith(said)
    found = protect(risk)
    assert any(note.startswith(said) for note in found.notes)
    assert found.audit.notes == (risk.unasked_note,)
    assert certify(found).content["respondents"] == {"rules": [], "unasked": risk.unasked_note}


def test_attackers_that_are_named_are_all_attackers() -> None:
    whole = table()
    risk = assess(whole, RULE, attackers=[Attacker.external(whole)])
    assert (risk.respondents, risk.unasked) == ((), "the attackers were named one by one")
    assert assess(whole, RULE, attackers=[Attacker.external(whole)], respondents=RULE).respondents == (RULE,)


def test_a_contribution_that_stands_in_two_leaf_cells_is_one_to_a_joint_cell() -> None:
    """Errors of both would count as independent, and nobody would be as safe as it seems."""
    linked = table(by=[["row", "column"], ["row", "group"]])
    assert assess(linked, RULE).respondents == (RULE,)
    people = respondents_of(linked)
    assert (people.leaves >= len(linked)).all()
    apart = link([table(by=by) for by in (["row", "column"], ["row", "group"])])
    assert assess(apart, RULE).unasked == "the table does not know single contributions"
    with pytest.raises(SpecError):
        assess(apart, RULE, respondents=RULE)


def alone() -> tuple[Table, Pattern]:
    """Return the table in which the firm in A x I waived its protection, and a pattern that gives it away."""
    told = table(waiver="waives")
    hidden = [told.find(row=row, column=column) for row in "AB" for column in ("I", "III")]
    return told, Pattern.hide(told, hidden)


def test_whoever_waived_his_protection_is_no_target_and_still_attacks() -> None:
    told, pattern = alone()
    assert (respondents_of(told).protected.nnz, respondents_of(told).sizes.nnz) == (len(LINES) - 1, len(LINES))
    found = audit_respondents(pattern, told, rule=RULE)
    assert [told.label(one.cells[0]) for one in found.open] == ["A x III"]
    full = open_attacks(pattern, told, RULE)
    assert every_pair(found) == [(one.attackers[0], one.target) for one in full]
    with pytest.raises(SpecError, match="are waived in part"):
        worst_aggregation(pattern, told, rule=RULE)


def test_his_cell_may_be_shown() -> None:
    told, _ = alone()
    shown = Pattern.hide(told, [])
    assert {told.label(one.cells[0]) for one in audit_respondents(shown, told, rule=RULE).open} == {"A x III"}


def test_nobody_asks_for_protection_in_cells_that_are_exempt() -> None:
    risk = assess(table(), RULE, exempt={"column": ["III"]})
    assert audit_respondents(Pattern.hide(risk.table, np.flatnonzero(risk.sensitive)), risk).targets == 1
    assert risk.respondents == (RULE,)
