"""Rounded: a multiple of a base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import Problems, SpecError
from celosia.pattern.arithmetic import align_decimals, minus, outside, plus, repeat, times
from celosia.pattern.entries import ROUNDED, Fault
from celosia.pattern.modes.mode import check_cells, distance, refuse_faults, truths, weighted_sum
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    r"""Cells of which a multiple of a base is published.

    The reader knows the base :math:`r`, the number :math:`K` of extra multiples that rounding may go, and the unit
    :math:`u` of the table's last decimal, 1 for counts. Of a published :math:`v` he concludes that the truth lies in
    :math:`v - (K+1) r + u \ldots v + (K+1) r - u`. The loss is :math:`w |v - a|`.

    Parameters
    ----------
    cells
        Places in the table, ``(m,)``.
    values
        What is published, ``(m,)``: multiples of the base.
    base
        One for all or one for each cell: a whole number of units.
    decimals
        How many decimals the table has, so that ``u = 10 ** -decimals``; 0 for counts.
    extra
        K; 0 for rounding up or down to the next multiple.
    table
        The table, for checks and labels.
    """

    status: ClassVar[str] = ROUNDED
    cells: NDArray[np.int64]
    values: Fixed
    base: Fixed
    decimals: int
    extra: int = 0
    table: InitVar[Table | None] = None

    def __post_init__(self, table: Table | None) -> None:
        found = Problems()
        for name, number in (("decimals", self.decimals), ("extra", self.extra)):
            if number < 0:
                found.add(name, f"must be zero or more, not {number}.")
        found.raise_as(SpecError)
        numbers = {"values": self.values, "base": self.base}
        object.__setattr__(self, "cells", check_cells(self.cells, table, numbers, single=["base"]))
        object.__setattr__(self, "base", repeat(self.base, len(self.cells)))
        refuse_faults(self, self._impossible(), table)

    def _impossible(self) -> Iterator[Fault]:
        unit = Fixed(np.ones(1, dtype=np.int64), self.decimals)
        values, base, one = (part.counts for part in align_decimals(self.values, self.base, unit))
        endless = self.base.infinite | self.values.infinite
        yield endless, "the base or the published value is infinite.", "Suppress the cell."
        flat = np.asarray(base <= 0, dtype=bool) & ~endless
        yield flat, "the base is not positive.", "Take a positive base."
        fine = ~flat & ~endless & np.asarray(base % one[0] != 0, dtype=bool)
        yield fine, "the base is no whole number of units of the last decimal.", "Take a coarser base."
        usable = ~flat & ~endless & ~fine
        uneven = np.asarray(values % np.where(usable, base, 1) != 0, dtype=bool) & usable
        yield uneven, "the published value is no multiple of the base.", "Round it."

    def published(self) -> Fixed | None:
        """Return the multiples of the base."""
        return self.values

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return the multiples, less and plus ``(K + 1) r - u``."""
        unit = Fixed(np.ones(len(self.cells), dtype=np.int64), self.decimals)
        reach = minus(times(self.base, self.extra + 1), unit)
        return minus(self.values, reach), plus(self.values, reach)

    def loss(self, table: Table, cost: NDArray[np.float64]) -> float:
        """Return the weighted distances from the truth."""
        return weighted_sum((cost[self.cells], np.abs(distance(table, self.cells, self.values))))

    def faults(self, table: Table) -> Iterator[Fault]:
        """Yield the cells that are rounded too far, or those whose unit is not the table's."""
        other = np.full(len(self.cells), self.decimals != table.decimals)
        if self.decimals == 0:
            other &= ~table.is_count[self.cells]
        yield other, f"decimals is {self.decimals}, and the table has {table.decimals}.", "Take table.decimals."
        wrong = outside(truths(table, self.cells), *self.bounds()) & ~other
        remedy = f"With extra = {self.extra} it must be less than {self.extra + 1} times the base away."
        yield wrong, "the published value is too far from the true one.", remedy


def rounded_modes(
    cells: NDArray[np.int64], values: Fixed, base: Fixed, table: Table, extra: NDArray[np.int64]
) -> list[Rounded]:
    """Return rounded cells by their unit, which is 1 for counts, and by how many extra multiples they may go.

    Parameters
    ----------
    cells, values, base
        As for `Rounded`; a base for each.
    table
        The table.
    extra
        K of each cell, ``(m,)``.
    """
    decimals = np.where(table.is_count[cells], 0, table.decimals)
    kinds = sorted(set(zip(decimals.tolist(), extra.tolist(), strict=True)))
    parts = [(np.flatnonzero((decimals == unit) & (extra == more)), unit, more) for unit, more in kinds]
    return [Rounded(cells[part], values[part], base[part], unit, more, table) for part, unit, more in parts]
