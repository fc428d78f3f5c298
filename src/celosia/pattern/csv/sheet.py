"""The rows of a CSV or Parquet file with their line numbers, and every problem found in them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import DataError, Problem
from celosia.files import read_bytes
from celosia.library import OnFirstUse
from celosia.pattern.entries import INTERVAL, first_of
from celosia.pattern.labels import LOWER, STATUS, UPPER

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet
else:
    pa = OnFirstUse("pyarrow")
    parquet = OnFirstUse("pyarrow.parquet")


@dataclass(frozen=True, slots=True)
class CsvSheet:
    """A header, the rows below it as columns, and the problems found so far.

    Parameters
    ----------
    path
        The file.
    header, start
        The names of the columns, and the line in which they stand.
    columns
        Their entries, in the order of the header.
    lines
        The line of the file in which each row begins.
    unread
        How many rows are left out, because they have too few or too many entries.
    found
        Line, message and remedy of each problem; line 0 for what is wrong with the whole file.
    """

    path: Path
    header: list[str]
    start: int
    columns: list[Sequence[str]]
    lines: list[int]
    unread: int
    found: list[tuple[int, str, str]]

    @classmethod
    def of_file(cls, path: Path) -> CsvSheet:
        """Return the rows of a CSV or Parquet file.

        Raises
        ------
        DataError
            The file cannot be read, is no such file, or is empty.
        """
        if path.suffix.lower() == ".xlsx" and path.exists():
            seen = "is an Excel file: it is written for people, and not read back."
            raise DataError.one(str(path), seen, "Write the release as .csv or .parquet, too, and give that one.")
        return cls._of_parquet(path) if path.suffix.lower() == ".parquet" else cls._of_text(path)

    @classmethod
    def _of_parquet(cls, path: Path) -> CsvSheet:
        """Return the rows of a Parquet file as text; their lines are counted as if the names stood in line 1."""
        try:
            with path.open("rb") as file:
                table = parquet.read_table(file)
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = getattr(error, "strerror", None) or "it is no Parquet file"
            raise DataError.one(str(path), f"cannot be read: {reason}.", "Is the path right?") from error
        columns = {name: _as_texts(column) for name, column in zip(table.column_names, table.columns, strict=True)}
        status = columns.get(STATUS, [])
        for name, endless in ((LOWER, "-inf"), (UPPER, "inf")):
            if name in columns:  # the one end that an interval may lack is empty in the file
                filled = zip(columns[name], status, strict=False)
                columns[name] = [text or (endless if said == INTERVAL else "") for text, said in filled]
        return cls(path, list(columns), 1, list(columns.values()), list(range(2, table.num_rows + 2)), 0, [])

    @classmethod
    def _of_text(cls, path: Path) -> CsvSheet:
        """Return the rows of a CSV file; those with too few or too many entries are left out, and noted.

        Raises
        ------
        DataError
            The file cannot be read, is no text, or is empty.
        """
        rows, lines, found = _rows(path)
        if not rows:
            raise DataError.one(str(path), "is empty.", "A release begins with the names of its columns.")
        header = rows[0]
        sound = []
        for place in range(1, len(rows)):
            if len(rows[place]) == len(header):
                sound.append(place)
            else:
                seen = f"a row of {len(rows[place])} entries where the header has {len(header)}."
                found.append((lines[place], seen, "Has the file been cut off or edited?"))
        columns: list[Sequence[str]] = [[rows[place][k] for place in sound] for k in range(len(header))]
        kept = [lines[place] for place in sound]
        return cls(path, header, lines[0], columns, kept, len(rows) - 1 - len(sound), found)

    def __len__(self) -> int:
        return len(self.lines)

    def complain(self, row: int, message: str, remedy: str = "") -> None:
        """Note a problem of one row."""
        self.found.append((self.lines[row], message, remedy))

    def refuse(self) -> None:
        """Raise everything noted so far in the order of the lines; do nothing when there is nothing."""
        if self.found:
            found = sorted(self.found, key=lambda problem: (problem[0] == 0, problem[0]))
            places = (f"{self.path}, line {line}" if line else str(self.path) for line, _, _ in found)
            raise DataError(first_of([Problem(place, *said) for place, (_, *said) in zip(places, found, strict=True)]))


def _as_texts(column: pa.ChunkedArray) -> Sequence[str]:
    return [
        "" if entry is None else format(entry, "f") if isinstance(entry, Decimal) else str(entry)
        for entry in column.to_pylist()
    ]


def _rows(path: Path) -> tuple[list[list[str]], list[int], list[tuple[int, str, str]]]:
    """Return the rows of a file that are not blank, the lines in which they begin, and where the file is damaged."""
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        raise DataError.one(f"{path}, line {line}", "is not UTF-8 text.", "Save the file as UTF-8.") from error
    rows: list[list[str]] = []
    lines: list[int] = []
    found: list[tuple[int, str, str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    before = 0
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(before + 1)
            before = reader.line_num
    except csv.Error as error:
        found.append((before + 1, f"is not CSV: {error}.", "Is a quotation mark missing?"))
    return rows, lines, found
