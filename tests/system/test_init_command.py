"""``celosia init``: a job file that runs, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from celosia.cli.main import status
from celosia.job.demo.data import firms


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pyarrow.parquet.write_table(firms(500, 1), tmp_path / "firms.parquet")
    return Path("firms.parquet")


def test_the_job_file_runs_as_it_stands(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["init", str(data), "--quiet"]) == 0
    assert capsys.readouterr().out == "Written: job.toml\n"
    assert status(["assess", "job.toml", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["table"] == "turnover by industry \N{MULTIPLICATION SIGN} region"


def test_a_job_file_that_is_there_is_left_alone(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("job.toml").write_text("mine")
    assert status(["init", str(data)]) == 2
    assert "job.toml: is there already." in capsys.readouterr().err
    assert Path("job.toml").read_text() == "mine"
    assert status(["init", str(data), "--force", "--quiet"]) == 0
    assert "celosia init" in Path("job.toml").read_text()


def test_the_schema_comes_alone_or_beside_the_job(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["init", "--schema", "schema.json", "--quiet"]) == 0
    assert json.loads(Path("schema.json").read_text())["title"] == "celosia job file"
    assert not Path("job.toml").exists()
    assert status(["init", str(data), "--schema", "schema.json", "--force", "--json"]) == 0
    said = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert said["files"] == ["job.toml", "schema.json"]
    assert said["dimensions"] == ["industry", "region", "size"]
    assert Path("job.toml").read_text().startswith("#:schema ./schema.json\n")


def test_without_anything_to_do_it_says_so(data: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert status(["init"]) == 2
    assert "Give a data file, or --schema." in capsys.readouterr().err


def test_what_cannot_be_read_leaves_nothing(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data.write_bytes(b"no parquet at all")
    assert status(["init", str(data)]) == 2
    assert "firms.parquet: cannot be read" in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == ["firms.parquet"]
