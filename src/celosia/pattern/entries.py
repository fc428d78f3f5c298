"""The words of a release: what an entry of each status shows and gives away, and how wrong entries are named."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from celosia.errors import Problem

SHOWN, HIDDEN, INTERVAL, ROUNDED, PERTURBED, ADJUSTED = STATUSES = (
    "shown",
    "hidden",
    "interval",
    "rounded",
    "perturbed",
    "adjusted",
)
"""How a cell is published."""

WITH_VALUE = frozenset((SHOWN, ROUNDED, PERTURBED, ADJUSTED))
"""An entry of these statuses shows a number."""

WITH_BOUNDS = frozenset((SHOWN, INTERVAL, ROUNDED, PERTURBED))
"""An entry of these statuses gives away bounds of the truth."""

STATUS_TYPE = np.dtype("<U9")

Fault: TypeAlias = tuple[NDArray[np.bool_], str, str]
"""Which entries are wrong, why, and what to do."""

_MOST_SHOWN = 20


def of_status(status: NDArray[np.str_], words: Iterable[str]) -> NDArray[np.bool_]:
    """Return which entries have one of these statuses."""
    return np.isin(status, sorted(words))


def criterion(status: NDArray[np.str_]) -> str:
    """Return what protects: ``intervals`` that attackers cannot narrow, or ``distance`` of adjusted values."""
    return "distance" if bool((status == ADJUSTED).any()) else "intervals"


def problems_of(findings: Iterable[Fault], name: Callable[[int], str]) -> list[Problem]:
    """Return the findings by entry, the first 20 in words and the number of the others.

    Parameters
    ----------
    findings
        What is wrong.
    name
        What people call an entry.
    """
    found = [(places, message, remedy) for wrong, message, remedy in findings if len(places := np.flatnonzero(wrong))]
    # Of each finding only the first ones can be among the first of all: a million of them cost no more than these.
    first = sorted((int(place), k) for k, (places, _, _) in enumerate(found) for place in places[:_MOST_SHOWN])
    problems = [Problem(name(place), *found[k][1:]) for place, k in first]
    return first_of(problems, sum(len(places) for places, _, _ in found))


def first_of(problems: list[Problem], total: int | None = None) -> list[Problem]:
    """Return the first 20 problems, and how many more there are."""
    more = (len(problems) if total is None else total) - _MOST_SHOWN
    return [*problems[:_MOST_SHOWN], Problem("", f"... and {more} more")] if more > 0 else problems


def tally(status: NDArray[np.str_]) -> str:
    """Return how many entries there are of each status: ``7 shown, 3 hidden``."""
    counted = {word: int((status == word).sum()) for word in STATUSES}
    return ", ".join(f"{number:,} {word}" for word, number in counted.items() if number)
