"""Columns of numbers as a certificate holds them, exact: ``{"numbers": "5 0 -12", "times": "1 3 1"}``.

Whole numbers are written in decimals, a blank between two. Where many neighbours are the same, each run is written
once, with how often (`times`, empty where nothing repeats). Decimals are whole counts of their last place, `decimals`
many. Ends of ranges that may be missing have beside them for how many cells they are given, then missing, then given
again, and so on (`given`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.certificate.whole import Whole, compact
from celosia.table.fixed import Fixed

MOST_ENTRIES = 1 << 28
"""A column is no longer than this: a short text could stand for more than any machine holds."""

_MOST_DIGITS = 1000  # more would only keep the machine busy
_SHORT = 18  # digits that 64 bits always hold
_BLANK, _MINUS, _ZERO, _NINE = 32, 45, 48, 57


class UnreadableError(Exception):
    """Why a file is no certificate."""


def column(numbers: Whole) -> dict[str, str]:
    """Return whole numbers as a column."""
    new = np.ones(len(numbers), dtype=bool)
    new[1:] = numbers[1:] != numbers[:-1]
    runs = np.flatnonzero(new)
    if 2 * len(runs) > len(numbers):
        return {"numbers": text_of(numbers), "times": ""}
    return {"numbers": text_of(numbers[runs]), "times": text_of(np.diff(runs, append=len(numbers)))}


def decimal_column(numbers: Fixed) -> dict[str, Any]:
    """Return decimals as a column, with as few of them as are needed."""
    counts, decimals = numbers.counts, numbers.decimals
    while decimals and not (counts % 10).any():
        counts, decimals = counts // 10, decimals - 1
    return {"decimals": decimals, **column(counts)}


def partial_column(numbers: Fixed, given: NDArray[np.bool_]) -> dict[str, Any]:
    """Return those decimals that are given as a column."""
    changes = np.flatnonzero(given[1:] != given[:-1]) + 1
    runs = np.diff(np.concatenate([[0], changes, [len(given)]])) if len(given) else np.zeros(0, dtype=np.int64)
    first = np.zeros(0 if len(given) and given[0] else 1, dtype=np.int64)
    return {"given": text_of(np.concatenate([first, runs])), **decimal_column(numbers[given])}


def text_of(numbers: Whole) -> str:
    """Return whole numbers in a text."""
    return " ".join(map(str, numbers.tolist()))


def numbers_of(text: object, place: str) -> Whole:
    """Return the whole numbers of a text, each in the one way in which it is written.

    >>> numbers_of("12 -3", "here").tolist()
    [12, -3]
    """
    if text == "":
        return np.zeros(0, dtype=np.int64)
    if not isinstance(text, str) or not text.isascii():
        raise UnreadableError(f"has no column {place}, or one that cannot be read.")
    letters = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    blanks = np.flatnonzero(letters == _BLANK)
    starts, ends = np.concatenate([[0], blanks + 1]), np.append(blanks, len(letters))
    if starts[-1] == len(letters):
        raise UnreadableError(f"has a column {place} that ends in a blank.")
    negative = letters[starts] == _MINUS
    first = starts + negative
    digits = ends - first
    strange = (letters < _ZERO) | (letters > _NINE)
    strange[blanks] = strange[starts[negative]] = False
    if strange.any() or digits.min() < 1 or digits.max() > _MOST_DIGITS:
        raise UnreadableError(f"has texts in {place} that are no whole numbers.")
    if ((letters[first] == _ZERO) & ((digits > 1) | negative)).any():
        raise UnreadableError(f"has texts in {place} that are no whole numbers.")
    if digits.max() > _SHORT:
        return compact(np.array([int(word) for word in text.split(" ")], dtype=object))
    return _short_numbers(letters, first, digits, negative)


def _short_numbers(
    letters: NDArray[np.uint8], first: NDArray[np.int64], digits: NDArray[np.int64], negative: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return numbers of few digits, one digit of all of them at a time."""
    numbers = letters[first].astype(np.int64) - _ZERO
    longer = np.arange(len(first))
    for digit in range(1, int(digits.max())):
        longer = longer[digits[longer] > digit]
        numbers[longer] = numbers[longer] * 10 + (letters[first[longer] + digit] - _ZERO)
    numbers[negative] *= -1
    return numbers


def read_column(part: object, place: str, n: int | None = None) -> Whole:
    """Return the numbers of a column, `n` of them where that is known."""
    entries = check_keys(part, place, ("numbers", "times"))
    numbers = numbers_of(entries["numbers"], place)
    if entries["times"] != "":
        times = read_sizes(entries["times"], place)
        if len(times) != len(numbers):
            raise UnreadableError(f"has no list {place}, or one of another length.")
        numbers = np.repeat(numbers, times)
    if n is not None and len(numbers) != n:
        raise UnreadableError(f"has no list {place}, or one of another length.")
    return numbers


def read_places(part: object, place: str, *, below: int, n: int | None = None, least: int = 0) -> NDArray[np.int64]:
    """Return a column of places in a list of a given length."""
    numbers = read_column(part, place, n)
    if len(numbers) and not least <= int(numbers.min()) <= int(numbers.max()) < below:
        raise UnreadableError(f"has no {place}, or one that cannot be read.")
    return numbers.astype(np.int64)


def read_sizes(text: object, place: str) -> NDArray[np.int64]:
    """Return sizes of parts."""
    sizes = numbers_of(text, place)
    if len(sizes) and (int(sizes.min()) < 0 or sum(sizes.tolist()) > MOST_ENTRIES):
        raise UnreadableError(f"has no {place}, or one that cannot be read.")
    return sizes.astype(np.int64)


def read_decimals(part: object, place: str, n: int | None = None, *, more: tuple[str, ...] = ()) -> tuple[Whole, int]:
    """Return the counts of a column of decimals, and how many decimals there are."""
    entries = check_keys(part, place, (*more, "decimals", "numbers", "times"))
    decimals = entries["decimals"]
    if type(decimals) is not int or not 0 <= decimals <= _MOST_DIGITS:
        raise UnreadableError(f"has no {place}, or one that cannot be read.")
    return read_column({"numbers": entries["numbers"], "times": entries["times"]}, place, n), decimals


def read_partial(part: object, place: str, n: int) -> tuple[NDArray[np.bool_], Whole, int]:
    """Return which entries of a column are given, the counts of all (zero elsewhere), and the decimals."""
    entries = check_keys(part, place, ("given", "decimals", "numbers", "times"))
    runs = read_sizes(entries["given"], place)
    given = np.repeat(np.arange(len(runs)) % 2 == 0, runs)
    if len(given) != n:
        raise UnreadableError(f"has no list {place}, or one of another length.")
    some, decimals = read_decimals(part, place, int(given.sum()), more=("given",))
    counts = np.zeros(n, dtype=some.dtype)
    counts[given] = some
    return given, counts, decimals


def check_keys(part: object, place: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return an object that has these entries and no others."""
    if not isinstance(part, dict) or set(part) != set(keys):
        raise UnreadableError(f"does not have the entries {', '.join(keys)}{' in ' + place if place else ''}.")
    return part
