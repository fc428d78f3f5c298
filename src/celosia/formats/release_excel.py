"""Releases as Excel files: the table as people read it, what is not shown in colour, and the list of all cells."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SpecError
from celosia.library import OnFirstUse
from celosia.pattern.entries import ADJUSTED, HIDDEN, INTERVAL, PERTURBED, ROUNDED, SHOWN, WITH_BOUNDS, of_status
from celosia.pattern.labels import CELL, LOWER, PUBLISHED, SENSITIVE, STATUS, UPPER
from celosia.pattern.release import Release
from celosia.table.fixed import Fixed
from celosia.table.grid import GridBlock, Head, views

if TYPE_CHECKING:
    import xlsxwriter
else:
    xlsxwriter = OnFirstUse("xlsxwriter")

MARK = "x"
"""Stands for a number that is not published."""

_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384  # what a sheet of Excel holds
_MOST_SHEETS = 60  # of tables; further ones are in the list only
_LARGE = 200_000  # cells beyond which sheets are written to disk row by row
_DIGITS = 15  # that a number in Excel keeps
_TOP = 3  # rows above the header: title, legend, nothing
_EPOCH = dt.datetime(2000, 1, 1)  # noqa: DTZ001  (Excel knows no zones; a fixed date keeps the file reproducible)
_NAME = 31  # letters of a sheet's name

_PRIMARY, _SECONDARY = "primary", "secondary"
_COLOURS = {
    HIDDEN: "#D9D9D9",
    _PRIMARY: "#F9B27C",
    _SECONDARY: "#BCD2EE",
    INTERVAL: "#EFE6F7",
    ROUNDED: "#F3F3E3",
    PERTURBED: "#F3F3E3",
    ADJUSTED: "#F3F3E3",
}
_WORDS = {
    HIDDEN: "not published, to protect confidentiality",
    _PRIMARY: "hidden because sensitive",
    _SECONDARY: "hidden to protect sensitive cells",
    INTERVAL: "published as a range",
    ROUNDED: "rounded",
    PERTURBED: "perturbed",
    ADJUSTED: "adjusted",
}


def write_excel(release: Release, path: Path, sensitive: NDArray[np.bool_] | None = None) -> None:
    """Write a release as an Excel file.

    Parameters
    ----------
    release
        What is published.
    path
        The file to write.
    sensitive
        Which cells are sensitive: the office's copy shows them in another colour than those hidden to protect them.

    Raises
    ------
    SpecError
        There are more cells than a sheet has rows.
    """
    if len(release) + _TOP + 1 > _MOST_ROWS:
        seen = f"would have {len(release):,} rows, and a sheet of Excel has {_MOST_ROWS:,}."
        raise SpecError.one(path.name, seen, "Write a .csv or .parquet file.")
    options = {
        "constant_memory": len(release) > _LARGE,
        "in_memory": len(release) <= _LARGE,
        "strings_to_formulas": False,
        "strings_to_numbers": False,
        "strings_to_urls": False,
    }
    with path.open("wb") as file, xlsxwriter.Workbook(file, options) as book:
        book.set_properties({"created": _EPOCH, "comments": ""})
        _Book.of(book, release, sensitive).write()


@dataclass(frozen=True, eq=False)
class _Book:
    """A workbook in the making.

    Parameters
    ----------
    book
        What is written.
    release
        What is published.
    kind
        Which colour each cell has, ``(n_cells,)``: its status, or primary and secondary in the office's copy.
    sensitive
        The office's copy has these flags.
    formats
        The formats made so far.
    """

    book: Any
    release: Release
    kind: NDArray[np.str_]
    sensitive: NDArray[np.bool_] | None
    formats: dict[tuple[object, ...], Any] = field(default_factory=dict)

    @classmethod
    def of(cls, book: Any, release: Release, sensitive: NDArray[np.bool_] | None) -> _Book:  # noqa: ANN401
        kind = release.status.copy()
        if sensitive is not None:
            hidden = kind == HIDDEN
            kind[hidden & sensitive], kind[hidden & ~sensitive] = _PRIMARY, _SECONDARY
        return cls(book, release, kind, sensitive)

    def write(self) -> None:
        """Write a sheet for each table, and the list of cells."""
        names: set[str] = {"cells"}
        blocks = [(view.name, block) for view in views(self.release.labels) for block in view.blocks()]
        for title, block in blocks[:_MOST_SHEETS]:
            rows, columns = block.shape
            if rows + _TOP < _MOST_ROWS and columns < _MOST_COLUMNS:
                said = f"{title}, {block.name}" if block.name else title
                self._table(self.book.add_worksheet(_sheet_name(block.name or title, names)), said, block)
        self._list(self.book.add_worksheet("Cells"))

    def _table(self, sheet: Any, title: str, block: GridBlock) -> None:  # noqa: ANN401
        n_rows, n_columns = block.shape
        rows, columns, grid = block.rows(), block.columns(), block.cells(n_rows, n_columns)
        self._head(sheet, title, block.members)
        axes = self.release.axes
        corner = " \\ ".join(axes[axis].name for axis in dict.fromkeys((block.view.axes[0], block.view.axes[-1])))
        sheet.set_column(0, 0, _width([corner, *(_label(head, "  ") for head in rows)]))
        sheet.set_column(1, n_columns, max(11, min(22, _width([head.label for head in columns]))))
        sheet.freeze_panes(_TOP + 1, 1)
        sheet.write_string(_TOP, 0, corner, self._format(head=True))
        for place, head in enumerate(columns):
            sheet.write_string(_TOP, place + 1, _label(head), self._format(head=True, right=True))
        for row, (head, cells) in enumerate(zip(rows, grid, strict=True), start=_TOP + 1):
            sheet.write_string(row, 0, _label(head), self._format(indent=head.depth, bold=head.heads_parts))
            places = np.flatnonzero(cells >= 0)
            for place, entry in zip(places.tolist(), self._entries(cells[places]), strict=True):
                self._put(sheet, row, place + 1, *entry, bold=head.heads_parts)

    def _list(self, sheet: Any) -> None:  # noqa: ANN401
        release = self.release
        self._head(sheet, "All cells", np.arange(len(release)))
        labels = release.labels.columns()
        flags = [SENSITIVE] if self.sensitive is not None else []
        names = [CELL, *labels, *flags, STATUS, PUBLISHED, LOWER, UPPER]
        for place, name in enumerate(names):
            right = name in {CELL, PUBLISHED, LOWER, UPPER}
            sheet.write_string(_TOP, place, name, self._format(head=True, right=right))
        for place, said in enumerate(labels.values(), start=1):
            sheet.set_column(place, place, _width(dict.fromkeys(said)))
        sheet.set_column(len(labels) + 1, len(names) - 1, 13)
        sheet.freeze_panes(_TOP + 1, 0)
        sheet.autofilter(_TOP, 0, _TOP + max(1, len(release)), len(names) - 1)
        bounded = of_status(release.status, WITH_BOUNDS)
        numbers = [(release.published, release.has_value), (release.lower, bounded), (release.upper, bounded)]
        texts = [_texts(*column) for column in numbers]
        for cell, kind in enumerate(self.kind.tolist()):
            row, place = _TOP + 1 + cell, 1 + len(labels)
            sheet.write_number(row, 0, cell)
            for k, said in enumerate(labels.values(), start=1):
                sheet.write_string(row, k, said[cell])
            if self.sensitive is not None:
                sheet.write_number(row, place, int(self.sensitive[cell]))
                place += 1
            sheet.write_string(row, place, str(release.status[cell]), self._format(kind=kind))
            for k, column in enumerate(texts, start=1):
                if column[cell]:
                    self._put(sheet, row, place + k, column[cell], SHOWN)

    def _head(self, sheet: Any, title: str, cells: NDArray[np.int64]) -> None:  # noqa: ANN401
        """Write the title, and below it what each colour means."""
        own = "" if self.sensitive is None else " (the office's copy: confidential)"
        sheet.write_string(0, 0, title + own, self._format(title=True))
        there = set(self.kind[cells].tolist())
        for place, kind in enumerate(kind for kind in _COLOURS if kind in there):
            mark = f"{MARK}: " if kind in {HIDDEN, _PRIMARY, _SECONDARY} else ""
            sheet.write_string(1, 3 * place, mark + _WORDS[kind], self._format(kind=kind))

    def _entries(self, cells: NDArray[np.int64]) -> Iterator[tuple[str, str]]:
        """Yield what stands in the table for some cells, and their kinds."""
        release = self.release
        shown = release.published[cells].texts()
        ends = zip(_texts(release.lower[cells]), _texts(release.upper[cells]), strict=True)
        for text, (low, high), status, kind in zip(
            shown, ends, release.status[cells].tolist(), self.kind[cells].tolist(), strict=True
        ):
            if status == HIDDEN:
                yield MARK, kind
            elif status == INTERVAL:
                yield f"{low} .. {high}", kind
            else:
                yield text, kind

    def _put(self, sheet: Any, row: int, column: int, text: str, kind: str, *, bold: bool = False) -> None:  # noqa: ANN401
        """Write a number as a number where Excel keeps all its digits, anything else as text."""
        if _plain(text):
            sheet.write_number(row, column, float(text), self._format(kind=kind, bold=bold, number=True))
        else:
            sheet.write_string(row, column, text, self._format(kind=kind, bold=bold, right=True))

    def _format(self, **wanted: object) -> Any:  # noqa: ANN401
        key = tuple(sorted(wanted.items()))
        if key not in self.formats:
            self.formats[key] = self.book.add_format(dict(self._options(wanted)))
        return self.formats[key]

    def _options(self, wanted: dict[str, object]) -> Iterator[tuple[str, object]]:
        if wanted.get("title"):
            yield from (("bold", True), ("font_size", 13))
        if wanted.get("head"):
            yield from (("bold", True), ("bottom", 1), ("bg_color", "#EEF2F3"), ("valign", "vcenter"))
        if wanted.get("bold"):
            yield "bold", True
        if wanted.get("right") or wanted.get("number"):
            yield "align", "right"
        if wanted.get("number"):
            decimals = self.release.decimals
            yield "num_format", "#,##0" + ("." + "0" * decimals if decimals else "")
        if wanted.get("indent"):
            yield "indent", wanted["indent"]
        colour = _COLOURS.get(str(wanted.get("kind")))
        if colour is not None:
            yield "bg_color", colour


def _texts(numbers: Fixed, given: NDArray[np.bool_] | None = None) -> list[str]:
    texts = numbers.texts()
    return texts if given is None else [text if says else "" for text, says in zip(texts, given.tolist(), strict=True)]


def _plain(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", text)) and len(text.strip("-").replace(".", "").lstrip("0")) <= _DIGITS


def _label(head: Head, lead: str = "") -> str:
    return lead * head.depth + " = ".join((head.label, *head.others))


def _width(labels: Any) -> float:  # noqa: ANN401
    return float(max(8, min(46, 2 + max((len(label) for label in labels), default=0))))


def _sheet_name(wanted: str, taken: set[str]) -> str:
    """Return a name that Excel admits and that no other sheet has."""
    plain = re.sub(r"[\[\]:*?/\\]", "-", wanted).strip("' ")[:_NAME] or "Table"
    name, number = plain, 1
    while name.lower() in taken:
        number += 1
        mark = f" ({number})"
        name = plain[: _NAME - len(mark)].rstrip() + mark
    taken.add(name.lower())
    return name
