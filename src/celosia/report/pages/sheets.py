"""Cells as a page shows them: entries of a sheet, lines of a list.

Everything here is text. A value, a status, reasons and protection levels are all that leaves a `Risk` this way:
neither contributions nor the numbers behind the rules' decisions do.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from celosia.report.pages.figures import Figures
from celosia.report.pages.limits import PageLimits
from celosia.report.summary import reasons
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW, Risk
from celosia.table.grid import GridBlock, Head, views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from celosia.table.fixed import Fixed

_STATUS = {SAFE: "Safe", SENSITIVE: "Sensitive", HIDE: "To be hidden", SHOW: "To be shown"}


@dataclass(frozen=True, slots=True)
class SheetCell:
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
    at
        Where in a published range the true value lies, from 0 to 1; None where there is no range.
    """

    text: str
    status: str
    marks: str
    tip: str
    at: float | None = None


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet: its label, its entries (None where there is no cell), and whether one of them is marked."""

    head: Head
    entries: list[SheetCell | None]
    marked: bool


@dataclass(frozen=True, slots=True)
class PageSheet:
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
    depth
        How deep the rows go below their total.
    marked
        How many of the block's cells are marked.
    left_out
        What did not fit; empty where everything did.
    """

    name: str
    group: str
    corner: tuple[str, str]
    columns: list[Head]
    rows: Iterator[SheetRow]
    depth: int
    marked: int
    left_out: str


@dataclass(frozen=True, slots=True)
class Line:
    """A cell in a list: labels, value, status as a letter and in words, the reasons, and the levels by their kind."""

    labels: list[str]
    value: str
    status: str
    said: str
    reasons: str
    levels: dict[str, str]


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
    limits
        How much is drawn.
    """

    risk: Risk
    figures: Figures
    words: tuple[str, ...]
    marks: tuple[str, ...]
    apply: NDArray[np.bool_]
    limits: PageLimits

    @classmethod
    def of(cls, risk: Risk, limits: PageLimits) -> Drawing:
        """Return the drawing of a risk."""
        words, apply = reasons(risk)
        letters = string.ascii_lowercase
        marks = tuple(letters[k] if len(words) <= len(letters) else f"{k + 1} " for k in range(len(words)))
        return cls(risk, Figures.of(risk.table), words, marks, apply, limits)

    @cached_property
    def sensitive(self) -> NDArray[np.bool_]:
        """Which cells are sensitive, ``(n_cells,)``."""
        return self.risk.sensitive

    @property
    def marked(self) -> NDArray[np.bool_]:
        """Which cells a reader looks for, ``(n_cells,)``: the sensitive ones."""
        return self.sensitive

    @cached_property
    def levels(self) -> dict[str, Fixed]:
        """The protection levels by their kind."""
        levels = self.risk.largest_levels
        return {"lower": levels.lower, "upper": levels.upper, "sliding": levels.sliding}

    @property
    def level_kinds(self) -> list[str]:
        """The kinds of protection levels that some cell requires."""
        return [kind for kind, levels in self.levels.items() if levels.counts.any()]

    @property
    def label_names(self) -> list[str]:
        """The columns that name a cell in a list."""
        table = self.risk.table
        variable = ["variable"] if len(table.variables) > 1 else []
        return [*variable, *([axis.name for axis in table.axes] or ["cell"])]

    def sheets(self) -> tuple[list[PageSheet], str]:
        """Return the blocks that fit on the page, and what to say about those that do not.

        The first is always there, cut to size if it must be; then as many as the limit of cells allows.
        """
        blocks = [block for view in views(self.risk.table) for block in view.blocks()]
        drawn: list[PageSheet] = []
        left = self.limits.cells
        for block in blocks:
            rows, columns = block.shape
            if drawn and rows * columns > left:
                break
            drawn.append(self._sheet(block))
            left -= rows * columns
        if len(drawn) == len(blocks):
            return drawn, ""
        said = f"The page draws the first {len(drawn):,} of {len(blocks):,} sheets"
        return drawn, f"{said}: browsers grow slow beyond {self.limits.cells:,} cells."

    def _sheet(self, block: GridBlock) -> PageSheet:
        all_rows, all_columns = block.shape
        n_columns = min(all_columns, self.limits.columns)
        n_rows = min(all_rows, max(1, self.limits.cells // n_columns))
        cut = (n_rows, n_columns) != block.shape
        rows = block.rows()[:n_rows]
        names = [self.risk.table.axes[axis].name for axis in block.view.axes]
        return PageSheet(
            name=block.name or block.view.name,
            group=block.view.name,
            corner=(names[0], names[-1] if len(names) > 1 else ""),
            columns=block.columns()[:n_columns],
            rows=self._rows(rows, block.cells(n_rows, n_columns)),
            depth=max(head.depth for head in rows),
            marked=int(self.marked[block.members].sum()),
            left_out=f"Drawn are {n_rows:,} of {all_rows:,} rows and {n_columns:,} of {all_columns:,} columns."
            if cut
            else "",
        )

    def _rows(self, heads: list[Head], grid: NDArray[np.int64]) -> Iterator[SheetRow]:
        for head, cells in zip(heads, grid, strict=True):
            places = np.flatnonzero(cells >= 0)
            entries: list[SheetCell | None] = [None] * len(cells)
            for place, entry in zip(places.tolist(), self._entries(cells[places]), strict=True):
                entries[place] = entry
            yield SheetRow(head, entries, bool(self.marked[cells[places]].any()))

    def _entries(self, cells: NDArray[np.int64]) -> Iterator[SheetCell]:
        """Yield the entries of some cells; values and levels are written for all of them at once."""
        status = self.risk.status[cells]
        required = self._list_levels(cells[status != SAFE])
        for cell, text, letter in zip(cells.tolist(), self.figures.values(cells), status.tolist(), strict=True):
            if letter == SAFE:
                yield SheetCell(text, letter, "", "")
            else:
                yield SheetCell(text, letter, self._marks(cell), self._tip(cell, letter, next(required)))

    def lines(self, cells: NDArray[np.int64]) -> Iterator[Line]:
        """Yield cells for a list."""
        table = self.risk.table
        values, status = self.figures.values(cells), self.risk.status[cells].tolist()
        for cell, value, letter, levels in zip(cells.tolist(), values, status, self._list_levels(cells), strict=True):
            labels = [axis.labels[table.codes[cell, k]] for k, axis in enumerate(table.axes)] or [str(cell)]
            variable = [table.variables[table.variable[cell]]] if len(table.variables) > 1 else []
            yield Line([*variable, *labels], value, letter, _STATUS[letter], self._reasons(cell), levels)

    def _list_levels(self, cells: NDArray[np.int64]) -> Iterator[dict[str, str]]:
        """Return the protection levels of some cells as text, by their kind."""
        columns = [self.figures.levels(levels[cells]) for levels in self.levels.values()]
        return (dict(zip(self.levels, row, strict=True)) for row in zip(*columns, strict=True))

    def _reasons(self, cell: int) -> str:
        return "; ".join(self.words[k] for k in np.flatnonzero(self.apply[:, cell]))

    def _marks(self, cell: int) -> str:
        return "".join(self.marks[k] for k in np.flatnonzero(self.apply[:, cell])).strip()

    def _tip(self, cell: int, letter: str, levels: dict[str, str]) -> str:
        why = self._reasons(cell)
        lines = [self.risk.table.label(cell), f"{_STATUS[letter]}: {why}" if why else _STATUS[letter]]
        required = ", ".join(f"{kind} {level}" for kind, level in levels.items() if level)
        return "\n".join([*lines, f"Protection levels: {required}"] if required else lines)
