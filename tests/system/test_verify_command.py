"""``celosia verify``: its answers and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import celosia as cz
from celosia.attack.audit import audit
from celosia.certify.certificate import certify
from celosia.cli.main import status
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import publish
from celosia.pattern.release_file import write_release

COMMAND = str(Path(sys.executable).with_name("celosia"))

PROBLEM = """0
4
0 30 20 s 0 100 0 0 0
1 10 10 u 0 100 2 2 0
2 12 12 s 0 100 0 0 0
3 8 8 s 0 100 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a problem, a release and its certificate."""
    (tmp_path / "problem.jj").write_text(PROBLEM)
    risk = cz.read_jj(tmp_path / "problem.jj")
    for name, hidden in (("", [1, 2]), ("bad-", [1])):
        release = publish(Pattern.suppressing(risk.table, hidden))
        write_release(release, tmp_path / f"{name}out.csv", risk.sensitive)
        certify(audit(release, risk)).write(tmp_path / f"{name}proof.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_proof_is_code_0_and_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["verify", "proof.json", "--problem", "problem.jj", "--release", "out.csv"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("PROVED: the release is safe. 1 requirement met")
    assert "It is about this problem." in said
    assert "It is about this release." in said


@pytest.mark.usefixtures("folder")
def test_what_was_not_compared_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["verify", "proof.json", "-q"]) == 0
    assert "Whether it is about your problem was not checked: give --problem." in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["verify", "proof.json", "--release", "out.csv", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["proved"] is True
    assert said["requirements"] == said["requirements_proved"] == 1
    assert said["compared"] == ["release"]
    assert said["problems"] == []


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bad-proof.json"], "says that the release is not safe: 0 of 1 requirements are met."),
        (["proof.json", "--release", "bad-out.csv"], "release, cell 2: the certificate speaks of another entry."),
    ],
)
def test_what_is_not_proved_is_code_1(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["verify", *arguments]) == 1
    said = capsys.readouterr().out
    assert said.startswith("NOT PROVED")
    assert words in said


def test_another_problem_is_code_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.jj").write_text(PROBLEM.replace("2 12 12 s 0 100 0 0 0", "2 12 12 u 0 100 2 2 0"))
    assert status(["verify", "proof.json", "--problem", "other.jj", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["proved"] is False
    assert "leaves out 1 requirement, the first about cell 2" in said["problems"][0]


def test_an_altered_file_is_code_1(folder: Path) -> None:
    text = (folder / "proof.json").read_text()
    (folder / "proof.json").write_text(text.replace('"celosia": "', '"celosia": "9'))
    assert status(["verify", "proof.json"]) == 1


@pytest.mark.parametrize("name", ["none.json", "problem.jj", "out.csv", "."])
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_read_is_code_2(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["verify", name]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.usefixtures("folder")
def test_a_problem_or_release_that_cannot_be_read_is_code_2() -> None:
    assert status(["verify", "proof.json", "--problem", "none.jj"]) == 2
    assert status(["verify", "proof.json", "--release", "problem.jj"]) == 2


def test_the_installed_command_ends_with_these_codes(folder: Path) -> None:
    for name, code in (("proof.json", 0), ("bad-proof.json", 1), ("problem.jj", 2)):
        ended = subprocess.run([COMMAND, "verify", name], cwd=folder, check=False, capture_output=True)
        assert ended.returncode == code
