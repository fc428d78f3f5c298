"""Pictures of what methods other than hiding do: widths of ranges, where the truth lies in them, changes of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from celosia.report.moves import STEPS, ValueChanges
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

MOST_POINTS = 4_000
"""The most points that are drawn; of more every second, third, ... one."""

_MANY = 50  # times the smallest, from where on a scale is logarithmic
_APART = 0.06  # parts of an axis that numbers of points need between them


def widths_plot(value: NDArray[np.float64], width: NDArray[np.float64], sensitive: NDArray[np.bool_]) -> str:
    """Return the widths of published ranges against the values behind them; empty where there is none to draw.

    Parameters
    ----------
    value, width, sensitive
        Of every cell with a range, ``(k,)`` each; infinite widths are left out.
    """
    drawn = np.isfinite(width) & (width > 0)
    value, width, sensitive = np.abs(value[drawn]), width[drawn], sensitive[drawn]
    if not len(value):
        return ""
    step = -(-len(value) // MOST_POINTS)
    least = float(value[value > 0].min(initial=np.inf))
    value = np.where(value > 0, value, least / 2 if np.isfinite(least) else 1.0)
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 3.0)
        for own, colour, label in ((~sensitive, ACCENT, "other cells"), (sensitive, RISK, "sensitive cells")):
            places = np.flatnonzero(own)[::step]
            axes.plot(value[places], width[places], ".", color=colour, markersize=5, label=label, alpha=0.7)
        ends = np.array([value.min(), value.max()])
        axes.plot(ends, ends / 10, color=QUIET, linewidth=0.8, linestyle="--", label="a tenth of the value")
        for axis, shown, rescale in ((axes.xaxis, value, axes.set_xscale), (axes.yaxis, width, axes.set_yscale)):
            if shown.max() > _MANY * shown.min():
                rescale("log")
            axis.set_major_formatter(FuncFormatter(lambda one, _: shorten_number(one)))
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("true value")
        axes.set_ylabel("width of the range")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, borderaxespad=0.2)
        return svg_of(figure, "widths", "Widths of ranges against true values")


def midpoints_plot(shares: Mapping[str, float]) -> str:
    """Return in how many ranges the middle lies where, relative to the true value."""
    words = ("the upper end", "above the middle", "the middle", "below the middle", "the lower end")
    rows = np.arange(len(words))
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 1.7)
        colours = [RISK if place == 2 else ACCENT for place in range(len(words))]  # noqa: PLR2004  (the middle)
        axes.barh(rows, list(shares.values()), height=0.6, color=colours, linewidth=0)
        for row, share in enumerate(shares.values()):
            axes.text(share, row, f" {share:.1%}", va="center", color=QUIET)
        axes.set_yticks(
            rows, [f"truth is {word}" if "end" in word or word == "the middle" else f"truth {word}" for word in words]
        )
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, max(0.2, 1.15 * max(shares.values())))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda one, _: f"{one:.0%}"))
        axes.grid(visible=False, axis="y")
        return svg_of(figure, "midpoints", "Where the truth lies in published ranges")


def trade_off_plot(cells: Sequence[int], widths: Sequence[float], own: tuple[int, float]) -> str:
    """Return the number of ranges against their total width, points numbered from 1.

    Parameters
    ----------
    cells, widths
        Of every point.
    own
        Those of the release itself.
    """
    x, y = np.asarray(cells, dtype=float), np.asarray(widths, dtype=float)
    order = np.argsort(x, kind="stable")
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 3.2)
        axes.plot(x[order], y[order], color=ACCENT, linewidth=1.5, marker="o", markersize=5)
        axes.plot(*own, "o", color=RISK, markersize=9, markerfacecolor="none", label="this release")
        if y.min() > 0 and y.max() > _MANY * y.min():
            axes.set_yscale("log")
        for (first_x, first_y), said in _place_labels(x, y):
            axes.annotate(said, (first_x, first_y), xytext=(6, 5), textcoords="offset points", color=QUIET, fontsize=8)
        axes.set_xlabel("cells that are ranges")
        axes.set_ylabel("total width of ranges")
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda one, _: shorten_number(one)))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.margins(x=0.12, y=0.15)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.2)
        return svg_of(figure, "trade-off", "Number of ranges against their total width")


def _place_labels(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[tuple[tuple[float, float], str]]:
    """Return where the numbers of points stand, and what stands there: points too close to each other share one."""
    scale = np.array([np.ptp(x) or 1.0, np.ptp(y) or 1.0])
    groups: list[list[int]] = []
    for place in range(len(x)):
        at = np.array([x[place], y[place]]) / scale
        near = [one for one in groups if np.abs(np.array([x[one[0]], y[one[0]]]) / scale - at).max() < _APART]
        if near:
            near[0].append(place)
        else:
            groups.append([place])
    return [((float(x[own[0]]), float(y[own[0]])), ", ".join(str(place + 1) for place in own)) for own in groups]


def changes_plot(moves: ValueChanges) -> str:
    """Return how relative changes are distributed; empty where nothing moved."""
    relative = moves.relative[moves.change != 0]
    if not len(relative):
        return ""
    most = float(np.quantile(np.abs(np.clip(relative, -10, 10)), 0.98)) or 0.01
    most = min(max(most, 1e-4), 2.0)
    inside = np.clip(relative, -most, most)
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 2.4)
        edges = np.linspace(-most, most, 41)
        own = moves.sensitive[moves.change != 0]
        axes.hist(
            [inside[~own], inside[own]],
            bins=edges.tolist(),
            stacked=True,
            color=[ACCENT, RISK],
            label=["other cells", "sensitive cells"],
        )
        axes.axvline(0, color=QUIET, linewidth=0.8)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda one, _: f"{100 * one:+.3g}%".replace("+0%", "0%")))
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel("change in percent of the true value; the ends hold all beyond")
        axes.set_ylabel("cells")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2)
        return svg_of(figure, "changes", "Distribution of relative changes")


def moved_plot(moves: ValueChanges, labels: Sequence[str]) -> str:
    """Return how far sensitive cells were moved, in multiples of their levels, one a row.

    Parameters
    ----------
    moves
        Of these cells alone, each with a level.
    labels
        What the rows are called.
    """
    rows = np.arange(len(moves))
    times = np.divide(moves.change, moves.level, out=np.zeros(len(moves)), where=moves.level > 0)
    inside = np.clip(times, -FURTHEST, FURTHEST)
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 0.75 + 0.24 * len(rows))
        axes.axvspan(-1, 1, color=BAND, linewidth=0)
        axes.axvline(0, color=QUIET, linewidth=0.8)
        axes.hlines(rows, 0, inside, color=ACCENT, linewidth=1.5)
        short_of = np.abs(times) < 1
        for own, colour in ((~short_of, ACCENT), (short_of, RISK)):
            axes.plot(inside[own], rows[own], "o", color=colour, markersize=5)
        axes.set_yticks(rows, [cut_label(label) for label in labels])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(-FURTHEST - 0.2, FURTHEST + 0.2)
        axes.set_xticks([-4, -2, -1, 0, 1, 2, 4], ["4x", "2x", "level", "true value", "level", "2x", "4x"])
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        return svg_of(figure, "moved", "How far sensitive cells were moved")


def scale() -> list[str]:
    """Return what the colours of changes mean, the smallest first."""
    bounds = [f"{step:.0%}" for step in STEPS]
    return ["unchanged", *(f"up to {bound}" for bound in bounds[1:]), f"above {bounds[-1]}"]
