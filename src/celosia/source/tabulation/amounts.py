"""Amounts of many records as whole counts of a decimal, as `celosia.table.fixed` does for the cells of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError
from celosia.kernels import kernel
from celosia.table.fixed import Fixed
from celosia.tolerance import LARGEST_COUNT, MOST_DECIMALS

_EXACT = 2.0**53  # counts from here on are no longer told apart by doubles


def amounts_of(numbers: NDArray[Any], *, written: int, decimals: int | None, place: str, notes: list[str]) -> Fixed:
    """Return amounts as whole counts of the decimal they are written in; for real numbers, of the finest that fits.

    Parameters
    ----------
    numbers
        Doubles, or whole counts of the decimal `written`; doubles are overwritten.
    written
        The decimals of an exact type.
    decimals
        Round to so many decimals; None: as they are.
    place
        Where they stand, for messages.
    notes
        Takes a note where something is rounded.

    Raises
    ------
    DataError
        The sum does not fit into 64 bits.
    """
    if numbers.dtype.kind != "f" and (decimals is None or decimals >= written):
        total = float(np.abs(numbers.astype(np.float64)).sum())
        _check_size(total, place, written)
        return Fixed(numbers.astype(np.int64, copy=False), written)
    doubles = numbers.astype(np.float64, copy=False)
    if written:
        doubles = doubles / 10.0**written
    exact, total, largest = _measure(doubles, MOST_DECIMALS)
    most = max(largest * len(doubles), 1.0)  # unlike the sum, the same in any order of the records
    finest = max(0, min(MOST_DECIMALS, int(np.floor(np.log10(2.0**50 / most)))))
    chosen = decimals if decimals is not None else finest if exact > MOST_DECIMALS else exact
    if exact > chosen:
        notes.append(f"{place}: records rounded to {chosen} decimals")
    _check_size(total * 10.0**chosen, place, chosen)
    counts = doubles.view(np.int64)  # in the place of the doubles: they are many, and not needed any more
    _to_grid(doubles, 10.0**chosen, counts)
    return Fixed(counts, chosen)


def _check_size(total: float, place: str, decimals: int) -> None:
    if total >= LARGEST_COUNT:
        message = f"sums to more than 18 digits with {decimals} decimals."
        raise DataError.one(place, message, "Ask for fewer decimals, or use a larger unit.")


@kernel()
def _measure(doubles: NDArray[np.float64], most: int) -> tuple[int, float, float]:
    """Return how many decimals the doubles have (`most` + 1: more than `most`), their absolute sum and maximum.

    A double has d decimals if it is the nearest one to a decimal of d places.
    """
    decimals, scale, total, largest = 0, 1.0, 0.0, 0.0
    for value in doubles:
        total += abs(value)
        largest = max(largest, abs(value))
        while decimals <= most and np.rint(value * scale) / scale != value:
            decimals += 1
            scale *= 10.0
    if decimals > 0 and largest * scale >= _EXACT:
        decimals = most + 1
    return decimals, total, largest


@kernel()
def _to_grid(doubles: NDArray[np.float64], scale: float, counts: NDArray[np.int64]) -> None:
    """Set the counts nearest to the doubles, times a scale; they may lie in the same place."""
    for k in range(len(doubles)):
        counts[k] = np.int64(np.rint(doubles[k] * scale))
