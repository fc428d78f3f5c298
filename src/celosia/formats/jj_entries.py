"""The entries of the cells of a JJ file, read digit by digit."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from celosia.formats.jj_lines import FileLines, quote_stripped
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW
from celosia.table.fixed import Fixed

Flags: TypeAlias = NDArray[np.bool_]
Finding: TypeAlias = tuple[Flags, str, str]
"""Which cells are wrong, why, and what to do."""

_STATUSES = frozenset((SAFE, SENSITIVE, HIDE, SHOW))
_DIGIT = re.compile(r"\d")
_MOST_DIGITS = 100  # before or behind the point: 1e999999999 would be exact too, and fill the memory


@dataclass(frozen=True, slots=True)
class Entries:
    """Reads one entry of many lines, and marks the lines that are not `sound`: an entry could not be read."""

    lines: FileLines
    sound: Flags

    def exact(self, name: str, texts: Sequence[str], *, endless: bool = False) -> Fixed:
        """Return decimals digit by digit, zero where a text is not a number that can be kept."""
        doubles = _parse(texts)
        beyond = _out_of_reach(texts, doubles)
        infinite = np.isinf(doubles) & ~beyond
        wrong = {
            "is not a number.": np.isnan(doubles),
            "is infinite.": infinite & (not endless),
            f"is out of reach: numbers have up to {_MOST_DIGITS} digits.": beyond,
        }
        usable = list(texts)
        for place in np.flatnonzero(np.logical_or.reduce(list(wrong.values())) | (doubles == 0)).tolist():
            usable[place] = "0"
        with localcontext(prec=4 * _MOST_DIGITS):
            numbers = Fixed.of_texts(usable)
        wrong["cannot be told from infinity: write inf."] = numbers.infinite & ~infinite
        # What is nearly a number may be nearly the contribution of a single respondent: its shape says enough.
        shown = list(texts)
        for place in np.flatnonzero(np.isnan(doubles)).tolist():
            shown[place] = _DIGIT.sub("#", texts[place])
        for message, places in wrong.items():
            self._unread(f"{name} {{}} {message}", shown, np.flatnonzero(places).tolist())
        return numbers

    def doubles(self, name: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the nearest doubles, zero where a text is not a number."""
        doubles = _parse(texts)
        unknown = np.isnan(doubles)
        self._unread(f"{name} {{}} is not a number.", texts, np.flatnonzero(unknown).tolist())
        return np.where(unknown, 0.0, doubles) + 0.0  # no negative zero

    def statuses(self, texts: Sequence[str]) -> NDArray[np.str_]:
        """Return the statuses, safe where a text is none."""
        letters = [text.lower() for text in texts]
        unknown = [place for place, letter in enumerate(letters) if letter not in _STATUSES]
        self._unread("status {} is unknown: it must be s, u, m or z.", texts, unknown)
        for place in unknown:
            letters[place] = SAFE
        return np.array(letters, dtype="<U1")

    def refuse(self, findings: Iterable[Finding]) -> None:
        """Complain about numbers that could be read and make no sense."""
        for wrong, message, remedy in findings:
            for place in np.flatnonzero(wrong).tolist():
                self.lines.complain(place, f"cell {place}: {message}", remedy)

    def _unread(self, message: str, texts: Sequence[str], places: list[int]) -> None:
        self.sound[places] = False
        for place in places:
            self.lines.complain(place, message.format(quote_stripped(texts[place])))


def _parse(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the nearest doubles, not-a-number where a text is none."""
    if "_" not in "".join(texts):
        with contextlib.suppress(ValueError):
            return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    return np.array([_double(text) for text in texts], dtype=np.float64)


def _double(text: str) -> float:
    with contextlib.suppress(ValueError):
        return math.nan if "_" in text else float(text)  # 1_000 is a number for Python alone
    return math.nan


def _out_of_reach(texts: Sequence[str], doubles: NDArray[np.float64]) -> Flags:
    """Return which numbers have too many digits, also where their doubles are infinite or zero because of that."""
    size = np.abs(doubles)
    usual = np.isnan(size) | ((size > 10.0**-_MOST_DIGITS) & (size < 10.0**_MOST_DIGITS))
    out = (np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) > _MOST_DIGITS) & ~np.isnan(size)
    for place in np.flatnonzero(~usual).tolist():
        if texts[place] != "0" and not _within_reach(texts[place]):
            out[place] = True
    return out


def _within_reach(text: str) -> bool:
    try:
        number = Decimal(text)
    except ArithmeticError:  # not even Decimal takes such an exponent
        return False
    return number.is_zero() or number.is_infinite() or abs(number.adjusted()) < _MOST_DIGITS


def counts_in(numbers: Fixed, decimals: int) -> NDArray[Any]:
    """Return the counts in a decimal at least as fine; in a finer one as Python integers, which do not overflow."""
    if decimals == numbers.decimals:
        return numbers.counts
    return Fixed(numbers.counts.astype(object), numbers.decimals).to(decimals).counts
