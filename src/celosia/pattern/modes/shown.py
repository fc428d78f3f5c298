"""Shown: the value itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.pattern.arithmetic import differ
from celosia.pattern.entries import SHOWN, Fault
from celosia.pattern.modes.mode import check_cells, refuse_faults, truths
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Cells whose true value is published: the bounds are the value, and nothing is lost.

    Parameters
    ----------
    cells
        Places in the table, ``(m,)``.
    values
        Their true values, ``(m,)``.
    table
        The table, for checks and labels.
    """

    status: ClassVar[str] = SHOWN
    cells: NDArray[np.int64]
    values: Fixed
    table: InitVar[Table | None] = None

    def __post_init__(self, table: Table | None) -> None:
        object.__setattr__(self, "cells", check_cells(self.cells, table, {"values": self.values}))
        refuse_faults(self, [(self.values.infinite, "the value is infinite.", "Suppress the cell.")], table)

    @classmethod
    def of(cls, table: Table, cells: ArrayLike) -> Shown:
        """Return cells of a table, shown."""
        known = check_cells(cells, table)
        return cls(known, truths(table, known))

    def published(self) -> Fixed | None:
        """Return the true values."""
        return self.values

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return the true values twice."""
        return self.values, self.values

    def loss(self, table: Table, cost: NDArray[np.float64]) -> float:  # noqa: ARG002  (as in every mode)
        """Return zero."""
        return 0.0

    def faults(self, table: Table) -> Iterator[Fault]:
        """Yield the cells whose value is not the table's."""
        wrong = differ(self.values, truths(table, self.cells))
        yield wrong, "the value to be shown is not the table's.", "Take Shown.of(table, cells)."
