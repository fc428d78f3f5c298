"""The same table in several ways, side by side on a page, with what readers lose by each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from celosia.attack.result import Audit
from celosia.pattern.release import publish
from celosia.protection.result import Protection
from celosia.report.loss import Loss, loss
from celosia.report.method_words import WORDS
from celosia.report.pages.limits import PageLimits
from celosia.report.pages.published import PublishedDrawing
from celosia.report.pages.sheets import PageSheet

_OPTIMAL = 1e-4
"""A gap below this comes from ends that are rounded to decimals."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the ways: what it is called, and the table as a reader sees it."""

    heading: str
    sheet: PageSheet


@dataclass(frozen=True, slots=True, eq=False)
class SideBySide:
    """The same table in several ways.

    Parameters
    ----------
    title
        What the table is.
    results
        The protections.
    audits
        What attackers can conclude from each, intervals included.
    """

    title: str
    results: Sequence[Protection]
    audits: Sequence[Audit]

    def sides(self) -> list[Side]:
        """Return the tables; their rows can be read once."""
        return [
            Side(
                WORDS.get(result.method.name, result.method.name).capitalize(),
                PublishedDrawing.of_release(publish(result.pattern), result.risk, found, PageLimits()).sheets()[0][0],
            )
            for result, found in zip(self.results, self.audits, strict=True)
        ]

    def losses(self) -> list[tuple[str, list[str]]]:
        """Return the measures of loss, one line each, and how far each way may be from the best of its kind."""
        lost = [
            loss(result.pattern, result.risk.table, found)
            for result, found in zip(self.results, self.audits, strict=True)
        ]
        lines = [(name, [said(one) for one in lost]) for name, said in _MEASURES.items()]
        gaps = ["none" if one.gap < _OPTIMAL else f"{one.gap:.1%}" for one in self.results]
        return [*lines, ("gap between cost and bound", gaps)]


def _width(lost: Loss) -> str:
    if lost.width is None:
        return ""
    return "no end" if math.isinf(lost.width) else f"{lost.width:,.0f}"


def _width_share(lost: Loss) -> str:
    if lost.width is None or math.isinf(lost.width) or not lost.value:
        return ""
    return f"{lost.width / lost.value:.2%}"


_MEASURES: dict[str, Callable[[Loss], str]] = {
    "cells not shown": lambda lost: f"{lost.hidden:,} of {lost.cells:,}",
    "of all values, totals among them": lambda lost: f"{lost.hidden_value / (lost.value or 1.0):.1%}",
    "width of what can be concluded, in all": _width,
    "as a share of all values": _width_share,
}
