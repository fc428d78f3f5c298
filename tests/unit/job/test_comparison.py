"""Several methods on one table: the same measures for all, and reasons instead of aborts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.oracles.firms_job import INPUTS, OUTPUT, write_inputs

from celosia import OutOfTimeError
from celosia.cli.main import status
from celosia.job.methods.sections import SECTIONS

MORE = """
[method]
at_most = 4

[methods.interval]
levels = "sliding"
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path, MORE + OUTPUT)
    return Path("job.toml")


def test_every_method_is_measured_or_says_why_it_cannot(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "suppress,interval,adjust,random-round"
    assert status(["compare", str(job), "--methods", names, "--report", "c.html", "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    found = {one["method"]: one for one in said["methods"]}
    assert list(found) == names.split(",")
    assert (found["suppress"]["hidden"], found["suppress"]["verdict"]) == (4, "safe")
    assert found["suppress"]["margin"] >= 1
    assert (found["interval"]["hidden"], found["interval"]["ranges"], found["interval"]["changed"]) == (0, 4, 0)
    assert found["interval"]["width_share"] < found["suppress"]["width_share"]
    assert found["adjust"]["verdict"] == "does not apply"  # [method] has an option that it lacks
    assert found["adjust"]["problems"][0]["place"] == "method.at_most"
    assert found["random-round"]["verdict"] == "does not apply"
    page = Path("c.html").read_text(encoding="utf-8")
    assert "stands in [method], and &#39;adjust&#39; has no such option" in page
    assert page.count("<svg") == 3
    assert {path.name for path in Path().iterdir()} == {*INPUTS, "c.html"}


def test_the_table_in_the_terminal_tells_the_criteria_apart(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_text(job.read_text().replace("at_most = 4", ""))
    assert status(["compare", str(job), "--methods", "adjust, interval", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "moved: sensitive cells are far from the truth; what attackers conclude" in out
    lines = [line.split() for line in out.splitlines() if line.startswith(("adjust ", "interval "))]
    assert [line[:2] for line in lines] == [["adjust", "moved"], ["interval", "safe"]]


def test_a_table_that_no_method_protects_ends_with_1(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["compare", str(job), "--methods", "adjust", "--quiet"]) == 1
    assert "does not apply" in capsys.readouterr().out


def test_bad_input_is_refused_before_any_work(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--methods", "supress,interval,interval", "--reach", "3"]
    assert status(["compare", str(job), *arguments, "--quiet"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: --methods: 'supress' is no method. Did you mean 'suppress'?",
        "error: --methods: names 'interval' twice.",
        "error: --reach: is an option of none of these methods. It belongs to mixed, perturb, random-round.",
    ]


def test_a_base_or_reach_that_nobody_gives_is_chosen(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_text(job.read_text().replace("at_most = 4", ""))
    names = "round,perturb,random-round"
    assert status(["compare", str(job), "--methods", names, "--json", "--quiet"]) == 0
    found = {one["method"]: one for one in json.loads(capsys.readouterr().out)["methods"]}
    assert {name: set(one["chosen"]) for name, one in found.items()} == {
        "round": {"base"},
        "perturb": {"reach"},
        "random-round": {"base"},
    }
    assert all(one["verdict"] == "safe" for one in found.values())
    assert status(["compare", str(job), "--methods", names, "--quiet"]) == 0
    assert "round: base 5 was chosen, in round figures" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("where", ["option", "section", "method"])
def test_a_base_that_somebody_gives_is_taken(job: Path, capsys: pytest.CaptureFixture[str], where: str) -> None:
    """Also where it is the method's default."""
    said = {"section": "[methods.round]\nbase = 5", "method": '[method]\nname = "round"\nbase = 5', "option": ""}[where]
    text = job.read_text().replace("[method]\nat_most = 4", said if where == "method" else "")
    job.write_text(text + (said if where == "section" else ""))
    options = ["--base", "5"] if where == "option" else []
    assert status(["compare", str(job), "--methods", "round", "--json", "--quiet", *options]) == 0
    (found,) = json.loads(capsys.readouterr().out)["methods"]
    assert (found["verdict"], found["chosen"]) == ("safe", {})


def test_methods_that_run_out_of_time_end_with_3(
    job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object) -> None:
        raise OutOfTimeError.one("time_limit", "is over, and no safe pattern is known.", "Give it more.")

    monkeypatch.setattr("celosia.job.comparison.protect_risk", late)
    assert status(["compare", str(job), "--methods", "suppress,adjust", "--json", "--quiet"]) == 3
    verdicts = [one["verdict"] for one in json.loads(capsys.readouterr().out)["methods"]]
    assert verdicts == ["out of time", "does not apply"]


ALL = """
[methods.round]
base = 20

[methods.perturb]
reach = 20
secret = 918273645

[methods.random-round]
base = 20
"""


def test_all_methods_of_the_package_on_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path, ALL)
    assert status(["compare", "job.toml", "--report", "c.html", "--json", "--quiet"]) == 0
    found = {one["method"]: one for one in json.loads(capsys.readouterr().out)["methods"]}
    assert list(found) == list(SECTIONS)
    assert len(found) == 8
    verdicts = {name: one["verdict"] for name, one in found.items()}
    assert verdicts == dict.fromkeys(SECTIONS, "safe") | {"adjust": "moved far enough"}
    for one in found.values():
        assert one["met"] == one["requirements"] == 1
        assert one["shown"] + one["hidden"] + one["ranges"] <= one["cells"] == 15
        assert one["error_share"] >= 0
    page = Path("c.html").read_text(encoding="utf-8")
    assert "918273645" not in page
    assert all(f">{name}<" in page for name in SECTIONS)
