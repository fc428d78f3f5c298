"""Controlled rounding: every cell becomes a multiple of a base, and they still add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import DataError, Problems, SpecError, listed
from celosia.protection.suppression.method import Suppress
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.table.naming import CellNames
from celosia.table.table import Table

Number = float | int | str | Decimal | Fraction
"""A number, exact as it is written."""

_NOTHING: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Round every cell to a multiple of a base next to it, so that all still adds up (Salazar 2002, section 5).

    The reader of a rounded value v knows the base b, the number K of extra multiples, and the unit u of the last
    decimal (1 for counts): the truth lies in ``v - (K + 1) b + u .. v + (K + 1) b - u``. Cells that happen to be
    multiples of the base are published like all others.

    Parameters
    ----------
    base
        One for all cells or one for each: a whole number of units of the last decimal.
    cost
        What a unit of distance from the true value costs in each cell: a text like ``"unity"`` or ``"value"``
        (`celosia.Cost`), or one number per cell.
    frozen
        Places of cells that are published as they are, such as those already published elsewhere.
    extra
        K: how many multiples further than to the next one values may be rounded. By default as few as needed, which is
        almost always 0; the result's method says how many.
    relax_levels
        Where no rounding meets all protection levels, ask for less. The result is then not safe.
    zeros_known
        Every attacker knows which cells are zero.
    """

    base: Number | Sequence[Number] | NDArray[np.float64] | NDArray[np.int64] = 5
    cost: str | Cost | ArrayLike = "unity"
    frozen: CellNames = _NOTHING
    extra: int | None = None
    relax_levels: bool = False
    zeros_known: bool = False

    def __post_init__(self) -> None:
        found = Problems()
        with found.gathering():
            numbers = exact("base", self.base)
            flat = [k for k, number in enumerate(numbers) if not number > 0]
            if flat:
                where = "" if one_for_all(self.base) else f" It is not for {listed(flat)}."
                found.add("base", f"must be above zero.{where}", "Bases for counts are 3, 5 or 10.")
        if self.extra is not None and self.extra < 0:
            found.add("extra", f"must be zero or more, not {self.extra}.", "Leave it out for as few as needed.")
        found.raise_as(SpecError)

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return "round"

    def bases(self, table: Table) -> NDArray[np.int64]:
        """Return the base of every cell in units of the table's last decimal, ``(n_cells,)``.

        Raises
        ------
        SpecError
            There are not as many as cells, one is no whole number of units, or they are larger than every cell.
        """
        counts = counted_in_units("base", self.base, table)
        if len(table) and bool((counts > np.abs(table.amounts.counts)).all()):
            raise SpecError.one("base", "is larger than every cell.", "Take a smaller base.")
        return counts

    def applied(self, risk: Risk) -> Risk:
        """Return the risk with what this method asks for: its costs, what is frozen, who knows zeros.

        Raises
        ------
        SpecError
            A frozen cell is not in the table or is sensitive; costs are negative; the base does not suit the table.
        DataError
            Counts are not whole numbers.
        """
        found = Problems()
        asked = risk
        with found.gathering():
            asked = freezing(risk, self.cost, self.frozen, zeros_known=self.zeros_known)
        with found.gathering():
            self.bases(risk.table)
        found.raise_as(SpecError)
        refuse_broken(risk.table, risk.table.is_count)
        return asked


def freezing(risk: Risk, cost: str | Cost | ArrayLike, frozen: CellNames, *, zeros_known: bool) -> Risk:
    """Return the risk with costs of a method, and cells that are published as they are.

    Raises
    ------
    SpecError
        A cell is not in the table or is sensitive; costs are negative.
    """
    try:
        return Suppress(cost, frozen, zeros_known=zeros_known).applied(risk)
    except SpecError as error:
        places = {"must_show": "frozen"}
        raise SpecError(
            replace(problem, place=places.get(problem.place, problem.place)) for problem in error.problems
        ) from None


def grains_of(table: Table) -> NDArray[np.int64]:
    """Return the smallest difference between values of each cell, in units of the last decimal: 1, or one count."""
    return np.where(table.is_count, 10**table.decimals, 1).astype(np.int64)


def refuse_broken(table: Table, cells: NDArray[np.bool_]) -> None:
    """Refuse cells that should be whole numbers and are not.

    Raises
    ------
    DataError
        With the cells by their labels.
    """
    broken = np.flatnonzero(cells & np.asarray(table.amounts.counts % 10**table.decimals != 0, dtype=bool))
    if len(broken):
        labels = listed([table.label(int(cell)) for cell in broken])
        raise DataError.one("counts", f"are not whole numbers: {labels}.", "Are these values no counts?")


def one_for_all(numbers: object) -> bool:
    """Return whether this is one number and not one for each cell."""
    return isinstance(numbers, int | float | str | Decimal | Fraction | np.number)


def exact(name: str, numbers: object) -> list[Fraction]:
    """Return numbers, exact as they are written: one, or as many as there are.

    Raises
    ------
    SpecError
        One of them is no finite number.
    """
    given = [numbers] if one_for_all(numbers) else np.asarray(numbers).tolist()
    try:
        return [number if isinstance(number, Fraction) else Fraction(str(number)) for number in given]
    except (ValueError, TypeError, ZeroDivisionError):
        raise SpecError.one(name, "is not a finite number.", "Give one for all cells, or one for each.") from None


def counted_in_units(name: str, numbers: object, table: Table) -> NDArray[np.int64]:
    """Return numbers in units of the table's last decimal, one for every cell, ``(n_cells,)``.

    Raises
    ------
    SpecError
        There are not as many as cells, or one is no whole number of units or too large.
    """
    units = [number * 10**table.decimals for number in exact(name, numbers)]
    if len(units) != 1 and len(units) != len(table):
        raise SpecError.one(
            name, f"has {len(units)} numbers for {len(table)} cells.", "Give one for all, or one for each."
        )
    if any(number.denominator != 1 for number in units):
        unit = Fixed(np.ones(1, dtype=np.int64), table.decimals).texts()[0]
        raise SpecError.one(name, "is no whole number of units of the last decimal.", f"Take multiples of {unit}.")
    if any(abs(number) >= math.isqrt(2**62) for number in units):
        raise SpecError.one(name, "is too large.")
    counts = np.array([int(number) for number in units], dtype=np.int64)
    each = np.repeat(counts, len(table)) if len(counts) == 1 else counts
    if bool((each % grains_of(table)).any()):
        raise SpecError.one(name, "is no whole number for counts.", "Give each cell its own, or whole numbers.")
    return each
