"""A protection for the terminal: whether it is safe, what it costs, and where it hides."""

from __future__ import annotations

import math

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from celosia.errors import describe_figure, pluralise
from celosia.pattern.entries import ADJUSTED, HIDDEN, INTERVAL, PERTURBED, ROUNDED, SHOWN, of_status
from celosia.pattern.release import publish
from celosia.protection.result import Protection
from celosia.report.loss import Loss, loss
from celosia.report.moves import ValueChanges
from celosia.report.summary import describe_table

_MOVED = (ROUNDED, PERTURBED, ADJUSTED)
_QUIET, _GOOD, _BAD, _BAR = "grey50", "green4", "dark_orange", 20


def protection_panel(result: Protection) -> RenderableType:
    """Return a protection as a panel: the verdict and the cost on top, then where cells are hidden."""
    lost = loss(result.pattern, result.risk.table)
    first, unasked = result.shares.warning, result.risk.unasked_note
    parts: list[RenderableType] = [Text(first, style=f"bold {_BAD}")] if first else []
    parts += [_verdict(result), _cost(result)]
    if result.cost_share is not None:
        parts.append(_against_hiding_everything(result, result.cost_share))
    if result.saved_share > 0:
        parts.append(_against_first_pattern(result))
    if result.modular is not None:
        parts.append(Text(result.modular.sentence(result.cost)))
    if result.closing is not None:
        parts.append(Text(result.closing.sentence(result.cost)))
    parts.append(_describe_hidden(result, lost))
    notes = [note for note in (*result.notes, *result.warnings) if note not in (first, unasked)]
    parts += [Padding(Text(f"Warning: {note}", style=_BAD), (1, 0, 0, 0)) for note in notes]
    parts += [Padding(Text(f"Note: {note}"), (1, 0, 0, 0)) for note in result.notes if note == unasked]
    parts += [Padding(Text(f"Note: {note}", style=_QUIET), (1, 0, 0, 0)) for note in result.risk.table.notes]
    if len(lost.parts) and lost.hidden and not bool(of_status(result.pattern.status, _MOVED).any()):
        parts.append(_where(lost))
    title = Text(describe_table(result.risk.table), style="bold")
    return Panel(
        Group(*parts),
        title=title,
        title_align="left",
        subtitle=Text("confidential"),
        subtitle_align="left",
        border_style=_QUIET,
        padding=(1, 2),
        expand=False,
    )


def _verdict(result: Protection) -> Text:
    if result.criterion == "distance":
        return _distance_verdict(result)
    asked = pluralise(result.requirements, "requirement")
    if result.safe:
        return Text(f"Safe: all of {asked} met, audited.", style=f"bold {_GOOD}")
    return Text(f"Not shown safe: {result.met:,} of {asked} met.", style=f"bold {_BAD}")


def _distance_verdict(result: Protection) -> Text:
    """Return the verdict of a method that protects by distance, which must not sound like one about attackers."""
    asked = pluralise(result.requirements, "sensitive cell")
    if result.safe:
        said = Text(f"Moved far enough: all of {asked} left their safety intervals.", style=f"bold {_GOOD}")
    else:
        words = f"Not moved far enough: {result.met:,} of {asked} left their safety intervals."
        said = Text(words, style=f"bold {_BAD}")
    return said.append(
        "\nThis is distance from the truth; it says nothing about what attackers can conclude.", style="default"
    )


def _cost(result: Protection) -> Text:
    if result.solver == "none":
        return Text(f"Cost {describe_figure(result.cost)}, drawn at random and not searched for.")
    if not math.isfinite(result.bound):
        return Text(f"Cost {describe_figure(result.cost)}; no bound is known.")
    if result.optimal:
        return Text(f"Cost {describe_figure(result.cost)}, proved to be the least.")
    if result.nearly:
        return Text(f"Cost {describe_figure(result.cost)}, the least to within 0.01%.")
    return Text(f"Cost {describe_figure(result.cost)}, bound {describe_figure(result.bound)}: gap {result.gap:.2%}.")


def _against_hiding_everything(result: Protection, share: float) -> Text:
    """Return how good a result is against the worst one, which a gap does not say."""
    everything = describe_figure(result.cost_of_hiding_everything or 0.0)
    return Text(f"Hiding everything would cost {everything}: this is {share:.1%} of that.")


def _against_first_pattern(result: Protection) -> Text:
    """Return what the search was good for beside the pattern that it began with."""
    first = describe_figure(result.first_cost or 0.0)
    return Text(f"The search began with a cost of {first}, and saved {result.saved_share:.1%}.")


def _describe_hidden(result: Protection, lost: Loss) -> Text:
    hidden = np.asarray(result.pattern.status != SHOWN)
    sensitive = int((hidden & result.risk.sensitive).sum())
    share = lost.hidden / (lost.cells or 1)
    status = result.pattern.status
    ranges, moved = int((status == INTERVAL).sum()), ValueChanges.of(publish(result.pattern), result.risk)
    how = "are published as ranges" if ranges == lost.hidden > 0 else "are not shown"
    said = f"{lost.hidden:,} of {lost.cells:,} cells {how} ({share:.1%}):"
    lines = Text(f"{said} {sensitive:,} sensitive and {lost.hidden - sensitive:,} to protect them\n")
    if len(moved):
        share = lost.distance / lost.value if lost.value else 0.0
        distance = describe_figure(lost.distance)
        said = f"{moved.changed:,} of {lost.cells:,} numbers differ from the truth, by {distance} in all"
        lines = Text(f"{said} ({share:.2%} of all values)\n")
        if bool((status == HIDDEN).any()) or ranges:
            lines.append(f"{int((status == HIDDEN).sum()):,} cells are hidden, {ranges:,} published as ranges\n")
    cuts = f"; {pluralise(result.trace[-1][3], 'cut')}" if len(result.trace) else ""
    lines.append(f"{result.seconds:.1f} s{cuts}; {result.solver}", style=_QUIET)
    return lines


def _where(lost: Loss) -> RenderableType:
    table = Table(box=SIMPLE_HEAD, header_style=_QUIET, border_style=_QUIET, pad_edge=False, show_edge=False)
    table.add_column("where", overflow="fold")
    for figure in ("part", "cells", "not shown", ""):
        table.add_column(figure, justify="right", no_wrap=True)
    parts, said = lost.parts, None
    for place in range(len(parts)):
        name = Text(parts.by[place] if parts.by[place] != said else "", style="bold")
        cells, hidden = int(parts.cells[place]), int(parts.hidden[place])
        bar = ProgressBar(cells, hidden, width=_BAR, complete_style=_BAD, finished_style=_BAD)
        table.add_row(name, parts.part[place], f"{cells:,}", f"{hidden:,}", bar)
        said = parts.by[place]
    return Padding(table, (1, 0, 0, 0))
