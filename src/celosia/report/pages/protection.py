"""The page on which an office looks at a protection: one HTML file that needs nothing else.

It shows true values and is confidential; contributions stay out of it all the same.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from celosia.files import write_lines
from celosia.pattern.entries import HIDDEN, INTERVAL
from celosia.pattern.midpoint import midpoints
from celosia.pattern.release import publish
from celosia.protection.result import Protection
from celosia.report.loss import Loss, loss
from celosia.report.margins import Margins, margins
from celosia.report.method_words import PROMISE, WORDS
from celosia.report.pages.assessment import group_neighbours, template
from celosia.report.pages.content import PageContent
from celosia.report.pages.published import PublishedDrawing
from celosia.report.plots.methods import changes_plot, midpoints_plot, moved_plot, scale, trade_off_plot, widths_plot
from celosia.report.plots.search import intervals_plot, margins_plot, progress_plot
from celosia.report.summary import summary
from celosia.solve.registry import backends
from celosia.version import __version__

if TYPE_CHECKING:
    from celosia.protection.trade_off import TradeOff


def write_protection_page(content: PageContent, path: str | Path) -> Path:
    """Write the page of a protection, wholly or not at all, and return its path.

    Parameters
    ----------
    content
        What to show.
    path
        Where the page goes; a file of that name is replaced once the new one is complete.

    Raises
    ------
    SpecError
        The file cannot be written.
    """
    return write_lines(render(content), Path(path))


def render(content: PageContent) -> Iterator[str]:
    """Yield the page of a protection piece by piece."""
    result, beside, limits = content.result, content.beside, content.limits
    audited = content.audit or (None if result.criterion == "distance" else result.audit)
    release = publish(result.pattern)
    drawing = PublishedDrawing.of_release(release, result.risk, audited, limits)
    sheets, missing = drawing.sheets()
    findings, close = summary(result.risk), margins(audited) if audited is not None else None
    lost = loss(release, result.risk.table, audited if audited is not None and len(audited.intervals) else None)
    hidden = np.flatnonzero(drawing.marked)
    stream = template(
        "protection.html.j2"
    ).stream(
        title=content.title or findings.table,
        version=__version__,
        marks=0,
        summary=findings,
        result=result,
        first=result.shares.warning,
        method=WORDS.get(result.method.name, result.method.name),
        promise=PROMISE[result.criterion],
        audit=audited,
        met=result.met,
        kinds={kind: int((drawing.kinds == kind).sum()) for kind in "pqr"}
        | {"hidden": int((drawing.status == HIDDEN).sum())},
        loss=lost,
        value_share=lost.hidden_value / lost.value if lost.value else 0.0,
        parts=_parts(lost),
        progress=Markup(progress_plot(result.trace, result.seconds)),  # noqa: S704  (ours, labels escaped by matplotlib)
        bars=Markup(_bars(close, drawing)),  # noqa: S704
        all_margins=Markup(margins_plot(close) if close is not None and len(close) > limits.bars else ""),  # noqa: S704
        margins=close,
        most_bars=limits.bars,
        infinity=math.inf,
        cuts=result.trace[-1][3] if len(result.trace) else 0,
        sheets=sheets,
        groups=group_neighbours(sheets, "group"),
        depth=max((sheet.depth for sheet in sheets), default=0),
        missing=missing,
        label_names=drawing.label_names,
        hidden=drawing.hidden_lines(hidden[: limits.rows]),
        hidden_left_out=max(0, len(hidden) - limits.rows),
        published=bool((drawing.status[hidden] != HIDDEN).any()),
        asked=content.asked,
        versions=versions(),
        **_of_ranges(result, drawing),
        **_of_moves(drawing),
        **_of_curve(result, content.curve),
        whys=content.whys,
        beside=[] if beside is None else beside.sides(),
        beside_title="" if beside is None else beside.title,
        beside_losses=[] if beside is None else beside.losses(),
    )
    stream.enable_buffering(1_000)
    yield from stream


def _of_ranges(result: Protection, drawing: PublishedDrawing) -> dict[str, object]:
    """Return what the page shows of published ranges."""
    cells = np.flatnonzero(drawing.status == INTERVAL)
    found = midpoints(result.pattern)
    lower, upper = drawing.ends
    pictures = {"widths": "", "middles": ""}
    if len(cells):
        value = drawing.risk.table.values[cells]
        pictures["widths"] = widths_plot(value, (upper - lower)[cells], drawing.sensitive[cells])
    if len(found):
        pictures["middles"] = midpoints_plot(found.shares)
    drawn = {name: Markup(picture) for name, picture in pictures.items()}  # noqa: S704
    return {"ranges": len(cells), "midpoints": found, "warnings": result.warnings, **drawn}


def _of_curve(result: Protection, curve: TradeOff | None) -> dict[str, object]:
    """Return what the page shows of the choice between few ranges and narrow ones."""
    if curve is None:
        return {"curve": "", "points": ()}
    wide = result.pattern.status == INTERVAL
    lower, upper = (side[wide].floats for side in result.pattern.bounds())
    own = (int(wide.sum()), float((upper - lower).sum()))
    picture = trade_off_plot([point.cells for point in curve.points], [point.width for point in curve.points], own)
    return {"curve": Markup(picture), "points": curve.points}  # noqa: S704


def _of_moves(drawing: PublishedDrawing) -> dict[str, object]:
    """Return what the page shows of numbers that were changed."""
    moves = drawing.moves
    own = np.flatnonzero(moves.sensitive & (moves.level > 0))
    near = own[np.argsort(np.abs(moves.change[own]) / moves.level[own], kind="stable")][: drawing.limits.bars]
    labels = [drawing.risk.table.label(int(cell)) for cell in moves.cells[near]]
    return {
        "moves": moves,
        "scale": scale(),
        "changes": Markup(changes_plot(moves)),  # noqa: S704
        "moved": Markup(moved_plot(moves.some(near), labels) if len(near) else ""),  # noqa: S704
    }


def versions() -> dict[str, str]:
    """Return what the result depends on, with versions."""
    solvers = {backend.name: backend.version for backend in backends()}
    return {"celosia": __version__, "Python": platform.python_version(), "numpy": np.__version__, **solvers}


def _parts(lost: Loss) -> list[tuple[str, list[dict[str, float | str]]]]:
    """Return the loss by what parts the table, a list of parts each."""
    parts = lost.parts
    lines: dict[str, list[dict[str, float | str]]] = {}
    for place in range(len(parts)):
        lines.setdefault(parts.by[place], []).append(
            {
                "part": parts.part[place],
                "cells": int(parts.cells[place]),
                "hidden": int(parts.hidden[place]),
                "share": float(parts.hidden[place]) / max(1, int(parts.cells[place])),
                "value_share": float(parts.hidden_value[place]) / (float(parts.value[place]) or 1.0),
                "width": float(parts.width[place]),
            }
        )
    return list(lines.items())


def _bars(close: Margins | None, drawing: PublishedDrawing) -> str:
    """Return the tightest intervals as bars."""
    if close is None or not len(close):
        return ""
    several = len(drawing.risk.attackers) > 1
    first = close.first(drawing.limits.bars)
    labels = [
        drawing.risk.table.label(int(cell)) + (f" ({drawing.risk.attackers[who].name})" if several else "")
        for cell, who in zip(first.cells, first.attackers.tolist(), strict=True)
    ]
    return intervals_plot(first, labels)
