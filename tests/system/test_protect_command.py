"""``celosia protect`` as people use it: limits, Ctrl-C, killed processes, and the way back through audit."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from benchmarks.instances import instance
from tests.oracles.firms_job import INPUTS, OUTPUTS, PROBLEM, names, told

import celosia
from celosia import write_jj
from celosia.cli import bars
from celosia.cli.main import status

COMMAND = [sys.executable, "-c", "from celosia.cli.main import run; run()"]

pytestmark = pytest.mark.usefixtures("folder")


def rows_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(name).read_text(encoding="utf-8").splitlines()))


def test_a_job_goes_the_whole_way_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, "protect", "job.toml")
    assert said["safe"]
    assert said["optimal"]
    assert said["gap"] == 0
    assert names() == OUTPUTS
    assert told(capsys, "audit", "job.toml", "--release", "office.csv")["safe"]
    proof = told(capsys, "verify", "proof.json", "--problem", "job.toml", "--release", "office.csv")
    assert proof["proved"]
    assert proof["compared"] == ["problem", "release"]
    rows = rows_of("office.csv")
    hidden = [row for row in rows if row["status"] == "hidden"]
    assert len(hidden) == said["hidden"]
    assert sum(row["sensitive"] == "1" for row in hidden) == said["sensitive"]


def test_a_bare_problem_is_protected_without_the_cell_that_must_be_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = told(capsys, "protect", "problem.jj", "--output", "out.csv", "--certificate", "proof.json")
    assert said["objective"] == 18
    statuses = [row["status"] for row in rows_of("out.csv")]
    assert statuses == ["shown", "hidden", "shown", "hidden"]
    assert told(capsys, "verify", "proof.json", "--problem", "problem.jj", "--release", "out.csv")["proved"]


def test_both_solvers_find_the_same_cost(capsys: pytest.CaptureFixture[str]) -> None:
    costs = {told(capsys, "protect", "job.toml", "--solver", name)["objective"] for name in ("highs", "scip")}
    assert len(costs) == 1


def test_what_cannot_be_protected_ends_with_1_and_says_what_stands_in_the_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("problem.jj").write_text(PROBLEM.replace("2 12 12 s", "2 12 12 z").replace("3 8 8 s", "3 8 8 z"))
    assert status(["protect", "problem.jj", "--output", "out.csv"]) == 1
    error = capsys.readouterr().err
    assert "is impossible while these cells must be shown" in error
    assert "They give away 'cell 1'." in error
    assert not names()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--time-limit", "0"], "--time-limit: must be above zero"),
        (["--gap", "3"], "--gap: must be at most 1"),
        (["--at-most", "-1"], "--at-most: must be at least 0"),
        (["--cost", "valu"], "'valu' is not a measure. Did you mean 'value'?"),
        (["--cost", "0*value"], "zero for every cell"),
        (["--solver", "hihgs"], "'hihgs' is not installed. Did you mean 'highs'?"),
        (["--output", "nowhere/out.csv"], "there is no folder 'nowhere'"),
        (["--output", "/proc/out.csv"], "/proc/out.csv: cannot be written"),
        (["--output", "out.txt"], "Name a .csv or .parquet or .xlsx file."),
        (["--output", "firms.csv"], "is an input of this job"),
        (["--must-show", "cells.csv"], "there is no file 'cells.csv'"),
        (["--method", "supress"], "--method"),
        (["--seeed", "1"], "--seed"),
    ],
)
def test_bad_input_ends_with_2_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert status(["protect", "job.toml", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not names()


@pytest.mark.parametrize("broken", ["[data", "[rules]"])
def test_options_of_a_method_that_a_broken_job_may_name_are_not_blamed(
    capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    job = Path("job.toml").read_text(encoding="utf-8").replace("[data]", broken)
    Path("job.toml").write_text(job, encoding="utf-8")
    assert status(["protect", "job.toml", "--base", "5"]) == 2
    assert "--base" not in capsys.readouterr().err
    assert status(["protect", "job.toml", "--method", "perturb"]) == 2
    assert "--reach" not in capsys.readouterr().err


def test_files_that_cannot_be_written_are_named_beside_what_else_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    job = Path("job.toml").read_text(encoding="utf-8")
    Path("job.toml").write_text(job.replace("n = 2", "n = -2").replace("office.csv", "no/office.csv"), encoding="utf-8")
    assert status(["protect", "job.toml"]) == 2
    error = capsys.readouterr().err
    assert "rules[0].n: must be a whole number" in error
    assert "office.csv: cannot be written: there is no folder" in error


def test_a_sensitive_cell_that_must_be_shown_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cells.csv").write_text("industry,region\n11,S\n")
    assert status(["protect", "job.toml", "--must-show", "cells.csv"]) == 2
    assert "method.must_show: 11 x S is sensitive" in capsys.readouterr().err


@pytest.fixture
def hard(folder: Path) -> Path:
    """Return a problem that nobody solves in seconds: three dimensions, and every cell costs the same."""
    write_jj(instance("d3a", unity=True), folder / "hard.jj")
    return folder / "hard.jj"


def started(hard: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "protect", str(hard), "--output", "out.csv", "--json", *arguments]
    package = Path(celosia.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=hard.parent, env=environment
    )


def work_for(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process has had so many seconds of a processor, however busy the machine is, or has ended."""
    times = Path(f"/proc/{process.pid}/stat")
    if not times.exists():
        time.sleep(2 * seconds)
    while times.exists() and process.poll() is None:
        ticks = sum(int(part) for part in times.read_text().rpartition(")")[2].split()[11:13])
        if ticks >= seconds * os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.05)


