"""Cells as a page shows them: entries of a sheet, lines of a list.

Everything here is text. A value, a status, reasons and protection levels are all that leaves a `Risk` this way: neither contributions nor the
numbers behind the rules' decisions do.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.report.figures import Figures
from celosia.report.grid import Block, Head, views
from celosia.report.summary import reasons
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW, Risk

MOST_CELLS = 400_000
"""A page draws at most so many cells; browsers grow slow beyond."""

MOST_COLUMNS = 1_000
"""A sheet draws at most so many columns."""

_STATUS = {SAFE: "Safe", SENSITIVE: "Sensitive", HIDE: "To be hidden", SHOW: "To be shown"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A cell on the page.

    Parameters
    ----------
    text
        Its value.
    status
        Its letter: see `celosia.risk.risk`.
    marks
        The letters of the rules that call it sensitive.
    tip
        What a reader learns on pointing at it; empty for a safe cell.
    """

    text: str
    status: str
    marks: str
    tip: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a sheet: its label, its entries (None where the table has no cell), and whether one of them is sensitive."""

    head: Head
    entries: list[Entry | None]
    sensitive: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """A block as the page shows it.

    Parameters
    ----------
    name, group
        What the selector calls the block, and the view that it belongs to.
    corner
        The names of the dimensions down and across.
    columns
        The labels across the top.
    rows
        The rows, made while the page is written.
    sensitive
        How many of its cells are sensitive.
    left_out
        What did not fit; empty where everything did.
    """

    name: str
    group: str
    corner: tuple[str, str]
    columns: list[Head]
    rows: Iterator[Row]
    sensitive: int
    left_out: str


@dataclass(frozen=True, slots=True)
class Line:
    """A cell in a list: its labels, its entry in words, and what it requires."""

    labels: list[str]
    entry: Entry
    status: str
    reasons: str
    lower: str
    upper: str
    sliding: str


@dataclass(frozen=True, eq=False)
class Drawing:
    """A risk with everything that turns its cells into entries and lines.

    Parameters
    ----------
    risk
        What is drawn.
    figures
        How its values are written.
    words, marks
        The reasons why cells are sensitive, and the letter that stands for each.
    apply
        Which reasons apply to which cell, ``(n_words, n_cells)``.
    """

    risk: Risk
    figures: Figures
    words: tuple[str, ...]
    marks: tuple[str, ...]
    apply: NDArray[np.bool_]

    @classmethod
    def of(cls, risk: Risk) -> Drawing:
        """Return the drawing of a risk."""
        words, apply = reasons(risk)
        letters = string.ascii_lowercase
        marks = tuple(letters[k] if len(words) <= len(letters) else f"{k + 1} " for k in range(len(words)))
        return cls(risk, Figures.of(risk.table), words, marks, apply)

    @cached_property
    def sensitive(self) -> NDArray[np.bool_]:
        """Which cells are sensitive, ``(n_cells,)``."""
        return self.risk.sensitive

    @property
    def label_names(self) -> list[str]:
        """The columns that name a cell in a list."""
        table = self.risk.table
        variable = ["variable"] if len(table.variables) > 1 else []
        return [*variable, *([axis.name for axis in table.axes] or ["cell"])]

    def sheets(self) -> tuple[list[Sheet], str]:
        """Return the blocks that fit on the page, and what to say about those that do not."""
        drawn: list[Sheet] = []
        room, n_blocks = MOST_CELLS, 0
        for view in views(self.risk.table):
            for block in view.blocks():
                n_blocks += 1
                if room <= 0:
                    continue
                rows, columns = block.shape
                if not drawn or rows * columns <= room:
                    drawn.append(self._sheet(block))
                    room -= rows * columns
                else:
                    room = 0
        if len(drawn) == n_blocks:
            return drawn, ""
        return drawn, f"The page draws the first {len(drawn):,} of {n_blocks:,} blocks: with more than {MOST_CELLS:,} cells a browser grows slow."

    def _sheet(self, block: Block) -> Sheet:
        grid, rows, columns = block.cells(), block.rows(), block.columns()
        n_columns = min(len(columns), MOST_COLUMNS)
        n_rows = min(len(rows), max(1, MOST_CELLS // n_columns))
        left_out = ""
        if (n_rows, n_columns) != grid.shape:
            left_out = f"Only {n_rows:,} of {len(rows):,} rows and {n_columns:,} of {len(columns):,} columns are drawn."
        names = [self.risk.table.axes[axis].name for axis in block.view.axes]
        return Sheet(
            name=block.name or block.view.name,
            group=block.view.name,
            corner=(names[0], names[-1] if len(names) > 1 else ""),
            columns=columns[:n_columns],
            rows=self._rows(rows[:n_rows], grid[:, :n_columns]),
            sensitive=int(self.sensitive[block.members].sum()),
            left_out=left_out,
        )

    def _rows(self, heads: list[Head], grid: NDArray[np.int64]) -> Iterator[Row]:
        for head, cells in zip(heads, grid, strict=False):
            here = cells[cells >= 0]
            entries: list[Entry | None] = [None] * len(cells)
            for place, entry in zip(np.flatnonzero(cells >= 0).tolist(), self._entries(here), strict=True):
                entries[place] = entry
            yield Row(head, entries, bool(self.sensitive[here].any()))

    def _entries(self, cells: NDArray[np.int64]) -> Iterator[Entry]:
        for cell, text, status in zip(cells.tolist(), self.figures.values(cells), self.risk.status[cells].tolist(), strict=True):
            if status == SAFE:
                yield Entry(text, status, "", "")
            else:
                yield Entry(text, status, self._marks(cell), self._tip(cell, status))

    def lines(self, cells: NDArray[np.int64]) -> Iterator[Line]:
        """Yield cells for a list."""
        table, levels = self.risk.table, self.risk.levels
        required = (self.figures.levels(one, cells) for one in (levels.lower, levels.upper, levels.sliding))
        for cell, entry, lower, upper, sliding in zip(cells.tolist(), self._entries(cells), *required, strict=True):
            labels = [axis.labels[table.codes[cell, k]] for k, axis in enumerate(table.axes)] or [str(cell)]
            variable = [table.variables[table.variable[cell]]] if len(table.variables) > 1 else []
            status, why = _STATUS[entry.status], "; ".join(self._reasons(cell))
            yield Line([*variable, *labels], entry, status, why, lower, upper, sliding)

    def _reasons(self, cell: int) -> list[str]:
        return [self.words[k] for k in np.flatnonzero(self.apply[:, cell])]

    def _marks(self, cell: int) -> str:
        return "".join(self.marks[k] for k in np.flatnonzero(self.apply[:, cell])).strip()

    def _tip(self, cell: int, status: str) -> str:
        said = [self.risk.table.label(cell)]
        why = "; ".join(self._reasons(cell))
        said.append(f"{_STATUS[status]}: {why}" if why else _STATUS[status])
        levels, place = self.risk.levels, np.array([cell])
        kinds = (("lower", levels.lower), ("upper", levels.upper), ("sliding", levels.sliding))
        required = [f"{kind} {text}" for kind, one in kinds for text in self.figures.levels(one, place) if text]
        if required:
            said.append(f"Protection levels: {', '.join(required)}")
        return "\n".join(said)
