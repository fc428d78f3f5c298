"""Why a cell is hidden: whom it protects, and what showing it would cost; against the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.property import suppression_oracle as oracle
from tests.property.suppression_cases import KINDS, drawn, put, seeded

import celosia as cz
from celosia.errors import SpecError
from celosia.protect.methods import protect
from celosia.protect.suppress import Suppress
from celosia.protect.why import why, whys
from celosia.risk.risk import Risk


@pytest.mark.parametrize("kind", KINDS)
def test_against_the_oracle(kind: str) -> None:
    chance = seeded(f"why {kind}")
    drawn_ones = (drawn(chance, kind) for _ in range(100))
    safe = (case for case in drawn_ones if oracle.cheapest(case) is not None)
    for _ in range(1 if kind == "cube" else 2):
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
    ("cell", "words"), [(6, "is sensitive"), (15, "is shown"), (16, "not in the table"), (-1, "16")]
)
def test_questions_that_make_no_sense(grid: Risk, cell: int, words: str) -> None:
    found = protect(grid, Suppress(must_show=[15]))
    with pytest.raises(SpecError, match=f"^cell: .*{words}" if cell != -1 else "^cell: is not in the table: -1"):
        why(found, cell)
