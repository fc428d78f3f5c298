"""Interval: a range that contains the value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.pattern.arithmetic import greater, outside
from celosia.pattern.entries import INTERVAL, Fault
from celosia.pattern.modes.mode import check_cells, distance, refuse_faults, truths, weighted_sum
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    r"""Cells of which a range is published, and no number.

    With :math:`z^- = a - lower` and :math:`z^+ = upper - a` the loss is :math:`w^- z^- + w^+ z^+`; in combined
    suppression every range that is more than a point has a fixed cost on top.

    Parameters
    ----------
    cells
        Places in the table, ``(m,)``.
    lower, upper
        The ranges, ``(m,)`` each. One end may be infinite ("500 or more").
    lower_cost, upper_cost
        :math:`w^-` and :math:`w^+` per unit, ``(m,)`` each; by default the cells' costs.
    fixed_cost
        The cost of publishing a range at all, ``(m,)``; by default none.
    table
        The table, for checks and labels.
    """

    status: ClassVar[str] = INTERVAL
    cells: NDArray[np.int64]
    lower: Fixed
    upper: Fixed
    lower_cost: NDArray[np.float64] | None = None
    upper_cost: NDArray[np.float64] | None = None
    fixed_cost: NDArray[np.float64] | None = None
    table: InitVar[Table | None] = None

    def __post_init__(self, table: Table | None) -> None:
        numbers = {"lower": self.lower, "upper": self.upper}
        costs = {"lower_cost": self.lower_cost, "upper_cost": self.upper_cost, "fixed_cost": self.fixed_cost}
        object.__setattr__(self, "cells", check_cells(self.cells, table, numbers, costs))
        refuse_faults(self, self._impossible(), table)

    def _impossible(self) -> Iterator[Fault]:
        crossed = greater(self.lower, self.upper)
        yield crossed, "lower is above upper.", "An interval contains the truth."
        both = self.lower.infinite & self.upper.infinite & ~crossed
        yield both, "the interval is infinite on both sides.", "Suppress the cell."

    def published(self) -> Fixed | None:
        """Return None: the range is all there is."""
        return None

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return the ranges."""
        return self.lower, self.upper

    def loss(self, table: Table, cost: NDArray[np.float64]) -> float:
        """Return the weighted widths below and above the truth, and the fixed costs."""
        own = cost[self.cells]
        below = own if self.lower_cost is None else self.lower_cost
        above = own if self.upper_cost is None else self.upper_cost
        fixed = np.zeros(len(own)) if self.fixed_cost is None else self.fixed_cost
        return weighted_sum(
            (below, -distance(table, self.cells, self.lower)),
            (above, distance(table, self.cells, self.upper)),
            (fixed, greater(self.upper, self.lower)),
        )

    def faults(self, table: Table) -> Iterator[Fault]:
        """Yield the cells whose range does not contain the truth."""
        wrong = outside(truths(table, self.cells), self.lower, self.upper)
        yield wrong, "the interval does not contain the true value.", "Widen or move it."
