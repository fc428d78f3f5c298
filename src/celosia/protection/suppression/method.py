"""Complete suppression: cells are shown or hidden."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError
from celosia.pattern.entries import HIDDEN
from celosia.protection.method import NO_CELLS, Method, Wishes, refuse_beyond_knowledge
from celosia.protection.named_cells import places_of
from celosia.risk.cell_levels import CellLevels, check_levels, gather_levels, require_levels
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk
from celosia.table.cell_names import CellNames

CONDITIONAL = ("lower_if_hidden", "upper_if_hidden", "width_if_hidden")


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
    lower_if_hidden
        Distances of cells: if such a cell is hidden, attackers must not rule out values so far below the true one.
    upper_if_hidden
        Distances of cells: if such a cell is hidden, attackers must not rule out values so far above the true one.
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
    lower_if_hidden: Mapping[int, float | Fraction] = field(default_factory=dict)
    upper_if_hidden: Mapping[int, float | Fraction] = field(default_factory=dict)
    zeros_known: bool = False

    def __post_init__(self) -> None:
        found = Problems()
        if self.at_most is not None and self.at_most < 0:
            found.add("at_most", f"must be zero or more, not {self.at_most}.")
        for name in CONDITIONAL:
            check_levels(found, name, getattr(self, name))
        found.raise_as(SpecError)

    @property
    def conditional(self) -> dict[int, CellLevels]:
        """The levels that cells keep if they are hidden, exact as they are written."""
        return gather_levels(self.lower_if_hidden, self.upper_if_hidden, self.width_if_hidden)

    @property
    def wishes(self) -> Wishes:
        """What is wished of cells."""
        return Wishes(self.cost, self.must_show, self.must_hide, self.zeros_known)

    @property
    def hides_everything(self) -> bool:
        """Whether there is no limit to the number of hidden cells, and none must keep levels if it is hidden."""
        return self.at_most is None and not self.conditional

    @property
    def most_hidden(self) -> int | None:
        """At most so many cells may be hidden."""
        return self.at_most

    @property
    def takes_corners(self) -> bool:
        """Whether no cell is protected under a condition."""
        return not self.conditional

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes of the method: costs, what must be shown and hidden, who knows zeros.

        Raises
        ------
        SpecError
            A cell is not in the table, or must be both shown and hidden; costs are negative; an attacker knows more
            about a cell than its levels leave him if it is hidden.
        """
        found = Problems()
        with found.gather():
            risk = self.wishes.apply_to(risk)
        for name in CONDITIONAL:
            with found.gather():
                places_of(name, list(getattr(self, name)), risk.table)
        found.raise_as(SpecError)
        refuse_beyond_knowledge(risk, self.conditional, CONDITIONAL)
        return risk

    def cost_of_hiding_everything(self, risk: Risk) -> float | None:
        """Return what it would cost to hide all cells but those that must be shown."""
        return math.fsum(risk.cost[self.may_be_hidden(risk)].tolist())

    def require_widths(self, risk: Risk, hidden: NDArray[np.bool_]) -> Risk:
        """Return the risk in which hidden cells with levels of their own are sensitive: they must keep them."""
        return require_levels(risk, {cell: levels for cell, levels in self.conditional.items() if hidden[cell]})
