"""Levels of cells that are not shown: what they keep, for every method that hides or widens, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracles.bare_tables import seeded
from tests.oracles.suppression_cases import drawn, put, within_knowledge
from tests.oracles.suppression_oracle import Wishes, cheapest
from tests.unit.protection.conftest import refuse

from celosia import (
    Attacker,
    Combined,
    InfeasibleError,
    Intervals,
    Mixed,
    Protection,
    Risk,
    SpecError,
    Suppress,
    audit,
    certify,
    protect,
    verify,
)
from celosia.table.fixed import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")

RANGES = (Intervals, Combined, Mixed)


def with_distances(name: str, kind: str) -> Wishes:
    """Return a case in which most cells must not be known too well to one side if they are hidden."""
    chance = seeded(name)
    case = drawn(chance, kind, wishes=False)
    sides = [(Fraction(2), Fraction(0)), (Fraction(0), Fraction(3)), (Fraction(1), Fraction(9))]
    free = [cell for cell in range(len(case)) if cell not in case.levels and chance.random() < 0.7]
    return within_knowledge(replace(case, distances={cell: chance.choice(sides) for cell in free}))


@pytest.mark.parametrize("kind", ["flat", "tree", "equations"])
def test_hidden_cells_keep_their_distances_at_the_least_cost(kind: str) -> None:
    for number in range(6):
        case = with_distances(f"distances {kind} {number}", kind)
        risk, how = put(case)
        wanted = cheapest(case)
        if wanted is None:
            with pytest.raises(InfeasibleError):
                protect(risk, how)
            continue
        found = protect(risk, how)
        assert found.safe
        assert found.cost == pytest.approx(float(case.price(wanted)))


def concluded(result: Protection, cell: int) -> tuple[float, float]:
    """Return what an attacker concludes about a cell."""
    frame = audit(result, intervals=True).to_frame().set_index("cell")
    return float(frame.loc[cell, "lower"]), float(frame.loc[cell, "upper"])


@pytest.mark.parametrize("kind", RANGES)
def test_cells_that_are_not_shown_keep_what_is_asked(grid: Risk, kind: type[Intervals], tmp_path: Path) -> None:
    free = np.flatnonzero(~grid.sensitive).tolist()
    how = kind(width_if_not_shown=dict.fromkeys(free, 9.0), upper_if_not_shown=dict.fromkeys(free, 5.0), secret=1)
    found = protect(grid, how)
    assert found.cost >= protect(grid, kind(secret=1)).bound
    changed = np.setdiff1d(np.flatnonzero(found.pattern.status != "shown"), np.flatnonzero(grid.sensitive))
    assert len(changed)
    for cell in changed.tolist():
        lower, upper = concluded(found, cell)
        assert upper - lower >= 9.0 - 1e-9
        assert upper - grid.table.values[cell] >= 5.0 - 1e-9
    asked = {one.requirement.cell for one in found.audit.verdicts}
    assert set(changed.tolist()) <= asked
    certify(found).write(tmp_path / "proof.json")
    assert verify(tmp_path / "proof.json").consistent


@pytest.mark.parametrize("kind", RANGES)
def test_a_sensitive_cell_is_never_shown_and_keeps_them_in_any_case(grid: Risk, kind: type[Intervals]) -> None:
    (cell,) = np.flatnonzero(grid.sensitive).tolist()
    lower, upper = concluded(protect(grid, kind(width_if_not_shown={cell: 40.0}, secret=1)), cell)
    assert upper - lower >= 40.0 - 1e-9


@pytest.mark.parametrize("kind", [*RANGES, Suppress])
@pytest.mark.parametrize("side", ["lower", "upper", "width"])
def test_what_is_wider_than_an_attacker_knows_is_refused(grid: Risk, kind: Any, side: str) -> None:  # noqa: ANN401
    option = f"{side}_if_{'hidden' if kind is Suppress else 'not_shown'}"
    truth = grid.table.amounts.counts
    near = Attacker("neighbour", Fixed(truth - 1), Fixed(truth + 1))
    close = replace(grid, attackers=(*grid.attackers, near))
    refuse(close, kind(**{option: {3: 2.5}}), SpecError, option, ["attackers' bounds leave open", "'neighbour'"])
    refuse(grid, kind(**{option: {99: 2.5}}), SpecError, option, ["99"])


@pytest.mark.parametrize("number", [0, -2.0, float("nan"), float("inf")])
def test_numbers_that_say_nothing_are_refused(number: float) -> None:
    with pytest.raises(SpecError, match=r"^lower_if_not_shown: must be above zero; it is not for 3"):
        Mixed(lower_if_not_shown={3: number})
    with pytest.raises(SpecError, match=r"^upper_if_hidden: must be above zero; it is not for 3"):
        Suppress(upper_if_hidden={3: number})


def test_what_does_not_go_together_is_refused_by_name() -> None:
    with pytest.raises(SpecError, match="width_if_not_shown: and conceal=True do not go together"):
        Intervals(width_if_not_shown={3: 1}, conceal=True)
    with pytest.raises(SpecError, match="least_width: and conceal=True do not go together"):
        Intervals(least_width={3: 1}, conceal=True)
    with pytest.raises(SpecError, match="upper_if_not_shown: cannot be kept by the splitting method"):
        Combined(upper_if_not_shown={3: 1}, search="splitting")
