"""Cells as a page shows them once they are protected: what a reader sees, and for the office why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.attack.result import Audit
from celosia.pattern.entries import ADJUSTED, HIDDEN, INTERVAL, PERTURBED, ROUNDED, SHOWN
from celosia.pattern.release import Release
from celosia.report.moves import ValueChanges
from celosia.report.pages.figures import INFINITY, MINUS
from celosia.report.pages.limits import PageLimits
from celosia.report.pages.sheets import Drawing, SheetCell
from celosia.risk.risk import Risk

PRIMARY, SECONDARY, OTHER = "p", "q", "r"
"""How a cell that is not shown as it is is marked: sensitive, not shown to protect others, with a number of its own."""

MARK = "\N{MULTIPLICATION SIGN}"
"""Stands where nothing is published."""

_PUBLISHED = {
    HIDDEN: "Hidden",
    INTERVAL: "Published as a range",
    ROUNDED: "Rounded",
    PERTURBED: "Perturbed",
    ADJUSTED: "Adjusted",
}
_SAID = {PRIMARY: "{}: sensitive", SECONDARY: "{} to protect sensitive cells", OTHER: "{}"}


@dataclass(frozen=True, slots=True)
class HiddenLine:
    """A cell that is not shown as it is, in a list: labels, kind, value, what is published, interval, requirement."""

    labels: list[str]
    kind: str
    said: str
    value: str
    published: str
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
        What attackers can conclude; None where the method says nothing about it.
    """

    release: Release | None = None
    audit: Audit | None = None

    @cached_property
    def moves(self) -> ValueChanges:
        """What became of numbers that were changed."""
        return ValueChanges.none() if self.release is None else ValueChanges.of(self.release, self.risk)

    @classmethod
    def of_release(cls, release: Release, risk: Risk, audit: Audit | None, limits: PageLimits) -> PublishedDrawing:
        """Return the drawing of a release."""
        plain = Drawing.of(risk, limits)
        return cls(plain.risk, plain.figures, plain.words, plain.marks, plain.apply, limits, release, audit)

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
        hidden = (self.status == HIDDEN) | (self.status == INTERVAL)
        kinds[hidden] = np.where(self.sensitive[hidden], PRIMARY, SECONDARY)
        return kinds

    @cached_property
    def heat(self) -> Mapping[int, str]:
        """The colour of every cell whose number was changed, by its place."""
        return self.moves.classes()

    @cached_property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What entries themselves give away, ``(n_cells,)`` each."""
        nothing = np.full(len(self.risk), np.inf)
        return (-nothing, nothing) if self.release is None else (self.release.lower.floats, self.release.upper.floats)

    @cached_property
    def intervals(self) -> Mapping[int, tuple[float, float]]:
        """What is left of each cell when all outsiders are taken together: the narrowest of their intervals.

        Respondents know their own cells: what they conclude about these is nothing to look at.
        """
        narrowest: dict[int, tuple[float, float]] = {}
        findings = self.audit.intervals if self.audit is not None else ()
        inside = self.audit.risk.further if self.audit is not None else None
        outsiders = len(self.risk.attackers) if inside is None else int(inside.attackers.min(initial=2**31 - 1))
        for one in findings:
            if one.attacker >= outsiders:
                continue
            low = -np.inf if one.lower is None else float(one.lower)
            high = np.inf if one.upper is None else float(one.upper)
            before = narrowest.get(one.cell, (-np.inf, np.inf))
            narrowest[one.cell] = (max(low, before[0]), min(high, before[1]))
        return narrowest

    def _entries(self, cells: NDArray[np.int64]) -> Iterator[SheetCell]:
        """Yield the entries of some cells."""
        kinds, values = self.kinds[cells].tolist(), self.figures.values(cells)
        required = self._list_levels(cells)
        for cell, kind, value, levels in zip(cells.tolist(), kinds, values, required, strict=True):
            if kind == "s":
                yield SheetCell(value, "s", "", "")
            else:
                own = f"{self.heat[cell]}{' own' if self.sensitive[cell] else ''}" if kind == OTHER else kind
                yield SheetCell(
                    self._describe_entry(cell),
                    own,
                    "",
                    self._describe_cell(cell, kind, value, levels),
                    self._truth_at(cell),
                )

    def _truth_at(self, cell: int) -> float | None:
        """Return where in a published range the true value lies."""
        if self.status[cell] != INTERVAL:
            return None
        lower, upper = float(self.ends[0][cell]), float(self.ends[1][cell])
        if not (np.isfinite(lower) and np.isfinite(upper) and upper > lower):
            return None
        return min(1.0, max(0.0, (float(self.risk.table.values[cell]) - lower) / (upper - lower)))

    def _describe_entry(self, cell: int) -> str:
        """Return what a reader sees of a cell that is not shown as it is."""
        if self.release is None or self.status[cell] == HIDDEN:
            return MARK
        if self.status[cell] == INTERVAL:
            return " .. ".join(self.format_value(float(end[cell])) for end in self.ends)
        return self.format_value(float(self.release.published.floats[cell]))

    def _describe_cell(self, cell: int, kind: str, value: str, levels: Mapping[str, str]) -> str:
        lines = [self.risk.table.label(cell), _SAID[kind].format(_PUBLISHED[str(self.status[cell])])]
        why = self._reasons(cell)
        lines += [f"Why: {why}"] if why else []
        lines.append(f"True value: {value}")
        if cell in self.intervals:
            lines.append("Attackers conclude: " + " .. ".join(map(self.format_value, self.intervals[cell])))
        required = ", ".join(f"{kind} {level}" for kind, level in levels.items() if level)
        return "\n".join([*lines, f"Protection levels: {required}"] if required else lines)

    def format_value(self, value: float) -> str:
        """Return a number as people read it."""
        if np.isinf(value):
            return INFINITY if value > 0 else MINUS + INFINITY
        return f"{value:,.{max(self.figures.decimals, default=0)}f}".replace("-", MINUS)

    def hidden_lines(self, cells: NDArray[np.int64]) -> Iterator[HiddenLine]:
        """Yield cells for a list."""
        table = self.risk.table
        values = self.figures.values(cells)
        for cell, value, levels in zip(cells.tolist(), values, self._list_levels(cells), strict=True):
            labels = [axis.labels[table.codes[cell, k]] for k, axis in enumerate(table.axes)] or [str(cell)]
            variable = [table.variables[table.variable[cell]]] if len(table.variables) > 1 else []
            low, high = self.intervals.get(cell, (np.nan, np.nan))
            ends = ["" if np.isnan(end) else self.format_value(end) for end in (low, high)]
            said = ", ".join(f"{kind} {level}" for kind, level in levels.items() if level)
            kind = str(self.kinds[cell])
            words = (
                "sensitive" if self.sensitive[cell] else "secondary" if kind == SECONDARY else str(self.status[cell])
            )
            entry = self._describe_entry(cell)
            yield HiddenLine(
                [*variable, *labels], kind, words, value, entry, ends[0], ends[1], said, self._reasons(cell)
            )
