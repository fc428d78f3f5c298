"""Decimal numbers out of texts, digit by digit, with every text that is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import localcontext

import numpy as np

from celosia.table.fixed import Fixed

_LONGEST = 20  # characters of a text that a message quotes
_MOST_DIGITS = 100  # 1e999999999 would be exact too, and fill the memory
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def read_numbers(texts: Sequence[str], *, endless: bool) -> tuple[Fixed, list[tuple[int, str]]]:
    """Return the numbers, zero where a text is none, and what is wrong with which texts.

    Parameters
    ----------
    texts
        Numbers as people and programs write them.
    endless
        Whether ``inf`` and ``-inf`` are welcome.
    """
    number = _NUMBER.fullmatch
    odd = [place for place, text in enumerate(texts) if not number(text) or len(text) > _MOST_DIGITS]
    infinite = {place for place in odd if _INFINITE.fullmatch(texts[place])}
    wrong = {place: f"is not a number of up to {_MOST_DIGITS} digits." for place in odd if place not in infinite}
    if not endless:
        wrong |= dict.fromkeys(infinite, "is infinite.")
    with localcontext(prec=4 * _MOST_DIGITS):
        numbers = Fixed.of_texts(["0" if place in wrong else text for place, text in enumerate(texts)])
    for place in np.flatnonzero(numbers.infinite).tolist():
        if place not in infinite:  # the count 2^63 - 1 stands for infinity
            wrong[place] = "cannot be told from infinity."
    return numbers, sorted(wrong.items())


def quote(text: str) -> str:
    """Return the beginning of a text as a message shows it."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")
