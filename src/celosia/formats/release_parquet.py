"""Releases as Parquet files: the columns of the CSV file, every number exact, empty where nothing is given."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.pattern.entries import WITH_BOUNDS, of_status
from celosia.pattern.labels import CELL, LOWER, PUBLISHED, SENSITIVE, STATUS, UPPER
from celosia.pattern.release import Release
from celosia.table.fixed import Fixed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet
else:
    pa = OnFirstUse("pyarrow")
    parquet = OnFirstUse("pyarrow.parquet")

_DIGITS = 38  # of a 128-bit decimal


def write_parquet(release: Release, path: Path, sensitive: NDArray[np.bool_] | None = None) -> None:
    """Write a release as a Parquet file.

    Whole numbers are 64-bit integers; others are decimals, or text where they are too long for these. A bound without
    end is empty, as that of a hidden cell is.

    Parameters
    ----------
    release
        What is published.
    path
        The file to write.
    sensitive
        Which cells are sensitive, for the office's copy.
    """
    labels = {name: pa.array(said).dictionary_encode() for name, said in release.labels.columns().items()}
    columns: dict[str, pa.Array] = {CELL: pa.array(np.arange(len(release))), **labels}
    if sensitive is not None:
        columns[SENSITIVE] = pa.array(sensitive.astype(np.int8))
    columns[STATUS] = pa.array(release.status.tolist()).dictionary_encode()
    bounded = of_status(release.status, WITH_BOUNDS)
    columns[PUBLISHED] = _numbers(release.published, release.has_value)
    columns[LOWER] = _numbers(release.lower, bounded & ~release.lower.infinite)
    columns[UPPER] = _numbers(release.upper, bounded & ~release.upper.infinite)
    parquet.write_table(pa.table(columns), path)


def _numbers(numbers: Fixed, given: NDArray[np.bool_]) -> pa.Array:
    """Return a column of exact numbers, null where none is given."""
    counts = numbers.counts
    if not numbers.decimals and counts.dtype != object:
        return pa.array(np.where(given, counts, 0), mask=~given)
    texts = [text if says else None for text, says in zip(numbers.texts(), given.tolist(), strict=True)]
    digits = max((len(str(abs(int(count)))) for count in counts[given].tolist()), default=0)
    if max(digits, numbers.decimals) > _DIGITS:
        return pa.array(texts, type=pa.string())
    exact = [None if text is None else Decimal(text) for text in texts]
    return pa.array(exact, type=pa.decimal128(_DIGITS, numbers.decimals))
