"""Options of methods in job files and on the command line: what they do, and how they are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.oracles.firms_job import names, write_inputs

from celosia.cli.main import status
from celosia.pattern.csv.file import read_release


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def not_shown() -> int:
    return int((read_release(Path("office.csv")).status != "shown").sum())


@pytest.mark.parametrize("method", ["interval", "mixed", "combined"])
def test_at_most_so_many_cells_are_not_shown(method: str, tmp_path: Path) -> None:
    job = write_inputs(tmp_path, f'\n[method]\nname = "{method}"\nat_most = 4\n[output]\nrelease = "office.csv"\n')
    assert status(["protect", str(job), "--quiet"]) == 0
    assert not_shown() <= 4
    Path("office.csv").unlink()
    assert status(["protect", str(job), "--at-most", "3", "--quiet"]) == 1
    assert not names()


def test_at_most_so_many_values_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = write_inputs(tmp_path, '\n[method]\nname = "round"\nbase = 10\n[output]\nrelease = "office.csv"\n')
    assert status(["protect", str(job), "--at-most", "15", "--quiet"]) == 0
    Path("office.csv").unlink()
    assert status(["protect", str(job), "--at-most", "1", "--quiet"]) == 1
    assert "at_most: is 1, but" in capsys.readouterr().err
    assert not names()


def test_at_most_and_splitting_are_refused_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = write_inputs(tmp_path, '\n[method]\nname = "interval"\nsearch = "splitting"\nat_most = 4\n')
    assert status(["protect", str(job), "--quiet"]) == 2
    assert "at_most: cannot be kept by the splitting method." in capsys.readouterr().err
    assert not names()
