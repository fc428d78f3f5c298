"""Cells as a page shows them once they are protected: what a reader sees, and for the office why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import Audit
from celosia.pattern.entries import HIDDEN, INTERVAL, SHOWN
from celosia.pattern.release import Release
from celosia.report.figures import INFINITY, MINUS
from celosia.report.sheets import Drawing, Entry
from celosia.risk.risk import Risk

PRIMARY, SECONDARY, OTHER = "p", "q", "r"
"""How a cell that is not shown as it is is marked: sensitive, hidden to protect others, published in another way."""

MARK = "\N{MULTIPLICATION SIGN}"
"""Stands where nothing is published."""

_SAID = {PRIMARY: "Hidden: sensitive", SECONDARY: "Hidden to protect sensitive cells", OTHER: "Published as"}


@dataclass(frozen=True, slots=True)
class HiddenLine:
    """A cell that is not shown, in a list: labels, kind as a letter and in words, value, interval, requirement."""

    labels: list[str]
    kind: str
    said: str
    value: str
    lower: str
    upper: str
    required: str
    reasons: str


@dataclass(frozen=True, eq=False)
class PublishedDrawing(Drawing):
    """A release with everything that turns its cells into entries and lines.

    Parameters
    ----------
    release
        What is published.
    audit
        What attackers can conclude.
    """

    release: Release | None = None
    audit: Audit | None = None

    @classmethod
    def of_release(cls, release: Release, risk: Risk, audit: Audit) -> PublishedDrawing:
        """Return the drawing of a release."""
        plain = Drawing.of(risk)
        return cls(plain.risk, plain.figures, plain.words, plain.marks, plain.apply, release, audit)

    @cached_property
    def status(self) -> NDArray[np.str_]:
        """How every cell is published, in the words of the release, ``(n_cells,)``."""
        return np.full(len(self.risk), SHOWN) if self.release is None else self.release.status

    @property
    def marked(self) -> NDArray[np.bool_]:
        """Which cells a reader looks for, ``(n_cells,)``: those not shown as they are."""
        return np.asarray(self.status != SHOWN)

    @cached_property
    def kinds(self) -> NDArray[np.str_]:
        """How every cell is marked, ``(n_cells,)``; `s` where it is shown."""
        kinds = np.where(self.marked, OTHER, "s")
        hidden = self.status == HIDDEN
        kinds[hidden] = np.where(self.sensitive[hidden], PRIMARY, SECONDARY)
        return kinds

    @cached_property
    def intervals(self) -> Mapping[int, tuple[float, float]]:
        """What is left of each cell when all attackers are taken together: the narrowest of their intervals."""
        narrowest: dict[int, tuple[float, float]] = {}
        findings = self.audit.intervals if self.audit is not None else ()
        for one in findings:
            low = -np.inf if one.lower is None else float(one.lower)
            high = np.inf if one.upper is None else float(one.upper)
            before = narrowest.get(one.cell, (-np.inf, np.inf))
            narrowest[one.cell] = (max(low, before[0]), min(high, before[1]))
        return narrowest

    def _entries(self, cells: NDArray[np.int64]) -> Iterator[Entry]:
        """Yield the entries of some cells."""
        kinds, values = self.kinds[cells].tolist(), self.figures.values(cells)
        required = self._required(cells)
        for cell, kind, value, levels in zip(cells.tolist(), kinds, values, required, strict=True):
            if kind == "s":
                yield Entry(value, "s", "", "")
            else:
                yield Entry(self._shown(cell), kind, "", self._said(cell, kind, value, levels))

    def _shown(self, cell: int) -> str:
        """Return what a reader sees of a cell that is not shown as it is."""
        if self.release is None or self.status[cell] == HIDDEN:
            return MARK
        if self.status[cell] == INTERVAL:
            return " .. ".join(
                self.written(float(end.floats[cell])) for end in (self.release.lower, self.release.upper)
            )
        return self.written(float(self.release.published.floats[cell]))

    def _said(self, cell: int, kind: str, value: str, levels: Mapping[str, str]) -> str:
        lines = [self.risk.table.label(cell), _SAID[kind] + (f" {self.status[cell]}" if kind == OTHER else "")]
        why = self._reasons(cell)
        lines += [f"Why: {why}"] if why else []
        lines.append(f"True value: {value}")
        if cell in self.intervals:
            lines.append("Attackers conclude: " + " .. ".join(map(self.written, self.intervals[cell])))
        required = ", ".join(f"{kind} {level}" for kind, level in levels.items() if level)
        return "\n".join([*lines, f"Protection levels: {required}"] if required else lines)

    def written(self, value: float) -> str:
        """Return a number as people read it."""
        if np.isinf(value):
            return INFINITY if value > 0 else MINUS + INFINITY
        return f"{value:,.{max(self.figures.decimals, default=0)}f}".replace("-", MINUS)

    def hidden_lines(self, cells: NDArray[np.int64]) -> Iterator[HiddenLine]:
        """Yield cells for a list."""
        table = self.risk.table
        values = self.figures.values(cells)
        for cell, value, levels in zip(cells.tolist(), values, self._required(cells), strict=True):
            labels = [axis.labels[table.codes[cell, k]] for k, axis in enumerate(table.axes)] or [str(cell)]
            variable = [table.variables[table.variable[cell]]] if len(table.variables) > 1 else []
            low, high = self.intervals.get(cell, (np.nan, np.nan))
            ends = ["" if np.isnan(end) else self.written(end) for end in (low, high)]
            said = ", ".join(f"{kind} {level}" for kind, level in levels.items() if level)
            kind = str(self.kinds[cell])
            words = {PRIMARY: "sensitive", SECONDARY: "secondary", OTHER: str(self.status[cell])}[kind]
            yield HiddenLine([*variable, *labels], kind, words, value, ends[0], ends[1], said, self._reasons(cell))
