"""Files that a job names: relative to the job file, and there before any work begins."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, ValidationInfo

from celosia.files import read_text
from celosia.job.sections.part import Fault, complaint, context_of, format_value
from celosia.source.places import holds_password, is_address, is_pattern, is_remote


def find_file(name: str, info: ValidationInfo) -> str:
    """Return the whole path of a file that is there."""
    folder = Path(context_of(info).get("folder", "."))
    path = folder / name
    if path.is_file():
        return str(path)
    if path.is_dir():
        raise complaint(Fault((), f"{str(path)!r} is a folder.", "Name a file in it."))
    siblings = [other.name for other in path.parent.iterdir() if other.is_file()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, siblings, n=1)
    remedy = f"Did you mean {close[0]!r}?" if close else "Paths are relative to the job file."
    raise complaint(Fault((), f"there is no file {str(path)!r}.", remedy))


File: TypeAlias = Annotated[str, AfterValidator(find_file)]
"""The path of a file that exists."""


def find_records(name: str, info: ValidationInfo) -> str:
    """Return the whole path of a file that is there, of a folder or a pattern of files, or an address of files."""
    if is_remote(name):
        return name
    path = Path(context_of(info).get("folder", ".")) / name
    return str(path) if path.is_dir() or is_pattern(name) else find_file(name, info)


RecordsFile: TypeAlias = Annotated[str, AfterValidator(find_records)]
"""Where the files of some records are."""


def _check_address(written: str) -> str:
    if not is_address(written):
        message = f"must be an address such as postgresql://HOST/DATABASE, not {format_value(written)}."
        raise complaint(Fault((), message))
    if holds_password(written):
        remedy = "Take it out: names and passwords come from the environment of the engine, such as PGPASSWORD."
        raise complaint(Fault((), "holds a password.", remedy))
    return written


Address: TypeAlias = Annotated[str, AfterValidator(_check_address)]
"""The address of an engine, without a password."""


def rows_of(path: Path) -> Iterator[list[str]]:
    """Yield the rows of a small CSV file, column names first; blanks around codes and empty lines are dropped.

    The columns are parted by commas, or by semicolons or tabs where the first line has those instead.
    """
    lines = read_text(path).splitlines()
    first = lines[0] if lines else ""
    delimiter = max(",;\t", key=first.count)
    for row in csv.reader(lines, delimiter=delimiter):
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield cells
