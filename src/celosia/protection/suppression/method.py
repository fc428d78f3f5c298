"""Complete suppression: cells are shown or hidden."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError, list_items
from celosia.pattern.entries import HIDDEN
from celosia.protection.method import NO_CELLS, Method, Wishes, widen_levels
from celosia.protection.named_cells import places_of
from celosia.risk.cost import Cost
from celosia.risk.risk import SENSITIVE, Risk
from celosia.table.cell_names import CellNames


@dataclass(frozen=True, slots=True, eq=False)
class Suppress(Method):
    """Hide the sensitive cells, and as few others as safety needs (Salazar 2002, section 3).

    Parameters
    ----------
    cost
        What hiding a cell costs: value, unity, frequency, log or sums of them (`celosia.Cost`). By default as in the
        assessment. In Python also one number per cell. Cells that had better stay as last period get a smaller one.
    must_show
        Cells that are published as they are, such as those already published elsewhere. In Python places, labels
        (``"C x North"``) or codes (``{"industry": "C", "region": "North"}``, a dimension left out being its total,
        ``"*"`` every code).
    must_hide
        Cells that are hidden in any case.
    at_most
        The most cells that may be hidden, the sensitive ones included.
    width_if_hidden
        Widths of cells: if such a cell is hidden, attackers must not conclude a narrower range for it. Conditional
        protection: Salazar 2002, section 7.
    zeros_known
        Every attacker knows which cells are zero. To hide them is then of no use.
    """

    name = "suppress"
    statuses = frozenset((HIDDEN,))

    cost: str | Cost | ArrayLike | None = None
    must_show: CellNames = NO_CELLS
    must_hide: CellNames = NO_CELLS
    at_most: int | None = None
    width_if_hidden: Mapping[int, float | Fraction] = field(default_factory=dict)
    zeros_known: bool = False

    def __post_init__(self) -> None:
        found = Problems()
        if self.at_most is not None and self.at_most < 0:
            found.add("at_most", f"must be zero or more, not {self.at_most}.")
        narrow = [cell for cell, width in self.width_if_hidden.items() if not width > 0]
        if narrow:
            found.add(
                "width_if_hidden", f"must be above zero; it is not for {list_items(narrow)}.", "Leave it out for none."
            )
        found.raise_as(SpecError)

    @property
    def widths(self) -> dict[int, Fraction]:
        """The widths that cells keep if they are hidden, exact as they are written."""
        given = self.width_if_hidden.items()
        return {cell: Fraction(str(width)) if isinstance(width, float) else Fraction(width) for cell, width in given}

    @property
    def wishes(self) -> Wishes:
        """What is wished of cells."""
        return Wishes(self.cost, self.must_show, self.must_hide, self.zeros_known)

    @property
    def hides_everything(self) -> bool:
        """Whether there is no limit to the number of hidden cells, and none must keep a width if it is hidden."""
        return self.at_most is None and not self.width_if_hidden

    @property
    def most_hidden(self) -> int | None:
        """At most so many cells may be hidden."""
        return self.at_most

    @property
    def takes_corners(self) -> bool:
        """Whether no cell is protected under a condition."""
        return not self.width_if_hidden

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes of the method: costs, what must be shown and hidden, who knows zeros.

        Raises
        ------
        SpecError
            A cell is not in the table, or must be both shown and hidden; costs are negative.
        """
        found = Problems()
        with found.gather():
            risk = self.wishes.apply_to(risk)
        with found.gather():
            places_of("width_if_hidden", list(self.width_if_hidden), risk.table)
        found.raise_as(SpecError)
        return risk

    def cost_of_hiding_everything(self, risk: Risk) -> float | None:
        """Return what it would cost to hide all cells but those that must be shown."""
        return math.fsum(risk.cost[self.may_be_hidden(risk)].tolist())

    def require_widths(self, risk: Risk, hidden: NDArray[np.bool_]) -> Risk:
        """Return the risk in which hidden cells with a width of their own are sensitive: they must keep it."""
        wide = {cell: width for cell, width in self.widths.items() if hidden[cell]}
        if not wide:
            return risk
        status = risk.status.copy()
        status[list(wide)] = SENSITIVE
        return replace(risk, status=status).change_levels(lambda levels: widen_levels(levels, wide))
