"""Mixed releases: every cell has its own allowed ways of publication, and one optimisation weighs them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError
from celosia.pattern.entries import HIDDEN, INTERVAL, PERTURBED, ROUNDED, of_status
from celosia.pattern.pattern import Pattern
from celosia.protection.intervals.method import Intervals
from celosia.protection.method import NO_CELLS, Wishes, costs_of
from celosia.protection.named_cells import places_of
from celosia.risk.cost import Cost
from celosia.risk.risk import SHOW, Risk
from celosia.table.cell_names import CellNames
from celosia.table.table import Table
from celosia.table.units import Number, count_units, read_fractions, refuse_fractions


@dataclass(frozen=True, slots=True, eq=False)
class Mixed(Intervals):
    """Show, hide, widen, round or perturb: every cell in one of its ways, in one optimisation.

    This column may be ranges, that one is hidden or shown. A cell that may be nothing else is shown, and so is one that
    every attacker knows exactly. By default a range costs 1 per unit of its width and hiding the value of the cell, so
    that a range as wide as its value costs as much as hiding it. A rounded or perturbed number costs 1, and 1 per unit
    that it lies from the truth. What is published adds up: some table has these numbers, and values within these
    ranges. Everything but the following is as in `celosia.Intervals`.

    Parameters
    ----------
    at_most
        The most cells that may be published otherwise than they are, sensitive ones included.
    hide_cost
        What hiding a cell costs: value, unity, frequency, log or sums of them (`celosia.Cost`). In Python also one
        number per cell.
    may_hide
        Cells that may be hidden; by default all. In Python also a mask over all cells.
    may_range
        Cells that may be ranges; by default all. In Python also a mask over all cells.
    must_hide
        Cells that are hidden in any case.
    round_base
        Cells may be rounded to multiples of it (`celosia.Round`); by default none is. A whole number of units of the
        last decimal, in Python also one for each cell.
    may_round
        Cells that may be rounded; by default all, where there is a base. In Python also a mask over all cells.
    reach
        Cells may be perturbed by no more than this, which is published (`celosia.Perturb`); by default none is. It must
        not be computed from true values. Sensitive cells that are perturbed are moved, to a side drawn from the secret.
        In Python also one for each cell.
    may_perturb
        Cells that may be perturbed; by default all, where there is a reach. In Python also a mask over all cells.
    move_cost
        What a unit of distance from the true value costs in a rounded or perturbed cell (`celosia.Cost`). In Python
        also one number per cell.
    number_cost
        What a rounded or perturbed cell costs whatever its distance (`celosia.Cost`). In Python also one number per
        cell.
    """

    name = "mixed"
    statuses = frozenset((HIDDEN, INTERVAL, ROUNDED, PERTURBED))

    cost: str | Cost | ArrayLike | None = "unity"
    hide_cost: str | Cost | ArrayLike = "value"
    may_hide: CellNames | None = None
    may_range: CellNames | None = None
    must_hide: CellNames = NO_CELLS
    round_base: Number | Sequence[Number] | NDArray[np.float64] | NDArray[np.int64] | None = None
    may_round: CellNames | None = None
    reach: Number | Sequence[Number] | NDArray[np.float64] | NDArray[np.int64] | None = None
    may_perturb: CellNames | None = None
    move_cost: str | Cost | ArrayLike = "unity"
    number_cost: str | Cost | ArrayLike = "unity"

    def __post_init__(self) -> None:
        found = Problems()
        with found.gather():
            Intervals.__post_init__(self)
        for name, may, given in (
            ("round_base", "may_round", self.round_base),
            ("reach", "may_perturb", self.reach),
        ):
            if given is None:
                if getattr(self, may) is not None:
                    found.add(may, f"names cells, but {name} is missing.", f"Say {name}.")
                continue
            with found.gather():
                if any(number < 0 for number in read_fractions(name, given)) or not any(read_fractions(name, given)):
                    found.add(name, "must be above zero.", "Leave it out for none.")
        found.raise_as(SpecError)

    @property
    def wishes(self) -> Wishes:
        """What is wished of cells."""
        return Wishes(self.cost, self.must_show, self.must_hide, self.zeros_known)

    @property
    def takes_corners(self) -> bool:
        """Whether no number is changed, and cells are not counted: columns that are no cells have no numbers."""
        return self.round_base is None and self.reach is None and not self.counts_ranges

    @property
    def hides_everything(self) -> bool:
        """Whether there is no limit to the number of hidden cells."""
        return not self.counts_ranges

    @property
    def most_hidden(self) -> int | None:
        """At most so many cells may be hidden."""
        return self.at_most

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes of the method; see `celosia.Intervals`.

        Raises
        ------
        DataError
            Counts that may be rounded or perturbed are not whole numbers.
        """
        found = Problems()
        for numbers in (self.bases, self.reaches):
            with found.gather():
                numbers(risk.table)
        for name in ("hide_cost", "move_cost", "number_cost"):
            with found.gather():
                self.costs_named(name, risk)
        found.raise_as(SpecError)
        if self.round_base is not None or self.reach is not None:
            refuse_fractions(risk.table, risk.table.is_count)
        return Intervals.apply_to(self, risk)

    def hide_costs(self, risk: Risk) -> NDArray[np.float64]:
        """Return what hiding every cell costs, infinite where it may not be hidden, ``(n_cells,)``."""
        return np.where(_mask_of("may_hide", self.may_hide, risk.table), self.costs_named("hide_cost", risk), np.inf)

    def may_be_hidden(self, risk: Risk) -> NDArray[np.bool_]:
        """Return which cells may be hidden, ``(n_cells,)``."""
        return np.asarray((risk.status != SHOW) & np.isfinite(self.hide_costs(risk)))

    def cost_of_hiding_everything(self, risk: Risk) -> float | None:
        """Return what it would cost to hide all cells that may be hidden, None where there are none."""
        hidden = self.may_be_hidden(risk)
        return math.fsum(self.hide_costs(risk)[hidden].tolist()) if bool(hidden.any()) else None

    def loss(self, pattern: Pattern, risk: Risk) -> float:
        """Return what a pattern costs, hiding and other numbers at their own prices."""
        hide = self.hide_costs(risk)
        prices = {HIDDEN: np.where(np.isinf(hide), 0.0, hide), ROUNDED: self.costs_named("move_cost", risk)}
        moved = of_status(pattern.status, (ROUNDED, PERTURBED))
        fixed = float(self.costs_named("number_cost", risk)[moved].sum())
        return fixed + sum(mode.loss(pattern.table, prices.get(mode.status, risk.cost)) for mode in pattern.modes)

    def costs_named(self, name: str, risk: Risk) -> NDArray[np.float64]:
        """Return one of the costs by its name, of every cell, ``(n_cells,)``."""
        return costs_of(name, getattr(self, name), risk)

    def ranges(self, risk: Risk) -> NDArray[np.bool_]:
        """Return which cells may be ranges, ``(n_cells,)``."""
        return _mask_of("may_range", self.may_range, risk.table)

    def may_be_no_range(self, risk: Risk) -> NDArray[np.bool_]:
        """Return which cells may be hidden, rounded or perturbed, ``(n_cells,)``."""
        numbers = (self.bases(risk.table) > 0) | (self.reaches(risk.table) > 0)
        return np.asarray(numbers | np.isfinite(self.hide_costs(risk)))

    def bases(self, table: Table) -> NDArray[np.int64]:
        """Return the base of every cell in units of the table's last decimal, 0 where it is not rounded."""
        return _count_units("round_base", self.round_base, "may_round", self.may_round, table)

    def reaches(self, table: Table) -> NDArray[np.int64]:
        """Return the reach of every cell in units of the table's last decimal, 0 where it is not perturbed."""
        return _count_units("reach", self.reach, "may_perturb", self.may_perturb, table)


def _count_units(
    name: str,
    numbers: object,
    may: str,
    cells: CellNames | None,
    table: Table,
) -> NDArray[np.int64]:
    if numbers is None:
        return np.zeros(len(table), dtype=np.int64)
    return np.where(_mask_of(may, cells, table), count_units(name, numbers, table), 0)


def _mask_of(name: str, cells: CellNames | None, table: Table) -> NDArray[np.bool_]:
    if cells is None:
        return np.ones(len(table), dtype=bool)
    mask = np.zeros(len(table), dtype=bool)
    mask[places_of(name, cells, table)] = True
    return mask
