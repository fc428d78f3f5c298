"""Requirements that hold against an attacker who knows more are not asked again for one who knows less."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.protection.engine.subproblems.requirements import SideRequirements, drop_implied_sides

NARROW, WIDE = [5, 5, 5], [9, 9, 5]


def sides(*given: tuple[int, int, int]) -> SideRequirements:
    """Return upward sides by column, attacker and level."""
    columns, attackers, levels = (np.array(part, dtype=np.int64) for part in zip(*given, strict=True))
    flags = np.ones(len(given), dtype=bool)
    return SideRequirements(np.arange(len(given)), columns, attackers, flags, levels.astype(np.float64), ~flags)


@pytest.mark.parametrize(
    ("given", "bounds", "kept"),
    [
        (((0, 0, 3), (0, 1, 3)), (NARROW, WIDE), [0]),
        (((0, 0, 3), (0, 1, 3)), (WIDE, NARROW), [1]),
        (((0, 0, 3), (0, 1, 4)), (NARROW, WIDE), [0, 1]),
        (((0, 0, 3), (1, 1, 3)), (NARROW, WIDE), [0, 1]),
        (((0, 0, 3), (0, 1, 3)), (NARROW, NARROW), [0]),
        (((0, 0, 3), (0, 1, 3)), ([5, 9, 5], [9, 5, 5]), [0, 1]),
    ],
)
def test_who_knows_less_asks_for_no_more(
    given: tuple[tuple[int, int, int], ...], bounds: tuple[list[int], list[int]], kept: list[int]
) -> None:
    bound = np.array(bounds, dtype=np.int64)
    assert drop_implied_sides(sides(*given), bound, bound).requirements.tolist() == kept


def test_bounds_count_on_both_sides() -> None:
    up, down = np.array([NARROW, WIDE]), np.array([WIDE, NARROW])
    assert len(drop_implied_sides(sides((0, 0, 3), (0, 1, 3)), up, down)) == 2
