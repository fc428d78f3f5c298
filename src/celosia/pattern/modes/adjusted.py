"""Adjusted: a plausible value in place of the true one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.pattern.arithmetic import endless
from celosia.pattern.entries import ADJUSTED, Fault
from celosia.pattern.modes.mode import check_cells, distance, refuse_faults, weighted_sum
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """Cells of which another value is published, without a word about how far the truth is.

    Such entries give no bounds away. What protects is their distance from the truth, not an interval: a pattern with
    one of them has the criterion ``distance``. The loss is ``w abs(v - a)``.

    Parameters
    ----------
    cells
        Places in the table, ``(m,)``.
    values
        What is published, ``(m,)``.
    table
        The table, for checks and labels.
    """

    status: ClassVar[str] = ADJUSTED
    cells: NDArray[np.int64]
    values: Fixed
    table: InitVar[Table | None] = None

    def __post_init__(self, table: Table | None) -> None:
        object.__setattr__(self, "cells", check_cells(self.cells, table, {"values": self.values}))
        refuse_faults(self, [(self.values.infinite, "the value is infinite.", "Suppress the cell.")], table)

    def published(self) -> Fixed | None:
        """Return the adjusted values."""
        return self.values

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return minus and plus infinity."""
        return endless(len(self.cells))

    def loss(self, table: Table, cost: NDArray[np.float64]) -> float:
        """Return the weighted distances from the truth."""
        return weighted_sum((cost[self.cells], np.abs(distance(table, self.cells, self.values))))

    def faults(self, table: Table) -> Iterator[Fault]:  # noqa: ARG002  (as in every mode)
        """Yield nothing: no value is too far."""
        yield from ()
