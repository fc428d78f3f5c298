"""The figures of docs/papers.md: the thesis' 5.1 to 5.6, and Figure 1 of Baena, Castro and González."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.paper_runs import VARIANTS, Outcome
from benchmarks.paper_tables import ASYMMETRIC, SYMMETRIC, THESIS

_FOLDER = Path(__file__).parents[1] / "docs" / "_static"
_RELATIVE = (0, 1)
"""Panels in which the least of every table counts as one."""

_SHOWN = "3"
"""The instance of Figure 1."""


def draw_figures(found: Mapping[str, Outcome], folder: Path = _FOLDER) -> None:
    """Draw both figures from the outcomes of a full run."""
    with rc_context({"svg.hashsalt": "papers", "font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        _draw_thesis(found).savefig(folder / "papers-variants.svg", metadata={"Date": None})
        _draw_ranges(found).savefig(folder / "papers-ranges.svg", metadata={"Date": None})


def _draw_thesis(found: Mapping[str, Outcome]) -> Figure:
    """Draw numbers, widths, seconds and constraints by table and variant, and seconds against constraints."""
    tables = [table for table in THESIS if f"thesis, {table}, Complete-Unity" in found]
    figure = Figure(figsize=(8, 9), layout="constrained")
    axes = figure.subplots(3, 2).ravel()
    panels: tuple[tuple[str, str, Callable[[Outcome], float]], ...] = (
        ("5.1: cells not shown, by the fewest", "linear", lambda one: one.changed),
        ("5.2: widths, by the least", "log", lambda one: one.width),
        ("5.3: CPU seconds", "log", lambda one: one.seconds),
        ("5.4: seconds on the wall", "log", lambda one: one.wall),
        ("5.5: constraints generated", "log", lambda one: one.cuts),
    )
    for number, (axis, (title, scale, read)) in enumerate(zip(axes, panels, strict=False)):
        values = np.array([[read(found[f"thesis, {table}, {name}"]) for table in tables] for name in VARIANTS])
        if number in _RELATIVE:
            values = values / np.maximum(np.where(values > 0, values, np.inf).min(axis=0), 1e-9)
        _draw_bars(axis, tables, values)
        axis.set_yscale(scale)
        axis.set_title(title, loc="left")
    axes[0].legend(frameon=False, fontsize=6, ncols=2)
    last = axes[-1]
    for name in VARIANTS:
        runs = [found[f"thesis, {table}, {name}"] for table in tables]
        last.plot([max(one.cuts, 1) for one in runs], [one.seconds for one in runs], "o", markersize=4, label=name)
    last.set_xscale("log")
    last.set_yscale("log")
    last.set_title("5.6: CPU seconds against constraints", loc="left")
    return figure


def _draw_bars(axis: Axes, tables: list[str], values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """Draw a group of bars for every table, a bar for every variant."""
    place = np.arange(len(tables))
    for number, (name, heights) in enumerate(zip(VARIANTS, values, strict=True)):
        axis.bar(place + 0.13 * (number - 2.5), np.where(heights > 0, heights, np.nan), width=0.12, label=name)
    axis.set_xticks(place, tables, fontsize=6)


def _draw_ranges(found: Mapping[str, Outcome]) -> Figure:
    """Draw every range of an instance around the truth, in percent of its width, with equal levels and with others."""
    figure = Figure(figsize=(8, 3), layout="constrained")
    for axis, (lower, upper) in zip(figure.subplots(1, 2, sharey=True), (SYMMETRIC, ASYMMETRIC), strict=True):
        below = np.asarray(found[f"ranges, {_SHOWN}, unity, {lower}/{upper}"].ends)
        axis.vlines(np.arange(len(below)), -below, 100 - below, linewidth=0.6)
        axis.axhline(0, color="black", linewidth=0.6)
        axis.set_title(f"levels of {lower} and {upper} %", loc="left")
        axis.set_xlabel("ranges, by where the truth lies")
        axis.set_ylim(-105, 105)
    return figure
