"""``celosia audit`` as people use it: verdicts, intervals, exit codes and complaints."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia.cli.main import status

COMMAND = str(Path(sys.executable).with_name("celosia"))

PROBLEM = """0
9
0 190 1 s 0 inf 0 0 0
1 98 1 s 0 inf 0 0 0
2 92 1 s 0 inf 0 0 0
3 90 1 s 0 inf 0 0 0
4 48 1 u 0 inf 10 12.5 30
5 42 1 s 0 inf 0 0 0
6 100 1 s 0 inf 0 0 0
7 50 1 s 0 inf 0 0 0
8 50 1 s 0 inf 0 0 0
6
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 3 (-1) 4 (1) 5 (1)
0 3 : 6 (-1) 7 (1) 8 (1)
0 3 : 0 (-1) 3 (1) 6 (1)
0 3 : 1 (-1) 4 (1) 7 (1)
0 3 : 2 (-1) 5 (1) 8 (1)
"""
VALUES = [190, 98, 92, 90, 48, 42, 100, 50, 50]

RECORDS = """firm,industry,region,turnover
f1,C,N,90
f2,C,N,5
f3,C,S,40
f4,C,S,30
f5,C,S,30
f6,D,N,20
f7,D,N,25
f8,D,N,30
f9,D,S,7
"""
JOB = """
[data]
file = "firms.csv"
respondent = "firm"

[dimensions.industry]
[dimensions.region]

[[tables]]
by = ["industry", "region"]
value = "turnover"

