"""Perturbed: a value within a known reach of the true one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.pattern.arithmetic import minus, outside, plus, repeat
from celosia.pattern.entries import PERTURBED, Fault
from celosia.pattern.modes.mode import check_cells, distance, refuse_faults, truths, weighted_sum
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Perturbed:
    r"""Cells of which a value near the true one is published, with its reach.

    Of a published :math:`v` with reach :math:`R` the reader concludes :math:`v - R \ldots v + R`. With
    :math:`v = a + z^+ - z^-` the loss is :math:`w^- z^- + w^+ z^+`.

    Parameters
    ----------
    cells
        Places in the table, ``(m,)``.
    values
        What is published, ``(m,)``.
    reach
        R, one for all or one for each cell.
    lower_cost, upper_cost
        :math:`w^-` and :math:`w^+` per unit, ``(m,)`` each; by default the cells' costs.
    table
        The table, for checks and labels.
    """

    status: ClassVar[str] = PERTURBED
    cells: NDArray[np.int64]
    values: Fixed
    reach: Fixed
    lower_cost: NDArray[np.float64] | None = None
    upper_cost: NDArray[np.float64] | None = None
    table: InitVar[Table | None] = None

    def __post_init__(self, table: Table | None) -> None:
        numbers = {"values": self.values, "reach": self.reach}
        costs = {"lower_cost": self.lower_cost, "upper_cost": self.upper_cost}
        object.__setattr__(self, "cells", check_cells(self.cells, table, numbers, costs, single=["reach"]))
        object.__setattr__(self, "reach", repeat(self.reach, len(self.cells)))
        endless = self.values.infinite | self.reach.infinite
        negative = np.asarray(self.reach.counts < 0, dtype=bool) & ~endless
        impossible = [
            (endless, "the published value or its reach is infinite.", "Suppress the cell."),
            (negative, "the reach is negative.", "It is a distance."),
        ]
        refuse_faults(self, impossible, table)

    def published(self) -> Fixed | None:
        """Return the perturbed values."""
        return self.values

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return the values less and plus their reach."""
        return minus(self.values, self.reach), plus(self.values, self.reach)

    def loss(self, table: Table, cost: NDArray[np.float64]) -> float:
        """Return the weighted distances below and above the truth."""
        above = distance(table, self.cells, self.values)
        own = cost[self.cells]
        return weighted_sum(
            (own if self.lower_cost is None else self.lower_cost, np.maximum(-above, 0.0)),
            (own if self.upper_cost is None else self.upper_cost, np.maximum(above, 0.0)),
        )

    def faults(self, table: Table) -> Iterator[Fault]:
        """Yield the cells whose value is further from the truth than its reach."""
        wrong = outside(truths(table, self.cells), *self.bounds())
        yield wrong, "the published value is further from the true one than its reach.", "Move it or widen the reach."
