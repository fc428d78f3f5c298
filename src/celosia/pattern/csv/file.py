"""Releases as CSV files: one row a cell, every number exact.

::

    cell[,labels ...][,sensitive],status,published,lower,upper

`cell` counts from 0; the labels are a column for each dimension and, where there are several, the variable; `sensitive`
is 0 or 1 and stands in the office's copy only; `status` is one of shown, hidden, interval, rounded, perturbed and
adjusted; `published` is empty where the cell is hidden or an interval, `lower` and `upper` where it is hidden or
adjusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.arguments import takes
from celosia.errors import SpecError
from celosia.files import write_lines
from celosia.pattern.csv.columns import ColumnReader
from celosia.pattern.csv.sheet import CsvSheet
from celosia.pattern.entries import WITH_BOUNDS, of_status
from celosia.pattern.labels import OWN, SENSITIVE, Labels
from celosia.pattern.release import Release
from celosia.table.table import Table

_QUOTED = frozenset('",\r\n')


@takes(release=Release, path=(str, Path))
def write_release(release: Release, path: str | Path, sensitive: ArrayLike | None = None) -> None:
    """Write a release as a CSV file, exactly; the file appears whole or not at all.

    Parameters
    ----------
    release
        What is published.
    path
        The file to write; one that is there is replaced.
    sensitive
        Which cells are sensitive, ``(n_cells,)``: this makes the office's copy. Without it the file is public.

    Raises
    ------
    SpecError
        `sensitive` is no mask of the cells, or the file cannot be written.
    """
    lines = _file_lines(release, check_mask(sensitive, len(release)))
    try:
        write_lines(lines, Path(path))
    except UnicodeEncodeError as error:
        raise SpecError.one(str(path), "cannot be written: a label is no Unicode text.", "Mend the codes.") from error


def check_mask(sensitive: ArrayLike | None, n: int) -> NDArray[np.bool_] | None:
    """Return which cells of a release are sensitive, ``(n,)``, None where that is not told; refuse what is no mask."""
    flags = None if sensitive is None else np.asarray(sensitive)
    if flags is not None and (flags.shape != (n,) or flags.dtype != bool):
        seen = f"must be a mask of {n} cells, not {flags.dtype} of the shape {flags.shape}."
        raise SpecError.one("sensitive", seen)
    return flags


def _file_lines(release: Release, sensitive: NDArray[np.bool_] | None) -> Iterator[str]:
    """Yield the lines of the file."""
    labels = release.labels.columns()
    columns: list[list[str]] = [[str(cell) for cell in range(len(release))]]
    columns += [[_quote(label) for label in said] for said in labels.values()]
    if sensitive is not None:
        columns.append(["1" if says else "0" for says in sensitive.tolist()])
    columns.append(release.status.tolist())
    bounded = of_status(release.status, WITH_BOUNDS)
    for numbers, given in ((release.published, release.has_value), (release.lower, bounded), (release.upper, bounded)):
        columns.append([text if says else "" for text, says in zip(numbers.texts(), given.tolist(), strict=True)])
    own = [name for name in OWN if name != SENSITIVE or sensitive is not None]
    yield ",".join([own[0], *map(_quote, labels), *own[1:]]) + "\n"
    for entries in zip(*columns, strict=True):
        yield ",".join(entries) + "\n"


def _quote(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if _QUOTED.intersection(text) else text


@takes(path=(str, Path), table=Table)
def read_release(path: str | Path, table: Table | None = None) -> Release:
    """Return the release of a CSV or Parquet file, the office's copy or the public one.

    Rows may stand in any order and label columns may be missing. Which cells are sensitive is not kept.

    Parameters
    ----------
    path
        The file.
    table
        The table that was published, where it is at hand: the release takes its labels, and the file must have exactly
        its cells. Whether the numbers belong to it is for `Release.check` to say. Without it labels are those of the
        file, and a dimension's levels are unknown.

    Raises
    ------
    DataError
        The file cannot be read or contradicts itself: every problem with its line, the first 20 of them in words.
    """
    reader = ColumnReader(CsvSheet.of_file(Path(path)))
    cells = reader.cells(None if table is None else len(table))
    labels = reader.labels(None if table is None else Labels.of_table(table), cells)
    reader.check_flags()
    status = reader.statuses()
    published, lower, upper = reader.numbers(status)
    reader.sheet.refuse()
    order = np.argsort(cells)
    library = None if table is None else table.library
    return Release(labels, status[order], published[order], lower[order], upper[order], library)
