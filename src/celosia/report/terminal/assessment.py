"""A summary for the terminal.

Orange marks what is sensitive and blue what is the reader's own wish, a pair that nearly everybody tells apart; every
figure also stands there as a number, so nothing depends on colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celosia.report.summary import LevelCount, RuleCount, Summary

_SENSITIVE = "dark_orange"
_WISHED = "dodger_blue1"
_QUIET = "grey50"
_BAR = 20


def panel(summary: Summary) -> RenderableType:
    """Return a summary as a panel: the counts on top, then why cells are sensitive, then where they are."""
    parts: list[RenderableType] = [_counts(summary)]
    if summary.sensitive:
        parts.append(_why(summary.by_rule, summary.sensitive))
        if summary.by_level:
            parts.append(_where(summary.by_level))
    parts += [Padding(Text(f"Note: {note}", style=_QUIET), (1, 0, 0, 0)) for note in summary.notes]
    title = Text(summary.table, style="bold")
    return Panel(Group(*parts), title=title, title_align="left", border_style=_QUIET, padding=(1, 2), expand=False)


def _counts(summary: Summary) -> RenderableType:
    lines = Text()
    lines.append(f"{summary.sensitive:,}", style=f"bold {_SENSITIVE}" if summary.sensitive else "bold")
    lines.append(f" of {summary.cells:,} cells are sensitive ({summary.sensitive_share:.1%})")
    for count, wish in ((summary.must_hide, "to be hidden"), (summary.must_show, "to be shown")):
        if count:
            lines.append(", ")
            lines.append(f"{count:,} {wish}", style=_WISHED)
    for variable in summary.variables:
        if variable.sensitive and variable.value_share is not None:
            name = variable.variable or "the value"
            lines.append(f"\n{variable.value_share:.1%} of {name} in the finest detail lies in sensitive cells")
    parts = "in one part" if summary.components == 1 else f"in {summary.components:,} separate parts"
    figures = [f"{summary.relations:,} relations, {parts}"]
    behind = ((summary.records, "records"), (summary.respondents, "respondents"), (summary.holdings, "holdings"))
    figures += [f"{count:,} {what}" for count, what in behind if count is not None]
    lines.append("\n" + "; ".join(figures), style=_QUIET)
    return lines


def _why(counts: Iterable[RuleCount], sensitive: int) -> RenderableType:
    table = _table("why", "cells", "by it alone", "")
    for count in counts:
        table.add_row(Text(count.rule), f"{count.cells:,}", f"{count.alone:,}", _bar(count.cells, sensitive))
    return Padding(table, (1, 0, 0, 0))


def _where(counts: Iterable[LevelCount]) -> RenderableType:
    table = _table("where", "level", "cells", "sensitive", "")
    said = None
    for count in counts:
        name = Text(count.dimension if count.dimension != said else "", style="bold")
        level = "total" if count.level == 0 else str(count.level)
        table.add_row(name, level, f"{count.cells:,}", f"{count.sensitive:,}", _bar(count.sensitive, count.cells))
        said = count.dimension
    return Padding(table, (1, 0, 0, 0))


def _bar(part: int, whole: int) -> ProgressBar:
    return ProgressBar(whole, part, width=_BAR, complete_style=_SENSITIVE, finished_style=_SENSITIVE)


def _table(what: str, *figures: str) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style=_QUIET, border_style=_QUIET, pad_edge=False, show_edge=False)
    table.add_column(what, overflow="fold")
    for figure in figures:
        table.add_column(figure, justify="right", no_wrap=True)
    return table
