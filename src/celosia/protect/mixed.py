"""Mixed releases: every cell has its own allowed ways of publication, and one optimisation weighs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import SpecError
from celosia.protect.intervals import Intervals
from celosia.protect.suppress import Suppress, cells_of
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Mixed(Intervals):
    """Show, hide or widen: this column may be ranges, that one is hidden or shown, in one optimisation.

    A cell that may be neither hidden nor a range is shown. By default a range costs 1 per unit of its width and hiding
    the value of the cell, so that a range as wide as its value costs as much as hiding it. Everything but the following
    is as in `celosia.Intervals`.

    Parameters
    ----------
    hide_cost
        What hiding a cell costs: a text like ``"value"`` (`celosia.Cost`), or one number per cell.
    may_hide
        Places of cells that may be hidden, or a mask over all cells; by default all.
    may_range
        Places of cells that may be ranges, or a mask over all cells; by default all.
    must_hide
        Places of cells that are hidden in any case.
    """

    cost: str | Cost | ArrayLike | None = "unity"
    hide_cost: str | Cost | ArrayLike = "value"
    may_hide: Sequence[int] | NDArray[np.int64] | NDArray[np.bool_] | None = None
    may_range: Sequence[int] | NDArray[np.int64] | NDArray[np.bool_] | None = None
    must_hide: Sequence[int] | NDArray[np.int64] = ()

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return "mixed"

    @property
    def hides(self) -> bool:
        """Whether cells may be hidden as well."""
        return True

    def applied(self, risk: Risk) -> Risk:
        """Return the risk with what this method asks for; see `celosia.Intervals`."""
        status = Suppress(must_show=self.must_show, must_hide=self.must_hide).applied(risk).status
        return replace(Intervals.applied(self, risk), status=status)

    def hide_costs(self, risk: Risk) -> NDArray[np.float64]:
        """Return what hiding every cell costs, infinite where it may not be hidden, ``(n_cells,)``."""
        try:
            cost = Suppress(self.hide_cost).applied(risk).cost
        except SpecError as error:
            raise SpecError(replace(problem, place="hide_cost") for problem in error.problems) from None
        return np.where(_allowed("may_hide", self.may_hide, risk.table), cost, np.inf)

    def ranges(self, risk: Risk) -> NDArray[np.bool_]:
        """Return which cells may be ranges, ``(n_cells,)``."""
        return _allowed("may_range", self.may_range, risk.table)


def _allowed(
    name: str, cells: Sequence[int] | NDArray[np.int64] | NDArray[np.bool_] | None, table: Table
) -> NDArray[np.bool_]:
    if cells is None:
        return np.ones(len(table), dtype=bool)
    mask = np.zeros(len(table), dtype=bool)
    mask[cells_of(name, np.asarray(cells), table)] = True
    return mask
