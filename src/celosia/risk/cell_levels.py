"""Levels of single cells: what an office asks for on top of its rules, in any case or under a condition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from celosia.errors import Problems, list_items
from celosia.risk.risk import SENSITIVE, Levels, Risk
from celosia.table.fixed import Fixed
from celosia.table.units import count_decimals

Number = float | int | Fraction

_NONE = Fraction(0)


@dataclass(frozen=True, slots=True)
class CellLevels:
    """How far from the truth, and how wide, what attackers conclude about a cell must be.

    Parameters
    ----------
    lower, upper, sliding
        LPL, UPL and SPL; zero for none.
    """

    lower: Fraction = _NONE
    upper: Fraction = _NONE
    sliding: Fraction = _NONE

    def find_narrower(self, risk: Risk, cell: int) -> str | None:
        """Return the name of an attacker whose own bounds are narrower, None where there is none.

        He is not kept from cells of his own, nor, where he has requirements of his own, from others.
        """
        truth = risk.table.amounts.fraction(cell)
        others = set() if risk.further is None else set(risk.further.attackers.tolist())
        for place, attacker in enumerate(risk.attackers):
            if place in others or (attacker.own is not None and bool(attacker.own[cell])):
                continue
            lower, upper = attacker.bounds(cell)
            down = None if lower is None else truth - lower
            up = None if upper is None else upper - truth
            short = (down is not None and down < self.lower) or (up is not None and up < self.upper)
            if short or (down is not None and up is not None and up + down < self.sliding):
                return attacker.name
        return None


def gather_levels(
    lower: Mapping[int, Number], upper: Mapping[int, Number], sliding: Mapping[int, Number]
) -> dict[int, CellLevels]:
    """Return levels by cell, exact as they are written."""
    return {
        cell: CellLevels(*(_to_fraction(numbers.get(cell, 0)) for numbers in (lower, upper, sliding)))
        for cell in sorted({*lower, *upper, *sliding})
    }


def check_levels(found: Problems, name: str, numbers: Mapping[int, Number]) -> None:
    """Note cells whose level is not above zero, or no number."""
    wrong = [cell for cell, number in numbers.items() if not (number > 0 and math.isfinite(number))]
    if wrong:
        found.add(name, f"must be above zero; it is not for {list_items(wrong)}.", "Leave it out for none.")


def raise_levels(levels: Levels, wanted: Mapping[int, CellLevels]) -> Levels:
    """Return levels that ask of some cells for at least so much."""

    def grow(own: Fixed, name: str) -> Fixed:
        more = {cell: getattr(one, name) for cell, one in wanted.items() if getattr(one, name)}
        if not more:
            return own
        decimals = max(own.decimals, count_decimals(more.values()))
        counts = own.to(decimals).counts.astype(object)
        for cell, level in more.items():
            counts[cell] = max(counts[cell], math.ceil(level * 10**decimals))
        return Fixed.of_counts(counts, decimals)

    return Levels(*(grow(getattr(levels, name), name) for name in ("lower", "upper", "sliding")))


def require_levels(risk: Risk, wanted: Mapping[int, CellLevels]) -> Risk:
    """Return the risk in which some cells are sensitive, with at least so high levels."""
    if not wanted:
        return risk
    status = risk.status.copy()
    status[np.array(list(wanted), dtype=np.int64)] = SENSITIVE
    return replace(risk, status=status).change_levels(lambda levels: raise_levels(levels, wanted))


def _to_fraction(number: Number) -> Fraction:
    """Return a number, exact as it is written."""
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)
