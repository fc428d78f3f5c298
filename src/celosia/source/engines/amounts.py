"""Amounts as whole counts of their last decimal, made inside the engine: the same numbers on every one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import DataError, Problems, pluralise
from celosia.library import OnFirstUse
from celosia.source.engines.rows import EngineRows
from celosia.tolerance import LARGEST_COUNT, MOST_DECIMALS

if TYPE_CHECKING:
    import ibis
else:
    ibis = OnFirstUse("ibis")

_EXACT = 2.0**53  # counts from here on are no longer told apart by doubles


@dataclass(frozen=True, slots=True)
class Amount:
    """How an engine reads a column of amounts.

    Parameters
    ----------
    column
        The column.
    decimals
        The decimals of the counts.
    real
        The counts are made of real numbers, and not of a type that is exact.
    written
        The decimals of an exact type.
    note
        What is lost, if anything is.
    """

    column: str
    decimals: int
    real: bool
    written: int = 0
    note: str = ""

    def counts(self, table: Any) -> Any:  # noqa: ANN401  (ibis)
        """Return the whole counts of every row."""
        if self.real:
            return _nearest_even(_double(table[self.column]) * _real(10.0**self.decimals))
        return _shifted(table[self.column], self.decimals)


@dataclass(slots=True)
class _Seen:
    """What an engine says about a column of amounts."""

    nulls: int
    odd: int
    largest: float
    total: float
    exact: list[int] = field(default_factory=list)


def amounts_of(
    rows: EngineRows, columns: Mapping[str, int | None], weight: str | None
) -> tuple[dict[str, Amount], int]:
    """Return how amounts are read as whole numbers, and how many rows there are.

    Exact types give counts of their last decimal, real numbers of the finest that they all have, and where they have
    none, of a grid, with a note: as `celosia.source.tabulation.amounts` does for records that are read here.

    Parameters
    ----------
    rows
        The rows.
    columns
        Columns of amounts, with the decimals that are asked for.
    weight
        The one of them that holds weights.

    Raises
    ------
    DataError
        Everything that is wrong with any of them.
    """
    found = Problems()
    for column in columns:
        if not rows.types[column].is_numeric():
            seen = f"holds no numbers, but {rows.types[column]}."
            found.add(f"{rows.place}, column {column!r}", seen, "Cast it to DECIMAL in a view or query.")
    found.raise_as(DataError)
    told, n_rows = _measure(rows, list(columns), weight, found)
    found.raise_as(DataError)
    amounts = {column: _amount(rows, column, wanted, told[column], n_rows) for column, wanted in columns.items()}
    for column, amount in amounts.items():
        if told[column].total * 10.0**amount.decimals >= LARGEST_COUNT:
            message = f"sums to more than 18 digits with {amount.decimals} decimals."
            remedy = "Ask for fewer decimals, or use a larger unit."
            found.add(f"{rows.place}, column {column!r}", message, remedy)
    found.raise_as(DataError)
    return amounts, n_rows


def _measure(
    rows: EngineRows, columns: Sequence[str], weight: str | None, found: Problems
) -> tuple[dict[str, _Seen], int]:
    """Return what the engine says about every column, and the number of rows, in one pass."""
    asked = {"n": rows.table.count()}
    for k, column in enumerate(columns):
        given = rows.table[column]
        double = _double(given)
        asked |= {f"nulls{k}": given.isnull().sum(), f"size{k}": double.abs().max(), f"sum{k}": double.abs().sum()}
        if rows.types[column].is_floating():
            asked[f"odd{k}"] = (double.isnan() | double.isinf()).sum()
        if column == weight:
            asked["light"] = (given <= 0).sum()
    said = rows.fetch_one(rows.table.aggregate(**asked))
    if not said["n"]:
        raise DataError.one(rows.place, "holds no records.", "Is it the right table?")
    told = {}
    for k, column in enumerate(columns):
        place = f"{rows.place}, column {column!r}"
        seen = _Seen(said[f"nulls{k}"], said.get(f"odd{k}", 0), float(said[f"size{k}"]), float(said[f"sum{k}"]))
        if seen.nulls:
            found.add(place, f"no value in {pluralise(seen.nulls, 'record')}.", "Fill them, or leave the records out.")
        if seen.odd:
            found.add(place, f"an infinite value or none in {pluralise(seen.odd, 'record')}.", "Mend it.")
        if column == weight and said["light"]:
            message = f"a weight of zero or less in {pluralise(said['light'], 'record')}."
            found.add(place, message, "It says how many units a record is.")
        told[column] = seen
    return told, int(said["n"])


def _amount(rows: EngineRows, column: str, wanted: int | None, seen: _Seen, n_rows: int) -> Amount:
    kind = rows.types[column]
    if not kind.is_floating():
        written = 0 if kind.is_integer() else kind.scale
        if written is None:
            written = _decimals_of(rows, column, real=False, largest=0.0)
        if written <= MOST_DECIMALS and (wanted is None or wanted >= written):
            return Amount(column, written, real=False)
    exact = _decimals_of(rows, column, real=True, largest=seen.largest)
    most = max(seen.largest * n_rows, 1.0)
    finest = max(0, min(MOST_DECIMALS, int(np.floor(np.log10(2.0**50 / most)))))
    chosen = wanted if wanted is not None else finest if exact > MOST_DECIMALS else exact
    lost = f"{rows.place}, column {column!r}: records rounded to {chosen} decimals" if exact > chosen else ""
    return Amount(column, chosen, real=True, note=lost)


def _decimals_of(rows: EngineRows, column: str, *, real: bool, largest: float) -> int:
    """Return how many decimals all numbers of a column have; `MOST_DECIMALS` + 1 stands for more."""
    asked = {}
    for decimals in range(MOST_DECIMALS + 1):
        if not real:
            moved = rows.table[column] * 10**decimals
            asked[f"d{decimals}"] = (moved != moved.round(0)).sum()
        elif not decimals or largest * 10.0**decimals < _EXACT:
            if largest >= LARGEST_COUNT:
                return MOST_DECIMALS + 1
            given, scale = _double(rows.table[column]), _real(10.0**decimals)
            asked[f"d{decimals}"] = ((_nearest_even(given * scale).cast("float64") / scale) != given).sum()
    said = rows.fetch_one(rows.table.aggregate(**asked))
    return next((k for k in range(MOST_DECIMALS + 1) if said.get(f"d{k}", 1) == 0), MOST_DECIMALS + 1)


def _shifted(given: Any, decimals: int) -> Any:  # noqa: ANN401  (ibis)
    """Return the whole counts of an exact number."""
    return (given if decimals == 0 else given * 10**decimals).cast("int64")


def _double(given: Any) -> Any:  # noqa: ANN401  (ibis)
    return given.cast("float64")


def _real(number: float) -> Any:  # noqa: ANN401  (ibis)
    return ibis.literal(number, type="float64")


def _nearest_even(given: Any) -> Any:  # noqa: ANN401  (ibis)
    """Return the nearest whole number, the even one of two: engines round halves in ways of their own."""
    below = given.floor().cast("float64")
    rest, half = given - below, _real(0.5)
    odd = (below * half).floor().cast("float64") != below * half
    up = (rest > half) | ((rest == half) & odd)
    return (below + ibis.ifelse(up, _real(1.0), _real(0.0))).cast("int64")
