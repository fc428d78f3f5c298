"""The levels of a problem: those of its requirements, those of cells that are not shown, and their decimal."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.system import System
from celosia.risk.cell_levels import CellLevels
from celosia.risk.requirement import Requirements
from celosia.risk.risk import SHOW, Risk
from celosia.table.fixed import Fixed
from celosia.table.units import count_decimals
from celosia.tolerance import ENDLESS, EXACT_DOUBLE


def add_conditional_levels(risk: Risk, conditional: Mapping[int, CellLevels]) -> Requirements:
    """Return all requirements, and after them one for every cell that keeps levels if it is not shown.

    Attackers with requirements of their own, such as respondents, get none of these, nor does anybody for what is his
    own.
    """
    required = risk.requirements
    cells = np.array([cell for cell in conditional if risk.status[cell] != SHOW], dtype=np.int64)
    if not len(cells):
        return required
    who = np.arange(len(risk.attackers), dtype=np.int32)
    if risk.further is not None:
        who = np.setdiff1d(who, risk.further.attackers)
    pairs = [(k, cell) for k in who.tolist() for cell in cells.tolist() if not _is_own(risk, k, cell)]

    def append(own: Fixed, name: str) -> Fixed:
        """Return levels of one kind, and after them those of the pairs."""
        more = [getattr(conditional[cell], name) for _, cell in pairs]
        decimals = max(own.decimals, count_decimals(more))
        counts = own.to(decimals).counts.astype(object).tolist()
        return Fixed.of_counts(
            np.array([*counts, *(math.ceil(level * 10**decimals) for level in more)], dtype=object), decimals
        )

    return Requirements(
        np.concatenate([required.cells, np.array([cell for _, cell in pairs], dtype=np.int64)]),
        np.concatenate([required.attackers, np.array([k for k, _ in pairs], dtype=np.int32)]),
        append(required.lower, "lower"),
        append(required.upper, "upper"),
        append(required.sliding, "sliding"),
    )


def _is_own(risk: Risk, attacker: int, cell: int) -> bool:
    own = risk.attackers[attacker].own
    return own is not None and bool(own[cell])


def find_decimals(systems: list[System], required: Requirements, whole: NDArray[np.bool_]) -> int:
    """Return the decimal in which to count: one that holds every level exactly, if bounds are not too large for it.

    Otherwise levels are rounded up, which requires a little more than is necessary. Whole cells move by whole numbers,
    and need none.
    """
    coarse = max(system.decimals for system in systems)
    finest = coarse
    for level in (required.upper, required.lower, required.sliding):
        counts = level.counts[(level.counts != 0) & ~whole[required.cells]]
        decimals = level.decimals
        while decimals > finest and not bool((counts % 10).any()):
            counts, decimals = counts // 10, decimals - 1
        finest = max(finest, decimals)
    if finest == coarse:
        return coarse
    bounds = [(bound, system.digits) for system in systems for bound in (system.up, system.down)]
    largest = max(
        float((np.where(bound >= ENDLESS, 0, bound) * 10.0 ** (finest - digits)).max(initial=0))
        for bound, digits in bounds
    )
    return finest if largest < EXACT_DOUBLE else coarse


def round_up(levels: Fixed, decimals: int, whole: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return levels in counts, rounded up, those of whole cells to whole numbers, no more than `ENDLESS`."""
    exact = levels.counts.astype(object)
    if levels.decimals > decimals:
        counts = -(-exact // 10 ** (levels.decimals - decimals))
    else:
        counts = exact * 10 ** (decimals - levels.decimals)
    counts = np.where(whole, -(-counts // 10**decimals) * 10**decimals, counts)
    return np.asarray(np.minimum(counts, ENDLESS), dtype=np.int64)
