"""The columns of a release's CSV file, each read whole, with every bad row noted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from celosia.errors import nearest
from celosia.pattern.arithmetic import endless, replace_places, zeros
from celosia.pattern.contradictions import contradictions
from celosia.pattern.csv.sheet import CsvSheet
from celosia.pattern.entries import STATUS_TYPE, STATUSES, WITH_BOUNDS, WITH_VALUE, of_status
from celosia.pattern.labels import CELL, LOWER, OWN, PUBLISHED, SENSITIVE, STATUS, UPPER, Labels
from celosia.pattern.numbers import quote, read_numbers
from celosia.table.fixed import Fixed

_LONGEST_CELL = 18  # digits of a cell number that 64 bits hold
_CUT = "Has the file been cut off or edited?"
_MOST_LISTED = 8


class ColumnReader:
    """Reads one column of a sheet after the other, and notes in the sheet what is wrong.

    Parameters
    ----------
    sheet
        The rows of the file.
    """

    def __init__(self, sheet: CsvSheet) -> None:
        self.sheet = sheet
        self.sound = np.ones(len(sheet), dtype=bool)
        """The rows whose status and numbers could be read."""
        names = [name.strip() if name.strip() in OWN else name for name in sheet.header]
        self._column: dict[str, Sequence[str]] = {}
        for name, column in zip(names, sheet.columns, strict=True):
            self._column.setdefault(name, column)
        for name in sorted({name for name in names if names.count(name) > 1}):
            self._complain_of_header(f"column {name!r} stands twice.", "Remove or rename one of them.")
        wanted = [name for name in OWN if name != SENSITIVE]
        missing = [name for name in wanted if name not in self._column]
        for name in missing:
            self._complain_of_header(f"column {name!r} is missing.", f"Wanted, parted by commas: {','.join(wanted)}.")
        self._complete = not missing

    def labels(self, known: Labels | None, cells: NDArray[np.int64]) -> Labels:
        """Return what the cells are called; where that is known, the columns of the file must not say otherwise.

        Parameters
        ----------
        known
            The labels of the table, where it is at hand.
        cells
            The cell of every row.
        """
        order = np.argsort(cells, kind="stable")
        said = {
            name: [column[row] for row in order.tolist()] for name, column in self._column.items() if name not in OWN
        }
        if known is None:
            return Labels.of_columns(said, len(cells))
        for name, hint in known.unknown(list(said)):
            self._complain_of_header(f"column {name!r} is unknown.", hint)
        if np.array_equal(cells[order], np.arange(len(known))):
            for wrong, message, remedy in known.find_differences(said):
                for row in order[wrong].tolist():
                    self.sheet.complain(row, message, remedy)
        return known

    def cells(self, n: int | None) -> NDArray[np.int64]:
        """Return the cell of every row, -1 where there is none; each of `n` cells must stand there once."""
        numbers = np.full(len(self.sheet), -1, dtype=np.int64)
        first: dict[int, int] = {}
        for row, text in enumerate(self._entries(CELL)):
            number = int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_CELL else -1
            if number < 0:
                self.sheet.complain(row, f"cell {quote(text)} is no cell number.", "Cells count from 0.")
            elif n is not None and number >= n:
                self.sheet.complain(row, f"cell {number} is not in the table.", f"It has {n} cells, from 0 on.")
            elif first.setdefault(number, row) != row:
                seen = f"cell {number} stands already in line {self.sheet.lines[first[number]]}."
                self.sheet.complain(row, seen, "Each cell has one row.")
            numbers[row] = number
        total = max(first, default=-1) + 1 if n is None else n
        self._complain_of_missing(sorted(first), total, unread=self.sheet.unread + int((numbers < 0).sum()))
        return numbers

    def _complain_of_missing(self, present: list[int], total: int, unread: int) -> None:
        """Note missing cells, unless they are those of rows that could not be read."""
        missing = total - len(present)
        if not total and not unread and CELL in self._column:
            self.sheet.found.append((0, "has no cells.", _CUT))
        if missing > unread and CELL in self._column:
            gaps = (range(before + 1, number) for before, number in zip([-1, *present], [*present, total], strict=True))
            some = ", ".join(map(str, islice(chain.from_iterable(gaps), _MOST_LISTED)))
            more = f" and {missing - _MOST_LISTED} more" if missing > _MOST_LISTED else ""
            self.sheet.found.append((0, f"these cells are missing: {some}{more}.", _CUT))

    def check_flags(self) -> None:
        """Note the rows of the office's copy in which `sensitive` is neither 0 nor 1."""
        for row, text in enumerate(self._entries(SENSITIVE)):
            if text not in {"0", "1"}:
                self.sheet.complain(row, f"sensitive is {quote(text)}.", "It must be 0 or 1.")

    def statuses(self) -> NDArray[np.str_]:
        """Return the statuses, an empty word where there is none."""
        words = self._entries(STATUS)
        hints = {word: nearest(word, STATUSES) for word in set(words).difference(STATUSES)}
        for row, word in enumerate(words):
            if word in hints:
                self.sound[row] = False
                self.sheet.complain(row, f"status {quote(word)} is unknown.", hints[word])
        known = ["" if word in hints else word for word in words] or [""] * len(self.sheet)
        return np.array(known, dtype=STATUS_TYPE)

    def numbers(self, status: NDArray[np.str_]) -> tuple[Fixed, Fixed, Fixed]:
        """Return the numbers shown, zero where there is none, and the bounds, infinite where there are none."""
        lowest, highest = endless(len(self.sheet))
        valued, bounded = of_status(status, WITH_VALUE), of_status(status, WITH_BOUNDS)
        published = self._exact(PUBLISHED, status, valued, zeros(len(self.sheet)))
        lower, upper = (
            self._exact(name, status, bounded, default) for name, default in ((LOWER, lowest), (UPPER, highest))
        )
        if self._complete:
            for wrong, message, remedy in contradictions(status, published, lower, upper):
                for row in np.flatnonzero(wrong & self.sound).tolist():
                    self.sheet.complain(row, message, remedy)
        return published, lower, upper

    def _exact(self, name: str, status: NDArray[np.str_], wanted: NDArray[np.bool_], default: Fixed) -> Fixed:
        """Return the numbers of a column where the status wants one, the default elsewhere."""
        entries = self._entries(name)
        if not entries:
            return default
        given = np.array([bool(text) for text in entries], dtype=bool)
        odd = (given != wanted) & (status != "")
        for row in np.flatnonzero(odd).tolist():
            seen, remedy = ("is empty", "Write a number.") if wanted[row] else ("is given", "Leave it empty.")
            self.sheet.complain(row, f"{name} {seen} where the cell is {status[row]}.", remedy)
        rows, texts = np.flatnonzero(given), [text for text in entries if text]
        numbers, unread = read_numbers(texts, endless=name != PUBLISHED)
        for place, message in unread:
            self.sheet.complain(int(rows[place]), f"{name} {quote(texts[place])} {message}")
        self.sound &= ~odd
        self.sound[[int(rows[place]) for place, _ in unread]] = False
        kept = wanted[rows]
        return replace_places(default, [(rows[kept], numbers[kept])])

    def _entries(self, name: str) -> list[str]:
        """Return the entries of a column; nothing where the column is missing."""
        return [text.strip() for text in self._column.get(name, ())]

    def _complain_of_header(self, message: str, remedy: str) -> None:
        self.sheet.found.append((self.sheet.start, message, remedy))
