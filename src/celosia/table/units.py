"""Numbers in units of a table's last decimal: what methods that change values compute in."""

from __future__ import annotations

import math
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, SpecError, list_items
from celosia.table.fixed import Fixed
from celosia.table.table import Table, find_broken_cells
from celosia.tolerance import LARGEST_COUNT, MOST_DECIMALS

Number = float | int | str | Decimal | Fraction
"""A number, exact as it is written."""


def grains_of(table: Table) -> NDArray[np.int64]:
    """Return the grain of every cell, ``(n_cells,)``: the smallest difference between its values, 1 unit or 1 count."""
    return np.where(table.is_count, 10**table.decimals, 1).astype(np.int64)


def refuse_fractions(table: Table, whole: NDArray[np.bool_]) -> None:
    """Refuse cells that should be whole numbers and are not.

    Raises
    ------
    DataError
        With the cells by their labels.
    """
    broken = find_broken_cells(table, whole)
    if len(broken):
        labels = list_items([table.label(int(cell)) for cell in broken])
        raise DataError.one("counts", f"are not whole numbers: {labels}.", "Are these values no counts?")


def is_one_number(numbers: object) -> bool:
    """Return whether this is one number and not one for each cell."""
    return isinstance(numbers, int | float | str | Decimal | Fraction | np.number)


def read_fractions(name: str, numbers: object) -> list[Fraction]:
    """Return numbers, exact as they are written: one, or as many as there are.

    Raises
    ------
    SpecError
        One of them is no finite number.
    """
    given = [numbers] if is_one_number(numbers) else np.asarray(numbers).tolist()
    try:
        return [number if isinstance(number, Fraction) else Fraction(str(number)) for number in given]
    except (ValueError, TypeError, ZeroDivisionError):
        raise SpecError.one(name, "is not a finite number.", "Give one for all cells, or one for each.") from None


def count_units(name: str, numbers: object, table: Table) -> NDArray[np.int64]:
    """Return numbers in units of the table's last decimal, one for every cell, ``(n_cells,)``.

    Raises
    ------
    SpecError
        There are not as many as cells, or one is no whole number of units or too large.
    """
    units = [number * 10**table.decimals for number in read_fractions(name, numbers)]
    if len(units) != 1 and len(units) != len(table):
        raise SpecError.one(
            name, f"has {len(units)} numbers for {len(table)} cells.", "Give one for all, or one for each."
        )
    if any(number.denominator != 1 for number in units):
        unit = Fixed(np.ones(1, dtype=np.int64), table.decimals).texts()[0]
        raise SpecError.one(name, "is no whole number of units of the last decimal.", f"Take multiples of {unit}.")
    if any(abs(number) >= math.isqrt(LARGEST_COUNT) for number in units):
        raise SpecError.one(name, "is too large.")
    counts = np.array([int(number) for number in units], dtype=np.int64)
    each = np.repeat(counts, len(table)) if len(counts) == 1 else counts
    if bool((each % grains_of(table)).any()):
        raise SpecError.one(name, "is no whole number for counts.", "Give each cell its own, or whole numbers.")
    return each


def count_decimals(numbers: Collection[Fraction]) -> int:
    """Return how many decimals hold numbers exactly, `MOST_DECIMALS` at most: what is finer is rounded up."""
    exact = (k for k in range(MOST_DECIMALS) if all((number * 10**k).denominator == 1 for number in numbers))
    return next(exact, MOST_DECIMALS)
