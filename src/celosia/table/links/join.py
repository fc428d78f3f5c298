"""What linked tables know about their cells besides the values: statistics, contributions, further columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, Problems
from celosia.table.statistics import NO_SHADOW, UNASKED, UNKNOWN, Contributions, Contributors, Statistics
from celosia.table.table import Table

_SHOWN = 5


def join_statistics(
    tables: Sequence[Table], names: Sequence[str], places: Sequence[NDArray[np.int64]], linked: Table
) -> Statistics | None:
    """Return the statistics of the linked cells: those of the first table that has them.

    Raises
    ------
    DataError
        Two tables count different numbers of contributors in what is the same cell.
    """
    having = [number for number, table in enumerate(tables) if table.statistics is not None]
    if not having:
        return None
    decimals = max(_statistics(tables[number]).decimals for number in having)
    n = len(linked)
    found = Problems()
    respondents = _join_contributors(tables, names, places, having, "respondents", decimals, n, found)
    holdings = _join_contributors(tables, names, places, having, "holdings", decimals, n, found)
    found.raise_as(DataError)
    if respondents is None:
        return None
    records = np.full(n, UNKNOWN, dtype=np.int64)
    weighted = np.full(n, float(UNKNOWN))
    shadow = np.full(n, NO_SHADOW, dtype=np.int64)
    requested = np.full(n, UNASKED, dtype=np.int64)
    for number in reversed(having):
        statistics, place = _statistics(tables[number]), places[number]
        records[place] = statistics.records
        weighted[place] = statistics.weighted_records
        scale = 10 ** (decimals - statistics.decimals)
        if statistics.shadow is not None:
            shadow[place] = statistics.shadow * scale
        if statistics.requested is not None:
            requested[place] = np.where(statistics.requested >= 0, statistics.requested * scale, statistics.requested)
    every = [_statistics(tables[number]) for number in having]
    return Statistics(
        respondents,
        holdings,
        records,
        weighted,
        decimals,
        shadow if any(statistics.shadow is not None for statistics in every) else None,
        requested if any(statistics.requested is not None for statistics in every) else None,
        max(statistics.weight_decimals for statistics in every),
    )


def join_extras(
    tables: Sequence[Table], names: Sequence[str], places: Sequence[NDArray[np.int64]], linked: Table
) -> Mapping[str, NDArray[Any]]:
    """Return the further columns of the linked cells: NaN or an empty text where no table says anything.

    Of different numbers, such as levels, the larger counts.

    Raises
    ------
    DataError
        Two tables give one cell different statuses.
    """
    found = Problems()
    columns: dict[str, NDArray[Any]] = {}
    for name in dict.fromkeys(name for table in tables for name in table.extras):
        parts = [(number, table.extras[name]) for number, table in enumerate(tables) if name in table.extras]
        text = parts[0][1].dtype.kind in "UO"
        column = np.full(len(linked), "" if text else np.nan, dtype=object if text else np.float64)
        for number, part in parts:
            place = places[number]
            known = (part != "") if text else ~np.isnan(part)
            conflict = (
                known & (column[place] != "") & (column[place] != part) if text else np.zeros(len(part), dtype=bool)
            )
            for cell in np.flatnonzero(conflict)[:_SHOWN].tolist():
                seen = f"{column[place[cell]]!r} and, in {names[number]}, {part[cell]!r}"
                found.add(
                    linked.label(int(place[cell])), f"is one cell with two entries of {name}: {seen}.", "Settle on one."
                )
            column[place[known]] = part[known] if text else np.fmax(column[place[known]], part[known])
        columns[name] = column
    found.raise_as(DataError)
    return MappingProxyType(columns)


def join_contributions(
    tables: Sequence[Table], places: Sequence[NDArray[np.int64]], linked: Table
) -> tuple[Table, tuple[str, ...]]:
    """Return the linked table with the single contributions of its parts, where numbers mean the same respondents."""
    parts = [
        (table.contributions, place)
        for table, place in zip(tables, places, strict=True)
        if table.contributions is not None
    ]
    if not parts:
        return linked, ()
    if any(part.origin is not parts[0][0].origin for part, _ in parts):
        return linked, (
            "contributions are left out: tables that were tabulated apart number their respondents differently",
        )
    decimals = [table.decimals for table in tables if table.contributions is not None]
    told = np.zeros(len(linked), dtype=bool)
    kept = []
    for (part, place), coarser in zip(parts, decimals, strict=True):
        cell = place[part.cell]
        new = ~told[cell]  # a leaf cell of two tables has its contributions once
        told[cell] = True
        amount = part.amount[new] * 10 ** (linked.decimals - coarser)
        waived = np.zeros(len(part.cell), dtype=bool) if part.waived is None else part.waived
        kept.append((cell[new], part.respondent[new], part.holding[new], amount, waived[new]))
    cell, respondent, holding, amount, waived = (np.concatenate(columns) for columns in zip(*kept, strict=True))
    free = waived if waived.any() else None
    contributions = Contributions(cell, respondent, holding, amount, parts[0][0].origin, free)
    return replace(linked, contributions=contributions), ()


def _statistics(table: Table) -> Statistics:
    if table.statistics is None:
        raise ValueError("a table without statistics")
    return table.statistics


def _join_contributors(
    tables: Sequence[Table],
    names: Sequence[str],
    places: Sequence[NDArray[np.int64]],
    having: Sequence[int],
    kind: str,
    decimals: int,
    n: int,
    found: Problems,
) -> Contributors | None:
    parts = [(number, getattr(_statistics(tables[number]), kind)) for number in having]
    parts = [(number, part) for number, part in parts if part is not None]
    if not parts:
        return None
    k = max(part.largest.shape[1] for _, part in parts)
    out = Contributors.unknown(n, k)
    for number, part in reversed(parts):
        place = places[number]
        before = out.count[place]
        different = np.flatnonzero((before >= 0) & (part.count >= 0) & (before != part.count))
        if len(different):
            message = f"{len(different)} cells that stand in another table too have another number of {kind} there."
            found.add(names[number], message, "Are the tables about the same records?")
        out.fill(place, part.widen(k).scale(10 ** (decimals - _statistics(tables[number]).decimals)))
    return out
