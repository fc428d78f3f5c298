"""Respondents as attackers in a job file."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from celosia.attack.respondents import audit_respondents
from celosia.cli.protect import summary_of
from celosia.errors import CelosiaError
from celosia.job.pipeline import assess_file
from celosia.job.protection import plan
from celosia.protect.methods import protect
from celosia.report.protection_page import rendered
from celosia.report.protection_terminal import protection_panel
from celosia.risk.rules import PPercent

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
"""


def job(folder: Path, attackers: str = "", rule: str = 'rule = "p-percent"\np = 20') -> Path:
    lines = [f"f{k},{row},{column},{value}" for k, (row, column, value) in enumerate(FIRMS)]
    (folder / "firms.csv").write_text("\n".join(["firm,row,column,turnover", *lines]), encoding="utf-8")
    (folder / "job.toml").write_text(JOB.format(attackers=attackers, rule=rule), encoding="utf-8")
    return folder / "job.toml"


def test_respondents_are_named_in_a_list(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path, 'attackers = ["external", "respondents"]'))
    assert risk.respondents == PPercent(20)
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
    assert words in "".join(rendered(found))


def test_respondents_alone_come_on_top_of_an_outsider(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path, 'attackers = ["respondents"]'))
    assert [attacker.name for attacker in risk.attackers] == ["external"]
    assert risk.respondents is not None


def test_without_them_nobody_asks_for_contributions(tmp_path: Path) -> None:
    risk = assess_file(job(tmp_path))
    assert risk.respondents is None
    assert risk.table.contributions is None


@pytest.mark.parametrize(
    ("attackers", "rule", "message"),
    [
        (
            'attackers = ["respondents"]',
            'rule = "dominance"\nn = 1\nk = 80',
            r"attackers\[0\]: respondents need a rule that says what they know",
        ),
        ('attackers = ["respondent"]', 'rule = "p-percent"\np = 20', r"attackers\[0\]"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, attackers: str, rule: str, message: str) -> None:
    with pytest.raises(CelosiaError, match=message):
        assess_file(job(tmp_path, attackers, rule))


def test_the_plan_of_a_job_protects_them(tmp_path: Path) -> None:
    made = plan(job(tmp_path, 'attackers = ["external", "respondents"]'))
    assert made.source.name == "job.toml"