[[rules]]
rule = "p-percent"
p = 10
"""


def release(hidden: set[int]) -> str:
    lines = ["cell,sensitive,status,published,lower,upper"]
    for cell, value in enumerate(VALUES):
        sensitive = int(cell == 4)
        said = "hidden,,," if cell in hidden else f"shown,{value},{value},{value}"
        lines.append(f"{cell},{sensitive},{said}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "problem.jj").write_text(PROBLEM)
    (tmp_path / "good.csv").write_text(release({4, 5, 7, 8}))
    (tmp_path / "bad.csv").write_text(release({4, 5}))
    (tmp_path / "firms.csv").write_text(RECORDS)
    (tmp_path / "job.toml").write_text(JOB)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELOSIA_TRACEBACK", "1")
    return tmp_path


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(folder: Path, capfd: pytest.CaptureFixture[str]) -> Run:  # noqa: ARG001
    """Return a function that runs a command line in this process: exit code, what was said, what was complained."""

    def said(*arguments: str) -> tuple[int, str, str]:
        return (status(list(arguments)), *capfd.readouterr())

    return said


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_safe_release_ends_with_0(run: Run) -> None:
    code, said, complained = run("audit", "problem.jj", "--release", "good.csv", "--quiet")
    assert (code, complained) == (0, "")
    assert said.startswith("Safe: all of 1 requirement met")


def test_a_disclosed_cell_ends_with_1_and_is_named(run: Run) -> None:
    code, said, _ = run("audit", "problem.jj", "--release", "bad.csv")
    assert code == 1
    assert said.startswith("Not safe")
    assert "cell 4: the value is known exactly" in said


def test_out_of_time_is_no_all_clear(folder: Path, run: Run) -> None:
    limit = ("--time-limit", "0.000000001")
    code, said, _ = run("audit", "problem.jj", "--release", "good.csv", "--quiet", *limit)
    assert code == 1
    assert said.startswith("Not shown safe: of 1 requirement (1 sensitive cell) 1 not shown to be met.")
    code, said, _ = run("audit", "problem.jj", "--release", "good.csv", "--json", "--intervals", "late.csv", *limit)
    assert code == 1
    assert (json.loads(said)["safe"], json.loads(said)["met"], json.loads(said)["not_shown"]) == (False, 0, 1)
    assert rows(folder / "late.csv") == []  # that cells do not move is not known
    assert run("audit", "problem.jj", "--release", "good.csv", "--quiet", "--time-limit", "60")[0] == 0
    code, _, complained = run("audit", "problem.jj", "--release", "good.csv", "--time-limit", "0")
    assert code == 2
    assert "time_limit: must be above zero, not 0.0." in complained


def test_what_is_disclosed_is_explained_without_numbers(folder: Path, run: Run) -> None:
    _, said, _ = run("audit", "problem.jj", "--release", "bad.csv")
    lines = said.splitlines()
    assert lines[lines.index("  cell 4: the value is known exactly") + 1].startswith("    by cell 1 = cell 4 + cell 7")
    (folder / "told.csv").write_text(release({4, 5, 7, 8}).replace("4,1,hidden,,,", "4,1,interval,,47,50"))
    assert (
        "by what is published or known about the cell itself" in run("audit", "problem.jj", "--release", "told.csv")[1]
    )


def test_cells_are_explained_on_request_with_numbers(run: Run) -> None:
    code, said, _ = run("audit", "problem.jj", "--release", "good.csv", "--explain", "4", "--explain", "cell 7")
    assert code == 0
    assert said.splitlines()[1:] == [
        "Note: Respondents were not asked: a JJ file names no contributors.",
        "Explained (confidential):",
        "cell 4 is at least 0 for file.",
        "cell 4 is at most 90:",
        "  cell 3 (90) - cell 5 (at least 0 for file) = 90",
        "by cell 3 = cell 4 + cell 5",
        "cell 7 is at least 8:",
        "  cell 1 (98) + cell 5 (at least 0 for file) - cell 3 (90) = 8",
        "by these relations, added up:",
        "  -1 times  cell 3 = cell 4 + cell 5",
        "  cell 1 = cell 4 + cell 7",
        "cell 7 is at most 98:",
        "  cell 1 (98) - cell 4 (at least 0 for file) = 98",
        "by cell 1 = cell 4 + cell 7",
    ]


def test_explanations_for_machines_are_fractions(run: Run) -> None:
    _, said, _ = run("audit", "problem.jj", "--release", "bad.csv", "--explain", "4", "--json")
    lower, upper = json.loads(said)["explanations"]
    assert (lower["end"], upper["end"], upper["side"], upper["exact"]) == ("48", "48", "upper", True)
    assert upper["relations"] == [{"relation": 4, "words": "cell 1 = cell 4 + cell 7", "multiplier": "1"}]
    assert [(used["cell"], used["multiplier"], used["bound"]) for used in upper["cells"]] == [
        (1, "1", "98"),
        (7, "-1", "50"),
    ]


def test_a_cell_that_is_not_there_cannot_be_explained(run: Run) -> None:
    code, said, complained = run("audit", "problem.jj", "--release", "good.csv", "--explain", "9", "--explain", "C")
    assert (code, said) == (2, "")
    assert "--explain: there is no cell '9'" in complained
    assert "--explain: there is no cell 'C'" in complained


def test_from_the_shell_the_code_is_the_process_s(folder: Path) -> None:
    """That of an attack; `verify` shows that the others are (test_verify_command.py)."""
    arguments = [COMMAND, "audit", "problem.jj", "--release", "bad.csv"]
    answer = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert answer.returncode == 1


@pytest.mark.parametrize(("name", "code"), [("good.csv", 0), ("bad.csv", 1), ("absent.csv", 2)])
def test_the_code_says_whether_it_is_safe(run: Run, name: str, code: int) -> None:
    assert run("audit", "problem.jj", "--release", name)[0] == code


def test_neither_words_nor_json_tell_a_hidden_value_or_an_end(folder: Path, run: Run) -> None:
    """48 is hidden, in [0, 90]; what is printed tells how much of what is required is there, in percent."""
    partly = release({4, 5, 7, 8}).replace("4,1,hidden,,,", "4,1,interval,,47,50")
    (folder / "partly.csv").write_text(partly)
    code, said, complained = run("audit", "problem.jj", "--release", "partly.csv")
    assert code == 1
    assert "cell 4: 10% of the lower level that is required, 16% of the upper level" in said
    assert "10% of the width" in said
    for text in (said, complained, run("audit", "problem.jj", "--release", "partly.csv", "--json")[1]):
        assert not {"48", "42", "47", "60.5"} & set(text.replace(",", " ").replace(".", " ").split())


def test_json_is_one_object(run: Run) -> None:
    code, said, complained = run("audit", "problem.jj", "--release", "bad.csv", "--json")
    found = json.loads(said)
    assert (code, complained) == (1, "")
    assert found.pop("seconds") >= 0
    assert found == {
        "safe": False,
        "criterion": "intervals",
        "cells": 9,
        "sensitive": 1,
        "not_published": 2,
        "attackers": ["file"],
        "integer": False,
        "whole_cells": 0,
        "requirements": 1,
        "met": 0,
        "missed": 1,
        "not_shown": 0,
        "cells_missed": [4],
        "cells_not_shown": [],
        "solver": "highs",
        "respondents": {"asked": False, "reason": "Respondents were not asked: a JJ file names no contributors."},
        "notes": ["Respondents were not asked: a JJ file names no contributors."],
        "files": [],
    }


def test_intervals_are_written_with_code_0(folder: Path, run: Run) -> None:
    code, _, complained = run("audit", "problem.jj", "--release", "good.csv", "--intervals", "intervals.csv")
    assert code == 0
    assert "intervals.csv (confidential)" in complained
    expected = """cell,attacker,lower,upper,required_lower,required_upper,required_width,protected
