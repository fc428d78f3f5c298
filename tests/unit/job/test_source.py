"""A job file is read once by a command, whatever the command does with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from unittest.mock import Mock

import pytest
from tests.oracles.firms_job import OUTPUT, write_inputs

from celosia.cli.main import status
from celosia.job import spec
from celosia.job.source import read_source

COMMANDS = {
    "assess": ["--report", "risk.html"],
    "protect": ["--method", "suppress"],
    "audit": ["--release", "office.csv"],
    "compare": ["--methods", "suppress,round,perturb", "--report", "compared.html"],
}


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path, OUTPUT)
    return Path("job.toml")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_the_job_file_once(job: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if command == "audit":
        assert status(["protect", str(job), "--quiet"]) == 0
    parse, check = Mock(wraps=tomllib.loads), Mock(wraps=spec.Job.model_validate)
    monkeypatch.setattr(tomllib, "loads", parse)
    monkeypatch.setattr(spec.Job, "model_validate", check)
    assert status([command, str(job), "--quiet", *COMMANDS[command]]) == 0
    assert (parse.call_count, check.call_count) == (1, 1)


def test_a_faulty_job_is_read_once_too_and_its_files_are_checked(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job.write_text(job.read_text().replace("n = 2", "n = -2").replace("report.html", "nowhere/report.html"))
    parse = Mock(wraps=tomllib.loads)
    monkeypatch.setattr(tomllib, "loads", parse)
    assert status(["protect", str(job), "--quiet"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("error: job.toml, rules[0].n: must be")
    assert second.startswith("error: nowhere/report.html: cannot be written")
    assert parse.call_count == 1


def test_a_bare_problem_has_no_job_and_all_defaults() -> None:
    source = read_source("problem.jj")
    assert (source.job, source.problems, source.inputs) == (None, (), (Path("problem.jj"),))
    assert (source.method.name, source.methods, source.limits.time_limit) == ("suppress", {}, None)
