"""Small tables built by hand: a bare problem, one with labels, one with decimals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pytest

from celosia import Hierarchy, Table
from celosia.table.dimension import Dimension
from celosia.table.fixed import Fixed
from celosia.table.lattice import Lattice
from celosia.table.relations import Relations, sums_of


class MakeTable(Protocol):
    def __call__(self, values: Sequence[object]) -> Table: ...


@pytest.fixture
def bare() -> MakeTable:
    """Return a maker of tables without labels and relations."""

    def make(values: Sequence[object]) -> Table:
        n = len(values)
        amounts = Fixed.of_texts([str(value) for value in values])
        return Table((), np.zeros((n, 0), np.int32), ("value",), np.zeros(n, np.int32), amounts, Relations.none(n))

    return make


def table_of_regions(values: Sequence[object], north: str = "North") -> Table:
    """Return a table by region (Total, North, South) and status (Total, old, new), cells in that order."""
    dimensions = [
        Dimension.of("region", [Hierarchy.flat([north, "South"])]),
        Dimension.of("status", [Hierarchy.flat(["old", "new"])]),
    ]
    codes = np.array([[i, j] for i in range(3) for j in range(3)], dtype=np.int32)
    lattice = Lattice.of_codes(codes, [3, 3])
    return Table(
        axes=tuple(dimension.axis for dimension in dimensions),
        codes=lattice.codes,
        variables=("turnover",),
        variable=np.zeros(9, dtype=np.int32),
        amounts=Fixed.of_texts([str(value) for value in values]),
        relations=sums_of(dimensions, lattice),
    )


@pytest.fixture
def regions() -> MakeTable:
    """Return a maker of tables by region and status."""
    return table_of_regions
