"""The page on which an office looks at a protection: one HTML file that needs nothing else.

It shows true values and is confidential; contributions stay out of it all the same.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from celosia.attack.findings import MET
from celosia.attack.result import Audit
from celosia.pattern.entries import HIDDEN, INTERVAL
from celosia.pattern.midpoint import midpoints
from celosia.pattern.release import publish
from celosia.protection.result import Protection
from celosia.report.loss import Loss, loss
from celosia.report.margins import Margins, margins
from celosia.report.method_words import PROMISE, WORDS
from celosia.report.pages.assessment import MOST_LISTED, grouped, template, write_pieces
from celosia.report.pages.beside import Beside
from celosia.report.pages.published import PublishedDrawing
from celosia.report.plots.methods import changes_plot, midpoints_plot, moved_plot, scale, trade_off_plot, widths_plot
from celosia.report.plots.search import intervals_plot, margins_plot, progress_plot
from celosia.report.summary import summary
from celosia.solve.registry import backends
from celosia.version import __version__

if TYPE_CHECKING:
    from celosia.protection.trade_off import TradeOff
    from celosia.protection.why import Why

MOST_BARS = 30
"""So many intervals are drawn as bars, the tightest ones."""


def write_protection_page(
    result: Protection,
    path: str | Path,
    *,
    audit: Audit | None = None,
    title: str | None = None,
    asked: Mapping[str, str] | None = None,
    curve: TradeOff | None = None,
    beside: Beside | None = None,
    whys: Sequence[Why] = (),
) -> Path:
    """Write the page of a protection, wholly or not at all, and return its path.

    Parameters
    ----------
    result
        What to show.
    path
        Where the page goes; a file of that name is replaced once the new one is complete.
    audit
        An audit of the same pattern with intervals, for bars that go to their ends; by default the result's own.
    title
        The page's heading, by default what the table shows.
    asked
        What was asked, in words, by its name.
    curve
        The choice between few ranges and narrow ones.
    beside
        A table in several ways, to be shown side by side.
    whys
        Why some cells are not shown.

    Raises
    ------
    SpecError
        The file cannot be written.
    """
    pieces = rendered(result, audit=audit, title=title, asked=asked, curve=curve, beside=beside, whys=whys)
    return write_pieces(pieces, Path(path))


def rendered(
    result: Protection,
    *,
    audit: Audit | None = None,
    title: str | None = None,
    asked: Mapping[str, str] | None = None,
    curve: TradeOff | None = None,
    beside: Beside | None = None,
    whys: Sequence[Why] = (),
) -> Iterator[str]:
    """Yield the page of a protection piece by piece."""
    audited = audit or (result.found if isinstance(result.found, Audit) else None)
    release = publish(result.pattern)
    drawing = PublishedDrawing.of_release(release, result.risk, audited)
    sheets, missing = drawing.sheets()
    findings, close = summary(result.risk), margins(audited) if audited is not None else None
    lost = loss(release, result.risk.table, audited if audited is not None and len(audited.intervals) else None)
    hidden = np.flatnonzero(drawing.marked)
    stream = template(
        "protection.html.j2"
    ).stream(
        title=title or findings.table,
        version=__version__,
        marks=0,
        summary=findings,
        result=result,
        first=result.shares.warning,
        method=WORDS.get(result.method.name, result.method.name),
        promise=PROMISE[result.criterion],
        audit=audited,
        met=_met(result),
        kinds={kind: int((drawing.kinds == kind).sum()) for kind in "pqr"}
        | {"hidden": int((drawing.status == HIDDEN).sum())},
        loss=lost,
        value_share=lost.hidden_value / lost.value if lost.value else 0.0,
        parts=_parts(lost),
        progress=Markup(progress_plot(result.trace, result.seconds)),  # noqa: S704  (ours, labels escaped by matplotlib)
        bars=Markup(_bars(close, drawing)),  # noqa: S704
        all_margins=Markup(margins_plot(close) if close is not None and len(close) > MOST_BARS else ""),  # noqa: S704
        margins=close,
        most_bars=MOST_BARS,
        infinity=math.inf,
        cuts=result.trace[-1][3] if len(result.trace) else 0,
        sheets=sheets,
        groups=grouped(sheets, "group"),
        depth=max((sheet.depth for sheet in sheets), default=0),
        missing=missing,
        label_names=drawing.label_names,
        hidden=drawing.hidden_lines(hidden[:MOST_LISTED]),
        hidden_left_out=max(0, len(hidden) - MOST_LISTED),
        published=bool((drawing.status[hidden] != HIDDEN).any()),
        asked=asked or {},
        versions=versions(),
        **_of_ranges(result, drawing),
        **_of_moves(drawing),
        **_of_curve(result, curve),
        whys=whys,
        beside=[] if beside is None else beside.sides(),
        beside_title="" if beside is None else beside.title,
        beside_losses=[] if beside is None else beside.losses(),
    )
    stream.enable_buffering(1_000)
    yield from stream


def _met(result: Protection) -> int:
    """Return how many requirements are met, or how many sensitive cells moved far enough."""
    if isinstance(result.found, Audit):
        return sum(verdict.result == MET for verdict in result.found.verdicts)
    return int(result.found.moved.sum())


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
    return {"ranges": len(cells), "midpoints": found, "warnings": found.warnings, **drawn}


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
    own = np.flatnonzero(moves.sensitive & (moves.room > 0))
    near = own[np.argsort(np.abs(moves.change[own]) / moves.room[own], kind="stable")][:MOST_BARS]
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
    first = close.first(MOST_BARS)
    labels = [
        drawing.risk.table.label(int(cell)) + (f" ({drawing.risk.attackers[who].name})" if several else "")
        for cell, who in zip(first.cells, first.attackers.tolist(), strict=True)
    ]
    return intervals_plot(first, labels)
