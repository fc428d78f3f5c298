"""No message carries a record: every error, hint, note and progress line of every method, on numbers one would know.

Every contribution and every value of a cell has seven digits, and no number in a message has more than two of its own;
numbers that the user has written himself, shares in percent, and how many cells there are, aside. So nothing follows by
doubling, by taking p percent, or by adding one, either.
"""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import celosia as cz
from celosia import Risk, Table
from celosia.cli.bars import describe_search
from celosia.cli.main import status
from celosia.table.fixed import Fixed

SINGLE = 7654321
RECORDS = [
    *[("I", "A", 7654321, "f0"), ("I", "B", 9530867, "f1"), ("I", "B", 8123457, "f2"), ("I", "C", 6543217, "f3")],
    *[("I", "C", 5432179, "f4"), ("I", "C", 9132457, "f5"), ("II", "A", 9876541, "f6"), ("II", "A", 8765431, "f7")],
    *[("II", "A", 7654319, "f8"), ("II", "B", 1530866, "f9"), ("II", "C", 3141593, "f10"), ("II", "C", 2718283, "f11")],
    *[("II", "C", 5772157, "f12"), ("III", "A", 1618033, "f13"), ("III", "A", 6931471, "f14")],
    *[("III", "A", 4142137, "f15"), ("III", "B", 7320509, "f16"), ("III", "B", 2360679, "f17")],
    *[("III", "B", 6457513, "f18"), ("III", "C", 8284271, "f19"), ("III", "C", 1622777, "f20")],
    *[("III", "C", 3166247, "f21"), ("I", "A", 11, "f22")],
]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?%?")
PPERCENT = cz.PPercent(10)


def frame() -> pl.DataFrame:
    return pl.DataFrame(RECORDS, schema=["row", "column", "v", "firm"], orient="row")


@cache
def table() -> Table:
    return cz.tabulate(frame(), by=["row", "column"], value="v", respondent="firm", contributions=True)


def risk(**options: object) -> Risk:
    return cz.assess(table(), PPERCENT, cz.MinFrequency(2), **options)  # type: ignore[arg-type]


def digits(number: str) -> int:
    """Return how many digits a number has of its own."""
    return len(Decimal(number.replace(",", "")).normalize().as_tuple().digits)


def betrayed(text: str, *own: object) -> list[str]:
    """Return the numbers of a text that have more than two digits and that the user has not written himself."""
    given = {str(number) for number in own}
    seen = (match.rstrip(",") for match in NUMBER.findall(text) if not match.endswith("%"))
    return [number for number in seen if digits(number) > 2 and number.replace(",", "") not in given]


class Told:
    """A progress that keeps what a person would read."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step."""
        self.lines.append(f"{step} {total or ''}")

    def advance(self, amount: int = 1) -> None:
        """Tell that more is done."""

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:
        """Tell how far a search has come."""
        self.lines.append(describe_search(cost, bound, cuts))

    def done(self) -> None:
        """End the current step."""


def said(asked: Risk, method: object, **options: object) -> str:
    """Return everything that a protection says on its way and at its end, whether it works or not."""
    told = Told()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = cz.protect(asked, method, progress=told, time_limit=20, **options)  # type: ignore[arg-type]
        except cz.CelosiaError as error:
            told.lines.append(f"ERROR {error}")
        else:
            told.lines += [*result.notes, result.closing.sentence(result.cost) if result.closing else ""]
    return "\n".join([*told.lines, *(str(one.message) for one in caught)])