@pytest.mark.slow
def test_ctrl_c_ends_the_search_and_not_the_command(hard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    process = started(hard)
    work_for(process, 8)  # to start Python, read the problem, and search for a while
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    said = json.loads(out)
    assert said["safe"]
    assert said["bound"] < said["objective"]
    assert told(capsys, "audit", str(hard), "--release", "out.csv")["safe"]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.5, 1.5, 3, 4, 5, 6])
def test_ctrl_c_during_hh2_with_unit_costs(folder: Path, capsys: pytest.CaptureFixture[str], seconds: float) -> None:
    """Before the search nothing is known and nothing written; from then on there is a safe file."""
    problem = folder / "hh2.jj"
    write_jj(instance("hh2", unity=True), problem)
    process = started(problem)
    work_for(process, seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    said = json.loads(out)
    if process.returncode == 3:
        assert seconds < 5, err
        assert not (folder / "out.csv").exists()
        return
    assert process.returncode == 0, err
    assert said["safe"]
    assert said["bound"] <= 329 <= said["objective"]
    assert told(capsys, "audit", str(problem), "--release", "out.csv")["safe"]


@pytest.mark.slow
def test_a_time_limit_gives_the_best_safe_pattern_so_far(hard: Path) -> None:
    out, err = started(hard, "--time-limit", "4").communicate(timeout=90)
    said = json.loads(out)
    assert said["safe"], err
    assert said["bound"] <= said["objective"]
    assert said["search_seconds"] < 10
    assert (hard.parent / "out.csv").exists()


@pytest.mark.slow
def test_a_killed_process_leaves_no_output(hard: Path) -> None:
    process = started(hard)
    work_for(process, 6)
    process.kill()
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    assert {path.name for path in hard.parent.iterdir()} == INPUTS | {"hard.jj"}


def test_a_search_says_how_far_it_has_come(
    hard: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bars, "_PATIENCE", 0.0)  # so that it does not matter how fast this machine is
    monkeypatch.setattr(bars, "_REMINDER", 0.0)
    assert status(["protect", str(hard), "--gap", "1"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("protecting (")]
    assert lines
    assert "bound " in lines[-1]
    assert " cuts)" in lines[-1]


SLOW_WRITER = """
import sys, time
from pathlib import Path
from celosia.cli.main import run
from celosia.report.pages import protection as protection_page

def slow(result, path, **_):
    Path(path).write_text("half a page with true values")
    print("writing", flush=True)
    time.sleep(60)

protection_page.write_protection_page = slow
run()
"""


def writing(folder: Path, writer: str) -> subprocess.Popen[str]:
    """Return a process that has begun to write."""
    command = [sys.executable, "-c", writer, "protect", "job.toml", "--quiet"]
    package = Path(celosia.__file__).parents[1]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    assert len(list(folder.iterdir())) > len(INPUTS)
    return process


def test_ctrl_c_while_files_are_written_comes_too_late_to_stop_them(folder: Path) -> None:
    process = writing(folder, SLOW_WRITER.replace("time.sleep(60)", "time.sleep(0.5)"))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert {path.name for path in folder.iterdir()} == INPUTS | OUTPUTS


def test_a_command_in_the_background_where_shells_have_ctrl_c_ignored_does_not_hear_it(folder: Path) -> None:
    ignoring = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    process = writing(folder, ignoring + SLOW_WRITER.replace("time.sleep(60)", "time.sleep(0.5)"))
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert {path.name for path in folder.iterdir()} == INPUTS | OUTPUTS


def test_ctrl_c_twice_while_files_are_written_leaves_none(folder: Path) -> None:
    listening = "while not _EAR.scopes[-1].heard: time.sleep(0.05)\n    print('heard', flush=True)\n    time.sleep(60)"
    writer = SLOW_WRITER.replace("time.sleep(60)", f"from celosia.presses import _EAR\n    {listening}")
    process = writing(folder, writer)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "heard\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert err.startswith("error: interrupted")
    assert {path.name for path in folder.iterdir()} == INPUTS


def test_what_a_killed_writer_leaves_is_no_output_and_gone_after_the_next_run(folder: Path) -> None:
    process = writing(folder, SLOW_WRITER)
    process.kill()
    process.communicate(timeout=60)
    assert {path.name for path in folder.iterdir() if not path.name.startswith(".")} == INPUTS
    assert status(["protect", "job.toml", "--quiet"]) == 0
    assert {path.name for path in folder.iterdir()} == INPUTS | OUTPUTS


def test_sigterm_leaves_nothing_half_written(folder: Path) -> None:
    process = writing(folder, SLOW_WRITER)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "terminated; no file was left half-written." in err
    assert {path.name for path in folder.iterdir()} == INPUTS


def test_a_table_goes_the_whole_way_as_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--method", "interval", "--levels", "sliding", "--secret", "123456789012345", "--public", "public.csv"]
    said = told(capsys, "protect", "job.toml", *arguments)
    assert (said["method"], said["criterion"], said["safe"]) == ("interval", "intervals", True)
    assert said["secret"] == 123456789012345
    assert said["intervals"] == said["hidden"]
    assert {row["status"] for row in rows_of("public.csv")} == {"shown", "interval"}
    assert "123456789012345" in Path("report.html").read_text(encoding="utf-8")
    for name in ("public.csv", "office.csv"):
        assert "123456789012345" not in Path(name).read_text(encoding="utf-8")
    job = Path("job.toml")
    job.write_text(job.read_text() + '[method]\nname = "interval"\nlevels = "sliding"\n')
    assert told(capsys, "audit", "job.toml", "--release", "public.csv")["safe"]
    assert told(capsys, "verify", "proof.json", "--problem", "job.toml", "--release", "public.csv")["proved"]


def test_a_search_is_kept_and_resumed(capsys: pytest.CaptureFixture[str], hard: Path) -> None:
    first: Any = told(capsys, "protect", str(hard), "--time-limit", "3", "--state", "night.state")
    again: Any = told(
        capsys,
        "protect",
        str(hard),
        "--time-limit",
        "1",
        "--resume",
        "night.state",
        "--state",
        "night.state",
        "--quiet",
    )
    assert again["safe"]
    assert again["objective"] <= first["objective"]
    assert again["bound"] >= first["bound"]
    assert any("rests on the state" in note for note in again["notes"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--resume", "none.state"], "none.state: cannot be read: no such file"),
        (["--resume", "firms.csv"], "firms.csv: is not the state of a search"),
        (["--resume", "other.state"], "other.state: is the state of a search in another table."),
        (["--state", "firms.csv"], "firms.csv: exists, and is not what is resumed"),
        (["--state", "no/s"], "there is no folder 'no'"),
        (["--state", "s", "--method", "random-round", "--base", "5"], "state: is kept by methods whose search"),
    ],
)
def test_what_cannot_be_resumed_or_kept_ends_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert status(["protect", "problem.jj", "--state", "other.state", "--quiet"]) == 0
    assert status(["protect", "job.toml", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not set(names()) - {"other.state"}


def test_ctrl_c_leaves_a_state(capsys: pytest.CaptureFixture[str], hard: Path) -> None:
    process = started(hard, "--state", "night.state")
    state = hard.parent / "night.state"
    for _ in range(600):
        if state.exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    found = json.loads(out)
    assert process.returncode == 0
    again: Any = told(capsys, "protect", str(hard), "--time-limit", "1", "--resume", str(state))
    assert again["objective"] <= found["objective"]
    assert again["bound"] >= found["bound"]


BRACKETS = """sector,region,firm,value
[/b],N,a,100
[/b],N,b,3
[/b],S,c,50
[/b],S,d,60
[/b],S,e,70
:smile:,N,f,30
:smile:,N,g,40
:smile:,N,h,50
:smile:,S,i,20
:smile:,S,j,25
:smile:,S,k,35
"""
JOB = """[data]
file = "brackets.csv"
respondent = "firm"
[dimensions."[/sector]"]
column = "sector"
[dimensions.region]
[[tables]]
by = ["[/sector]", "region"]
value = "value"
[[rules]]
rule = "p-percent"
p = 10
"""


@pytest.mark.parametrize("cell", ["[/b] x S", ":smile: x S"])
def test_names_are_printed_as_they_are(cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("brackets.csv").write_text(BRACKETS, encoding="utf-8")
    Path("brackets.toml").write_text(JOB, encoding="utf-8")
    assert status(["protect", "brackets.toml", "--why", cell]) == 0
    said = capsys.readouterr().out
    assert "[/sector]" in said
    assert f"* '{cell}' is hidden" in said


@pytest.mark.parametrize("option", ["--seed=1", "--zeros-known"])
def test_options_of_the_command_and_of_methods_are_read(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "protect", "problem.jj", option)["safe"]


def test_a_misspelt_option_of_a_method_has_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["protect", "problem.jj", "--method", "interval", "--least-widht", "3"]) == 2
    assert "--least-width" in capsys.readouterr().err
