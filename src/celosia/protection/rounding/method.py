"""Controlled rounding: every cell becomes a multiple of a base, and they still add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError, list_items
from celosia.pattern.entries import ROUNDED
from celosia.protection.method import NO_CELLS, Method, Wishes
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk
from celosia.table.cell_names import CellNames
from celosia.table.table import Table
from celosia.table.units import Number, count_units, is_one_number, read_fractions, refuse_fractions


@dataclass(frozen=True, slots=True, eq=False)
class Round(Method):
    """Round every cell to a multiple of a base next to it, so that all still adds up (Salazar 2002, section 5).

    The reader of a rounded value v knows the base b, the number K of extra multiples, and the unit u of the last
    decimal (1 for counts): the truth lies in ``v - (K + 1) b + u .. v + (K + 1) b - u``. Cells that happen to be
    multiples of the base are published like all others.

    Parameters
    ----------
    base
        Values are rounded to multiples of it (b). A whole number of units of the last decimal, in Python also one for
        each cell.
    cost
        What a unit of distance from the true value costs in a cell: value, unity, frequency, log or sums of them
        (`celosia.Cost`). In Python also one number per cell.
    at_most
        The most cells that may be published with another value than the true one. Cells that are no multiples of their
        base always are. So it limits how many others are moved where that is needed (K > 0); fewer cells than that
        change where they may be shown as they are, with ``celosia.Mixed(round_base=...)``.
    frozen
        Cells that are published as they are, such as those already published elsewhere.
    extra
        The multiples beyond the next one to which values may be rounded (K); by default as few as needed. That is
        almost always 0; the result's method says how many.
    relax_levels
        Ask for less where no rounding meets all protection levels; the result is then not safe.
    zeros_known
        Every attacker knows which cells are zero.
    """

    name = "round"
    statuses = frozenset((ROUNDED,))

    base: Number | Sequence[Number] | NDArray[np.float64] | NDArray[np.int64] = 5
    cost: str | Cost | ArrayLike = "unity"
    at_most: int | None = None
    frozen: CellNames = NO_CELLS
    extra: int | None = None
    relax_levels: bool = False
    zeros_known: bool = False

    def __post_init__(self) -> None:
        found = Problems()
        with found.gather():
            numbers = read_fractions("base", self.base)
            flat = [k for k, number in enumerate(numbers) if not number > 0]
            if flat:
                where = "" if is_one_number(self.base) else f" It is not for {list_items(flat)}."
                found.add("base", f"must be above zero.{where}", "Bases for counts are 3, 5 or 10.")
        if self.at_most is not None and self.at_most < 0:
            found.add("at_most", f"must be zero or more, not {self.at_most}.")
        if self.extra is not None and self.extra < 0:
            found.add("extra", f"must be zero or more, not {self.extra}.", "Leave it out for as few as needed.")
        found.raise_as(SpecError)

    @property
    def wishes(self) -> Wishes:
        """What is wished of cells."""
        return Wishes(self.cost, self.frozen, zeros_known=self.zeros_known, show_option="frozen")

    def bases(self, table: Table) -> NDArray[np.int64]:
        """Return the base of every cell in units of the table's last decimal, ``(n_cells,)``.

        Raises
        ------
        SpecError
            There are not as many as cells, one is no whole number of units, or they are larger than every cell.
        """
        counts = count_units("base", self.base, table)
        if len(table) and bool((counts > np.abs(table.amounts.counts)).all()):
            raise SpecError.one("base", "is larger than every cell.", "Take a smaller base.")
        return counts

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes of the method: costs, what is frozen, who knows zeros.

        Raises
        ------
        SpecError
            A frozen cell is not in the table or is sensitive; costs are negative; the base does not suit the table.
        DataError
            Counts are not whole numbers.
        """
        found = Problems()
        applied = risk
        with found.gather():
            applied = self.wishes.apply_to(risk)
        with found.gather():
            self.bases(risk.table)
        found.raise_as(SpecError)
        refuse_fractions(risk.table, risk.table.is_count)
        return applied
