"""Pictures that compare methods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.ticker import FuncFormatter

from celosia.report.comparison import Compared, Measures
from celosia.report.svg import ACCENT, BAND, QUIET, RISK, STYLE, figure_of, svg_of


def risk_loss_plot(compared: Sequence[Compared]) -> str:
    """Return what each method takes from readers against how often a guess comes too close; empty for none."""
    found = [(one.method, one.measures) for one in compared if one.measures is not None]
    if not found:
        return ""
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 3.4)
        there: dict[tuple[float, float], list[str]] = {}
        for name, one in found:
            filled = one.criterion == "intervals"
            colour = ACCENT if filled else RISK
            face = colour if filled else "none"
            axes.plot(
                one.error_share, one.guessed, "o", markersize=9, color=colour, markerfacecolor=face, markeredgewidth=2
            )
            there.setdefault((round(one.error_share, 3), round(one.guessed, 2)), []).append(name)
        for place, names in there.items():  # one label for all marks on the same spot
            axes.annotate(", ".join(names), place, xytext=(9, 5), textcoords="offset points", color=QUIET)
        axes.set_xlabel("error of a reader's guesses, as a share of all values")
        axes.set_ylabel("sensitive cells guessed too closely")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%"))
        axes.margins(x=0.18, y=0.15)
        axes.set_ylim(bottom=min(-0.03, axes.get_ylim()[0]))
        return svg_of(figure, "risk-loss", "Risk against loss, a point a method")


def cells_plot(compared: Sequence[Compared]) -> str:
    """Return how each method publishes the cells of the table, as stacked bars; empty for none."""
    found = [(one.method, one.measures) for one in compared if one.measures is not None]
    if not found:
        return ""
    rows, left = np.arange(len(found)), np.zeros(len(found))
    parts = (
        ("shown as they are", ACCENT, lambda one: one.shown),
        ("a number close by", BAND, _moved),
        ("ranges", QUIET, lambda one: one.ranges),
        ("hidden", RISK, lambda one: one.hidden),
    )
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 0.9 + 0.34 * len(found))
        for label, colour, count in parts:
            width = np.array([float(count(one)) for _, one in found])
            axes.barh(rows, width, left=left, height=0.62, color=colour, linewidth=0, label=label)
            left = left + width
        axes.set_yticks(rows, [name for name, _ in found])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_xlabel("cells")
        axes.grid(visible=False, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, borderaxespad=0.2, handlelength=1)
        return svg_of(figure, "cells", "How each method publishes the cells")


def _moved(one: Measures) -> int:
    """Return how many cells have an entry that is neither the value nor a range: rounded, perturbed, adjusted."""
    return one.cells - one.shown - one.hidden - one.ranges
