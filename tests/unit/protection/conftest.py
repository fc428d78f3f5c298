"""Small tables to protect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pytest
from tests.oracles.bare_tables import make_table

from celosia import Attacker, CelosiaError, Risk, protect
from celosia.protection.method import Method
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed

GRID = [20, 50, 10, 80, 8, 19, 22, 49, 17, 32, 12, 61, 45, 101, 44, 190]
"""Three rows and three columns with their totals (Salazar 2002, Figure 1)."""


class MakeRisk(Protocol):
    def __call__(
        self,
        rows: Sequence[Sequence[int]],
        values: Sequence[int],
        levels: Mapping[int, tuple[int, int, int]],
        *,
        cost: Sequence[float] | None = None,
        counts: bool = False,
    ) -> Risk: ...


def refuse(risk: Risk, method: Method | None, kind: type[CelosiaError], place: str, words: Sequence[str]) -> None:
    """Assert that a method refuses a risk for one reason, at a place and with some words."""
    with pytest.raises(kind) as caught:
        protect(risk, method)
    (problem,) = caught.value.problems
    assert problem.place == place
    for word in words:
        assert word in str(problem)


def make_risk(
    rows: Sequence[Sequence[int]],
    values: Sequence[int],
    levels: Mapping[int, tuple[int, int, int]],
    *,
    cost: Sequence[float] | None = None,
    counts: bool = False,
) -> Risk:
    n, table = len(values), make_table(rows, values, counts=counts)
    numbers = np.zeros((3, n), dtype=np.int64)
    for cell, own in levels.items():
        numbers[:, cell] = own
    status = np.array([SENSITIVE if cell in levels else SAFE for cell in range(n)])
    prices = np.array(np.maximum(values, 1) if cost is None else cost, dtype=np.float64)
    parts = Levels(*(Fixed(part) for part in numbers))
    return Risk(table, status, parts, prices, (Attacker.external(table),))


@pytest.fixture
def make() -> MakeRisk:
    """Return a maker of risks from relations, values, and lower, upper and sliding levels by cell."""
    return make_risk


@pytest.fixture
def grid_rows() -> list[list[int]]:
    """Return the relations of a table with three rows and three columns, totals last."""
    return [
        *([1 if k // 4 == row and k % 4 < 3 else -1 if k == 4 * row + 3 else 0 for k in range(16)] for row in range(4)),
        *([1 if k % 4 == col and k // 4 < 3 else -1 if k == 12 + col else 0 for k in range(16)] for col in range(4)),
    ]


@pytest.fixture
def grid(grid_rows: list[list[int]]) -> Risk:
    """Return a table in which cell 6 is sensitive: 10 below and 12 above."""
    return make_risk(grid_rows, GRID, {6: (10, 12, 0)})
