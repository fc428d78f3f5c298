"""``celosia verify``: its answers and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import celosia as cz
from celosia import Pattern, audit, certify, publish, write_release
from celosia.cli.main import status

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
        release = publish(Pattern.hide(risk.table, hidden))
        write_release(release, tmp_path / f"{name}out.csv", risk.sensitive)
        certify(audit(release, risk)).write(tmp_path / f"{name}proof.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_proof_is_code_0_and_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["verify", "proof.json", "--problem", "problem.jj", "--release", "out.csv"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("PROVED: the release is safe.\n1 requirement met")
    assert "It is about this problem." in said
    assert "It is about this release." in said


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "first", "missing"),
    [
        ([], "NOT PROVED: checked in itself only.", ["--problem", "--release"]),
        (["--problem", "problem.jj"], "NOT PROVED: compared with the problem only", ["--release"]),
        (["--release", "out.csv"], "NOT PROVED: compared with the release only", ["--problem"]),
    ],
    ids=["neither", "problem", "release"],
)
def test_what_was_not_compared_is_not_proved(
    arguments: list[str], first: str, missing: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["verify", "proof.json", "-q", *arguments]) == 1
    said = capsys.readouterr().out
    assert said.startswith(first)
    assert [option for option in ("--problem", "--release") if f"Give {option}: " in said] == missing
    assert status(["verify", "proof.json", "--json", *arguments]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["proved"], told["consistent"]) == (False, True)
    assert told["verdict"].startswith("NOT PROVED")


def test_a_forged_certificate_without_requirements_is_not_proved(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every cell is shown, nothing is required, and the hashes fit."""
    risk = cz.read_jj(folder / "problem.jj")
    free = replace(risk, status=np.full(len(risk), "s"))
    forged = publish(Pattern.hide(risk.table, []))
    certify(audit(forged, free)).write(folder / "forged.json")
    write_release(forged, folder / "forged.csv")
    assert status(["verify", "forged.json"]) == 1
    assert capsys.readouterr().out.startswith("NOT PROVED: checked in itself only.\n0 requirements of its own met")
    assert status(["verify", "forged.json", "--release", "forged.csv"]) == 1
    assert status(["verify", "forged.json", "--problem", "problem.jj", "--release", "forged.csv"]) == 1
    assert "the certificate leaves out 1 requirement, the first about cell 1" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_column_too_many_is_no_release_of_a_bare_problem(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("out.csv").read_text().splitlines()
    truth = ["truth", "30", "10", "12", "8"]
    Path("more.csv").write_text("".join(f"{line},{value}\n" for line, value in zip(lines, truth, strict=True)))
    assert status(["verify", "proof.json", "--problem", "problem.jj", "--release", "more.csv"]) == 1
    assert "column 'truth' is unknown" in capsys.readouterr().out


def test_an_excel_file_is_not_read_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cz.write(cz.read_release(folder / "out.csv"), folder / "out.xlsx")
    assert status(["verify", "proof.json", "--problem", "problem.jj", "--release", "out.xlsx"]) == 2
    assert "out.xlsx: is an Excel file" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["verify", "proof.json", "--problem", "problem.jj", "--release", "out.csv", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["proved"] is True
    assert said["requirements"] == said["requirements_proved"] == 1
    assert said["compared"] == ["problem", "release"]
    assert said["verdict"] == "PROVED: the release is safe"
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
    both = ["--problem", "problem.jj", "--release", "out.csv"]
    for name, code in (("proof.json", 0), ("bad-proof.json", 1), ("problem.jj", 2)):
        ended = subprocess.run([COMMAND, "verify", name, *both], cwd=folder, check=False, capture_output=True)
        assert ended.returncode == code
