"""Why a cell is hidden: whom it protects, and what showing it would cost; against the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.golden.test_intervals import SQUARE
from tests.oracles import suppression_oracle as oracle
from tests.oracles.bare_tables import seeded
from tests.oracles.suppression_cases import KINDS, drawn, put
from tests.unit.protection.conftest import GRID, make_risk

import celosia as cz
from celosia import Combined, Intervals, Mixed, Pattern, Risk, Round, SpecError, Suppress, audit, protect, why, whys
from celosia.attack.findings import MET
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.suppressed import Suppressed


@pytest.mark.parametrize("tables", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_against_the_oracle(kind: str, tables: int) -> None:
    chance = seeded(f"why {kind}")
    drawn_ones = (drawn(chance, kind) for _ in range(100))
    safe = (case for case in drawn_ones if oracle.cheapest(case) is not None)
    for _ in range(tables):
        case = next(safe)
        found = protect(*put(case))
        pattern = frozenset(np.flatnonzero(found.pattern.status != "shown").tolist())
        for cell in found.secondary[:6].tolist():
            said = why(found, cell)
            assert set(said.unsafe.tolist()) == oracle.unsafe_cells(case, pattern - {cell})
            assert said.before == found.cost
            if cell in case.hidden:
                assert said.asked
                continue
            without = replace(case, shown=case.shown | {cell})
            best = oracle.cheapest(without)
            assert said.possible == (best is not None)
            if best is not None:
                assert said.cost is not None
                assert said.cost == said.bound <= float(without.price(best))
                instead = pattern - {cell} - set(said.shown.tolist()) | set(said.hidden.tolist())
                assert oracle.is_safe(without, instead)
                assert float(without.price(instead)) == said.cost


def test_in_words(grid: Risk) -> None:
    found = cz.protect(grid)
    said = [str(one) for one in cz.whys(found)]
    assert len(said) == len(found.secondary)
    assert all("attackers would come too close to 'cell 6'" in one for one in said)
    assert all("Shown, it would cost" in one for one in said)


def test_a_cell_that_must_be_hidden(grid: Risk) -> None:
    found = protect(grid, Suppress(must_hide=[0]))
    assert str(why(found, 0)).endswith(("must_hide asks for it.", "It must be hidden anyway."))


def test_a_cell_that_cannot_be_shown(grid: Risk) -> None:
    found = protect(grid)
    needed = found.secondary.tolist()
    others = [cell for cell in range(16) if cell != 6 and cell not in needed]
    for one in whys(protect(grid, Suppress(must_show=others))):
        assert one.possible is False
        assert "cannot be shown" in str(one)


def test_out_of_time_is_said(grid: Risk) -> None:
    said = why(protect(grid), int(protect(grid).secondary[0]), time_limit=1e-9)
    assert said.possible is not False
    assert said.bound <= (said.cost if said.cost is not None else np.inf)


@pytest.mark.parametrize(
    ("cell", "words"),
    [(6, "is sensitive"), (15, "is shown"), (16, "there is no cell 16"), (-1, "there is no cell -1")],
)
def test_questions_that_make_no_sense(grid: Risk, cell: int, words: str) -> None:
    found = protect(grid, Suppress(must_show=[15]))
    with pytest.raises(SpecError, match=f"^cell: .*{words}"):
        why(found, cell)


RANGED = {
    "interval": Intervals(secret=1, conceal=False),
    "combined": Combined(secret=1, conceal=False),
    "mixed": Mixed(secret=1, hide_cost=np.full(16, 6.0), conceal=False),
    "numbers": Mixed(secret=1, round_base=5, reach=4, conceal=False),
}


@pytest.mark.parametrize("most", [2, pytest.param(16, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", RANGED)
@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
def test_ranges_are_explained_by_what_the_audit_finds_without_them(name: str, most: int) -> None:
    """With the cell shown and all else as it is, attackers come too close to the cells that the answer names."""
    risk = make_risk(SQUARE, GRID, {6: (2, 2, 0), 9: (0, 0, 3)}, cost=[1.0] * 16)
    found = protect(risk, RANGED[name])
    assert len(found.secondary)
    for cell in found.secondary[:most].tolist():
        said = why(found, cell, time_limit=5)
        assert said.status == found.pattern.status[cell] != "shown"
        lower, upper = found.pattern.bounds()
        ends = [
            Interval(np.array([k]), lower[[k]], upper[[k]])
            for k in np.flatnonzero(np.isfinite(lower.floats) & (lower.floats < upper.floats)).tolist()
            if k != cell
        ]
        hidden = np.flatnonzero(np.isinf(lower.floats) & (np.arange(16) != cell))
        checked = audit(Pattern.of(risk.table, *ends, Suppressed(hidden)), risk)
        missed = {verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET}
        assert set(said.unsafe.tolist()) == missed
        if said.cost is not None:
            assert said.cost >= found.cost * (1 - 1e-4)
            assert said.bound <= said.cost
        assert str(said).startswith(f"'cell {cell}' is ") or not missed


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
def test_a_range_that_a_least_width_asks_for() -> None:
    risk = make_risk(SQUARE, GRID, {6: (2, 2, 0)}, cost=[1.0] * 16)
    said = why(protect(risk, Intervals(secret=1, least_width={0: 3})), 0)
    assert said.asked
    assert str(said).endswith("It must be a range anyway.")


def test_other_methods_explain_nothing() -> None:
    risk = make_risk(SQUARE, GRID, {6: (2, 2, 0)}, cost=[1.0] * 16)
    with pytest.raises(SpecError, match="Suppression, ranges and mixed releases"):
        why(protect(risk, Round(5)), 0)
