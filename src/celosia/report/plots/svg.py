"""What all pictures have in common: the colours and texts of the page, and SVG that fits into it.

Colours stand in for those of the page's style sheet, so that a picture follows it into the dark; texts stay texts.
"""

from __future__ import annotations

import io
import re
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, QUIET, LINE, ACCENT, RISK, BAND = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
_COLOURS = {
    INK: "var(--ink)",
    QUIET: "var(--quiet)",
    LINE: "var(--line)",
    ACCENT: "var(--accent)",
    RISK: "var(--risk-bar)",
    BAND: "var(--hide-ground)",
}
FURTHEST = 4.0
"""Pictures show this many multiples of a protection level on both sides: what matters lies within one of them."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a code may hold dollars
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": INK,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}


def figure_of(width: float, height: float) -> tuple[Figure, Axes]:
    """Return an empty picture of this size in inches."""
    figure = Figure(figsize=(width, height), dpi=72, layout="constrained")  # points, as in an SVG
    figure.patch.set_alpha(0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    return figure, axes


def _lay_out_once(figure: Figure) -> None:
    """Make room for labels now: saving would draw everything twice for that, which takes half of the time of a page."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def svg_of(figure: Figure, name: str, title: str) -> str:
    """Return a figure as an element for a page: no date, no address, names of its own, and the page's colours."""
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        file = io.StringIO()
        _lay_out_once(figure)
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


def shorten_number(value: float) -> str:
    """Return a number in few letters: 1.2 m for 1,200,000."""
    for size, letter in ((1e9, " bn"), (1e6, " m"), (1e3, " k")):
        if abs(value) >= 10 * size or (abs(value) >= size > 1e3):  # noqa: PLR2004
            return f"{value / size:,.6g}{letter}"
    return f"{value:,.6g}"


def cut_label(label: str, most: int = 38) -> str:
    """Return a label that is not too long for a picture."""
    return label if len(label) <= most else f"{label[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
