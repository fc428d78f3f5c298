"""Combined suppression: every range has a price of its own, and one for its width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    """

    name = "combined"
    has_fixed_costs = True

    cell_cost: str | Cost | ArrayLike = "unity"

    def cell_costs(self, risk: Risk) -> NDArray[np.float64]:
        """Return what a range of every cell costs whatever its width, ``(n_cells,)``."""
        return costs_of("cell_cost", self.cell_cost, risk, some=True)
