"""Combined suppression: every range has a price of its own, and one for its width."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError
from celosia.protection.intervals.method import Intervals
from celosia.protection.suppression.method import Suppress
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk


@dataclass(frozen=True, slots=True, eq=False)
class Combined(Intervals):
    """Publish few ranges that are narrow: a cost per range and one per unit of its width (thesis 3.28).

    Complete suppression counts cells, partial suppression widths; this weighs one against the other, and
    `celosia.trade_off` shows the curve between them. Everything but the following is as in `celosia.Intervals`.

    Parameters
    ----------
    cell_cost
        What a range costs whatever its width, of sensitive cells too: a text like ``"value"`` or ``"unity"``
        (`celosia.Cost`), or one number per cell.
    at_most
        At most so many ranges are published, those of sensitive cells included.
    """

    cell_cost: str | Cost | ArrayLike = "unity"
    at_most: int | None = None

    def __post_init__(self) -> None:
        found = Problems()
        with found.gathering():
            Intervals.__post_init__(self)
        if self.at_most is not None and self.at_most < 0:
            found.add("at_most", f"must be zero or more, not {self.at_most}.")
        found.raise_as(SpecError)

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return "combined"

    def cell_costs(self, risk: Risk) -> NDArray[np.float64]:
        """Return what a range of every cell costs whatever its width, ``(n_cells,)``."""
        try:
            return Suppress(self.cell_cost).applied(risk).cost
        except SpecError as error:
            raise SpecError(replace(problem, place="cell_cost") for problem in error.problems) from None
