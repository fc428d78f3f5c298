"""Windows of their own for every cell, against every table that adds up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.oracles.bare_tables import seeded
from tests.oracles.moving_cases import put
from tests.oracles.moving_oracle import Case, distance, moves, safe
from tests.unit.protection.conftest import make_risk

from celosia import InfeasibleError, Perturb, SpecError, certify, protect, verify

ROWS = [[1, 1, 0, 0, -1, 0], [0, 0, 1, 1, 0, -1], [1, 0, 1, 0, 0, 0]]
"""Two sums, and two cells that share a constant: what one gains the other loses."""


def cheapest(case: Case, windows: dict[int, tuple[int, int]], reach: int, move: int) -> tuple[int, ...] | None:
    """Return the nearest safe table within windows in which sensitive cells move up by so much at least."""
    ends = [windows.get(cell, (value - reach, value + reach)) for cell, value in enumerate(case.values)]
    options = [
        range(case.values[cell] + move if cell in case.levels else max(low, 0), high + 1)
        for cell, (low, high) in enumerate(ends)
    ]
    far = [high - low if cell in windows else reach for cell, (low, high) in enumerate(ends)]
    for table in moves(case, options):
        pairs = list(zip(table, far, strict=True))
        if safe(case, [v - r for v, r in pairs], [v + r for v, r in pairs]):
            return table
    return None


@pytest.mark.parametrize("number", range(14))
def test_the_nearest_safe_table_within_windows_is_found(number: int, tmp_path: Path) -> None:
    chance = seeded(f"windows {number}")
    inner = [chance.randint(1, 9) for _ in range(4)]
    values = [*inner, inner[0] + inner[1], inner[2] + inner[3]]
    levels = {chance.randrange(4): chance.choice([(1.0, 2.0, 0.0), (0.0, 0.0, 4.0), (2.0, 0.0, 0.0)])}
    cost = [float(chance.choice([1, 2, 5])) for _ in values]
    case = Case(ROWS, values, levels, [([0.0] * 6, [np.inf] * 6)], cost)
    windows = {
        cell: (values[cell] - chance.choice([0, 1, 2]), values[cell] + chance.choice([1, 2, 4]))
        for cell in range(6)
        if chance.random() < 0.7
    }
    wanted = cheapest(case, windows, 3, 1)
    how = Perturb(3, windows=windows, move=1, side="up", cost=cost)
    if wanted is None:
        with pytest.raises(InfeasibleError):
            protect(put(case), how)
        return
    found = protect(put(case), how)
    assert found.safe
    assert found.cost == pytest.approx(distance(case, wanted))
    published = found.pattern.published().counts
    assert all(low <= published[cell] <= high for cell, (low, high) in windows.items())
    certify(found).write(tmp_path / "proof.json")
    assert verify(tmp_path / "proof.json").consistent


def test_readers_are_told_the_width_of_the_window() -> None:
    risk = make_risk([[1, 1, -1]], [7, 13, 20], {0: (1, 1, 0)}, cost=[1.0] * 3, counts=True)
    found = protect(risk, Perturb(4, windows={0: (2, 8)}, secret=1))
    published = found.pattern.published().counts[0]
    lower, upper = (side.counts[0] for side in found.pattern.bounds())
    assert (lower, upper) == (published - 6, published + 6)


def test_a_cell_at_the_end_of_its_window_moves_to_the_other_side() -> None:
    risk = make_risk([[1, 1, -1]], [7, 13, 20], {0: (1, 1, 0)}, cost=[1.0] * 3, counts=True)
    for secret in range(6):
        assert protect(risk, Perturb(4, windows={0: (2, 7)}, secret=secret)).pattern.published().counts[0] < 7
        assert protect(risk, Perturb(4, windows={0: (7, 12)}, secret=secret)).pattern.published().counts[0] > 7


def test_windows_without_the_truth_are_refused() -> None:
    risk = make_risk([[1, 1, -1]], [7, 13, 20], {}, cost=[1.0] * 3)
    said = r"^windows: exclude the true values of 'cell 0', 'cell 2'. Widen them, or leave them out"
    with pytest.raises(SpecError, match=said):
        protect(risk, Perturb(4, windows={0: (8, 12), 1: (13, 14), 2: (1, 3)}))
    with pytest.raises(SpecError, match=r"^windows: name cells that are not in the table: 9"):
        protect(risk, Perturb(4, windows={9: (8, 12)}))


@pytest.mark.parametrize("window", [(3, 3), (4, 2), 5, (1, 2, 3)])
def test_what_is_no_window_is_refused(window: object) -> None:
    with pytest.raises(SpecError, match="windows: must be a lowest value and a higher one; they are not for 3"):
        Perturb(4, windows={3: window})  # type: ignore[dict-item]


def test_windows_and_concealed_levels_are_refused_together() -> None:
    with pytest.raises(SpecError, match="windows: and conceal are both given"):
        Perturb(4, windows={0: (2, 8)}, conceal=True)
