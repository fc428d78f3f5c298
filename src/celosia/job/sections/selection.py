"""Cells as a job file names them: by their codes, by their numbers, or in a file.

``{ industry = "C", region = "North" }`` names one cell; a dimension that is left out stands for its total, as in
`celosia.Table.find`. A list of codes names a cell for each, and ``"*"`` stands for every code. A whole number is a cell
of a bare problem. A CSV file has a row an entry, with dimensions as columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from celosia.errors import Problems, SpecError
from celosia.job.sections.files import find_file, rows_of
from celosia.job.sections.part import Fault, complaint, format_value
from celosia.table.cell_names import Finder
from celosia.table.table import Table

CELL = "cell"

_MOST = 20  # faults of a file that are put in words


@dataclass(frozen=True, slots=True)
class Options:
    """What can be said about cells.

    Parameters
    ----------
    names
        The options' names; each is a number.
    several
        More than one of them may be given.
    signed
        They may be negative.
    """

    names: tuple[str, ...] = ()
    several: bool = False
    signed: bool = False

    def faults(self, one: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong with the numbers of an entry."""
        for name in self.names:
            if name in one and not self._sound(one[name]):
                kind = "a number" if self.signed else "a number from zero up"
                yield Fault((name,), f"must be {kind}, not {format_value(one[name])}.")
        given = sum(name in one for name in self.names)
        words = " or ".join(repr(name) for name in self.names)
        if self.names and not given:
            yield Fault((), "says nothing about its cells.", f"Give {words}.")
        elif given > 1 and not self.several:
            yield Fault((), "says two things about its cells.", f"Give {words}.")

    def _sound(self, said: object) -> bool:
        if not isinstance(said, int | float) or isinstance(said, bool) or not math.isfinite(said):
            return False
        return self.signed or said >= 0


_NONE = Options()


@dataclass(frozen=True, slots=True)
class SelectionEntry:
    """One entry of a selection.

    Parameters
    ----------
    place
        Where it stands.
    codes
        The codes by dimension, or the names of variables.
    cell
        Or the number of a cell.
    numbers
        What is said about these cells: a factor, a width.
    """

    place: str
    codes: Mapping[str, tuple[str, ...]]
    cell: int | None
    numbers: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Selection:
    """Cells, and what is said about them.

    Parameters
    ----------
    entries
        In the order in which they were written.
    file
        The file that they come from, if they do.
    """

    entries: tuple[SelectionEntry, ...]
    file: Path | None = None

    def places(self, table: Table, name: str) -> list[tuple[NDArray[np.int64], Mapping[str, float]]]:
        """Return the cells of every entry, and what is said about them.

        Parameters
        ----------
        table
            The table.
        name
            What messages call the selection.

        Raises
        ------
        SpecError
            Dimensions or codes are unknown, or an entry names no cell.
        """
        found = Problems()
        finder = Finder.of(table)
        out = []
        for entry in self.entries:
            place = f"{self.file}, {entry.place}" if self.file is not None else f"{name}{entry.place}"
            if entry.cell is not None:
                cells = finder.of_number(entry.cell, place, found)
            else:
                cells = finder.of_codes(entry.codes, place, found)
            out.append((cells, entry.numbers))
        found.raise_as(SpecError)
        return out

    def cells(self, table: Table, name: str) -> NDArray[np.int64]:
        """Return the cells of all entries, each once, in order."""
        chosen = [cells for cells, _ in self.places(table, name)]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *chosen]))


def _selection(written: object, info: ValidationInfo, options: Options) -> Selection:
    """Return the selection that is written, in the job file or in a file that it names."""
    if isinstance(written, str):
        path = Path(find_file(written, info))
        return Selection(tuple(_of_file(path, options)), path)
    if not isinstance(written, list) or not written:
        message = f"must be a list of cells or the name of a file, not {format_value(written)}."
        raise complaint(Fault((), message, 'Write [{ NAME = "CODE" }], a dimension left out being its total.'))
    faults: list[Fault] = []
    entries = []
    for place, one in enumerate(written):
        wrong = list(_faults(one, options))
        faults += [Fault((place, *fault.way), fault.message, fault.remedy) for fault in wrong]
        if not wrong:
            entries.append(_entry(one, f"[{place}]", options))
    if faults:
        raise complaint(*faults)
    return Selection(tuple(entries))


