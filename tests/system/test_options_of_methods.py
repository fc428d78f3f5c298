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


CONDITION = """
[method]
name = "combined"
width_if_not_shown = [{ industry = "*", region = "*", width = 30 }]
upper_if_not_shown = [{ region = "N", distance = 5 }]
[output]
release = "office.csv"
certificate = "proof.json"
"""


def test_cells_that_are_not_shown_keep_widths(tmp_path: Path) -> None:
    job = write_inputs(tmp_path, CONDITION)
    assert status(["protect", str(job), "--quiet"]) == 0
    release = read_release(Path("office.csv"))
    ranges = release.status == "interval"
    assert ranges.sum() >= 4
    lower, upper = release.lower.floats[ranges], release.upper.floats[ranges]
    assert sum(upper - lower >= 30 - 1e-9) >= 3  # all but the sensitive cell, which has levels of its own
    assert status(["audit", str(job), "--release", "office.csv", "--quiet"]) == 0
    assert status(["verify", "proof.json", "--problem", str(job), "--release", "office.csv", "--quiet"]) == 0


def test_conditions_that_an_attacker_makes_impossible_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    knows = '[[attackers]]\nname = "near"\nknows = [{ industry = "10", lower = 190, upper = 200 }]\n'
    job = write_inputs(tmp_path, CONDITION.replace('"*", region = "*"', '"10"') + knows)
    assert status(["protect", str(job), "--quiet"]) == 2
    assert "method.width_if_not_shown: is more than attackers' bounds leave open" in capsys.readouterr().err
    assert not names()


def test_windows_of_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    window = '{ industry = "13", region = "N", lower = 65, upper = 75 }'
    text = f'\n[method]\nname = "perturb"\nreach = 20\nwindows = [{window}]\n[output]\nrelease = "office.csv"\n'
    job = write_inputs(tmp_path, text)
    assert status(["protect", str(job), "--quiet"]) == 0
    Path("office.csv").unlink()
    for ends, said in (("lower = 70, upper = 75", "exclude the true values of"), ("lower = 3", "has one end only.")):
        job.write_text(job.read_text().replace("lower = 65, upper = 75", ends).replace("lower = 70, upper = 75", ends))
        assert status(["protect", str(job), "--quiet"]) == 2
        assert said in capsys.readouterr().err
        assert not names()
    Path("windows.csv").write_text("industry,region,lower,upper\n13,N,60,70\n")
    assert status(["protect", str(job), "--windows", "windows.csv", "--quiet"]) == 0


def test_a_sum_that_the_base_does_not_divide_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = write_inputs(tmp_path, '\n[method]\nname = "random-round"\nbase = 5\nkeep_sum = true\n')
    assert status(["protect", str(job), "--quiet"]) == 2
    assert "method.keep_sum: the base does not divide the sum of the sensitive cells." in capsys.readouterr().err
    assert not names()


def test_rounded_values_are_given(tmp_path: Path) -> None:
    """11 x S, of value 7, is the only sensitive cell."""
    given = '[{ industry = "11", region = "S", rounded = 0 }]'
    text = f'\n[method]\nname = "random-round"\nbase = 20\ncells = {given}\n[output]\nrelease = "office.csv"\n'
    job = write_inputs(tmp_path, text)
    assert status(["protect", str(job), "--quiet"]) == 0
    assert 0 in read_release(Path("office.csv")).published.floats.tolist()
    Path("given.csv").write_text("industry,region,rounded\n11,S,20\n")
    assert status(["protect", str(job), "--cells", "given.csv", "--quiet"]) == 0
    assert 20 in read_release(Path("office.csv")).published.floats.tolist()
