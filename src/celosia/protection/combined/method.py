"""Combined suppression: every range has a price of its own, and one for its width."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError
from celosia.protection.intervals.method import Intervals
from celosia.protection.method import costs_of
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk


@dataclass(frozen=True, slots=True, eq=False)
class Combined(Intervals):
    """Publish few ranges that are narrow: a cost per range and one per unit of its width (thesis 3.28).

    Complete suppression counts cells, partial suppression widths; this weighs one against the other, and
    `celosia.trade_off` shows the curve between them. Where ranges cost next to nothing beside widths, what the `gap` of
    `celosia.protect` allows is spent on fewer ranges. Everything but the following is as in `celosia.Intervals`.

    Parameters
    ----------
    cell_cost
        What a range costs whatever its width: value, unity, frequency, log or sums of them (`celosia.Cost`). It is
        counted for sensitive cells, too. In Python also one number per cell.
    at_most
        The most ranges that may be published, those of sensitive cells included.
    """

    name = "combined"
    has_fixed_costs = True

    cell_cost: str | Cost | ArrayLike = "unity"
    at_most: int | None = None

    def __post_init__(self) -> None:
        found = Problems()
        with found.gather():
            Intervals.__post_init__(self)
        if self.at_most is not None and self.at_most < 0:
            found.add("at_most", f"must be zero or more, not {self.at_most}.")
        found.raise_as(SpecError)

    def cell_costs(self, risk: Risk) -> NDArray[np.float64]:
        """Return what a range of every cell costs whatever its width, ``(n_cells,)``."""
        return costs_of("cell_cost", self.cell_cost, risk, some=True)

    @property
    def takes_free_cells(self) -> bool:
        """Whether the number of ranges has no limit: free cells would count."""
        return self.at_most is None

    def add_free_cells(self, risk: Risk, more: int) -> Combined:
        """Return the method for the table with so many free cells more; see `celosia.protection.method.Method`."""
        method = cast("Combined", Intervals.add_free_cells(self, risk, more))
        return replace(method, cell_cost=np.append(self.cell_costs(risk), np.zeros(more)))

    def limit_widths(self, width: Fraction, cells: int) -> Combined:
        """Return the method with a greatest width of the first cells: no optimal range is wider."""
        own = self.most
        return replace(self, most_width={cell: min(own.get(cell, width), width) for cell in range(cells)})
