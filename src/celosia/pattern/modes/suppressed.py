"""Suppressed: nothing at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.pattern.arithmetic import endless
from celosia.pattern.entries import HIDDEN, Fault
from celosia.pattern.modes.mode import check_cells, weighted_sum
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Suppressed:
    """Cells that are hidden: no number, no bounds; the loss is their cost.

    Parameters
    ----------
    cells
        Places in the table, ``(m,)``.
    table
        The table, for checks.
    """

    status: ClassVar[str] = HIDDEN
    cells: NDArray[np.int64]
    table: InitVar[Table | None] = None

    def __post_init__(self, table: Table | None) -> None:
        object.__setattr__(self, "cells", check_cells(self.cells, table))

    def published(self) -> Fixed | None:
        """Return None: nothing is shown."""
        return None

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return minus and plus infinity."""
        return endless(len(self.cells))

    def loss(self, table: Table, cost: NDArray[np.float64]) -> float:  # noqa: ARG002  (as in every mode)
        """Return the sum of the costs, ``w x`` with ``x = 1``."""
        return weighted_sum((cost[self.cells], np.ones(len(self.cells))))

    def faults(self, table: Table) -> Iterator[Fault]:  # noqa: ARG002  (as in every mode)
        """Yield nothing: silence is never wrong."""
        yield from ()
