"""Pictures as SVG, drawn by matplotlib in the colours of the page.

Colours stand in for those of the page's style sheet, so that a picture follows it into the dark; texts stay texts.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from celosia.report.margins import Margins

Trace: TypeAlias = Sequence[tuple[float, float | None, float, int]]
"""How a search went: seconds, the cost of the best pattern so far, the bound, and the cuts."""

_INK, _QUIET, _LINE, _ACCENT, _RISK, _BAND = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
_COLOURS = {
    _INK: "var(--ink)",
    _QUIET: "var(--quiet)",
    _LINE: "var(--line)",
    _ACCENT: "var(--accent)",
    _RISK: "var(--risk-bar)",
    _BAND: "var(--hide-ground)",
}
_VISIBLE = 0.06  # multiples of what is required, below which a bar needs a mark to be seen
_FURTHEST = 4.0  # multiples of what is required that a picture shows
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a code may hold dollars
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _QUIET,
    "xtick.color": _QUIET,
    "ytick.color": _INK,
    "xtick.labelcolor": _QUIET,
    "ytick.labelcolor": _INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}


def progress_plot(trace: Trace, seconds: float) -> str:
    """Return how cost and bound came together over time; empty where there is nothing to see.

    Parameters
    ----------
    trace
        Seconds, cost, bound and cuts, one after the other.
    seconds
        When the search ended.
    """
    times = [time for time, *_ in trace]
    costs = [math.nan if cost is None else cost for _, cost, _, _ in trace]
    bounds = [bound if math.isfinite(bound) else math.nan for _, _, bound, _ in trace]
    if len(times) < 2:  # noqa: PLR2004  (a point is no line)
        return ""
    times, costs, bounds = (
        [*column, last] for column, last in ((times, seconds), (costs, costs[-1]), (bounds, bounds[-1]))
    )
    with rc_context(_STYLE):
        figure, axes = _figure(7.2, 2.7)
        axes.fill_between(times, bounds, costs, step="post", color=_BAND, linewidth=0)
        axes.step(times, costs, where="post", color=_RISK, linewidth=2, label="cost of the best pattern so far")
        axes.step(
            times, bounds, where="post", color=_ACCENT, linewidth=2, label="bound: every safe pattern costs at least"
        )
        axes.set_xlabel("seconds")
        axes.set_xlim(left=0, right=max(times) * 1.01 or 1)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2, handlelength=1.6
        )
        return _svg(figure, "progress", "Cost and bound over time")


def intervals_plot(margins: Margins, labels: Sequence[str]) -> str:
    """Return intervals as bars over what is required, one a row.

    Parameters
    ----------
    margins
        The intervals.
    labels
        What the rows are called.
    """
    rows = np.arange(len(margins))
    below = np.maximum(margins.below, -_FURTHEST)
    above = np.minimum(margins.above, _FURTHEST)
    with rc_context(_STYLE):
        figure, axes = _figure(7.2, 0.75 + 0.24 * len(rows))
        axes.axvspan(-1, 1, color=_BAND, linewidth=0)
        axes.axvline(0, color=_QUIET, linewidth=0.8)
        axes.barh(rows, above - below, left=below, height=0.52, color=_ACCENT, linewidth=0)
        tight = np.flatnonzero(margins.ratio < 1)
        axes.barh(rows[tight], (above - below)[tight], left=below[tight], height=0.52, color=_RISK, linewidth=0)
        narrow = np.flatnonzero(above - below < _VISIBLE)
        axes.plot((above + below)[narrow] / 2, rows[narrow], marker="|", color=_RISK, markersize=8, linestyle="")
        for row in rows.tolist():
            if margins.below[row] < -_FURTHEST:
                axes.plot(-_FURTHEST - 0.06, row, marker=4, color=_ACCENT, markersize=5, clip_on=False)
            if margins.above[row] > _FURTHEST:
                axes.plot(_FURTHEST + 0.06, row, marker=5, color=_ACCENT, markersize=5, clip_on=False)
        axes.set_yticks(rows, [_cut(label) for label in labels])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(-_FURTHEST, _FURTHEST)
        axes.set_xticks(
            [-4, -3, -2, -1, 0, 1, 2, 3, 4], ["4x", "3x", "2x", "required", "true value", "required", "2x", "3x", "4x"]
        )
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        return _svg(figure, "intervals", "What attackers can conclude, beside what is required")


def margins_plot(margins: Margins) -> str:
    """Return all requirements in order of how much of what they ask for is there."""
    ratio = np.minimum(np.sort(margins.ratio), 1_000)
    share = np.arange(1, len(ratio) + 1)
    with rc_context(_STYLE):
        figure, axes = _figure(7.2, 2.3)
        axes.fill_between(share, 1, np.maximum(ratio, 1), color=_BAND, step="pre", linewidth=0)
        axes.step(share, ratio, where="pre", color=_ACCENT, linewidth=2)
        axes.axhline(1, color=_RISK, linewidth=1.5)
        axes.set_yscale("log")
        axes.set_ylim(bottom=min(0.8, float(ratio.min()) or 0.1), top=max(2.0, float(ratio.max()) * 1.1))
        axes.set_xlim(1, max(2, len(ratio)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_xlabel("requirements, the tightest first")
        return _svg(figure, "margins", "How much of what is required is there")


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    return figure, axes


def _svg(figure: Figure, name: str, title: str) -> str:
    """Return a figure as an element for a page: no date, no address, names of its own, and the page's colours."""
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', lambda found: f"{found[0]}{name}-", text)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    for stand_in, colour in _COLOURS.items():
        text = text.replace(stand_in, colour)
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', f'class="plot" role="img" aria-label="{title}"', text, count=1)
    return re.sub(r"\n\s*", "\n", text)


def _short(value: float) -> str:
    """Return a number in few letters: 1.2 m for 1,200,000."""
    for size, letter in ((1e9, " bn"), (1e6, " m"), (1e3, " k")):
        if abs(value) >= 10 * size or (abs(value) >= size > 1e3):  # noqa: PLR2004
            return f"{value / size:,.6g}{letter}"
    return f"{value:,.6g}"


def _cut(label: str, most: int = 38) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
