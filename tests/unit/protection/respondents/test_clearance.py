"""Product tables begin with a pattern in which moves clear all respondents; attacks without these moves agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import celosia.protection.respondents.solve as solving
from celosia import (
    Digits,
    MinFrequency,
    Pattern,
    PPercent,
    Risk,
    Suppress,
    assess,
    audit,
    audit_respondents,
    protect,
    tabulate,
)
from celosia.protection.engine.parameters import EngineParameters
from celosia.protection.respondents.clearance import find_clear_patterns
from celosia.protection.respondents.parameters import RespondentParameters
from celosia.protection.run import Run
from celosia.protection.suppression.solve import solve as suppress
from celosia.risk.respondents.rules import criteria_of
from celosia.solve.clock import Clock
from celosia.solve.registry import backends


@pytest.fixture(scope="module")
def risk() -> Risk:
    random = np.random.default_rng(7)
    n = 1200
    records = pl.DataFrame(
        {
            "firm": [f"firm {k}" for k in range(n)],
            "industry": random.choice([f"{a}{b}" for a in "ABC" for b in range(4)], n),
            "region": random.choice(list("nsew"), n, p=[0.4, 0.3, 0.2, 0.1]),
            "size": random.choice(["small", "medium", "large"], n, p=[0.7, 0.2, 0.1]),
            "turnover": random.lognormal(5, 1.5, n).round(0),
        }
    )
    by = ["industry", "region", "size"]
    table = tabulate(records, by=by, value="turnover", respondent="firm", hierarchies={"industry": Digits((1, 1))})
    return assess(table, PPercent(10), MinFrequency(3))


@pytest.fixture(scope="module")
def run() -> Run:
    return Run(Clock(60.0), 0.0, backends()[0], 0, integer=False)


def test_attacks_that_know_no_move_find_nobody_either(risk: Risk, run: Run) -> None:
    found = next(find_clear_patterns(risk, criteria_of(risk.table, risk.respondents), run), None)
    assert found is not None
    hidden, proposed = found
    assert not hidden.all()
    pattern = Pattern.hide(risk.table, hidden)
    assert audit(pattern, replace(risk, respondents=(), unasked="outsiders alone")).safe
    assert audit_respondents(pattern, risk).safe
    quick = audit_respondents(pattern, risk, proposed=proposed)
    assert quick.safe
    assert quick.programs <= sum(part.targets for part in quick.parts)


def test_the_best_of_several_patterns_is_safe_too(risk: Risk, run: Run) -> None:
    parameters = EngineParameters(many_subproblems=0)
    several = RespondentParameters(restarts=4, cell_prices=(1e3, 0.0), nearly=0.0)
    found = list(find_clear_patterns(risk, criteria_of(risk.table, risk.respondents), run, parameters, several))
    costs = [risk.cost[hidden].sum() for hidden, _ in found]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]
    assert audit_respondents(Pattern.hide(risk.table, found[-1][0]), risk).safe
    assert (
        len(list(find_clear_patterns(risk, criteria_of(risk.table, risk.respondents), run))) == 1
    )  # this table is small


def test_moves_that_a_pattern_does_not_hide_prove_nothing(risk: Risk, run: Run) -> None:
    found = next(find_clear_patterns(risk, criteria_of(risk.table, risk.respondents), run), None)
    assert found is not None
    _, proposed = found
    alone = Pattern.hide(risk.table, risk.sensitive)
    told, untold = audit_respondents(alone, risk, proposed=proposed), audit_respondents(alone, risk)
    assert not told.safe
    assert {(one.target, one.cells) for one in told.open} == {(one.target, one.cells) for one in untold.open}


def test_wrong_moves_prove_nothing(risk: Risk, run: Run) -> None:
    """Moves that break relations, or use more than attackers leave, are tried and thrown away."""
    found = next(find_clear_patterns(risk, criteria_of(risk.table, risk.respondents), run), None)
    assert found is not None
    _, proposed = found
    alone, random = Pattern.hide(risk.table, risk.sensitive), np.random.default_rng(1)
    inside = np.flatnonzero(risk.sensitive)
    wrong = replace(proposed, moved=random.choice(inside, len(proposed.moved)))
    for what in (wrong, replace(proposed, moves=proposed.moves + 1)):
        told = audit_respondents(alone, risk, proposed=what)
        assert len(told.open) == len(audit_respondents(alone, risk).open)


def test_a_protection_against_respondents_has_a_pattern_at_once(risk: Risk) -> None:
    found = protect(risk, Suppress(), time_limit=3.0)
    assert found.safe
    assert (found.pattern.status == "hidden").mean() < 1.0
    assert audit_respondents(found.pattern, risk).safe
    assert found.trace[0][1] is not None


@pytest.mark.parametrize(("easy_gap", "improved"), [(1.0, False), (0.0, True)])
def test_patterns_that_clear_everybody_are_improved_where_cells_alone_are_not_easy(
    risk: Risk, monkeypatch: pytest.MonkeyPatch, easy_gap: float, *, improved: bool
) -> None:
    asked: list[str] = []

    def watch(*said: object) -> Iterator[object]:
        for found in find_clear_patterns(*said):  # type: ignore[arg-type]
            asked.append("first")
            yield found
        asked.append("others")

    monkeypatch.setattr("celosia.protection.respondents.clear_patterns.find_clear_patterns", watch)
    parameters = RespondentParameters(easy_gap=easy_gap, first_gap=0.0, first_share=0.1)
    cells, run = replace(risk, respondents=()), Run(Clock(3.0), 0.0, backends()[0], 0, integer=False)
    solving.protect_respondents(cells, Suppress(), run, suppress, risk.respondents, parameters)  # type: ignore[arg-type]
    assert asked == (["first", "others"] if improved else ["first"])
