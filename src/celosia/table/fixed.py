"""Exact decimal numbers in bulk: whole counts of the last decimal.

A table of decimals is a table of integers in disguise. Kept that way, sums are exact in any order, a tie is a tie, and
what is written to a file is what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

INFINITE = np.iinfo(np.int64).max
"""This count stands for plus infinity, its negative for minus infinity."""

_FLOAT_DIGITS = 15  # any decimal of so many digits survives the way through a double


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    r"""Numbers :math:`c_i / 10^d`.

    Parameters
    ----------
    counts
        The whole numbers :math:`c_i`, ``(n,)``: 64-bit, or Python integers where those are too short.
    decimals
        The number :math:`d` of decimals.
    """

    counts: NDArray[Any]
    decimals: int = 0

    @classmethod
    def of_counts(cls, counts: ArrayLike, decimals: int = 0) -> Fixed:
        """Return fixed-point numbers in the shortest integers that hold them."""
        array = np.asarray(counts)
        if array.dtype == object:
            limit = INFINITE
            if all(-limit <= count <= limit for count in array.tolist()):
                array = array.astype(np.int64)
            return cls(array, decimals)
        return cls(array.astype(np.int64, copy=False), decimals)

    @classmethod
    def of_floats(cls, values: ArrayLike) -> Fixed:
        """Return the shortest decimals that read back as these doubles; infinities are kept.

        >>> Fixed.of_floats([0.1, 12.75]).counts.tolist()
        [10, 1275]
        """
        doubles = np.asarray(values, dtype=np.float64)
        if np.isnan(doubles).any():
            raise ValueError("not a number")
        finite = np.isfinite(doubles)
        decimals = shortest_decimals(doubles[finite])
        if decimals is None:
            return cls.of_texts([repr(value) for value in doubles.tolist()])
        counts = np.where(doubles > 0, INFINITE, -INFINITE)
        counts[finite] = np.rint(doubles[finite] * 10.0**decimals).astype(np.int64)
        return cls(counts, decimals)

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> Fixed:
        """Return the decimals written in `texts`, digit by digit; ``inf`` and ``-inf`` are infinite.

        Raises
        ------
        ValueError
            A text is not a decimal number.
        """
        if max(map(len, texts), default=0) <= _FLOAT_DIGITS:
            doubles = np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
            plain = "e" not in "".join(texts).lower()  # 1e400 is finite, as a decimal
            if plain and not np.isnan(doubles).any() and shortest_decimals(doubles[np.isfinite(doubles)]) is not None:
                return cls.of_floats(doubles)
        try:
            numbers = [Decimal(text) for text in texts]
        except ArithmeticError as error:
            raise ValueError("not a decimal number") from error
        if any(number.is_nan() for number in numbers):
            raise ValueError("not a number")
        decimals = max((_places(number) for number in numbers if number.is_finite()), default=0)
        exact = Context(prec=max(len(text) for text in texts) + decimals + 1)
        counts = [
            int(number.scaleb(decimals, exact)) if number.is_finite() else _infinite(number) for number in numbers
        ]
        return cls.of_counts(np.array(counts, dtype=object), decimals)

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, places: Any) -> Fixed:  # noqa: ANN401  (whatever indexes a numpy array)
        return Fixed(np.atleast_1d(self.counts[places]), self.decimals)

    @property
    def infinite(self) -> NDArray[np.bool_]:
        """Which numbers are infinite, ``(n,)``."""
        return np.asarray(np.abs(self.counts) == INFINITE)

    @property
    def floats(self) -> NDArray[np.float64]:
        """The nearest doubles, ``(n,)``."""
        doubles = self.counts.astype(np.float64) / 10.0**self.decimals
        if self.infinite.any():
            doubles[self.infinite] = np.where(self.counts[self.infinite] > 0, np.inf, -np.inf)
        return doubles

    def to(self, decimals: int) -> Fixed:
        """Return the same numbers counted in another, finer decimal.

        Raises
        ------
        ValueError
            `decimals` is coarser than what is needed.
        """
        if decimals == self.decimals:
            return self
        if decimals < self.decimals:
            raise ValueError(f"{self.decimals} decimals do not fit into {decimals}")
        factor = 10 ** (decimals - self.decimals)
        finite = ~self.infinite
        largest = int(np.abs(self.counts[finite]).max(initial=0))
        counts = self.counts if max(largest, 1) * factor < INFINITE else self.counts.astype(object)
        scaled = counts.copy()
        scaled[finite] = counts[finite] * factor
        return Fixed(scaled, decimals)

    def round_up(self, decimals: int) -> Fixed:
        """Return the numbers in another decimal, finer or coarser; what does not come out even is rounded up."""
        if decimals >= self.decimals:
            return self.to(decimals)
        divisor = 10 ** (self.decimals - decimals)
        return Fixed(np.where(self.infinite, self.counts, -(-self.counts // divisor)), decimals)

    def fraction(self, place: int) -> Fraction:
        """Return one number as a fraction."""
        return Fraction(int(self.counts[place]), 10**self.decimals)

    def texts(self) -> list[str]:
        """Return the numbers as written in a file, exact and without needless zeros."""
        if not self.decimals and not self.infinite.any():
            return list(map(str, self.counts.tolist()))
        return [_text(int(count), self.decimals) for count in self.counts.tolist()]


def shortest_decimals(doubles: NDArray[np.float64]) -> int | None:
    """Return how many decimals these doubles were written with, or None where they are no short decimals.

    The double nearest to the decimal n / 10^d is what correctly rounded division gives, so the test is exact.
    """
    for decimals in range(_FLOAT_DIGITS):
        scale = 10.0**decimals
        counts = np.rint(doubles * scale)
        if np.abs(counts).max(initial=0.0) >= 2.0**53:
            return None
        if np.array_equal(counts / scale, doubles):
            return decimals
    return None


def _places(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return max(0, -int(exponent))


def _infinite(number: Decimal) -> int:
    return INFINITE if number > 0 else -INFINITE


def _text(count: int, decimals: int) -> str:
    if abs(count) == INFINITE:
        return "inf" if count > 0 else "-inf"
    sign, digits = ("-" if count < 0 else ""), str(abs(count)).rjust(decimals + 1, "0")
    if not decimals:
        return sign + digits
    return (sign + digits[:-decimals] + "." + digits[-decimals:]).rstrip("0").rstrip(".")
