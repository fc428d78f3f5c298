"""Sums, differences and comparisons of exact decimals, infinite ones included.

64 bits are used where they suffice, Python's integers where they do not; nothing here rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.table.fixed import INFINITE, Fixed


def align_decimals(*numbers: Fixed) -> tuple[Fixed, ...]:
    """Return the same numbers, all counted in the finest of their decimals."""
    decimals = max((part.decimals for part in numbers), default=0)
    return tuple(part.to(decimals) for part in numbers)


def shortest(*numbers: Fixed) -> tuple[Fixed, ...]:
    """Return the same numbers at the fewest decimals that hold them all, in the shortest integers that do.

    What comes back depends on the numbers alone, not on the decimals or the integers in which they came.
    """
    parts = align_decimals(*numbers)
    decimals = parts[0].decimals
    finite = [part.counts[~part.infinite] for part in parts]
    factor = 1
    while decimals and all(_shortens(counts, factor * 10) for counts in finite):
        factor *= 10
        decimals -= 1
    return tuple(Fixed.of_counts(_divide(part, factor), decimals) for part in parts)


def _shortens(counts: NDArray[Any], factor: int) -> bool:
    """Return whether these counts are multiples of a factor, and no quotient is taken for infinity."""
    if counts.dtype != object:
        return not (counts % factor if factor < INFINITE else counts).any()
    return not (counts % factor).any() and not (np.abs(counts) == factor * INFINITE).any()


def _divide(numbers: Fixed, factor: int) -> NDArray[Any]:
    counts = numbers.counts.copy()
    if factor > INFINITE:
        counts = counts.astype(object)
    finite = ~numbers.infinite
    counts[finite] //= factor
    return counts


def plus(left: Fixed, right: Fixed) -> Fixed:
    """Return the sums, cell by cell; infinity of one sign may be added to anything but its opposite."""
    first, second = align_decimals(left, right)
    decimals = first.decimals
    sign = _endless(first) + _endless(second)
    finite = ~(first.infinite | second.infinite)
    one, other = first.counts[finite], second.counts[finite]
    if _largest(one) + _largest(other) >= INFINITE:
        one, other = one.astype(object), other.astype(object)
    sums = one + other
    if sums.dtype == object and (np.abs(sums) == INFINITE).any():
        sums, decimals = sums * 10, decimals + 1  # a count that would be taken for infinity
    counts = np.where(sign > 0, INFINITE, -INFINITE).astype(sums.dtype)
    counts[finite] = sums
    return Fixed(counts, decimals)


def minus(left: Fixed, right: Fixed) -> Fixed:
    """Return the differences, cell by cell."""
    return plus(left, Fixed(-right.counts, right.decimals))


def times(numbers: Fixed, factor: int) -> Fixed:
    """Return whole multiples of finite numbers."""
    counts = numbers.counts
    if _largest(counts) * factor >= INFINITE:
        counts = counts.astype(object)
    return Fixed(counts * factor, numbers.decimals)


def greater(left: Fixed, right: Fixed) -> NDArray[np.bool_]:
    """Return where `left` is greater than `right`, exactly."""
    first, second = align_decimals(left, right)
    says = np.asarray(first.counts > second.counts, dtype=bool)
    if first.counts.dtype == second.counts.dtype == np.int64:
        return says  # infinite counts are the largest there are
    endless = first.infinite | second.infinite
    says[endless] = (_endless(first) > _endless(second))[endless]
    return says


def differ(left: Fixed, right: Fixed) -> NDArray[np.bool_]:
    """Return where two numbers are not the same."""
    return greater(left, right) | greater(right, left)


def outside(numbers: Fixed, lower: Fixed, upper: Fixed) -> NDArray[np.bool_]:
    """Return which numbers lie below `lower` or above `upper`."""
    return greater(lower, numbers) | greater(numbers, upper)


def zeros(n: int) -> Fixed:
    """Return `n` zeros."""
    return Fixed(np.zeros(n, dtype=np.int64))


def endless(n: int) -> tuple[Fixed, Fixed]:
    """Return minus and plus infinity, `n` times each: the bounds of an entry that gives nothing away."""
    return Fixed(np.full(n, -INFINITE)), Fixed(np.full(n, INFINITE))


def repeat(numbers: Fixed, n: int) -> Fixed:
    """Return a single number `n` times; several as they are."""
    return Fixed(np.repeat(numbers.counts, n), numbers.decimals) if len(numbers) == 1 else numbers


def replace_places(background: Fixed, parts: Iterable[tuple[NDArray[np.int64], Fixed]]) -> Fixed:
    """Return numbers in which those of some places are replaced."""
    pieces = list(parts)
    first, *others = align_decimals(background, *(numbers for _, numbers in pieces))
    wide = any(numbers.counts.dtype == object for numbers in others)
    counts = first.counts.astype(object) if wide else first.counts.copy()
    for (places, _), numbers in zip(pieces, others, strict=True):
        counts[places] = numbers.counts
    return Fixed(counts, first.decimals)


def _endless(numbers: Fixed) -> NDArray[np.int8]:
    """Return 1 for plus infinity, -1 for minus infinity, 0 for what is finite."""
    return np.where(numbers.infinite, np.where(numbers.counts > 0, 1, -1), 0).astype(np.int8)


def _largest(counts: NDArray[Any]) -> int:
    return int(np.abs(counts).max(initial=0))
