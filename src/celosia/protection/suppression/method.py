"""Complete suppression: cells are shown or hidden."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError, listed
from celosia.pattern.modes.mode import checked_cells, checked_costs
from celosia.risk.attacker import Attacker
from celosia.risk.cost import Cost
from celosia.risk.risk import HIDE, SENSITIVE, SHOW, Risk
from celosia.table.fixed import Fixed
from celosia.table.naming import CellNames, are_names, find_cells
from celosia.table.table import Table

_NOTHING: tuple[int, ...] = ()

_FINEST = 9
"""Widths have no more decimals than this."""


@dataclass(frozen=True, slots=True, eq=False)
class Suppress:
    """Hide the sensitive cells, and as few others as safety needs (Salazar 2002, section 3).

    Parameters
    ----------
    cost
        What hiding a cell costs: a text like ``"value"`` or ``"unity"`` (`celosia.Cost`), or one number per cell; by
        default what `celosia.assess` was told. Cells that had better stay as last period get a smaller one.
    must_show
        Cells that are shown in any case, such as those already published elsewhere: places, labels (``"C x North"``) or
        codes (``{"industry": "C", "region": "North"}``, a dimension left out being its total, ``"*"`` every code).
    must_hide
        Cells that are hidden in any case.
    at_most
        At most so many cells are hidden, the sensitive ones included.
    width_if_hidden
        Widths by cell: *if* the cell is hidden, nobody must conclude a narrower range for it (conditional protection;
        Salazar 2002, section 7).
    zeros_known
        Every attacker knows which cells are zero, so that hiding them is of no use.
    """

    cost: str | Cost | ArrayLike | None = None
    must_show: CellNames = _NOTHING
    must_hide: CellNames = _NOTHING
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
                "width_if_hidden", f"must be above zero; it is not for {listed(narrow)}.", "Leave it out for none."
            )
        found.raise_as(SpecError)

    @property
    def widths(self) -> dict[int, Fraction]:
        """The widths that cells keep if they are hidden, exact as they are written."""
        given = self.width_if_hidden.items()
        return {cell: Fraction(str(width)) if isinstance(width, float) else Fraction(width) for cell, width in given}

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return "suppress"

    def applied(self, risk: Risk) -> Risk:
        """Return the risk with what this method asks for: its costs, what must be shown and hidden, who knows zeros.

        Raises
        ------
        SpecError
            A cell is not in the table, or must be both shown and hidden; costs are negative.
        """
        found = Problems()
        show = hide = np.zeros(0, dtype=np.int64)
        with found.gathering():
            show = cells_of("must_show", self.must_show, risk.table)
        with found.gathering():
            hide = cells_of("must_hide", self.must_hide, risk.table)
        with found.gathering():
            cells_of("width_if_hidden", list(self.width_if_hidden), risk.table)
        for cells, said, word in (
            (show, risk.sensitive, "sensitive"),
            (np.intersect1d(show, hide), None, "in must_hide"),
        ):
            clash = cells if said is None else cells[said[cells]]
            if len(clash):
                labels = listed([risk.table.label(int(cell)) for cell in clash])
                found.add("must_show", f"names cells that are {word}: {labels}.", "A cell cannot be both.")
        cost = risk.cost
        with found.gathering():
            cost = self._costs(risk)
        found.raise_as(SpecError)
        status = risk.status.copy()
        status[hide] = np.where(status[hide] == SENSITIVE, SENSITIVE, HIDE)
        status[show] = SHOW
        attackers = tuple(_knowing_zeros(attacker, risk.table) for attacker in risk.attackers)
        return replace(risk, status=status, cost=cost, attackers=attackers if self.zeros_known else risk.attackers)

    def _costs(self, risk: Risk) -> NDArray[np.float64]:
        cost = self.cost
        if cost is None:
            costs = checked_costs(risk.cost, len(risk))
        elif isinstance(cost, str | Cost):
            costs = (Cost.parse(cost) if isinstance(cost, str) else cost).of(risk.table)
        else:
            costs = checked_costs(cost, len(risk))
        if not bool((costs > 0).any()):
            raise SpecError.one("cost", "is zero for every cell.", "Say cost='unity' to hide as few cells as possible.")
        return costs

    def conditional(self, risk: Risk, hidden: NDArray[np.bool_]) -> Risk:
        """Return the risk in which hidden cells with a width of their own are sensitive: they must keep it."""
        cells = [cell for cell in self.width_if_hidden if hidden[cell] and risk.status[cell] != SENSITIVE]
        wide = self.widths
        both = [cell for cell in self.width_if_hidden if hidden[cell]]
        if not both:
            return risk
        status = risk.status.copy()
        status[cells] = SENSITIVE
        sliding = [risk.levels.sliding.fraction(cell) for cell in range(len(risk))]
        for cell in both:
            sliding[cell] = max(sliding[cell], wide[cell])
        decimals = max(risk.levels.sliding.decimals, width_decimals(wide.values()))
        counts = np.array([math.ceil(number * 10**decimals) for number in sliding], dtype=object)
        return replace(risk, status=status, levels=replace(risk.levels, sliding=Fixed.of_counts(counts, decimals)))


def width_decimals(widths: Collection[Fraction]) -> int:
    """Return how many decimals hold widths exactly, as far as that is sensible; what is finer is rounded up."""
    return next((k for k in range(_FINEST) if all((width * 10**k).denominator == 1 for width in widths)), _FINEST)


def cells_of(name: str, cells: CellNames, table: Table) -> NDArray[np.int64]:
    """Return places of cells, given as such, by their names, or as a mask.

    Raises
    ------
    SpecError
        A cell is not in the table.
    """
    if are_names(cells):
        return np.unique(np.concatenate(find_cells(table, list(cells), name)))
    array = np.asarray(cells)
    if array.dtype == bool and array.shape == (len(table),):
        array = np.flatnonzero(array)
    try:
        return checked_cells(array.astype(np.int64) if not array.size else array, table)
    except SpecError as error:
        raise SpecError(replace(problem, place=name) for problem in error.problems) from None


def _knowing_zeros(attacker: Attacker, table: Table) -> Attacker:
    """Return an attacker who also knows which cells are zero."""
    zero = table.amounts.counts == 0
    lower, upper = attacker.lower, attacker.upper
    return replace(
        attacker,
        lower=Fixed(np.where(zero, 0, lower.counts), lower.decimals),
        upper=Fixed(np.where(zero, 0, upper.counts), upper.decimals),
    )
