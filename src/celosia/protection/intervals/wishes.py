"""Wishes about ranges that contradict each other, or what is asked for."""

from __future__ import annotations

import numpy as np

from celosia.errors import SpecError, list_items
from celosia.protection.intervals.method import Intervals
from celosia.risk.risk import HIDE, Risk


def refuse_widths(risk: Risk, method: Intervals) -> None:
    """Refuse widths that contradict the attackers' bounds, the levels, or each other.

    Raises
    ------
    SpecError
        With the cells by their labels.
    """
    least, most = method.least, method.most
    wide: list[str] = []
    for cell, width in least.items():
        truth = risk.table.amounts.fraction(cell)
        for attacker in risk.attackers:
            lower, upper = attacker.bounds(cell)
            if lower is not None and upper is not None and upper - lower < width and truth is not None:
                wide.append(f"{risk.table.label(cell)} (attacker {attacker.name!r})")
                break
    if wide:
        raise SpecError.one(
            "least_width", f"is more than attackers' bounds leave open: {list_items(wide)}.", "Ask for less there."
        )
    levels = risk.levels
    narrow = [
        cell
        for cell, width in most.items()
        if risk.sensitive[cell]
        and not method.may_be_no_range(risk)[cell]
        and width < max(levels.sliding.fraction(cell), levels.lower.fraction(cell) + levels.upper.fraction(cell))
    ]
    if narrow:
        labels = list_items([risk.table.label(cell) for cell in narrow])
        raise SpecError.one("most_width", f"is less than what must be reached: {labels}.", "Allow more, or ask less.")


def refuse_hidden(risk: Risk, method: Intervals) -> None:
    """Refuse cells that must be hidden, where cells are shown or are ranges.

    Raises
    ------
    SpecError
        With the cells by their labels.
    """
    hidden = np.flatnonzero(risk.status == HIDE)
    if len(hidden) and not method.hides:
        labels = list_items([risk.table.label(int(cell)) for cell in hidden])
        said = f"{method.name!r} shows cells or ranges, but these must be hidden: {labels}."
        raise SpecError.one("method", said, "Use 'mixed'.")
