"""The command line as people use it: its answers, its complaints, its files."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from celosia.cli.main import status

COMMAND = str(Path(sys.executable).with_name("celosia"))

RECORDS = """firm,group,industry,region,turnover
f1,g1,10,N,90
f2,g1,10,N,5
f3,,10,S,40
f4,,10,S,30
f5,,10,S,30
f6,,11,N,20
f7,,11,N,25
f8,,11,N,30
f9,,11,S,7
"""

JOB = """
[data]
file = "firms.csv"
respondent = "firm"
holding = "group"

[dimensions.industry]
hierarchy = { hrc = "nace.hrc" }

[dimensions.region]

[[tables]]
by = ["industry", "region"]
value = "turnover"

[[rules]]
rule = "p-percent"
p = 10

[[rules]]
rule = "min-frequency"
n = 2
"""

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
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.csv").write_text(RECORDS)
    (tmp_path / "nace.hrc").write_text("C\n@10\n@11\n")
    (tmp_path / "job.toml").write_text(JOB)
    (tmp_path / "problem.jj").write_text(PROBLEM)
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )


Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Say:
    """Return a function that runs a command in a folder and gives its code and what it said and complained.

    It runs in this process, for the sake of speed; an exception that would become a traceback fails the test.
    """
    monkeypatch.setenv("CELOSIA_TRACEBACK", "1")

    def answer(folder: Path, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        capfd.readouterr()
        code = status(list(arguments))
        return (code, *capfd.readouterr())

    return answer


@pytest.fixture
def refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Return a function that gives the complaints about a command line which must not do anything.

    It runs in this process, for the sake of speed; an exception that would become a traceback fails the test.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CELOSIA_TRACEBACK", "1")

    def complaints(*arguments: str) -> list[str]:
        before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
        assert status(list(arguments)) == 2
        said, complained = capfd.readouterr()
        assert said == ""
        lines = complained.splitlines()
        assert lines
        assert all(line.startswith("error: ") for line in lines)
        assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
        return lines

    return complaints


def test_help_names_the_commands(tmp_path: Path) -> None:
    for arguments in (["--help"], ["-h"], []):
        answer = run(tmp_path, *arguments)
        assert answer.returncode == 0
        assert "assess" in answer.stdout
        assert "demo" in answer.stdout


def test_the_version_is_said(tmp_path: Path) -> None:
    assert run(tmp_path, "--version").stdout.startswith("celosia")


def test_assess_prints_a_summary_without_colours_into_a_pipe(folder: Path) -> None:
    answer = run(folder, "assess", "job.toml", "--quiet")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "turnover by industry \N{MULTIPLICATION SIGN} region" in answer.stdout
    assert "sensitive" in answer.stdout
    assert "\x1b" not in answer.stdout


def test_assess_prints_one_json_object(folder: Path, say: Say) -> None:
    code, said, complained = say(folder, "assess", "job.toml", "--json", "--quiet")  # slow machines hear of steps
    assert (code, complained) == (0, "")
    found = json.loads(said)
    assert found["cells"] == 9
    assert found["sensitive"] == 2  # one holding in 10 x N, one firm in 11 x S
    assert (found["respondents"], found["holdings"]) == (9, 8)


def test_with_json_what_is_wrong_is_an_object_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "job.toml").write_text(JOB.replace("p = 10", "p = -1").replace("n = 2", "m = 2"))
    assert status(["assess", "job.toml", "--json"]) == 2
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert said["exit_code"] == 2
    assert next(problem["place"].rpartition(" ")[2] for problem in said["problems"]) == "rules[0].p"
    assert len(err.splitlines()) == len(said["problems"]) > 1
    assert all(set(problem) == {"place", "message", "remedy"} for problem in said["problems"])
    assert status(["assess", "--json"]) == 2
    (missing,) = json.loads(capsys.readouterr().out)["problems"]
    assert "Missing argument" in missing["message"]


def test_assess_reads_a_bare_problem(folder: Path, say: Say) -> None:
    found = json.loads(say(folder, "assess", "problem.jj", "--json")[1])
    assert (found["cells"], found["sensitive"], found["relations"]) == (4, 1, 1)


def test_assess_works_from_another_folder(folder: Path, tmp_path_factory: pytest.TempPathFactory, say: Say) -> None:
    answer = say(tmp_path_factory.mktemp("else"), "assess", str(folder / "job.toml"), "--json")
    assert json.loads(answer[1])["cells"] == 9


def test_assess_writes_what_it_found(folder: Path, say: Say) -> None:
    code, _, complained = say(folder, "assess", "job.toml", "--output", "risk.csv", "--report", "report.html")
    assert code == 0
    assert "risk.csv" in complained
    with (folder / "risk.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9
    total = rows[0]
    assert (total["industry"], total["region"], total["value"]) == ("Total", "Total", "277")
    sensitive = [(row["industry"], row["region"]) for row in rows if row["status"] == "sensitive"]
    assert ("11", "S") in sensitive
    assert "<html" in (folder / "report.html").read_text()
    assert say(folder, "assess", "job.toml", "--output", "risk.parquet")[0] == 0
    assert pyarrow.parquet.read_table(folder / "risk.parquet").num_rows == 9
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_quiet_says_nothing_but_the_result(folder: Path, say: Say) -> None:
    _, said, complained = say(folder, "assess", "job.toml", "--quiet", "--output", "risk.csv")
    assert complained == ""
    assert "sensitive" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["asess", "job.toml"], "There is no command 'asess'. Did you mean 'assess'?"),
        (["assess"], "Missing argument"),
        (["assess", "job.toml", "--outptu", "x.csv"], "No such option"),
        (["assess", "nix.toml"], "nix.toml: does not exist."),
        (["assess", "nix.jj"], "nix.jj"),
        (["assess", "firms.csv"], "firms.csv: has the ending '.csv', which is not read here."),
        (["assess", "job.toml", "--output", "risk.xlsx"], "risk.xlsx: has the ending '.xlsx'"),
        (["assess", "job.toml", "--output", "nowhere/risk.csv"], "there is no folder 'nowhere'"),
        (["assess", "job.toml", "--output", "firms.csv"], "is an input of this job and would be overwritten."),
        (["assess", "job.toml", "--report", "."], "is a folder"),
        (["assess", "job.toml", "--evidence"], "--evidence belongs to --output."),
        (["demo", "--output", "firms.csv"], "firms.csv"),
        (["demo", "--output", "."], "is there already, and no demo wrote it."),
        (["demo", "--rows", "0"], "--rows"),
        (["demo", "--seed", "x"], "--seed"),
    ],
)
def test_a_wrong_command_line_is_refused(refused: Callable[..., list[str]], arguments: list[str], said: str) -> None:
    assert any(said in line for line in refused(*arguments))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("p = 10", "p = -10"), "job.toml, rules[0].p: "),
        (("p = 10", "q = 10"), "job.toml, rules[0].q: is no option here."),
        (("[data]", "[data"), "job.toml, line 2, column 6: is no TOML"),
        (('"turnover"', '"turnovr"'), "'turnovr'"),
        (('holding = "group"', 'holding = "goup"'), "'goup'"),
        (('"nace.hrc"', '"nix.hrc"'), "job.toml, dimensions.industry.hierarchy.hrc: there is no file"),
        (("n = 2", 'n = 2\n[assess]\ncost = "valeu"'), "valeu"),
        (("n = 2", 'n = 2\n[assess]\nexempt = { industry = ["99"] }'), "'99'"),
    ],
)
def test_a_wrong_job_is_refused(
    folder: Path, refused: Callable[..., list[str]], change: tuple[str, str], said: str
) -> None:
    assert change[0] in JOB
    (folder / "job.toml").write_text(JOB.replace(*change, 1))
    lines = refused("assess", "job.toml", "--output", "risk.csv", "--report", "report.html")
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("firms.csv", "", "firms.csv: is empty"),
        ("firms.csv", RECORDS.replace(",90", ",much"), "turnover"),
        ("firms.csv", RECORDS.replace("f1,g1,10", "f1,g1,12"), "12"),
        ("firms.csv", RECORDS.replace("f1,g1,10", "f1,g1,"), "industry"),
        ("nace.hrc", "C\n@@10\n", "nace.hrc, line 2"),
        ("nace.hrc", "", "nace.hrc"),
        ("problem.jj", PROBLEM.replace("1 10 10 u", "1 19 10 u"), "problem.jj"),
        ("problem.jj", PROBLEM.replace("10 u", "10 q"), "problem.jj, line 4"),
        ("problem.jj", "", "problem.jj"),
    ],
)
def test_wrong_files_are_refused(
    folder: Path, refused: Callable[..., list[str]], name: str, content: str, said: str
) -> None:
    (folder / name).write_text(content)
    source = "problem.jj" if name == "problem.jj" else "job.toml"
    lines = refused("assess", source, "--output", "risk.csv")
    assert any(said in line for line in lines), lines


def test_every_problem_has_a_line_of_its_own(folder: Path, refused: Callable[..., list[str]]) -> None:
    (folder / "job.toml").write_text(JOB.replace("p = 10", "p = -10").replace('"firms.csv"', '"nix.csv"'))
    lines = refused("assess", "job.toml", "--output", "nowhere/risk.csv")
    assert [line.split(": ")[1] for line in lines] == [
        "job.toml, data.file",
        "job.toml, rules[0].p",
        "nowhere/risk.csv",
    ]


def test_messages_hold_no_microdata(folder: Path, refused: Callable[..., list[str]]) -> None:
    (folder / "firms.csv").write_text(RECORDS.replace("f1,g1,10,N,90", "secret-firm,secret-group,10,N,9x0"))
    assert "secret" not in "".join(refused("assess", "job.toml"))


def test_an_output_that_fails_leaves_the_old_file_alone(folder: Path, refused: Callable[..., list[str]]) -> None:
    (folder / "risk.csv").write_text("old")
    (folder / "firms.csv").write_text("")
    refused("assess", "job.toml", "--output", "risk.csv")
    assert (folder / "risk.csv").read_text() == "old"


def test_bad_input_ends_the_process_with_two(folder: Path) -> None:
    (folder / "job.toml").write_text(JOB.replace("p = 10", "p = -10").replace("n = 2", "n = 0"))
    answer = run(folder, "assess", "job.toml")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert [line[:31] for line in answer.stderr.splitlines()] == [
        "error: job.toml, rules[0].p: mu",
        "error: job.toml, rules[1].n: mu",
    ]


def test_a_fault_of_ours_shows_no_traceback_and_no_data(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("secret-firm")

    monkeypatch.delenv("CELOSIA_TRACEBACK", raising=False)
    monkeypatch.setattr("celosia.cli.commands.assess.assess_source", broken)
    assert status(["assess", str(folder / "job.toml")]) == 70
    said, complained = capfd.readouterr()
    assert said == ""
    assert complained.startswith("error: celosia itself is at fault (ValueError).")
    assert "secret" not in complained


def test_a_reader_that_leaves_early_gets_no_traceback(folder: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, "assess", "job.toml", "--quiet"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 141


def test_an_interrupt_ends_with_one_line(tmp_path: Path) -> None:
    command = [COMMAND, "demo", "--rows", "3000000", "--output", str(tmp_path / "demo")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "demo").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")
    assert complained == "error: interrupted; no file was left half-written.\n"
    assert list((tmp_path / "demo").iterdir()) == []


def test_compile_says_that_there_is_nothing_left_to_do(folder: Path, say: Say) -> None:
    first = json.loads(run(folder, "compile", "--json").stdout)
    assert first["compiled"] >= 0
    say(folder, "compile")  # in this process other tests may have left kernels of their own
    assert say(folder, "compile")[1] == "Everything is compiled already.\n"
    assert json.loads(say(folder, "compile", "--json")[1])["compiled"] == 0


@pytest.mark.slow
def test_the_first_run_says_that_it_compiles_and_does_not_count_it(folder: Path, tmp_path: Path) -> None:
    cold = str(tmp_path / "caches")
    first = run(folder, "protect", "problem.jj", "--json", "--time-limit", "5", NUMBA_CACHE_DIR=cold)
    assert "compiling, once per installation" in first.stderr
    assert json.loads(first.stdout)["search_seconds"] < 2 < json.loads(first.stdout)["seconds"]
    second = run(folder, "protect", "problem.jj", "--json", "--time-limit", "5", NUMBA_CACHE_DIR=cold)
    assert "compiling" not in second.stderr


def demonstrated(folder: Path, *, rows: int, seconds: float) -> dict[str, Any]:
    """Return what the demo says; it takes at most so many seconds of a processor, however busy the machine is.

    Its process ends with everything written, and without a word about what it leaves.
    """
    before = os.times()
    ended = run(folder, "demo", "--rows", str(rows), "--json", "--quiet")
    assert (ended.returncode, ended.stderr) == (0, "")
    found: dict[str, Any] = json.loads(ended.stdout)
    assert all((folder / one).stat().st_size for one in found["files"])
    spent = sum(after - first for after, first in zip(os.times()[2:4], before[2:4], strict=True))
    assert found["safe"]
    assert found["proved"]
    assert len(found["facts"]) == 4
    assert spent < seconds
    return found


@pytest.mark.slow
def test_the_demo_of_thousands_of_firms_takes_less_than_a_minute(tmp_path: Path) -> None:
    assert demonstrated(tmp_path, rows=2000, seconds=60)["sensitive"] > 0


def test_the_demo_goes_the_whole_way_twice_in_a_row(tmp_path: Path, say: Say) -> None:
    code, said, complained = say(tmp_path, "demo", "--rows", "20")
    assert code == 0
    assert "turnover by industry \N{MULTIPLICATION SIGN} region" in said
    assert "Safe: all of " in said
    assert "The proof was verified beside the job and the public file." in complained
    assert all(
        fact in said
        for fact in (
            "Hiding is not protecting",
            "more cells make it safe",
            "Holdings matter",
            "Ranges tell more",
        )
    )
    folder = tmp_path / "celosia-demo"
    assert {path.name for path in folder.iterdir()} == {
        "firms.parquet",
        "industry.hrc",
        "job.toml",
        "office.xlsx",
        "proof.json",
        "public.csv",
        "region.hrc",
        "report.html",
        "risk.html",
    }
    found = demonstrated(tmp_path, rows=40, seconds=20)
    again = json.loads(say(folder, "assess", "job.toml", "--json")[1])
    assert again["sensitive"] == found["sensitive"] > 0
    audited = json.loads(say(folder, "audit", "job.toml", "--release", "public.csv", "--json")[1])
    assert audited["safe"]
    checked = say(folder, "verify", "proof.json", "--problem", "job.toml", "--release", "public.csv", "--json")
    assert json.loads(checked[1])["proved"]
