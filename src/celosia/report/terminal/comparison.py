"""Methods compared, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from celosia.report.measures import ComparedMethod

_QUIET, _GOOD, _BAD = "grey50", "green4", "dark_orange"
_SHORT = {"moved far enough": "moved", "not moved far enough": "not moved", "not shown safe": "not safe"}
_FIGURES = ("hidden", "ranges", "changed", "widths", "error", "guessed", "gap", "s")


def comparison_table(compared: Sequence[ComparedMethod]) -> RenderableType:
    """Return one line a method, and below it why some could not do it."""
    table = Table(box=SIMPLE_HEAD, header_style=_QUIET, border_style=_QUIET, pad_edge=False, show_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column("method", no_wrap=True)
    table.add_column("result", no_wrap=True)
    for figure in _FIGURES:
        table.add_column(figure, justify="right", no_wrap=True)
    below: list[Text] = []
    for one in compared:
        good = one.measures is not None and one.measures.safe
        table.add_row(
            one.method, Text(_SHORT.get(one.verdict, one.verdict), style=_GOOD if good else _BAD), *_figures(one)
        )
        below += [Text(f"{one.method}: {problem}") for problem in one.problems]
        below += [Text(f"{one.method}: {note}", style=_QUIET) for note in one.notes]
    words = Text(
        "widths, error: shares of the sum of all values, the error being that of a reader who takes the\n"
        "published number or the middle of what can be concluded; guessed: sensitive cells to which\n"
        "that comes closer than their levels.",
        style=_QUIET,
    )
    if any(one.measures is not None and one.measures.criterion == "distance" for one in compared):
        words.append("\nmoved: sensitive cells are far from the truth; what attackers conclude is not known.")
    return Group(table, words, *below)


def _figures(one: ComparedMethod) -> list[str]:
    found = one.measures
    if found is None:
        return [""] * len(_FIGURES)
    counts = [f"{count:,}" for count in (found.hidden, found.ranges, found.changed)]
    shares = ["-" if share is None else f"{share:.2%}" for share in (found.width_share, found.error_share)]
    gap = "-" if found.gap is None else f"{found.gap:.2%}"
    return [*counts, *shares, f"{found.guessed:.0%}", gap, f"{found.seconds:.1f}"]
