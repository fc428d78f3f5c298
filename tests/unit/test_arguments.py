"""Wrong objects get a message: what was given, what is wanted, and what to call first."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import celosia as cz

ANY: Any = cz
"""The package without its types: what is called here is wrong on purpose."""


@cache
def objects() -> dict[str, Any]:
    """Return one of every kind that goes through the package."""
    rows = [
        ("A", "Hills", 5),
        ("A", "Sea", 40),
        ("B", "Hills", 30),
        ("B", "Sea", 20),
        ("C", "Hills", 9),
        ("C", "Sea", 11),
    ]
    frame = pd.DataFrame(
        [(a, b, v + k, f"{a}{b}{k}") for a, b, v in rows for k in range(1 if (a, b) == ("A", "Hills") else 4)],
        columns=["sector", "area", "value", "firm"],
    )
    table = cz.tabulate(frame, by=["sector", "area"], value="value", respondent="firm", contributions=True)
    risk = cz.assess(table, cz.PPercent(10))
    result = cz.protect(risk)
    return {
        "frame": frame,
        "table": table,
        "risk": risk,
        "result": result,
        "pattern": result.pattern,
        "release": cz.publish(result),
        "audit": cz.audit(result),
        "certificate": cz.certify(result),
        "rule": cz.PPercent(10),
        "method": cz.Suppress(),
        "class": cz.Suppress,
        "nothing": None,
        "number": 12,
        "text": "A x Hills",
        "list": [1, 2],
    }


MORE: dict[str, Callable[[], dict[str, Any]]] = {
    "assess": lambda: {"rules": cz.PPercent(10)},
    "cells": lambda: {"by": ["sector", "area"], "value": "value"},
    "contributors": lambda: {"cell": 1},
    "explain": lambda: {"cell": 1},
    "loss": lambda: {"table": objects()["table"]},
    "tabulate": lambda: {"by": ["sector"]},
    "why": lambda: {"cell": 5},
    "with_contributions": lambda: {"cells": [4], "respondents": ["x"], "amounts": [1]},
    "worst_aggregation": lambda: {"rule": cz.PPercent(10), "time_limit": 5},
    "write": lambda: {"path": "release.csv"},
    "write_jj": lambda: {"path": "problem.jj"},
    "write_release": lambda: {"path": "release.csv"},
}
"""What a verb needs beside its first argument."""

VERBS = sorted(name for name in cz.__all__ if name != "__version__" and inspect.isroutine(getattr(cz, name)))


def test_every_verb_is_tried() -> None:
    assert {"assess", "audit", "certify", "protect", "publish", "tabulate", "verify", "why", "write"} <= set(VERBS)


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("name", VERBS)
def test_no_object_makes_a_verb_stumble(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = 0
    for thing in objects().values():
        more = MORE.get(name, dict)()
        try:
            answer = getattr(ANY, name)(
                thing, *more.values() if name == "assess" else (), **({} if name == "assess" else more)
            )
            if inspect.isgenerator(answer):
                next(answer, None)
        except cz.CelosiaError:  # anything else fails
            refused += 1
    assert refused > 8


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda o: ANY.protect(o["table"]),
            "risk: must be a Risk, not a Table. First call celosia.assess(table, rules).",
        ),
        (lambda o: ANY.protect(o["result"]), "risk: must be a Risk, not a Protection. Give result.risk."),
        (
            lambda o: ANY.publish(o["risk"]),
            "must be a Protection or a Pattern, not a Risk. First call celosia.protect(risk).",
        ),
        (lambda o: ANY.publish(o["table"]), "not a Table. First call celosia.assess(table, rules)."),
        (lambda o: ANY.assess(o["risk"], cz.PPercent(10)), "table: must be a Table, not a Risk. Give risk.table."),
        (lambda o: ANY.assess(o["frame"], cz.PPercent(10)), "First call celosia.tabulate(data, by=...)"),
        (lambda o: ANY.assess(o["table"], cz.PPercent), "not the class PPercent. Write PPercent(...)."),
        (lambda o: ANY.assess(o["table"], "p-percent"), "rules[0]: must be a rule such as PPercent(10)"),
        (lambda o: ANY.protect(o["risk"], cz.Suppress), "method: must be an Adjust, "),
        (lambda o: ANY.protect(o["risk"], "suppress"), "or a Suppress, not a str."),
        (lambda o: ANY.audit(o["release"], o["table"]), "risk: must be a Risk, not a Table."),
        (lambda o: ANY.certify(o["release"]), "audited: must be a Protection or an Audit, not a Release."),
        (
            lambda o: ANY.write(o["result"], "x.csv"),
            "release: must be a Release, not a Protection. First call celosia.publish(",
        ),
        (lambda o: ANY.write(o["release"], 5), "path: must be a file name, not an int."),
        (lambda o: ANY.explain(o["result"], 1), "audit: must be an Audit, not a Protection. Give result.audit."),
        (lambda o: ANY.link(o["table"]), "tables: must be a list or a tuple, not a Table."),
        (lambda o: ANY.link([o["table"], o["risk"]]), "tables[1]: must be a Table, not a Risk. Give risk.table."),
        (lambda o: ANY.Attacker.external(o["risk"]), "table: must be a Table, not a Risk. Give risk.table."),
        (lambda o: ANY.Pattern.hide(o["risk"], [1]), "table: must be a Table, not a Risk. Give risk.table."),
    ],
)
def test_the_message_says_what_to_do(call: Callable[[dict[str, Any]], object], words: str) -> None:
    with pytest.raises(cz.SpecError) as refused:
        call(objects())
    assert words in str(refused.value)


def test_several_wrong_objects_are_named_at_once() -> None:
    with pytest.raises(cz.SpecError) as refused:
        ANY.audit(12, 13)
    assert [problem.place for problem in refused.value.problems] == ["release", "risk"]


def hidden_label() -> str:
    result = objects()["result"]
    return str(result.risk.table.label(int(result.secondary[0])))


def test_cells_are_called_by_numbers_labels_or_codes() -> None:
    result, label = objects()["result"], hidden_label()
    cell = int(result.secondary[0])
    sector, area = label.split(" x ") if " x " in label else (label, "Total")
    names: list[Any] = [cell, str(cell), label, {"sector": sector, "area": area}]
    assert {str(cz.why(result, name)) for name in names} == {str(cz.why(result, cell))}
    assert {str(cz.explain(result.audit, name)) for name in names} == {str(cz.explain(result.audit, cell))}
    assert {cz.contributors(result.risk.table, name) for name in names} == {cz.contributors(result.risk.table, cell)}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("A x Hill", "cell: there is no cell 'A x Hill'. Did you mean 'A x Hills'?"),
        (99, "cell: there is no cell 99. Cells count from 0 to"),
        ({"sector": "Z"}, "cell.sector: has no code 'Z'."),
        ({"sectr": "A"}, "cell.sectr: is not a dimension of the table. Did you mean 'sector'?"),
        ({"sector": "*"}, "cell: names 4 cells. Name one of them."),
        (1.5, "cell: must be the number, the label or the codes of a cell, not of the kind float."),
        (True, "cell: must be the number, the label or the codes of a cell, not of the kind bool."),
        ({"sector": 1}, "cell.sector: must be a code in quotes, or a list of them."),
    ],
)
def test_cells_that_are_not_there_are_refused(name: Any, words: str) -> None:  # noqa: ANN401
    with pytest.raises(cz.SpecError) as refused:
        cz.why(objects()["result"], name)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "names",
    [
        [{"sector": "B", "area": "Hills"}, {"sector": "C"}],
        ["B x Hills", "C"],
        [{"sector": "B", "area": ["Hills"]}, "C"],
    ],
    ids=["codes", "labels", "both"],
)
def test_wishes_name_cells_as_a_job_file_does(names: list[Any]) -> None:
    risk = objects()["risk"]
    shown = [risk.table.find(sector="B", area="Hills"), risk.table.find(sector="C")]
    for method in (cz.Suppress(must_show=names), cz.Intervals(must_show=names, secret=1), cz.Mixed(must_show=names)):
        found = cz.protect(risk, method)
        assert set(found.pattern.status[shown]) == {"shown"}
    assert set(cz.Suppress(must_show=names).apply_to(risk).status[shown]) == {"z"}
    assert set(cz.protect(risk, cz.Suppress(must_hide=names)).pattern.status[shown]) == {"hidden"}


def test_wishes_for_cells_that_are_not_there_are_refused() -> None:
    risk = objects()["risk"]
    with pytest.raises(cz.SpecError, match=r"must_show\[1\]\.sector: has no code 'Q'"):
        cz.protect(risk, cz.Suppress(must_show=[{"sector": "A"}, {"sector": "Q"}]))
    with pytest.raises(cz.SpecError, match="must_hide: there is no cell 'Q'"):
        cz.protect(risk, cz.Suppress(must_hide=["Q"]))


def test_a_lazy_frame_is_collected_and_comes_back_as_its_library() -> None:
    frame = pl.from_pandas(objects()["frame"])
    lazy, eager = (cz.tabulate(one, by=["sector"], value="value") for one in (frame.lazy(), frame))
    assert isinstance(lazy.to_frame(), pl.DataFrame)
    assert lazy.to_frame().equals(eager.to_frame())
