"""Exact numbers out of the texts of a certificate: whole numbers and fractions, nothing that rounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_QUOTIENT = re.compile(r"-?[0-9]+/[0-9]*[1-9][0-9]*", re.ASCII)
_LONGEST = 1000  # characters: more would only keep the machine busy


def is_decimal(text: object) -> bool:
    """Return whether something is the text of a finite decimal."""
    return isinstance(text, str) and len(text) <= _LONGEST and _DECIMAL.fullmatch(text) is not None


def whole_numbers(texts: Sequence[object]) -> list[int] | None:
    """Return whole numbers in the one way in which they are written, None where a text is none.

    >>> whole_numbers(["12", "-3"]), whole_numbers(["+12"])
    ([12, -3], None)
    """
    if not all(type(text) is str for text in texts):
        return None
    try:
        numbers = [int(text) for text in texts if isinstance(text, str)]
    except ValueError:
        return None
    return numbers if list(map(str, numbers)) == texts else None


def is_fraction(text: object) -> bool:
    """Return whether something is the text of a finite decimal or of a quotient such as ``1/3``."""
    return is_decimal(text) or (
        isinstance(text, str) and len(text) <= _LONGEST and _QUOTIENT.fullmatch(text) is not None
    )


def fraction(text: str) -> Fraction:
    """Return the number that a text stands for."""
    return Fraction(text)


def places(texts: Sequence[str]) -> int:
    """Return how many decimals the longest of some decimals has.

    >>> places(["1", "2.75", "0.5"])
    2
    """
    return max((len(text) - text.index(".") - 1 for text in texts if "." in text), default=0)


def counted(text: str, decimals: int) -> int:
    """Return a decimal as a whole number of units of a decimal place.

    >>> counted("-0.5", 2)
    -50
    """
    whole, _, rest = text.partition(".")
    return int(whole + rest.ljust(decimals, "0"))
