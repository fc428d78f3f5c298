"""Releases in the format that the name of the file asks for: CSV, Parquet or Excel."""

from __future__ import annotations

from pathlib import Path

from numpy.typing import ArrayLike

from celosia.arguments import takes
from celosia.errors import SpecError
from celosia.files import all_or_nothing
from celosia.formats.release_excel import write_excel
from celosia.formats.release_parquet import write_parquet
from celosia.pattern.csv.file import check_mask, write_release
from celosia.pattern.release import Release

ENDINGS = (".csv", ".parquet", ".xlsx")
"""What the name of a release's file may end with."""


@takes(release=Release, path=(str, Path))
def write(release: Release, path: str | Path, sensitive: ArrayLike | None = None) -> None:
    """Write a release; the ending of the name chooses the format, and the file appears whole or not at all.

    ``.csv`` and ``.parquet`` have one row a cell and hold every number exactly. ``.xlsx`` shows the table as people
    read it, what is not shown in colour, and the same list of cells.

    Guarantee
    ---------
    Without `sensitive` the file depends on the release alone, which depends on nothing that is hidden: no formula,
    comment, hidden sheet or property of the file says more.

    Parameters
    ----------
    release
        What is published.
    path
        The file to write; one that is there is replaced.
    sensitive
        Which cells are sensitive, ``(n_cells,)``: this makes the office's copy, which tells sensitive cells from those
        that are hidden to protect them. Without it the file is public.

    Raises
    ------
    SpecError
        The ending is unknown, `sensitive` is no mask of the cells, or the file cannot be written.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        remedy = f"Name a {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]} file."
        raise SpecError.one(str(path), f"has the ending {target.suffix!r}, in which no release is written.", remedy)
    if ending == ".csv":
        write_release(release, target, sensitive)
        return
    flags = check_mask(sensitive, len(release))
    with all_or_nothing([target]) as stand_ins:
        (write_parquet if ending == ".parquet" else write_excel)(release, stand_ins[target], flags)
