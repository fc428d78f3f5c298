"""The secret of a job: drawn once, kept where only its owner reads it, never written over, and told nowhere."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.oracles.firms_job import names, write_inputs

from celosia import SpecError
from celosia.job.pipeline import assess_source
from celosia.job.plan import make_plan
from celosia.job.protection import prepare_outputs, protect_risk, write_outputs
from celosia.job.secret import VARIABLE
from celosia.job.source import read_source
from celosia.protection.result import Protection

KEPT = '\n[method]\nname = "interval"\nsecret_file = "own.secret"\n'
RELEASE = '\n[output]\npublic = "public.csv"\n'


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a job whose only sensitive cell has levels of a fifth, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    path = write_inputs(tmp_path, KEPT + RELEASE)
    path.write_text(path.read_text(encoding="utf-8").replace("n = 2", "n = 2\npercent = 20"), encoding="utf-8")
    return path


def run(path: Path, *, write: bool = True, **options: Any) -> Protection:  # noqa: ANN401
    """Return what a job comes to; its files are written."""
    source = read_source(path)
    plan = make_plan(source, {"method": options} if options else None, write=write)
    result = protect_risk(assess_source(source), plan)
    write_outputs(prepare_outputs(result, plan))
    return result


def own_secret(result: Protection) -> int:
    found = getattr(result.method, "secret", None)
    assert isinstance(found, int)
    return found


def test_it_is_drawn_once_and_kept_for_its_owner(job: Path) -> None:
    first = run(job)
    file = Path("own.secret")
    assert int(file.read_text(encoding="ascii")) == own_secret(first) >= 2**127
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert first.secret_place == "own.secret"  # noqa: S105  (its place)
    assert any("A new secret was drawn, and is kept in own.secret" in note for note in first.notes)
    written = file.read_bytes()
    assert own_secret(run(job)) == own_secret(first)
    assert file.read_bytes() == written
    assert not any("drawn" in note for note in run(job).notes)


def test_a_new_one_beside_a_release_says_what_two_draws_leave(job: Path) -> None:
    assert not any("Two draws" in note for note in run(job).notes)
    Path("own.secret").unlink()
    assert any("public.csv was there before it. Two draws leave" in note for note in run(job).notes)


def test_nothing_is_kept_where_nothing_is_written(job: Path) -> None:
    result = run(job, write=False)
    assert names() == set()
    assert result.secret_place == ""
    assert any("drawn afresh" in note for note in result.notes)


def test_nothing_is_kept_where_there_is_no_safe_release(job: Path) -> None:
    Path("narrow.csv").write_text("industry,region,width\n11,S,0.5\n", encoding="utf-8")
    with pytest.raises(SpecError, match="most_width"):
        run(job, most_width="narrow.csv")
    assert names() == {"narrow.csv"}


def test_the_environment_is_another_place(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job.write_text(job.read_text(encoding="utf-8").replace('secret_file = "own.secret"', ""), encoding="utf-8")
    monkeypatch.setenv(VARIABLE, "1234567890123456789")
    result = run(job)
    assert own_secret(result) == 1234567890123456789
    assert result.secret_place == f"${VARIABLE}"
    assert names() == {"public.csv"}
    monkeypatch.setenv(VARIABLE, "letmein")
    with pytest.raises(SpecError, match="holds no secret") as said:
        run(job)
    assert "letmein" not in str(said.value)


def test_a_secret_of_the_job_itself_comes_first(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = job.read_text(encoding="utf-8").replace('secret_file = "own.secret"', "secret = 77")
    job.write_text(text, encoding="utf-8")
    monkeypatch.setenv(VARIABLE, "1234567890123456789")
    assert own_secret(run(job)) == 77


@pytest.mark.parametrize("content", ["", "12", "-1234567890123456789", "no number at all, not one", "9" * 2000])
def test_a_file_without_a_secret_is_refused_and_left_alone(job: Path, content: str) -> None:
    Path("own.secret").write_text(content, encoding="utf-8")
    with pytest.raises(SpecError, match=r"own\.secret: holds no secret") as said:
        run(job)
    assert not content or content not in str(said.value)
    assert Path("own.secret").read_text(encoding="utf-8") == content
    assert names() == {"own.secret"}


def test_a_file_that_others_may_read_is_said(job: Path) -> None:
    run(job)
    Path("own.secret").chmod(0o644)
    said = any("Others of this machine may read own.secret" in note for note in run(job).notes)
    assert said == (os.name == "posix")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('secret_file = "own.csv"', "method.secret_file: has the ending '.csv'"),
        ('secret_file = "own.secret"\nsecret = 5', "method.secret_file: and secret are both given"),
        ('secret_file = "nowhere/own.secret"', "there is no folder"),
    ],
)
def test_bad_input_is_named_before_any_work(job: Path, options: str, message: str) -> None:
    text = job.read_text(encoding="utf-8").replace('secret_file = "own.secret"', options)
    job.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as said:
        run(job)
    assert message in str(said.value)
    assert names() == set()
