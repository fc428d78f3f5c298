"""Pictures of a search and of what attackers can conclude, drawn by matplotlib as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from matplotlib import rc_context
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from celosia.report.margins import Margins
from celosia.report.plots.svg import (
    ACCENT,
    BAND,
    FURTHEST,
    QUIET,
    RISK,
    STYLE,
    cut_label,
    figure_of,
    shorten_number,
    svg_of,
)

Trace: TypeAlias = Sequence[tuple[float, float | None, float, int]]
"""How a search went: seconds, the cost of the best pattern so far, the bound, and the cuts."""

_VISIBLE = 0.06  # multiples of what is required, below which a bar needs a mark to be seen

_FLAT = 0.01
"""The axis of cost and bound is no shorter than this part of them."""


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
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 2.7)
        axes.fill_between(times, bounds, costs, step="post", color=BAND, linewidth=0)
        axes.step(times, costs, where="post", color=RISK, linewidth=3.5, label="cost of the best so far")
        axes.step(times, bounds, where="post", color=ACCENT, linewidth=1.8, label="bound: none costs less")
        axes.set_xlabel("seconds")
        axes.set_xlim(left=0, right=max(times) * 1.01 or 1)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shorten_number(value)))
        axes.yaxis.set_major_locator(MaxNLocator(5))
        low, high = axes.get_ylim()
        if high - low < _FLAT * abs(high):  # figures on the axis would all be the same
            axes.set_ylim(low - _FLAT * abs(high), high + _FLAT * abs(high))
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2, handlelength=1.6
        )
        return svg_of(figure, "progress", "Cost and bound over time")


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
    below = np.maximum(margins.below, -FURTHEST)
    above = np.minimum(margins.above, FURTHEST)
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 0.75 + 0.24 * len(rows))
        axes.axvspan(-1, 1, color=BAND, linewidth=0)
        axes.axvline(0, color=QUIET, linewidth=0.8)
        axes.barh(rows, above - below, left=below, height=0.52, color=ACCENT, linewidth=0)
        tight = np.flatnonzero(margins.ratio < 1)
        axes.barh(rows[tight], (above - below)[tight], left=below[tight], height=0.52, color=RISK, linewidth=0)
        narrow = np.flatnonzero(above - below < _VISIBLE)
        axes.plot((above + below)[narrow] / 2, rows[narrow], marker="|", color=RISK, markersize=8, linestyle="")
        for row in rows.tolist():
            if margins.below[row] < -FURTHEST:
                axes.plot(-FURTHEST - 0.06, row, marker=4, color=ACCENT, markersize=5, clip_on=False)
            if margins.above[row] > FURTHEST:
                axes.plot(FURTHEST + 0.06, row, marker=5, color=ACCENT, markersize=5, clip_on=False)
        axes.set_yticks(rows, [cut_label(label) for label in labels])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(-FURTHEST, FURTHEST)
        axes.set_xticks([-4, -3, -2, -1, 0, 1, 2, 3, 4], ["4x", "3x", "2x", "1x", "truth", "1x", "2x", "3x", "4x"])
        axes.tick_params(axis="y", pad=8)  # arrows stand between labels and bars
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        return svg_of(figure, "intervals", "What attackers can conclude, beside what is required")


def margins_plot(margins: Margins) -> str:
    """Return all requirements in order of how much of what they ask for is there."""
    ratio = np.minimum(np.sort(margins.ratio), 1_000)
    share = np.arange(1, len(ratio) + 1)
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 2.3)
        axes.fill_between(share, 1, np.maximum(ratio, 1), color=BAND, step="pre", linewidth=0)
        axes.step(share, ratio, where="pre", color=ACCENT, linewidth=2)
        axes.axhline(1, color=RISK, linewidth=1.5)
        axes.set_yscale("log")
        axes.set_ylim(bottom=min(0.8, float(ratio.min()) or 0.1), top=max(2.0, float(ratio.max()) * 1.1))
        axes.set_xlim(1, max(2, len(ratio)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_xlabel("requirements, the tightest first")
        return svg_of(figure, "margins", "How much of what is required is there")
