"""The modular pattern of tables that one can look at, and its faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.oracles.bare_tables import DEEP, FLAT_2, FLAT_3, lattice, make_table
from tests.oracles.firms_job import told

import celosia as cz
from celosia.cli.main import status
from celosia.risk.risk import SAFE, SENSITIVE, Levels, Risk
from celosia.table.fixed import Fixed

VALUES = [30, 12, 18, 20, 8, 12, 10, 4, 6, 9, 3, 6, 11, 5, 6]
"""Rows 0 = 1 + 2 and 1 = 3 + 4 of three columns, the first of which is the sum of the others."""


def risk_of(sensitive: list[int], values: list[int] = VALUES, level: int = 1) -> Risk:
    table = make_table(lattice([DEEP, FLAT_2]), values)
    status_ = np.full(len(values), SAFE)
    status_[sensitive] = SENSITIVE
    asked = Fixed(np.where(status_ == SENSITIVE, level, 0))
    levels = Levels(asked, asked, Fixed(np.zeros(len(values), dtype=np.int64)))
    return Risk(table, status_, levels, np.array(values, dtype=float), (cz.Attacker.external(table),))


def hidden(found: cz.ModularPattern | cz.Protection) -> list[int]:
    return np.flatnonzero(found.pattern.status != "shown").tolist()


def test_each_sub_table_is_protected_at_its_least_cost() -> None:
    """Cell 10 needs a cell in its row, one in its column, and the fourth corner."""
    found = cz.modular(risk_of([10]))
    assert hidden(found) == [10, 11, 13, 14]
    assert (found.cost, found.hidden, found.open, found.safe, found.proved) == (20.0, 4, 0, True, True)
    assert (found.sub_tables, found.solves) == (2, 1)


def test_what_a_sub_table_hides_in_its_margin_is_protected_in_those_that_share_it() -> None:
    """Cell 7 is hidden on top, with 4 of the margin; below nobody may compute 4 from 10 and 13."""
    found = cz.modular(risk_of([7]))
    assert found.solves > 1
    assert found.safe
    below = [cell for cell in hidden(found) if cell >= 9]
    assert len(below) >= 2


def test_a_modular_pattern_is_not_called_safe_where_the_audit_finds_something() -> None:
    for level in (1, 2, 3):
        found = cz.modular(risk_of([3, 10, 14], level=level))
        checked = cz.audit(found.pattern, found.risk)
        assert found.safe is checked.safe
        assert ("is safe" in found.sentence(1.0)) is checked.safe
        assert ("is not safe" in found.sentence(1.0)) is not checked.safe


def test_a_table_without_hierarchies_is_refused() -> None:
    table = make_table(lattice([FLAT_2, FLAT_3]), [0] * 12)
    nothing = Fixed(np.zeros(12, dtype=np.int64))
    risk = Risk(
        table, np.full(12, SAFE), Levels(nothing, nothing, nothing), np.ones(12), (cz.Attacker.external(table),)
    )
    with pytest.raises(cz.SpecError, match="has no hierarchies: its only sub-table is the table itself"):
        cz.modular(risk)


def test_a_limit_on_hidden_cells_is_refused() -> None:
    with pytest.raises(cz.SpecError, match="at_most: cannot be kept sub-table by sub-table"):
        cz.modular(risk_of([10]), cz.Suppress(at_most=5))


def test_impossible_tables_are_refused() -> None:
    with pytest.raises(cz.InfeasibleError):
        cz.modular(risk_of([10]), cz.Suppress(must_show=[cell for cell in range(15) if cell != 10]))


def test_time_may_be_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celosia.solve.clock.LATE_SECONDS", 0.0)
    with pytest.raises(cz.OutOfTimeError):
        cz.modular(risk_of([10]), time_limit=1e-6)


def test_wishes_are_kept() -> None:
    found = cz.modular(risk_of([10]), cz.Suppress(must_show=[11], must_hide=[0], cost="unity"))
    assert 0 in hidden(found)
    assert 11 not in hidden(found)
    assert found.cost == found.hidden


def test_contributors_attack_the_pattern_in_the_audit() -> None:
    """It protects cells alone, and must not be called safe where a contributor comes too close."""
    data = pl.DataFrame(
        {
            "region": ["N1", "N1", "N1", "N1", "N2", "N2", "N2", "S", "S", "S", "S"],
            "size": list("aaabaabbaab"),
            "firm": [f"f{number}" for number in range(11)],
            "value": [900, 40, 30, 500, 70, 60, 10, 90, 80, 10, 40],
        }
    )
    region = cz.Hierarchy.from_dict({"N": ["N1", "N2"], "S": None})
    by, known = ["region", "size"], {"region": region}
    table = cz.tabulate(data, by=by, value="value", respondent="firm", hierarchies=known, contributions=True)
    found = cz.modular(cz.assess(table, cz.PPercent(20)))
    assert found.risk.respondents
    assert found.safe is cz.audit(found.pattern, found.risk).safe


@pytest.fixture
def problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cz.write_jj(risk_of([10]), "t.jj")
    cz.write_jj(flat_risk(), "flat.jj")


def flat_risk() -> Risk:
    table = make_table(lattice([FLAT_2, FLAT_2]), [12, 5, 7, 5, 2, 3, 7, 3, 4])
    asked = Fixed(np.array([0, 0, 0, 0, 1, 0, 0, 0, 0]))
    levels = Levels(asked, asked, Fixed(np.zeros(9, dtype=np.int64)))
    letters = np.where(asked.counts > 0, SENSITIVE, SAFE)
    return Risk(table, letters, levels, np.ones(9), (cz.Attacker.external(table),))


@pytest.mark.usefixtures("problem")
def test_every_face_compares_with_the_modular_pattern_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    machine = told(capsys, "protect", "t.jj", "--against-modular", "--report", "report.html")
    assert machine["modular"] == {
        "cost": 20,
        "hidden": 4,
        "safe": True,
        "open": 0,
        "requirements": 1,
        "sub_tables": 2,
    }
    said = "The modular pattern, of 2 sub-tables, costs 20 for 4 hidden cells and is safe: this costs the same."
    assert said in Path("report.html").read_text(encoding="utf-8")
    assert status(["protect", "t.jj", "--quiet", "--against-modular"]) == 0
    assert "The modular pattern, of 2 sub-tables," in capsys.readouterr().out
    assert "modular" not in told(capsys, "protect", "t.jj")


@pytest.mark.usefixtures("problem")
def test_a_note_says_why_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    machine = told(capsys, "protect", "flat.jj", "--against-modular")
    assert "modular" not in machine
    assert any(note.startswith("There is no modular pattern to compare with: ") for note in machine["notes"])  # type: ignore[attr-defined]


@pytest.mark.usefixtures("problem")
def test_other_methods_are_refused_before_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["protect", "t.jj", "--against-modular", "--method", "interval"]) == 2
    assert "--against-modular: compares patterns of hidden cells" in capsys.readouterr().err


def test_the_sentence_says_by_how_much_it_is_dearer_or_cheaper() -> None:
    found = cz.modular(risk_of([10]))
    assert found.sentence(10.0).endswith("this costs 50.0% less.")
    assert found.sentence(30.0).endswith("this costs 50.0% more.")
    assert repr(found) == "ModularPattern(2 sub-tables: 4 cells hidden, cost 20, safe)"
    assert cz.protect(risk_of([10])).beside(found).modular is found
