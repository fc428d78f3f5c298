"""Respondents as attackers in a job file."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from celosia import CelosiaError, MinFrequency, PPercent, PriorPosterior, SpecError, audit_respondents, protect
from celosia.cli.commands.protect import summary_of
from celosia.job.pipeline import assess_file
from celosia.job.plan import make_plan
from celosia.job.protection import protect_risk
from celosia.job.source import read_source
from celosia.report.pages.content import PageContent
from celosia.report.pages.protection import render
from celosia.report.terminal.protection import protection_panel

FIRMS = [
    *[("A", "I", 100), ("A", "II", 60), ("A", "II", 60), ("A", "II", 60), ("A", "II", 20), ("A", "III", 150)],
    *[(row, column, 60) for row in "BC" for column in ("I", "II", "III") for _ in range(5)],
]

JOB = """
{attackers}
[data]
file = "firms.csv"
respondent = "firm"

[dimensions.row]
[dimensions.column]

[[tables]]
by = ["row", "column"]
value = "turnover"

[[rules]]
{rule}

{method}
"""


def job(folder: Path, attackers: str = "", rule: str = 'rule = "p-percent"\np = 20', method: str = "") -> Path:
    lines = [f"f{k},{row},{column},{value}" for k, (row, column, value) in enumerate(FIRMS)]
    (folder / "firms.csv").write_text("\n".join(["firm,row,column,turnover", *lines]), encoding="utf-8")
    (folder / "job.toml").write_text(JOB.format(attackers=attackers, rule=rule, method=method), encoding="utf-8")
    return folder / "job.toml"


def test_ties_are_an_option_of_rules_and_hold_for_respondents_too(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path, rule='rule = "p-percent"\np = 20\nties = "sensitive"'))
    assert risk.rules == ("p% rule (p = 20), ties sensitive",)
    assert risk.respondents == (PPercent(20, ties="sensitive"),)
    found = protect(risk)
    assert audit_respondents(found, rule=PPercent(20), ties="sensitive").safe
    with pytest.raises(SpecError, match="ties"):
        assess_file(job(tmp_path, rule='rule = "p-percent"\np = 20\nties = "sometimes"'))


def test_respondents_are_named_in_a_list(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path, 'attackers = ["external", "respondents"]'))
    assert risk.respondents == (PPercent(20),)
    assert [attacker.name for attacker in risk.attackers] == ["external"]
    found = protect(risk)
    assert audit_respondents(found).safe
    assert found.closing is not None
    assert found.closing.pairs == 2
    said = summary_of(found)["respondents"]
    assert (said["open_pairs_of_cells_alone"], said["cost_of_cells_alone"]) == (2, found.closing.cost)
    words = "the pattern for cells alone leaves 2 pairs open, closing them costs"
    console = Console(width=200, file=StringIO())
    console.print(protection_panel(found))
    assert words in console.file.getvalue()  # type: ignore[attr-defined]
    assert words in "".join(render(PageContent(found)))


def test_respondents_alone_come_on_top_of_an_outsider(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path, 'attackers = ["respondents"]'))
    assert [attacker.name for attacker in risk.attackers] == ["external"]
    assert risk.respondents


def test_they_attack_by_default_where_a_rule_says_what_they_know(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path))
    assert risk.respondents == (PPercent(20),)
    assert [attacker.name for attacker in risk.attackers] == ["external"]
    zeros = assess_file(job(tmp_path, method='[method]\nname = "suppress"\nzeros_known = true'))
    assert zeros.respondents == (PPercent(20),)


def test_an_outsider_alone_asks_for_no_contributions_and_the_note_says_so(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path, 'attackers = ["external"]'))
    assert (risk.respondents, risk.table.contributions) == ((), None)
    said = "Respondents were not asked: the attackers were named one by one."
    found = protect(risk)
    assert said in found.notes
    assert summary_of(found)["respondents"] == {"asked": False, "reason": said}
    console = Console(width=200, file=StringIO())
    console.print(protection_panel(found))
    assert f"Note: {said}" in console.file.getvalue()  # type: ignore[attr-defined]
    assert said in "".join(render(PageContent(found)))


def test_all_rules_are_theirs(tmp_path: Path) -> None:
    rules = 'rule = "p-percent"\np = 5\n[[rules]]\nrule = "prior-posterior"\np = 10\nq = 50\n'
    rules += '[[rules]]\nrule = "min-frequency"\nn = 3\n'
    risk = assess_file(job(tmp_path, rule=rules))
    assert risk.respondents == (PPercent(5), PriorPosterior(10, 50), MinFrequency(3))
    assert summary_of(protect(risk))["respondents"]["rules"] == [rule.words for rule in risk.respondents]


def test_ready_made_cells_have_no_contributors_and_no_respondents(tmp_path: Path) -> None:
    lines = ["row,value,n,top1,top2", "Total,300,15,80,40", "A,100,5,80,5", "B,100,5,40,20", "C,100,5,40,20"]
    (tmp_path / "cells.csv").write_text("\n".join(lines), encoding="utf-8")
    text = (
        "{attackers}\n[cells]\nfile = 'cells.csv'\nvalue = 'value'\ncount = 'n'\nlargest = ['top1', 'top2']\n"
        "[dimensions.row]\n[[tables]]\nby = ['row']\n[[rules]]\nrule = 'p-percent'\np = 20\n"
    )
    path = tmp_path / "job.toml"
    path.write_text(text.format(attackers=""), encoding="utf-8")
    assert assess_file(path).respondents == ()
    path.write_text(text.format(attackers='attackers = ["external", "respondents"]'), encoding="utf-8")
    with pytest.raises(SpecError, match="respondents need contributors, and ready-made cells have none"):
        assess_file(path)


@pytest.mark.parametrize(
    ("attackers", "rule", "message"),
    [
        (
            'attackers = ["respondents"]',
            'rule = "zero-cells"\nlevel = 1',
            r"attackers\[0\]: respondents need a rule that says what they know",
        ),
        ('attackers = ["respondent"]', 'rule = "p-percent"\np = 20', r"attackers\[0\]"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, attackers: str, rule: str, message: str) -> None:
    with pytest.raises(CelosiaError, match=message):
        assess_file(job(tmp_path, attackers, rule))


def test_a_method_that_moves_values_refuses_respondents_that_are_named_and_does_not_ask_others(tmp_path: Path) -> None:
    adjust = '[method]\nname = "adjust"'
    with pytest.raises(SpecError, match="respondents cannot be protected by 'adjust', which moves values"):
        assess_file(job(tmp_path, 'attackers = ["external", "respondents"]', method=adjust))
    path = job(tmp_path, method=adjust)
    found = protect_risk(assess_file(path), make_plan(read_source(path)))
    assert found.safe
    assert any("Respondents were not asked" in note for note in found.notes)


def test_the_plan_of_a_job_protects_them(tmp_path: Path) -> None:
    made = make_plan(read_source(job(tmp_path, 'attackers = ["external", "respondents"]')))
    assert made.source.path.name == "job.toml"