TOTAL, SENSITIVE = 0, (5, 6, 10)
METHODS: dict[str, Callable[[], object]] = {
    "suppress": cz.Suppress,
    "suppress few": lambda: cz.Suppress(at_most=2),
    "suppress too few": lambda: cz.Suppress(at_most=4),
    "suppress what must be shown": lambda: cz.Suppress(must_show=list(range(15))),
    "suppress around others": lambda: cz.Suppress(must_show=[7, 8, 9, 11, 12, 13, 14, 15]),
    "suppress wide": lambda: cz.Suppress(width_if_hidden=dict.fromkeys(range(16), 90_000_000)),
    "interval": lambda: cz.Intervals(secret=12),
    "interval of a base": lambda: cz.Intervals(secret=12, base=1_000_000),
    "interval of digits": lambda: cz.Intervals(secret=12, digits=2),
    "interval too narrow": lambda: cz.Intervals(secret=12, most_width=dict.fromkeys(range(16), 12)),
    "interval too wide": lambda: cz.Intervals(secret=12, least_width=dict.fromkeys(range(16), 90_000_000)),
    "interval with points": lambda: cz.Intervals(secret=12, must_show=[7, 8, 9, 11, 12, 13, 14, 15]),
    "combined": lambda: cz.Combined(secret=12),
    "combined few": lambda: cz.Combined(secret=12, at_most=1),
    "mixed": cz.Mixed,
    "round": lambda: cz.Round(base=5_000_000),
    "round little": lambda: cz.Round(base=10),
    "round much": lambda: cz.Round(base=900_000_000),
    "round exactly": lambda: cz.Round(base=1_000_000, extra=0),
    "round at any rate": lambda: cz.Round(base=10, relax_levels=True),
    "round around others": lambda: cz.Round(base=5_000_000, frozen=[1, 2, 3]),
    "perturb": lambda: cz.Perturb(reach=5_000_000, secret=12),
    "perturb little": lambda: cz.Perturb(reach=10, secret=12),
    "perturb up": lambda: cz.Perturb(reach=2_000_000, secret=12, side="up"),
    "adjust": cz.Adjust,
    "random": lambda: cz.RandomRound(5_000_000),
    "random little": lambda: cz.RandomRound(10),
    "random much": lambda: cz.RandomRound(900_000_000),
    "random within": lambda: cz.RandomRound(5_000_000, reach=10),
    "random once": lambda: cz.RandomRound(2_000_000, draws=1),
    "random plain": lambda: cz.RandomRound(10, "plain"),
    "random controlled": lambda: cz.RandomRound(10, "controlled"),
    "random controlled and wide": lambda: cz.RandomRound(5_000_000, "controlled"),
}

RISKS: dict[str, Callable[[], Risk]] = {
    "respondents": risk,
    "a rival": lambda: risk(attackers=[cz.Attacker.external(table()), cz.Attacker.percentage(table(), 50)]),
    "one who knows too much": lambda: risk(attackers=[cz.Attacker.percentage(table(), 1)]),
}


@pytest.mark.parametrize("way", RISKS)
@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_nothing_of_any_record(name: str, way: str) -> None:
    text = said(RISKS[way](), METHODS[name](), seed=12)
    assert betrayed(text, 5_000_000 - 1) == [], text  # a reach of less than the user's base


