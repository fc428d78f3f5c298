"""The methods that change values, the whole way: job file, options, files, exit codes, and what stays secret."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.oracles.firms_job import RECORDS, names, write_inputs

from celosia.cli.main import status

pytestmark = pytest.mark.usefixtures("folder")

DRAWN = "918273645"
"""The seed of everything that is drawn here, digits that occur nowhere else."""

METHODS = {
    "round": ["--base", "10"],
    "perturb": ["--reach", "20", "--secret", DRAWN],
    "adjust": [],
    "random-round": ["--base", "20", "--seed", DRAWN],
}
FILES = ["--output", "office.csv", "--public", "public.csv", "--report", "report.html"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path, "")
    return tmp_path


def rows_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(name).read_text(encoding="utf-8").splitlines()))


def published(name: str) -> dict[tuple[str, str], float]:
    return {(row["industry"], row["region"]): float(row["published"]) for row in rows_of(name)}


def true_values() -> dict[tuple[str, str], float]:
    values: dict[tuple[str, str], float] = {}
    for line in RECORDS.splitlines()[1:]:
        _, industry, region, turnover = line.split(",")
        for place in ((industry, region), (industry, "Total"), ("Total", region), ("Total", "Total")):
            values[place] = values.get(place, 0) + float(turnover)
    return values


def adds_up(values: dict[tuple[str, str], float]) -> bool:
    industries, regions = ({place[axis] for place in values} for axis in (0, 1))
    rows = [[values.get((i, r), 0) for r in regions - {"Total"}] + [-values[i, "Total"]] for i in industries]
    columns = [[values.get((i, r), 0) for i in industries - {"Total"}] + [-values["Total", r]] for r in regions]
    return not any(map(sum, rows + columns))


@pytest.mark.parametrize("method", METHODS)
def test_a_method_of_the_command_line_writes_a_table_that_adds_up(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["protect", "job.toml", "--method", method, *METHODS[method], *FILES, "--quiet", "--json"]
    proof = ["--certificate", "proof.json"] if method != "adjust" else []
    assert status([*arguments, *proof]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["safe"]
    assert said["criterion"] == ("distance" if method == "adjust" else "intervals")
    assert names() == {"office.csv", "public.csv", "report.html", *proof[1:]}
    assert adds_up(published("public.csv"))
    assert published("public.csv") == published("office.csv")
    for name in names() - {"report.html"}:
        assert DRAWN not in Path(name).read_text(encoding="utf-8"), name
    page = Path("report.html").read_text(encoding="utf-8")
    for words in ("How much numbers change", "What became of the sensitive cells", "change of the number:"):
        assert words in page
    assert ("whoever knows it undoes the protection" in page) == (DRAWN in page) == (DRAWN in METHODS[method])
    if proof:
        assert status(["audit", "job.toml", "--release", "office.csv", "--quiet"]) == 0
        assert status(["verify", "proof.json", "--problem", "job.toml", "--release", "public.csv", "--quiet"]) == 0


@pytest.mark.parametrize("method", METHODS)
def test_a_job_file_says_the_same(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = [name.removeprefix("--") for name in METHODS[method][::2]]
    options = dict(zip(names, METHODS[method][1::2], strict=True))
    seed = options.pop("seed", None)
    lines = [f'[method]\nname = "{method}"', *(f"{name} = {value}" for name, value in options.items())]
    lines += [f"[limits]\nseed = {seed}"] if seed else []
    with Path("job.toml").open("a") as job:
        job.write("\n".join(["", *lines, '[output]\nrelease = "office.csv"\n']))
    assert status(["protect", "job.toml", "--quiet"]) == 0
    by_job = Path("office.csv").read_text()
    arguments = ["--method", method, *METHODS[method], "--output", "office.csv", "--quiet"]
    write_inputs(Path(), "")
    assert status(["protect", "job.toml", *arguments]) == 0
    assert Path("office.csv").read_text() == by_job
    capsys.readouterr()


def test_given_sides_and_a_bound_on_what_changes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("up.csv").write_text("industry,region\n11,S\n")
    arguments = ["--method", "perturb", "--reach", "20", "--up", "up.csv", "--at-most", "4", "--quiet", "--json"]
    assert status(["protect", "job.toml", *arguments, "--public", "public.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["safe"]
    values, truth = published("public.csv"), true_values()
    assert values["11", "S"] > truth["11", "S"]
    assert 0 < sum(values[place] != value for place, value in truth.items()) <= 4


def test_relaxed_levels_are_not_safe_and_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["protect", "job.toml", "--method", "round", "--base", "3", *FILES]
    assert status([*arguments, "--quiet"]) == 1
    err = capsys.readouterr().err
    assert "base: is too small for the protection levels of '11 x S'. A base of 5 could meet them" in err
    assert status([*arguments, "--relax-levels"]) == 1
    out, err = capsys.readouterr()
    assert "Not shown safe: 0 of 1 requirement met." in out
    assert "Levels were relaxed: 1 of 1 requirement not met." in out
    assert "Nothing is written: this is not safe." in err
    assert status([*arguments, "--relax-levels", "--json", "--quiet"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["safe"], said["files"]) == (False, [])
    assert not names()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["round", "--base", "0"], 2, "base: must be above zero."),
        (["round", "--base", "-5"], 2, "base: must be above zero."),
        (["round", "--base", "100000"], 2, "method.base: is larger than every cell."),
        (["round", "--base", "0.5"], 2, "method.base: is no whole number of units of the last decimal."),
        (["random-round", "--base", "0"], 2, "base: must be above zero"),
        (["random-round", "--base", "100000"], 2, "larger than every value of the table"),
        (["perturb", "--reach", "0"], 2, "reach: must be above zero."),
        (["perturb", "--reach", "2"], 1, "reach: cannot protect '11 x S'. A reach of 5 could"),
        (["perturb"], 2, "--reach: is missing."),
        (["random-round"], 2, "--base: is missing."),
        (["round", "--base", "20", "--must-show", "frozen.csv"], 1, "must_show: cells leave no rounding that adds up"),
        (["adjust", "--certificate", "proof.json"], 2, "proof.json: cannot be made: 'adjust' protects by distance"),
    ],
)
def test_bad_input_is_one_clear_message_and_nothing_is_written(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("frozen.csv").write_text("industry,region\n10,N\n10,S\n")
    before = names()
    assert status(["protect", "job.toml", "--method", *arguments, *FILES, "--quiet"]) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert words in lines[0]
    assert names() == before
