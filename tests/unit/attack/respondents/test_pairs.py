"""Sets of attackers and targets: the reduced model of Daalmans and de Waal (2010, section 6)."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

import celosia as cz

RULE = cz.PPercent(20)


@pytest.fixture(scope="module")
def table() -> cz.Table:
    """Return two shown cells: 10, 9 and 1 in N, where b is exposed to a and a to b, and four equal ones in S."""
    records = [("N", "a", 10), ("N", "b", 9), ("N", "c", 1), *(("S", name, 5) for name in "wxyz")]
    frame = pd.DataFrame(records, columns=["area", "firm", "turnover"])
    return cz.tabulate(frame, by=["area"], value="turnover", respondent="firm")


def numbers(table: cz.Table, cell: str) -> tuple[int, ...]:
    return cz.contributors(table, cell)


def test_a_target_whom_no_attacker_exposes_clears_no_smaller_one_that_does_not_attack(table: cz.Table) -> None:
    (a, b, _), (x, *_) = numbers(table, "N"), numbers(table, "S")
    shown = cz.Pattern.hide(table, [])
    found = cz.audit_respondents(shown, table, rule=RULE, attacker=[a, x])
    assert [(one.attackers, one.target) for one in found.open] == [((a,), b)]
    assert cz.audit_respondents(shown, table, rule=RULE, attacker=[a, x], target=a).safe
    worst = cz.worst_aggregation(shown, table, rule=RULE, attacker=[a, x])
    assert worst is not None
    assert (worst.attacker, worst.target, worst.excess) == (a, b, Fraction(4, 5))  # 20 % of 9, less 1


def test_one_number_is_a_set_of_one(table: cz.Table) -> None:
    a, b, c = numbers(table, "N")
    shown = cz.Pattern.hide(table, [])
    for one, several in ((a, [a]), (b, {b}), (c, (c,))):
        found = [cz.worst_aggregation(shown, table, rule=RULE, target=who) for who in (one, several)]
        assert str(found[0]) == str(found[1])


def test_a_verdict_about_some_says_that_others_were_not_asked(table: cz.Table) -> None:
    (a, *_), (x, y, *_) = numbers(table, "N"), numbers(table, "S")
    shown = cz.Pattern.hide(table, [])
    found = cz.audit_respondents(shown, table, rule=RULE, attacker=[a, x], target=[y])
    assert found.safe
    assert "none of 2 respondents comes too close to 1 respondent, others were not asked" in repr(found)
    assert found.pairs <= 2
    everybody = cz.audit_respondents(shown, table, rule=RULE)
    assert not everybody.safe
    assert "not asked" not in repr(everybody)
    assert "no respondent comes too close to 1 respondent, others were not asked" in repr(
        cz.audit_respondents(shown, table, rule=RULE, target=y)
    )


@pytest.mark.parametrize("verb", [cz.audit_respondents, cz.worst_aggregation])
def test_numbers_that_nobody_has_are_refused_all_at_once(table: cz.Table, verb: object) -> None:
    shown = cz.Pattern.hide(table, [])
    with pytest.raises(cz.SpecError) as raised:
        verb(shown, table, rule=RULE, attacker=[0, 70, 71], target=72)  # type: ignore[operator]
    assert str(raised.value) == (
        "attacker: there is no respondent 70, 71. There are 7 respondents.\n"
        "target: there is no respondent 72. There are 7 respondents."
    )
    with pytest.raises(cz.SpecError, match="attacker: is empty: nothing would be looked at"):
        verb(shown, table, rule=RULE, attacker=[])  # type: ignore[operator]
    with pytest.raises(cz.SpecError, match="target: must be anonymous numbers"):
        verb(shown, table, rule=RULE, target=["a"])  # type: ignore[operator]
    with pytest.raises(cz.SpecError, match="no respondent attacks himself"):
        verb(shown, table, rule=RULE, attacker=0, target=[0])  # type: ignore[operator]


def test_numbers_are_refused_where_rules_look_at_different_people() -> None:
    frame = pd.DataFrame({"area": ["N"] * 3, "firm": list("abc"), "group": list("ggh"), "turnover": [5, 4, 3]})
    table = cz.tabulate(frame, by=["area"], value="turnover", respondent="firm", holding="group")
    rules = [cz.PPercent(10, by="respondent"), cz.PPercent(20, by="holding")]
    with pytest.raises(cz.SpecError, match="target: is not known: some rules look at respondents, others at holdings"):
        cz.audit_respondents(cz.Pattern.hide(table, []), table, rule=rules, target=0)