def test_why_a_cell_is_hidden_says_nothing_of_any_record() -> None:
    for method in (cz.Suppress(), cz.Intervals(secret=12)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = cz.protect(risk(attackers=[cz.Attacker.external(table())]), method)
            reasons = [str(one) for one in cz.whys(result)]
        assert reasons
        assert betrayed("\n".join(reasons)) == [], reasons


def error_of(act: Callable[[], object]) -> str:
    with pytest.raises(cz.CelosiaError) as raised:
        act()
    return str(raised.value)


def changed(**columns: object) -> pl.DataFrame:
    """Return the records with some columns written anew, their first entry as is said."""
    data = frame().with_columns(weight=pl.lit(1.0))
    for name, first in columns.items():
        data = data.with_columns(pl.Series(name, [first, *data[name].to_list()[1:]], strict=False))
    return data


def tabulated(data: pl.DataFrame, **options: object) -> Table:
    return cz.tabulate(data, by=["row", "column"], value="v", respondent="firm", **options)  # type: ignore[arg-type]


def with_totals(mistake: int) -> pl.DataFrame:
    """Return ready-made cells, of which a total is wrong."""
    whole = table()
    labels = [whole.labels(0), whole.labels(1)]
    values = whole.amounts.counts.copy()
    values[TOTAL] += mistake
    return pl.DataFrame({"row": labels[0], "column": labels[1], "v": values})


def ready(data: pl.DataFrame) -> Table:
    return cz.cells(data, by=["row", "column"], value="v")


def other_table(mistake: int) -> Table:
    data = changed(v=SINGLE + mistake)
    return cz.tabulate(data, by=["row"], value="v", respondent="firm")


def published(cell: int, value: int) -> cz.Release:
    """Return everything shown, of which one number is another."""
    release = cz.publish(cz.Pattern.hide(table(), []))
    counts = release.published.counts.copy()
    counts[cell] = value
    numbers = Fixed(counts, 0)
    return replace(release, published=numbers, lower=numbers, upper=numbers)


DOORS: dict[str, Callable[[], object]] = {
    "a value that is nearly a number": lambda: tabulated(changed(v="7654321x")),
    "a value with commas": lambda: tabulated(changed(v="7,654,321")),
    "a value of too many digits": lambda: tabulated(changed(v="765432176543217654321.7654321")),
    "a weight below zero": lambda: tabulated(changed(weight=-7654321.0), weight="weight"),
    "a value without a code": lambda: tabulated(changed(row=None), missing="error"),
    "a total that does not add up": lambda: ready(with_totals(SINGLE)),
    "a total that is too small by one": lambda: ready(with_totals(-9)),
    "a cell twice": lambda: ready(pl.concat([with_totals(0), with_totals(0).head(1)])),
    "a total that is missing": lambda: ready(with_totals(0).tail(15)),
    "a value of a cell that is nearly a number": lambda: ready(
        with_totals(0).with_columns(pl.col("v").cast(str) + pl.lit("x"))
    ),
    "tables that differ": lambda: cz.link([table(), other_table(SINGLE)]),
    "a relation that does not hold": lambda: cz.link([table()], relations=["v = 2*v"]),
    "an attacker who is wrong": lambda: cz.assess(
        table(), PPERCENT, attackers=[cz.Attacker.external(table()).with_knowledge(table(), {5: SINGLE})]
    ),
    "a rule that needs more contributions": lambda: cz.assess(tabulated(frame(), largest=1), cz.Dominance(5, 80)),
    "a release that is wrong": lambda: cz.audit(published(5, SINGLE), risk()),
    "contributions that do not add up": lambda: cz.audit_respondents(
        cz.Pattern.hide(table(), []),
        cz.with_contributions(ready(with_totals(0)), [5], ["f0"], [SINGLE]),
        rule=PPERCENT,
    ),
}


@pytest.mark.parametrize("name", DOORS)
def test_what_is_refused_at_the_door_is_not_quoted(name: str) -> None:
    text = error_of(DOORS[name])
    assert betrayed(text) == [], text


JOB = """
[data]
file = "firms.csv"
respondent = "firm"

[[tables]]
by = ["row", "column"]
value = "v"

[[rules]]
rule = "p-percent"
p = 10

[dimensions.row]

[dimensions.column]
"""
COMMANDS = {
    "protect": ["protect", "job.toml", "--method", "suppress", "--quiet", "--output", "out.csv"],
    "too small a base": ["protect", "job.toml", "--method", "round", "--base", "10"],
    "too large a base": ["protect", "job.toml", "--method", "round", "--base", "900000000"],
    "too small a reach": ["protect", "job.toml", "--method", "perturb", "--reach", "10"],
    "rounded at random": ["protect", "job.toml", "--method", "random-round", "--base", "10"],
    "too few": ["protect", "job.toml", "--at-most", "4"],
    "too short": ["protect", "job.toml", "--time-limit", "0.000001"],
    "compare": ["compare", "job.toml", "--methods", "suppress,round,perturb,random-round,adjust"],
    "compare what cannot be": ["compare", "job.toml", "--methods", "round,perturb", "--base", "10", "--reach", "10"],
    "audit": ["audit", "job.toml", "--release", "bare.csv"],
    "wrong": ["audit", "job.toml", "--release", "wrong.csv"],
    "unreadable": ["assess", "broken.toml"],
}
MESSAGES = ("problems", "error", "errors", "notes", "warnings")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a job, a broken one, a release that hides too little, and one that is wrong."""
    folder = tmp_path_factory.mktemp("inputs")
    frame().write_csv(folder / "firms.csv")
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    changed(v="7654321x").write_csv(folder / "broken.csv")
    (folder / "broken.toml").write_text(JOB.replace("firms.csv", "broken.csv"), encoding="utf-8")
    cz.write(cz.publish(cz.Pattern.hide(table(), SENSITIVE)), folder / "bare.csv")
    cz.write(published(5, SINGLE), folder / "wrong.csv")
    return folder


@pytest.fixture
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go into a copy of these."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_says_is_about_no_record(
    name: str, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    status([*COMMANDS[name], *(["--json"] if as_json else [])])
    out, err = capsys.readouterr()
    err = re.sub(r"^(.+): \d+\.\d s$", r"\1", err, flags=re.MULTILINE)  # how long a step took
    own = ("900000000", "0.000001")
    assert betrayed(err, *own) == [], err
    if as_json:
        found = json.loads(out)
        parts = [found, *found.get("methods", ())]
        out = json.dumps([part[key] for part in parts for key in MESSAGES if key in part])
    elif name.startswith("compare"):
        out = re.sub(r"\d+\.\d+$", "", out, flags=re.MULTILINE)  # seconds
    elif name in {"protect", "too short"}:  # the result: what hiding costs is for the office
        out = ""
    assert betrayed(out, *own) == [], out
