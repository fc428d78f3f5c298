"""How many widths and moves tell the largest contribution: they are what levels ask for, and levels are parts of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.errors import pluralise
from celosia.pattern.entries import ADJUSTED, INTERVAL, PERTURBED
from celosia.pattern.pattern import Pattern
from celosia.risk.classes import WIDEST_SHARE
from celosia.risk.risk import Risk


def describe_told_levels(pattern: Pattern, risk: Risk, *, remedy: bool) -> tuple[str, ...]:
    """Return what to say of widths and moves that tell contributions, where some do; no cell, no value.

    Parameters
    ----------
    pattern
        What is published.
    risk
        The sensitive cells, with the parts of the value that their levels are.
    remedy
        The method could conceal levels, and does not: readers are then told something even where they cannot read off
        the largest contribution itself.
    """
    narrow = _count_open_levels(pattern, risk)
    help_ = " Concealed levels (conceal) help." if remedy and narrow else ""
    widths, moves = count_told_levels(pattern, risk)
    said = []
    if remedy and narrow and not widths + moves:
        said.append(
            f"Levels of {pluralise(narrow, 'sensitive cell')} are not concealed: readers who know the rule take widths "
            f"and moves for levels, which are parts of contributions.{help_}"
        )
    if widths:
        ranges = pluralise(widths, "range")
        said.append(f"Readers who know the rule read the largest contribution off the width of {ranges}.{help_}")
    if moves:
        values = pluralise(moves, "value")
        said.append(f"Readers who know the rule can undo the moves of {values}, which moved by their levels.{help_}")
    return tuple(said)


def _count_open_levels(pattern: Pattern, risk: Risk) -> int:
    """Return of how many sensitive cells, published as ranges or moved, levels could be concealed."""
    if risk.shares is None:
        return 0
    width = risk.shares.width
    moved = np.isin(pattern.status, (INTERVAL, PERTURBED))
    return int((risk.sensitive & moved & (width > 0) & (width <= WIDEST_SHARE)).sum())


def count_told_levels(pattern: Pattern, risk: Risk) -> tuple[int, int]:
    """Return how many ranges of sensitive cells have the width of levels that tell, and how many values their move.

    Where the two are the largest contribution or the value to within the last decimal of what is published.
    """
    shares = risk.shares
    if shares is None:
        return 0, 0
    cells = np.flatnonzero(risk.sensitive & (shares.width > 0))
    status = pattern.status[cells]
    ranges, moved = cells[status == INTERVAL], cells[(status == PERTURBED) | (status == ADJUSTED)]
    lower, upper = pattern.bounds()
    width = upper.floats[ranges] - lower.floats[ranges]
    unit = 2 * 10.0 ** -max(lower.decimals, upper.decimals)
    told = _is_near(width / shares.width[ranges], unit / shares.width[ranges], risk, ranges)
    number = pattern.published()
    undone = np.zeros(len(moved), dtype=bool)
    for share in (shares.upper[moved], -shares.lower[moved]):
        unit = 2 * 10.0**-number.decimals
        near = np.abs(number.floats[moved] / (1 + share) - risk.table.values[moved]) <= unit
        undone |= near & (share != 0)
    return int(told.sum()), int(undone.sum())


def _is_near(
    guess: NDArray[np.float64], within: NDArray[np.float64], risk: Risk, cells: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether numbers are the value or the largest contribution of their cells, ``(k,)``."""
    near = np.abs(guess - risk.table.values[cells]) <= within
    statistics = risk.table.statistics
    if statistics is not None:
        for kind in (statistics.respondents, statistics.holdings):
            if kind is not None and kind.largest.shape[1]:
                largest = kind.largest[cells, 0] / 10.0**statistics.decimals
                near |= (np.abs(guess - largest) <= within) & (largest > 0)
    return np.asarray(near)
