"""Respondents as attackers on the command line: by default, by name, left out, and what is refused with exit code 2."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.job.test_respondents import job

from celosia import audit_respondents
from celosia.cli.main import status
from celosia.protection.respondents import oracle as watching

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command, and tells its exit code, what it prints, and what it complains about."""

    def said(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = status(list(words))
        return code, *capsys.readouterr()

    return said


def test_they_attack_by_default_and_the_report_says_what_that_took(tmp_path: Path, run: Run) -> None:
    path, proof, page = job(tmp_path), tmp_path / "proof.json", tmp_path / "report.html"
    files = ("--certificate", str(proof), "--report", str(page), "--output", str(tmp_path / "out.csv"))
    code, said, _ = run("protect", str(path), "--json", *files)
    assert code == 0
    found = json.loads(said)
    assert found["respondents"]["open_pairs_of_cells_alone"] == 2
    assert found["objective"] > found["respondents"]["cost_of_cells_alone"]
    assert any(name.startswith("respondent ") for name in found["attackers"])
    assert "leaves 2 pairs open, closing them costs" in page.read_text(encoding="utf-8")
    code, said, _ = run("verify", str(proof), "--problem", str(path), "--release", str(tmp_path / "out.csv"))
    assert code == 0
    assert said.startswith("PROVED: the release is safe.\n4 requirements met")
    assert "Tables show that no contributor of the problem comes too close to another (p% rule (p = 20))." in said


def test_what_was_made_against_outsiders_is_not_safe_for_them(tmp_path: Path, run: Run) -> None:
    (tmp_path / "alone").mkdir()
    alone, release = job(tmp_path / "alone", 'attackers = ["external"]'), tmp_path / "release.csv"
    code, said, _ = run("protect", str(alone), "--json", "--output", str(release))
    assert code == 0
    assert not json.loads(said)["respondents"]["asked"]
    assert run("audit", str(alone), "--release", str(release))[0] == 0
    code, said, _ = run("audit", str(job(tmp_path)), "--release", str(release))
    assert code == 1
    assert "respondent " in said


@pytest.mark.parametrize(
    ("attackers", "rule", "message"),
    [
        ('attackers = ["external", "respondents"]', 'rule = "zero-cells"\nlevel = 1', "respondents need a rule"),
        ("", 'rule = "prior-posterior"\np = 50\nq = 40', "must be below q"),
        ('attackers = ["respondents", "nobody"]', 'rule = "p-percent"\np = 20', "attackers[1]"),
    ],
    ids=["no rule", "p >= q", "no such attacker"],
)
def test_what_makes_no_sense_ends_with_2(tmp_path: Path, run: Run, attackers: str, rule: str, message: str) -> None:
    code, _, complaint = run("protect", str(job(tmp_path, attackers, rule)))
    assert code == 2
    assert message in complaint


def test_ctrl_c_during_their_attack_leaves_no_file_and_says_why(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*release: object, **options: object) -> object:
        signal.raise_signal(signal.SIGINT)
        return audit_respondents(*release, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(watching, "audit_respondents", pressed)
    code, said, complained = run("protect", str(job(tmp_path)), "--output", str(tmp_path / "release.csv"))
    assert (code, said) == (3, "")
    assert "error: respondents: were still attacking when the search was ended" in complained
    assert not (tmp_path / "release.csv").exists()
