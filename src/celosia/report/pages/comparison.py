"""The page on which an office compares methods: one HTML file that needs nothing else. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from celosia.files import write_lines
from celosia.report.measures import ComparedMethod
from celosia.report.pages.assessment import template
from celosia.report.pages.protection import versions
from celosia.report.plots.comparison import cells_plot, risk_loss_plot
from celosia.report.summary import Summary, summary
from celosia.risk.risk import Risk
from celosia.version import __version__


def write_comparison_page(
    risk: Risk,
    compared: Sequence[ComparedMethod],
    path: str | Path,
    *,
    title: str | None = None,
    asked: Mapping[str, str] | None = None,
) -> Path:
    """Write the page of a comparison, wholly or not at all, and return its path.

    Parameters
    ----------
    risk
        What was to be protected.
    compared
        What became of it, method by method.
    path
        Where the page goes; a file of that name is replaced once the new one is complete.
    title
        The page's heading, by default what the table shows.
    asked
        What was asked, in words, by its name.
    """
    return write_lines(render(summary(risk), compared, title=title, asked=asked), Path(path))


def render(
    found: Summary,
    compared: Sequence[ComparedMethod],
    *,
    title: str | None = None,
    asked: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield the page of a comparison piece by piece."""
    yield from template("comparison.html.j2").stream(
        title=title or found.table,
        version=__version__,
        marks=0,
        summary=found,
        compared=compared,
        scatter=Markup(risk_loss_plot(compared)),  # noqa: S704  (ours, labels escaped by matplotlib)
        cells=Markup(cells_plot(compared)),  # noqa: S704
        asked=asked or {},
        versions=versions(),
    )
