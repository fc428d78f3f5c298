"""Rules that are not ordered: each of them holds for respondents, in every verdict and on every page."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from tests.oracles.single_contributions import is_open, open_attacks

import celosia as cz
from celosia.job.pipeline import assess_file
from celosia.report.pages.content import PageContent
from celosia.report.pages.protection import render

FIRMS = """A1 52 81 80|A2 7 10 20 10|A3 16 77 20|B1 78 2 96 89|B2 96 3 59|B3 70|C1 85|C2 18|C3 87 55 11 10"""
PLAIN, TOGETHER = cz.PPercent(11), cz.PPercent(10, coalition=2)


def firms() -> pl.DataFrame:
    lines = [(cell[0], cell[1], int(v)) for cell, *own in map(str.split, FIRMS.split("|")) for v in own]
    return pl.DataFrame([(*line, f"f{k}") for k, line in enumerate(lines)], schema=["r", "c", "v", "f"], orient="row")


@cache
def table() -> cz.Table:
    return cz.tabulate(firms(), by=["r", "c"], value="v", respondent="f")


@cache
def protected() -> cz.Protection:
    """Return the table protected by both rules, which takes seconds."""
    return cz.protect(cz.assess(table(), PLAIN, TOGETHER, cost="unity"))


def test_a_coalition_with_a_smaller_p_is_not_forgotten_beside_a_stricter_rule(tmp_path: Path) -> None:
    """Two firms together knew a third within 3.1 percent where 10 are allowed: the first rule alone was asked."""
    risk = cz.assess(table(), PLAIN, TOGETHER, cost="unity")
    alone = cz.protect(replace(risk, respondents=(PLAIN,)))
    assert is_open(alone.pattern, risk.table, TOGETHER)
    assert not cz.audit(alone.pattern, risk).safe
    found = protected()
    assert found.cost > alone.cost
    for rule in (PLAIN, TOGETHER):
        assert open_attacks(found.pattern, risk.table, rule) == []
    cz.certify(alone).write(tmp_path / "alone.json")
    said = cz.verify(tmp_path / "alone.json", risk, cz.publish(alone))
    assert not said.proved
    assert TOGETHER.words in str(said.problems[0])
    cz.certify(found).write(tmp_path / "proof.json")
    assert cz.verify(tmp_path / "proof.json", risk, cz.publish(found)).proved


def test_result_and_report_speak_of_every_rule() -> None:
    found = protected()
    assert found.closing is not None
    assert found.closing.rules == (PLAIN, TOGETHER)
    for words in (PLAIN.words, TOGETHER.words):
        assert words in found.closing.sentence(found.cost)
        assert words in "".join(render(PageContent(found)))


@pytest.mark.parametrize("rule", [cz.MinFrequency(2), cz.Dominance(1, 90)], ids=["frequency", "dominance"])
def test_two_singletons_do_not_compute_each_other(rule: cz.MinFrequency | cz.Dominance) -> None:
    """With both hidden and the row's total shown, each finds the other by subtraction."""
    lines = [("A", "1", 40), ("A", "2", 60), *[(r, c, 30) for r in "ABC" for c in "34" for _ in range(3)]]
    lines += [(r, c, 30) for r in "BC" for c in "12" for _ in range(3)]
    frame = pl.DataFrame([(*line, f"f{k}") for k, line in enumerate(lines)], schema=["r", "c", "v", "f"], orient="row")
    whole = cz.tabulate(frame, by=["r", "c"], value="v", respondent="f")
    outsider = cz.protect(cz.assess(whole, rule, cost="unity", attackers=[cz.Attacker.external(whole)]))
    assert outsider.safe
    assert "Respondents were not asked" in outsider.notes[-1]
    assert is_open(outsider.pattern, whole, rule)
    found = cz.protect(cz.assess(whole, rule, cost="unity"))
    assert open_attacks(found.pattern, whole, rule) == []
    assert found.cost > outsider.cost
    assert found.notes == ()


