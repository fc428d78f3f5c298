"""Levels that are missed by next to nothing: the audit, not doubles, has the last word."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.oracles.bare_tables import lattice

from celosia import Protection, protect

if TYPE_CHECKING:
    from tests.unit.protection.conftest import MakeRisk

SOLVERS = [
    "highs",
    pytest.param(
        "scip", marks=pytest.mark.skipif(find_spec("pyscipopt") is None, reason="celosia[scip] is not installed")
    ),
]


def hidden(found: Protection) -> set[int]:
    return set(np.flatnonzero(found.pattern.status != "shown").tolist())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [10**3, 10**7, 10**9, 10**12])
def test_the_dearer_rectangle_where_the_cheaper_one_misses_by_one(make: MakeRisk, size: int, solver: str) -> None:
    rows = lattice([{0: [1, 2]}, {0: [1, 2, 3]}])
    values = np.zeros((3, 4), dtype=np.int64)
    values[1:, 1:] = [[3 * size, size, size + 1], [5 * size, 5 * size, 5 * size]]
    values[0] = values[1:].sum(axis=0)
    values[:, 0] = values[:, 1:].sum(axis=1)
    cost = [100.0] * 12
    cost[6] = cost[10] = 1.0
    cost[7] = cost[11] = 2.0
    up = {5: (0, size + 1, 0)}  # the cell beside it goes down: by size, or by size + 1
    found = protect(make(rows, values.ravel().tolist(), up, cost=cost), solver=solver)
    assert hidden(found) == {5, 7, 9, 11}
    assert found.optimal
    enough = protect(make(rows, values.ravel().tolist(), {5: (0, size, 0)}, cost=cost), solver=solver)
    assert hidden(enough) == {5, 6, 9, 10}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [10**3, 10**7, 10**9, 10**12])
def test_the_dearer_cuboid_where_the_cheaper_one_misses_by_one(make: MakeRisk, size: int, solver: str) -> None:
    """The same where no flow tells: cell (1, 1, 1) goes up, and the one beside it down by size, or by size + 1."""
    rows = lattice([{0: [1, 2]}, {0: [1, 2]}, {0: [1, 2, 3]}])
    values = np.full((3, 3, 4), 5 * size, dtype=np.int64)
    values[1, 1, 1:] = [3 * size, size, size + 1]
    for axis in range(3):
        total = np.take(values, range(1, values.shape[axis]), axis=axis).sum(axis=axis)
        values[(slice(None),) * axis + (0,)] = total
    place = np.arange(36).reshape(3, 3, 4)
    cheap, dear = set(place[1:, 1:, [1, 2]].ravel().tolist()), set(place[1:, 1:, [1, 3]].ravel().tolist())
    cost = [1.0 if cell in cheap else 2.0 if cell in dear else 100.0 for cell in range(36)]
    sensitive = int(place[1, 1, 1])
    found = protect(make(rows, values.ravel().tolist(), {sensitive: (0, size + 1, 0)}, cost=cost), solver=solver)
    assert hidden(found) == dear
    assert found.optimal
    enough = protect(make(rows, values.ravel().tolist(), {sensitive: (0, size, 0)}, cost=cost), solver=solver)
    assert hidden(enough) == cheap