4,file,0,90,38,60.5,30,1
5,file,0,90,,,,
7,file,8,98,,,,
8,file,2,92,,,,
"""
    assert (folder / "intervals.csv").read_text() == expected


def test_intervals_are_written_with_code_1(folder: Path, run: Run) -> None:
    assert run("audit", "problem.jj", "--release", "bad.csv", "--intervals", "intervals.csv")[0] == 1
    assert [(row["cell"], row["lower"], row["upper"], row["protected"]) for row in rows(folder / "intervals.csv")] == [
        ("4", "48", "48", "0"),
        ("5", "42", "42", ""),
    ]


@pytest.mark.parametrize("more", [[], ["--intervals", "i.csv"]])
@pytest.mark.usefixtures("folder")
def test_a_certificate_is_written_that_verifies(run: Run, more: list[str]) -> None:
    code, _, complained = run("audit", "problem.jj", "--release", "good.csv", "--certificate", "proof.json", *more)
    assert code == 0
    assert "proof.json (confidential)" in complained
    assert run("verify", "proof.json", "--problem", "problem.jj", "--release", "good.csv")[0] == 0


def test_a_release_that_is_not_safe_gets_no_certificate(folder: Path, run: Run) -> None:
    options = ("--certificate", "proof.json", "--intervals", "i.csv")
    code, _, complained = run("audit", "problem.jj", "--release", "bad.csv", *options)
    assert code == 1
    assert "Not written: proof.json. There is no proof that the release is safe." in complained
    assert not (folder / "proof.json").exists()
    assert (folder / "i.csv").exists()


def test_an_end_that_does_not_exist_is_empty(folder: Path, run: Run) -> None:
    (folder / "all.csv").write_text(release(set(range(9))))
    assert run("audit", "problem.jj", "--release", "all.csv", "--intervals", "i.csv", "--quiet")[0] == 0
    assert {(row["lower"], row["upper"]) for row in rows(folder / "i.csv")} == {("0", "")}


def test_a_sensitive_cell_that_is_shown_is_not_safe(folder: Path, run: Run) -> None:
    (folder / "shown.csv").write_text(release(set()))
    code, said, _ = run("audit", "problem.jj", "--release", "shown.csv", "--intervals", "i.csv")
    assert (code, rows(folder / "i.csv")) == (1, [])
    assert "known exactly" in said


def test_a_job_calls_cells_by_their_labels(folder: Path, run: Run) -> None:
    lines = ["cell,industry,region,status,published,lower,upper"]
    cells = [
        ("Total", "Total", 277), ("Total", "N", 170), ("Total", "S", 107), ("C", "Total", 195), ("C", "N", 95),
        ("C", "S", 100), ("D", "Total", 82), ("D", "N", 75), ("D", "S", 7),
    ]  # fmt: skip
    for number, (industry, region, value) in enumerate(cells):
        lone = industry == "C" and region == "N"
        said = "hidden,,," if lone else f"shown,{value},{value},{value}"
        lines.append(f"{number},{industry},{region},{said}")
    (folder / "job.csv").write_text("\n".join(lines) + "\n")
    code, said, _ = run("audit", "job.toml", "--release", "job.csv")
    assert code == 1
    assert "C x N (attacker external): the value is known exactly" in said
    assert "D x S" in said


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("2,0,shown,92,92,92\n", ""), "cells are missing: 2"),
        (("2,0,shown,92,92,92", "2,0,shown,93,93,93"), "the number shown is not the table's"),
        (("4,1,hidden,,,", "4,1,interval,,49,60"), "excludes the true value"),
        (("4,1,hidden,,,", "4,1,secret,,,"), "secret"),
        (("2,0,shown,92,92,92", "2,0,shown,92,91,93"), "differ"),
    ],
    ids=["a cell is missing", "another value", "interval without the truth", "unknown status", "shown with bounds"],
)
def test_a_release_that_does_not_belong_ends_with_2(
    folder: Path, run: Run, change: tuple[str, str], complaint: str
) -> None:
    text = release({4, 5, 7, 8})
    assert change[0] in text
    (folder / "other.csv").write_text(text.replace(*change))
    code, said, complained = run("audit", "problem.jj", "--release", "other.csv", "--intervals", "i.csv")
    assert (code, said) == (2, "")
    assert complaint in complained
    assert all(line.startswith("error: ") for line in complained.splitlines())
    assert not (folder / "i.csv").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["problem.jj"],
        ["problem.jj", "--release", "absent.csv"],
        ["absent.jj", "--release", "good.csv"],
        ["problem.txt", "--release", "good.csv"],
        ["problem.jj", "--release", "good.csv", "--intervals", "intervals.parquet"],
        ["problem.jj", "--release", "good.csv", "--intervals", "good.csv"],
        ["problem.jj", "--release", "good.csv", "--intervals", "nowhere/intervals.csv"],
        ["problem.jj", "--release", "good.csv", "--certificate", "proof.csv"],
        ["problem.jj", "--release", "problem.jj"],
    ],
    ids=" ".join,
)
def test_bad_input_ends_with_2_and_writes_nothing(folder: Path, run: Run, arguments: list[str]) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    code, said, complained = run("audit", *arguments)
    assert (code, said) == (2, "")
    assert complained.startswith("error: ")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_level_beyond_the_attackers_own_bounds_is_missed(folder: Path, run: Run) -> None:
    (folder / "problem.jj").write_text(PROBLEM.replace("u 0 inf 10 12.5 30", "u 40 60 10 12.5 30"))
    (folder / "all.csv").write_text(release(set(range(9))))
    code, said, _ = run("audit", "problem.jj", "--release", "all.csv")
    assert code == 1
    assert said.startswith("Not safe")


def test_adjusted_values_are_not_called_safe_by_an_audit_of_intervals(folder: Path, run: Run) -> None:
    """What protects them is distance: even the true value could stand there."""
    hidden = release({4, 5, 7, 8})
    (folder / "adjusted.csv").write_text(hidden.replace("4,1,hidden,,,", "4,1,adjusted,48,,"))
    code, said, _ = run("audit", "problem.jj", "--release", "adjusted.csv")
    assert code == 1
    assert said.startswith("Not shown safe")
    assert "protected by their distance" in said
    assert json.loads(run("audit", "problem.jj", "--release", "adjusted.csv", "--json")[1])["criterion"] == "distance"


def test_guesses_are_written_and_counted_and_no_value_is_said(folder: Path, run: Run) -> None:
    """Levels of a bare problem are no parts of a contribution, so that widths tell nothing."""
    code, said, complained = run("audit", "problem.jj", "--release", "good.csv", "--guesses", "guesses.csv")
    assert code == 0
    assert "guesses.csv (confidential)" in complained
    assert "Guesses: " in said
    found = rows(folder / "guesses.csv")
    assert ",".join(found[0]) == "cell,kind,guess,truth_hit,left_lower,left_upper,promised_width,kept"
    assert {row["kind"] for row in found} <= {"middle", "lower end", "upper end", "together"}
    code, told, _ = run("audit", "problem.jj", "--release", "good.csv", "--guesses", "again.csv", "--json")
    assert set(json.loads(told)["guessed"]["middle"]) == {"guesses", "right", "not_kept"}