def test_the_same_data_and_rules_are_protected_alike_in_python_and_by_a_job(tmp_path: Path) -> None:
    """`tabulate` left contributions out unless it was told otherwise, and jobs kept them."""
    firms().write_csv(tmp_path / "firms.csv")
    (tmp_path / "job.toml").write_text(
        "[data]\nfile = 'firms.csv'\nrespondent = 'f'\n[dimensions.r]\n[dimensions.c]\n[[tables]]\nby = ['r', 'c']\n"
        "value = 'v'\n[[rules]]\nrule = 'p-percent'\np = 11\n[[rules]]\nrule = 'min-frequency'\nn = 3\n"
    )
    by_job = assess_file(tmp_path / "job.toml")
    here = cz.assess(table(), PLAIN, cz.MinFrequency(3))
    assert by_job.respondents == here.respondents == (PLAIN, cz.MinFrequency(3))
    found = [cz.protect(risk) for risk in (by_job, here)]
    assert found[0].cost == found[1].cost
    assert found[0].pattern.status.tolist() == found[1].pattern.status.tolist()
    assert open_attacks(found[1].pattern, here.table, PLAIN) == []


def test_values_that_are_drawn_are_audited_against_respondents_and_no_note_denies_it() -> None:
    found = cz.protect(cz.assess(table(), PLAIN), cz.RandomRound(200, scheme="controlled"), seed=4)
    assert found.criterion == "intervals"
    assert found.risk.respondents == (PLAIN,)
    assert not [note for note in found.notes if "Respondents" in note]
    assert cz.audit_respondents(found).safe


def test_adjusted_values_say_that_nobody_was_asked() -> None:
    found = cz.protect(cz.assess(table(), PLAIN), cz.Adjust())
    assert found.notes[-1].startswith("Respondents were not asked: adjusted values protect by their distance")


def one_holding() -> cz.Table:
    lines = [("A", "x", 100, "t"), ("B", "x", 50, "u"), ("A", "y", 70, "r"), ("B", "y", 60, "s")]
    frame = pl.DataFrame([(*line, "group") for line in lines], schema=["a", "b", "v", "firm", "group"], orient="row")
    return cz.tabulate(frame, by=["a", "b"], value="v", respondent="firm", holding="group")


def test_a_rule_about_a_single_holding_does_not_keep_firms_from_being_asked() -> None:
    by_firm = cz.PPercent(10, by="respondent")
    risk = cz.assess(one_holding(), by_firm, cz.MinFrequency(3), cost="unity", exempt={"a": ["Total"]})
    assert risk.respondents == (by_firm,)
    assert open_attacks(cz.protect(risk).pattern, risk.table, by_firm) == []
    alone = cz.assess(one_holding(), cz.MinFrequency(3))
    assert (alone.respondents, alone.unasked) == ((), "there is only one contributor")


def test_rules_that_protect_is_told_come_on_top_of_those_of_the_risk() -> None:
    risk = cz.assess(table(), PLAIN, TOGETHER, cost="unity")
    found = cz.protect(risk, respondents=[cz.PPercent(1), PLAIN])
    assert found.risk.respondents == (PLAIN, TOGETHER, cz.PPercent(1))
    assert cz.audit(found, risk).safe


def test_respondents_can_be_left_out_on_request_and_the_note_says_so() -> None:
    found = cz.protect(cz.assess(table(), PLAIN, respondents=[]))
    assert found.notes[-1] == "Respondents were not asked: they were left out on request."


def test_that_respondents_are_judged_without_whole_numbers_is_said() -> None:
    risk = cz.assess(table(), PLAIN)
    found = cz.protect(risk)
    said = "Respondents were judged as if they did not know that values are whole numbers."
    assert said not in found.notes
    assert said in cz.protect(risk, integer=True).notes
    assert cz.audit(found.pattern, risk, integer=True).notes == (said,)