def _faults(one: object, options: Options) -> Iterator[Fault]:
    """Yield what is wrong with an entry, whatever the table is."""
    if isinstance(one, int) and not isinstance(one, bool) and not options.names:
        if one < 0:
            yield Fault((), f"must be the number of a cell, not {one}.", "Cells count from 0.")
        return
    if not isinstance(one, Mapping):
        yield Fault((), f"must name a cell, not {format_value(one)}.", 'Write { NAME = "CODE" }.')
        return
    for name, said in one.items():
        if name == CELL:
            if not isinstance(said, int) or isinstance(said, bool) or said < 0:
                yield Fault((name,), f"must be the number of a cell, not {format_value(said)}.", "Cells count from 0.")
        elif name not in options.names and not _codes(said):
            yield Fault((name,), f"must be a code in quotes or a list of them, not {format_value(said)}.")
    yield from options.faults(one)


def _codes(said: object) -> bool:
    several = isinstance(said, list) and bool(said) and all(isinstance(code, str) for code in said)
    return isinstance(said, str) or several


def _entry(one: int | Mapping[str, Any], place: str, options: Options) -> SelectionEntry:
    if isinstance(one, int):
        return SelectionEntry(place, {}, one, {})
    codes = {
        name: (said,) if isinstance(said, str) else tuple(said)
        for name, said in one.items()
        if name not in options.names and name != CELL
    }
    return SelectionEntry(
        place, codes, one.get(CELL), {name: float(one[name]) for name in options.names if name in one}
    )


def _of_file(path: Path, options: Options) -> Iterator[SelectionEntry]:
    """Yield the entries of a CSV file: a column per dimension, and the numbers."""
    faults: list[Fault] = []
    names, *rows = list(rows_of(path)) or [[]]
    if not rows:
        faults.append(Fault((), f"{str(path)!r} names no cells.", "The first line names dimensions, a row a cell."))
    for number, row in enumerate(rows, start=1):
        given = {name: _read(name, text, options) for name, text in zip(names, row, strict=False) if text}
        wrong = [Fault((), "has more entries than columns.")] if len(row) > len(names) else []
        wrong += _faults(given, options)
        for way, message, remedy in wrong:
            column = f" {way[0]!r}" if way else ""
            faults.append(Fault((), f"{str(path)!r}, row {number}:{column} {message}", remedy))
        if not wrong:
            yield _entry(given, f"row {number}", options)
    if faults:
        raise complaint(*faults[:_MOST])


def _read(name: str, text: str, options: Options) -> str | int | float:
    """Return an entry of a file as the job file would write it; what should be a number and is none stays text."""
    try:
        return int(text) if name == CELL else float(text) if name in options.names else text
    except ValueError:
        return text


def _schema(options: Options) -> WithJsonSchema:
    codes = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
    known: dict[str, Any] = {CELL: {"type": "integer", "minimum": 0}}
    known |= {
        name: {"type": "number"} if options.signed else {"type": "number", "minimum": 0} for name in options.names
    }
    entry: dict[str, Any] = {"type": "object", "properties": known, "additionalProperties": codes}
    kinds = [entry] if options.names else [{"type": "integer", "minimum": 0}, entry]
    return WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": kinds}, "minItems": 1}]})


_FACTOR = Options(("factor",))
_WIDTH = Options(("width", "percent"))
_DISTANCE = Options(("distance", "percent"))
_BASE = Options(("base",))
_ROUNDED = Options(("rounded",), signed=True)
_BOUNDS = Options(("lower", "upper"), several=True, signed=True)
_LEVELS = Options(("lower", "upper", "sliding"), several=True)


def _reader(options: Options) -> PlainValidator:
    """Return what reads a selection of cells about which these options can be given."""
    return PlainValidator(lambda written, info: _selection(written, info, options))


Cells: TypeAlias = Annotated[Selection, _reader(_NONE), _schema(_NONE)]
"""Cells."""

Factors: TypeAlias = Annotated[Selection, _reader(_FACTOR), _schema(_FACTOR)]
"""Cells with a factor each."""

Widths: TypeAlias = Annotated[Selection, _reader(_WIDTH), _schema(_WIDTH)]
"""Cells with a width each, or with a percentage of their value."""

Distances: TypeAlias = Annotated[Selection, _reader(_DISTANCE), _schema(_DISTANCE)]
"""Cells with a distance each, or with a percentage of their value."""

Bases: TypeAlias = Annotated[Selection, _reader(_BASE), _schema(_BASE)]
"""Cells with a base each."""

RoundedValues: TypeAlias = Annotated[Selection, _reader(_ROUNDED), _schema(_ROUNDED)]
"""Cells with a rounded value each."""

Bounds: TypeAlias = Annotated[Selection, _reader(_BOUNDS), _schema(_BOUNDS)]
"""Cells with a lower bound, an upper one, or both."""

OwnLevels: TypeAlias = Annotated[Selection, _reader(_LEVELS), _schema(_LEVELS)]
"""Cells with a lower level, an upper one, a sliding one, or several of them."""
