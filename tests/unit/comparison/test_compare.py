"""Methods side by side in Python: bases and reaches are chosen, and the kinds of reasons are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import celosia as cz
from celosia import CelosiaError, DataError, InfeasibleError, OutOfTimeError, SolverError, SpecError
from celosia.comparison.compare import compare_method
from celosia.comparison.round_figures import candidate_bases, candidate_reaches
from celosia.errors import round_up
from celosia.protection.methods import METHODS

RECOGNISABLE = 7654321


@cache
def risk_of(scale: int = 1, *, sensitive: bool = True) -> cz.Risk:
    """Return a table in which one firm has nearly all of a cell."""
    rows = [
        ("A", "N", 10, 1),
        ("A", "S", 12, 3),
        ("B", "N", 9, 3),
        ("B", "S", 14, 3),
        ("C", "N", 11, 3),
        ("C", "S", 8, 3),
    ]
    frame = pd.DataFrame(
        [(a, b, (value + k) * scale) for a, b, value, n in rows for k in range(n if sensitive else 3)],
        columns=["sector", "area", "value"],
    )
    table = cz.tabulate(frame, by=["sector", "area"], value="value")
    return cz.assess(table, cz.PPercent(10), attackers=[cz.Attacker.external(table)])


def test_all_methods_protect_without_a_word_about_bases() -> None:
    found = cz.compare(risk_of(1000), time_limit=20)
    assert [one.method for one in found] == list(METHODS)
    verdicts = {one.method: one.verdict for one in found}
    assert verdicts["suppress"] == verdicts["round"] == verdicts["perturb"] == "safe"
    assert set(found["round"].chosen) == {"base"}
    assert set(found["perturb"].chosen) == {"reach"}
    assert not found["suppress"].chosen
    assert any("was chosen" in note for note in found["round"].notes)


@given(st.integers(1, 10**12))
def test_what_is_chosen_is_a_round_figure_and_enough(scale: int) -> None:
    """The figure of no record: 1, 2 or 5 times a power of ten, from what the levels ask for up."""
    risk = risk_of()
    levels = risk.levels
    asked = max(levels.lower.fraction(cell) + levels.upper.fraction(cell) for cell in range(len(risk)))
    for figures, more in ((list(candidate_bases(risk)), 2), (list(candidate_reaches(risk)), 0)):
        assert figures == sorted(set(figures))
        assert figures[0] >= asked + more
        assert all(str(int(figure)).rstrip("0") in {"1", "2", "5"} for figure in figures)
    assert str(round_up(scale)).rstrip("0") in {"1", "2", "5"}


def test_no_figure_of_a_record_is_chosen_or_said() -> None:
    frame = pd.DataFrame(
        {"sector": ["A", "B", "B", "C", "C"], "value": [RECOGNISABLE, 5_000_001, 4_900_003, 6_100_007, 6_200_011]}
    )
    risk = cz.assess(cz.tabulate(frame, by=["sector"], value="value"), cz.PPercent(10))
    found = cz.compare(risk, "round", "perturb", "random-round", time_limit=20)
    said = repr(found) + str([one.as_dict() | {"cost": 0, "bound": 0} for one in found])
    assert str(RECOGNISABLE) not in said.replace(",", "")
    for one in found:
        assert all(str(int(Fraction(figure))).rstrip("0") in {"1", "2", "5"} for figure in one.chosen.values())


def test_without_sensitive_cells_a_parameter_is_missing() -> None:
    found = cz.compare(risk_of(sensitive=False), "suppress", "perturb", "random-round")
    assert [one.verdict for one in found] == ["safe", "parameter missing", "parameter missing"]
    assert "reach: is missing" in str(found["perturb"].problems[0])


def test_what_no_release_can_do_is_impossible() -> None:
    risk = risk_of()
    everything = [cell for cell in range(len(risk)) if not risk.sensitive[cell]]
    found = cz.compare(risk, cz.Suppress(must_show=everything), cz.Round(1), cz.Suppress(must_show=["nowhere"]))
    assert [one.verdict for one in found] == ["impossible", "impossible", "does not apply"]
    assert all(one.problems for one in found)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (InfeasibleError, "impossible"),
        (OutOfTimeError, "out of time"),
        (SolverError, "failed"),
        (SpecError, "does not apply"),
        (DataError, "does not apply"),
    ],
)
def test_the_kinds_of_reasons_are_told_apart(error: type[CelosiaError], verdict: str) -> None:
    def run(chosen: Any, spent: float) -> cz.Protection:  # noqa: ANN401, ARG001
        raise error.one("here", "it did not work.")

    found = compare_method("suppress", run, risk_of(), None)
    assert (found.verdict, found.measures) == (verdict, None)
    assert found.as_dict()["verdict"] == verdict
    assert str(found.problems[0]) == "here: it did not work."


def test_a_larger_figure_is_tried_where_one_is_too_small() -> None:
    seen: list[int] = []

    def run(chosen: Mapping[str, Any], spent: float) -> cz.Protection:
        assert spent >= 0
        seen.append(chosen["base"])
        if len(seen) < 3:
            raise InfeasibleError.one("base", "is too small.")
        return cz.protect(risk_of())

    found = compare_method("round", run, risk_of(), "base")
    assert found.verdict == "safe"
    assert seen == sorted(set(seen))
    assert found.chosen == {"base": str(seen[-1])}


def test_a_comparison_is_a_frame_a_page_and_readable(tmp_path: Path) -> None:
    found = cz.compare(risk_of(1000), "suppress", cz.Round(1), cz.Intervals())
    frame = found.to_frame("pandas")
    assert frame["method"].tolist() == ["suppress", "round", "interval"]
    assert frame["verdict"].tolist()[1] == "impossible"
    assert frame["hidden"].tolist()[0] >= 2
    assert "base" in frame["reason"].tolist()[1]
    assert repr(found).startswith("Comparison(Table(")
    assert "\n  suppress: safe" in repr(found)
    assert found.report(tmp_path / "c.html") == tmp_path / "c.html"
    assert "impossible" in (tmp_path / "c.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("supress", "methods[0]: 'supress' is no method. Did you mean 'suppress'?"),
        (cz.Suppress, "methods[0]: must be a method such as Suppress() or a name, not the class Suppress."),
        (12, "methods[0]: must be a method such as Suppress() or a name, not an int."),
    ],
)
def test_what_is_no_method_is_refused(method: Any, words: str) -> None:  # noqa: ANN401
    with pytest.raises(SpecError) as refused:
        cz.compare(risk_of(), method)
    assert words in str(refused.value)


def test_a_result_writes_its_page(tmp_path: Path) -> None:
    result = cz.protect(risk_of())
    assert result.report(tmp_path / "page.html", title="My table") == tmp_path / "page.html"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>My table" in page
    assert "suppress" in page
    with pytest.raises(SpecError, match="path: must be a file name, not an int"):
        result.report(5)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="cannot be written"):
        result.report(tmp_path / "no folder" / "page.html")
