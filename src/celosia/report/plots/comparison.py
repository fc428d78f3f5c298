"""Pictures that compare methods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.ticker import FuncFormatter, MaxNLocator

from celosia.report.measures import ComparedMethod, Measures
from celosia.report.plots.svg import ACCENT, BAND, QUIET, RISK, STYLE, figure_of, svg_of

_LEAST = 0.01
"""Axes go to one percent at least."""
_MARGIN = 0.06
"""So much of an axis lies before its zero, for marks that stand there."""
_CLOSE = (0.12, 0.08)
"""Marks closer than these parts of the axes share a label."""


def risk_loss_plot(compared: Sequence[ComparedMethod]) -> str:
    """Return what each method takes from readers against how often a guess comes too close; empty for none."""
    found = [(one.method, one.measures) for one in compared if one.measures is not None]
    if not found:
        return ""
    ends = [max(_LEAST, *(place[axis] for place in map(_place, found))) for axis in (0, 1)]
    with rc_context(STYLE):
        figure, axes = figure_of(7.2, 3.4)
        groups: list[tuple[tuple[float, float], list[str]]] = []  # one label for all marks about the same spot
        for one in found:
            name, measures = one
            filled = measures.criterion == "intervals"
            colour = ACCENT if filled else RISK
            face = colour if filled else "none"
            axes.plot(*_place(one), "o", markersize=9, color=colour, markerfacecolor=face, markeredgewidth=2)
            near = [names for place, names in groups if _beside(place, _place(one), ends)]
            if near:
                near[0].append(name)
            else:
                groups.append((_place(one), [name]))
        for k, (place, names) in enumerate(sorted(groups)):  # neighbours have their labels at different heights
            axes.annotate(
                ", ".join(names), place, xytext=(9, 6 + 13 * (k % 2)), textcoords="offset points", color=QUIET
            )
        axes.set_xlabel("error of a reader's guesses, as a share of all values")
        axes.set_ylabel("sensitive cells guessed too closely")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%" if value >= 0 else ""))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%" if 0 <= value <= 1 else ""))
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        axes.set_xlim(-_MARGIN * ends[0], 1.3 * ends[0])  # the last label goes on to the right
        axes.set_ylim(-_MARGIN * ends[1], 1.2 * ends[1])
        return svg_of(figure, "risk-loss", "Risk against loss, a point a method")


def _place(one: tuple[str, Measures]) -> tuple[float, float]:
    """Return where the mark of a method stands."""
    return one[1].error_share, one[1].guessed


def _beside(first: tuple[float, float], second: tuple[float, float], ends: Sequence[float]) -> bool:
    """Return whether the labels of two marks would lie on each other."""
    return all(abs(a - b) < share * end for a, b, share, end in zip(first, second, _CLOSE, ends, strict=True))


def cells_plot(compared: Sequence[ComparedMethod]) -> str:
    """Return how each method publishes the cells of the table, as stacked bars; empty for none."""
    found = [(one.method, one.measures) for one in compared if one.measures is not None]
    if not found:
        return ""
    rows, left = np.arange(len(found)), np.zeros(len(found))
    parts = (
        ("shown as they are", ACCENT, lambda one: one.shown),
        ("a number close by", BAND, _count_moved),
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


def _count_moved(one: Measures) -> int:
    """Return how many cells have an entry that is neither the value nor a range: rounded, perturbed, adjusted."""
    return one.cells - one.shown - one.hidden - one.ranges
