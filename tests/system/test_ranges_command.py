"""``celosia protect --method interval|combined|mixed`` as people use it, there and back, and what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.oracles.firms_job import OUTPUTS, names, told

from celosia.cli.main import status

pytestmark = [pytest.mark.usefixtures("folder"), pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")]

METHODS = {
    "interval": [],
    "combined": ["--at-most", "6"],
    "mixed": ["--hide-cost", "unity"],
    "mixed with numbers": ["--round-base", "5", "--reach", "8", "--secret", "3"],
}


@pytest.mark.parametrize("method", METHODS)
def test_a_job_goes_the_whole_way_and_back_and_says_why_a_cell_is_not_shown(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = method.partition(" ")[0]
    command = ["protect", "job.toml", "--method", name, "--no-conceal", "--cost", "unity", *METHODS[method]]
    said = told(capsys, *command)
    assert said["method"] == name
    assert said["criterion"] == "intervals"
    assert said["safe"]
    assert isinstance(said["gap"], float)
    assert 0 <= said["gap"] < 1e-3
    assert names() == OUTPUTS
    if name != "mixed":
        classes = said["midpoints"]
        assert isinstance(classes, dict)
        assert len(classes) == 5
        assert classes["0"] == said["midpoint_share"]
    assert told(capsys, "audit", "job.toml", "--release", "office.csv")["safe"]
    assert told(capsys, "verify", "proof.json", "--problem", "job.toml", "--release", "office.csv")["proved"]
    check_why(capsys, command)


@pytest.mark.parametrize("method", ["interval", "mixed", "perturb"])
def test_levels_are_concealed_by_a_secret_that_the_job_keeps_and_nobody_else(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Path("job.toml")
    own = f'\n[method]\nname = "{method}"\nsecret_file = "job.secret"\n' + "reach = 50\n" * (method == "perturb")
    job.write_text(job.read_text(encoding="utf-8").replace("n = 2", "n = 2\npercent = 20") + own, encoding="utf-8")
    said = told(capsys, "protect", "job.toml")
    assert said["safe"]
    assert said["secret_place"] == "job.secret"  # noqa: S105  (its place)
    assert "A new secret was drawn" in str(said["notes"])
    assert "not concealed" not in str(said)
    assert names() == OUTPUTS | {"job.secret"}
    secret = Path("job.secret").read_text(encoding="utf-8").strip()
    assert secret not in str(said)
    assert not any(secret.encode() in Path(name).read_bytes() for name in OUTPUTS)
    first = Path("office.csv").read_bytes()
    again = told(capsys, "protect", "job.toml")
    assert "The secret is that of job.secret" in str(again["notes"])
    assert Path("office.csv").read_bytes() == first
    assert Path("job.secret").read_text(encoding="utf-8").strip() == secret
    assert told(capsys, "verify", "proof.json", "--problem", "job.toml", "--release", "office.csv")["proved"]
    found = told(capsys, "audit", "job.toml", "--release", "office.csv", "--guesses", "guesses.csv")
    assert found["safe"]
    assert not any(kind["not_kept"] for kind in found["guessed"].values())  # type: ignore[attr-defined]


def check_why(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    """See that a command which has written its files says why a cell is not shown, if it is asked, and which."""
    with Path("office.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cell, row = next((k, row) for k, row in enumerate(rows) if row["status"] != "shown" and row["sensitive"] == "0")
    asked = told(capsys, *command, "--why", str(cell))["why"]
    assert isinstance(asked, list)
    assert asked[0]["cell"] == cell
    assert asked[0]["status"] == row["status"]
    assert "Why cells are not shown" in Path("report.html").read_text(encoding="utf-8")
    assert status([*command, "--why", "nowhere", "--quiet"]) == 2
    assert "--why: there is no cell 'nowhere'." in capsys.readouterr().err


def test_numbers_are_published_with_their_reach(capsys: pytest.CaptureFixture[str]) -> None:
    only = ["--may-hide", "none.csv", "--may-range", "none.csv"]
    Path("none.csv").write_text("industry,region\n10,N\n", encoding="utf-8")
    said = told(capsys, "protect", "job.toml", "--method", "mixed", "--reach", "8", "--secret", "3", *only)
    assert int(str(said["perturbed"])) >= 1
    assert "perturbed" in Path("office.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "mixed", "--may-round", "some.csv"], "may_round: names cells, but round_base is missing."),
        (["--method", "mixed", "--round-base", "-5"], "--round-base: must be above zero."),
        (["--method", "mixed", "--round-base", "0.5"], "round_base: is no whole number of units"),
        (
            ["--method", "interval", "--most-width", "narrow.csv"],
            "most_width: is less than what must be reached: '11 x S'",
        ),
        (
            ["--method", "interval", "--least-width", "wide.csv"],
            "least_width: is more than attackers' bounds leave open",
        ),
        (["--method", "interval", "--base", "1000000"], "base: would round ends beyond what attackers know anyway"),
        (["--method", "combined", "--digits", "2", "--base", "5"], "Round ends in one way."),
        (["--method", "interval", "--base", "2.5", "--decimals", "0"], "base: is 2.5, and ends have 0 decimals."),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("some.csv").write_text("industry,region\n10,N\n", encoding="utf-8")
    Path("narrow.csv").write_text("industry,region,width\n11,S,0.5\n", encoding="utf-8")
    Path("wide.csv").write_text("industry,region,width\n10,N,100000\n", encoding="utf-8")
    job = Path("job.toml")
    outsider = 'attackers = ["external"]\n'
    job.write_text(job.read_text(encoding="utf-8").removeprefix(outsider) + BOUNDED, encoding="utf-8")
    before = names()
    assert status(["protect", "job.toml", "--quiet", *options]) == 2
    assert message in capsys.readouterr().err
    assert names() == before


@pytest.mark.parametrize("method", ["interval", "combined", "mixed"])
def test_a_least_width_above_what_the_table_can_give_is_named(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wide.csv").write_text("industry,region,width\n10,N,3\n", encoding="utf-8")
    Path("shown.csv").write_text("industry,region\n10,S\n10,Total\n", encoding="utf-8")
    before = names()
    options = ["--least-width", "wide.csv", "--must-show", "shown.csv"]
    assert status(["protect", "job.toml", "--quiet", "--method", method, *options]) == 2
    said = capsys.readouterr().err
    assert "least_width: is impossible" in said
    assert "'10 x N'" in said
    assert names() == before


def test_sliding_levels_by_option_belong_in_the_job(capsys: pytest.CaptureFixture[str]) -> None:
    """Audits and proofs are judged by the job: who asks for sliding levels on the way is told so."""
    job = Path("job.toml")
    assert status(["protect", "job.toml", "--method", "interval", "--levels", "sliding"]) == 0
    assert "audit and verify judge by the job" in " ".join(capsys.readouterr().err.split())
    verify = ["verify", "proof.json", "--problem", "job.toml", "--release", "office.csv"]
    assert status(verify) == 1
    assert "Were levels made sliding by an option?" in " ".join(capsys.readouterr().out.split())
    job.write_text(job.read_text(encoding="utf-8") + '[method]\nname = "interval"\nlevels = "sliding"\n')
    assert status(verify) == 0
    assert told(capsys, "audit", "job.toml", "--release", "office.csv")["safe"]


BOUNDED = """
[[attackers]]
attacker = "factor"
factor = 11
"""
