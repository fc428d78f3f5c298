"""What the columns of a data file look like, in counts: no value leaves this module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import DataError
from celosia.library import OnFirstUse
from celosia.source.duckdb import ROWS, RowSource, open_rows, quote, without_values

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = OnFirstUse("duckdb")

NUMBER, TEXT, FLAG, OTHER = "number", "text", "flag", "other"
"""What a column holds: numbers, text, truth values, anything else."""

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_FLAGS = "('0', '1', 'true', 'false')"


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column in counts.

    Parameters
    ----------
    name
        The column's name.
    kind
        What it holds.
    rows, filled
        How many rows there are, and in how many the column is not empty.
    distinct
        About how many different entries it has.
    whole
        All of its numbers are whole.
    """

    name: str
    kind: str
    rows: int
    filled: int
    distinct: int
    whole: bool


def profile(path: str | Path) -> tuple[ColumnProfile, ...]:
    """Return what the columns of a Parquet or CSV file look like.

    Raises
    ------
    DataError
        The file is not there, cannot be read, or has no rows.
    """
    source = open_rows(Path(path))
    asked = [part for name in source.types for part in _counts(name)]
    try:
        rows, *counts = source.fetch(f"SELECT count(*), {', '.join(asked)} FROM {ROWS}")[0]
    except duckdb.Error as error:
        raise DataError.one(str(path), f"cannot be read: {without_values(error)}.") from None
    if not rows:
        raise DataError.one(str(path), "has no rows.")
    fives = zip(*(iter(counts),) * 5, strict=True)
    return tuple(
        ColumnProfile(name, _kind(source, name, filled, numbers, flags), rows, filled, distinct, whole == filled)
        for name, (filled, distinct, numbers, whole, flags) in zip(source.types, fives, strict=True)
    )


def _counts(name: str) -> Iterator[str]:
    """Yield how many entries of a column there are, and how many are different, numbers, whole, or truth values."""
    text = f"nullif(trim(CAST({quote(name)} AS VARCHAR)), '')"
    yield f"count({text})"
    yield f"approx_count_distinct({text})"
    yield f"count(*) FILTER (isfinite(TRY_CAST({text} AS DOUBLE)))"
    yield f"count(*) FILTER (TRY_CAST({text} AS DOUBLE) = floor(TRY_CAST({text} AS DOUBLE)))"
    yield f"count(*) FILTER (lower({text}) IN {_FLAGS})"


def _kind(source: RowSource, name: str, filled: int, numbers: int, flags: int) -> str:
    kind = source.types[name]
    if kind == "BOOLEAN" or (filled and flags == filled):
        return FLAG
    if kind == "VARCHAR":
        # In a CSV file everything is text; in a Parquet file text that looks like numbers is a code.
        return NUMBER if filled and numbers == filled and source.place.lower().endswith(_TEXT_FILES) else TEXT
    if kind in _WHOLE or kind.startswith(("DECIMAL", "FLOAT", "DOUBLE", "REAL")):
        return NUMBER if numbers == filled else OTHER
    return TEXT if kind.startswith("ENUM") else OTHER


_TEXT_FILES = (".csv", ".txt", ".gz")
