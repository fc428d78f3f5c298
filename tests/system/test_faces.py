"""What every face of a result must say: that it hides nearly everything, where true values lie, that it is secret."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from tests.oracles.firms_job import told

import celosia as cz
from celosia.cli.main import status
from celosia.report.pages.content import PageContent
from celosia.report.pages.protection import write_protection_page
from celosia.report.terminal.protection import protection_panel

VALUES = (20, 31, 42, 53, 64, 75, 86, 97, 108, 119, 130)
EVERYTHING = "Everything is hidden: of 12 cells none is shown."
NEARLY = "Nearly everything is hidden: 1 of 12 cells is shown."


def problem(total: str) -> str:
    """Return a column of eleven cells that must be hidden, the first of which is sensitive, and their total."""
    lines = [f"0 {sum(VALUES)} 1 {total} 0 9999 0 0 0", f"1 {VALUES[0]} 1 u 0 9999 2 2 0"]
    lines += [f"{k} {value} 1 m 0 9999 0 0 0" for k, value in enumerate(VALUES[1:], start=2)]
    terms = " ".join(f"{k} (1)" for k in range(1, 12))
    return "\n".join(["0", "12", *lines, "1", f"0 12 : 0 (-1) {terms}", ""])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("total", "said", "shown"), [("m", EVERYTHING, 0), ("z", NEARLY, 1)])
def test_hiding_nearly_everything_is_said_first_on_every_face(
    total: str, said: str, shown: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.jj").write_text(problem(total), encoding="utf-8")
    result = cz.protect(cz.read_jj("t.jj"))
    assert result.notes[0].startswith(said)
    assert (result.shown_share, result.hidden_share) == (shown / 12, 1 - shown / 12)
    machine = told(capsys, "protect", "t.jj", "--report", "report.html", "--public", "public.csv")
    assert machine["notes"][0].startswith(said)  # type: ignore[index]
    assert (machine["shown_share"], machine["hidden_share"]) == (shown / 12, pytest.approx(1 - shown / 12))
    assert list(machine).index("notes") < list(machine).index("safe")
    assert status(["protect", "t.jj", "--quiet"]) == 0
    words = capsys.readouterr().out
    assert words.count(said) == 1
    assert words.index(said) < words.index("Safe: all of")
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.count(said) == 1
    assert page.index(said) < page.index('<div class="cards">')
    assert "hidden:" not in Path("public.csv").read_text(encoding="utf-8")


def test_every_face_says_what_hiding_everything_would_cost(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.jj").write_text(problem("z").replace(" m 0", " s 0"), encoding="utf-8")
    result = cz.protect(cz.read_jj("t.jj"))
    risk = result.risk
    everything = float(risk.cost[risk.status != "z"].sum())
    assert result.cost_of_hiding_everything == everything
    assert result.cost_share == pytest.approx(result.cost / everything)
    machine = told(capsys, "protect", "t.jj", "--report", "report.html")
    assert machine["cost_of_hiding_everything"] == everything
    assert machine["cost_share"] == result.cost_share
    assert status(["protect", "t.jj", "--quiet"]) == 0
    assert f"Hiding everything would cost {everything:,.6g}: this is {result.cost_share:.1%} of that." in (
        capsys.readouterr().out
    )
    page = Path("report.html").read_text(encoding="utf-8")
    assert f"{result.cost_share:.1%} of what hiding everything would cost ({everything:,.6g})" in page


def test_every_face_says_what_the_search_was_good_for() -> None:
    Path("t.jj").write_text(problem("z").replace(" m 0", " s 0"), encoding="utf-8")
    found = cz.protect(cz.read_jj("t.jj"))
    steps = ((0.1, None, 0.0, 0), (0.2, 4 * found.cost, 0.0, 3), (0.3, found.cost, found.cost, 4))
    result = dataclasses.replace(found, trace=steps)
    assert (result.first_cost, result.saved_share) == (4 * found.cost, 0.75)
    terminal = Console(width=120, file=io.StringIO(), record=True)
    terminal.print(protection_panel(result))
    assert f"The search began with a cost of {4 * found.cost:,.6g}, and saved 75.0%." in terminal.export_text()
    write_protection_page(PageContent(result), "report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert f"75.0% less than the pattern that the search began with ({4 * found.cost:,.6g})" in page


def test_a_method_that_hides_nothing_does_not_speak_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.jj").write_text(problem("z").replace(" m 0", " s 0"), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        result = cz.protect(cz.read_jj("t.jj"), cz.Intervals(secret=12))
    assert result.cost_of_hiding_everything is None
    assert result.cost_share is None
    assert "cost_share" not in told(capsys, "protect", "t.jj", "--method", "interval")


def test_mixed_releases_hide_at_a_price_of_their_own() -> None:
    Path("t.jj").write_text(problem("z").replace(" m 0", " s 0"), encoding="utf-8")
    risk = cz.read_jj("t.jj")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        result = cz.protect(risk, cz.Mixed(hide_cost=np.full(len(risk), 3.0), secret=12))
    assert result.cost_of_hiding_everything == 3.0 * int((risk.status != "z").sum())


def test_an_ordinary_pattern_says_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.jj").write_text(problem("z").replace(" m 0", " s 0"), encoding="utf-8")
    machine = told(capsys, "protect", "t.jj")
    assert machine["shown_share"] == pytest.approx(10 / 12)
    assert machine["hidden_share"] == pytest.approx(2 / 12)
    assert not any("hidden" in str(note) for note in machine.get("notes", ()))  # type: ignore[attr-defined]


def ranges(levels: str) -> None:
    """Write a problem of twelve sensitive cells under twelve totals of their own: all must be ranges."""
    lines, rows = [], []
    for k, value in enumerate(VALUES):
        lines += [f"{3 * k} {value} 1 u 0 9999 {levels}", f"{3 * k + 1} 500 1 s 0 9999 0 0 0"]
        lines += [f"{3 * k + 2} {500 + value} 1 z 0 9999 0 0 0"]
        rows.append(f"0 3 : {3 * k + 2} (-1) {3 * k} (1) {3 * k + 1} (1)")
    n = 3 * len(VALUES)
    Path("t.jj").write_text("\n".join(["0", str(n), *lines, str(len(rows)), *rows, ""]), encoding="utf-8")


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ("5 5 0", r"100% of 22 ranges have the true value in their middle"),
        ("0 5 0", r"100% of 22 ranges end at the true value"),
    ],
)
def test_where_true_values_lie_is_warned_of_on_every_face(
    levels: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ranges(levels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        result = cz.protect(cz.read_jj("t.jj"), cz.Intervals(secret=12))
    assert re.match(words, result.warnings[0])
    machine = told(capsys, "protect", "t.jj", "--method", "interval", "--report", "report.html")
    assert re.match(words, machine["warnings"][0])  # type: ignore[index]
    assert machine["confidential"] is True
    assert next(iter(machine)) == "confidential"
    assert status(["protect", "t.jj", "--method", "interval", "--quiet"]) == 0
    terminal = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert re.search(words, terminal)
    assert "confidential" in terminal
    page = Path("report.html").read_text(encoding="utf-8")
    assert re.search(words, page)
    assert "(confidential)</title>" in page


def test_a_comparison_is_marked_confidential_and_has_the_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    ranges("5 5 0")
    assert status(["compare", "t.jj", "--methods", "suppress,interval", "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["confidential"] is True
    assert any("in their middle" in note for one in said["methods"] for note in one.get("notes", ()))


def test_where_every_cell_is_a_range_that_is_said() -> None:
    data = pl.DataFrame({"row": list("AABB"), "column": list("abab"), "v": [50, 60, 70, 80]})
    risk = cz.assess(cz.tabulate(data, by=["row", "column"], value="v"), lambda one: one.values >= 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        result = cz.protect(risk, cz.Intervals(secret=12))
    assert result.notes[0] == "No cell is shown exactly: of 9 cells all are ranges."
    assert (result.shown_share, result.hidden_share) == (0.0, 0.0)
