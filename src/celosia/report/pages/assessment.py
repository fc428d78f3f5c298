"""The page on which an office looks at its sensitive cells: one HTML file that needs nothing else.

It shows true values and is confidential; contributions stay out of it all the same.
"""

from __future__ import annotations

import itertools
import operator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import jinja2
import numpy as np

from celosia.files import write_lines
from celosia.report.pages.limits import PageLimits
from celosia.report.pages.sheets import Drawing
from celosia.report.summary import summary
from celosia.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from celosia.risk.risk import Risk

Item = TypeVar("Item")


def write_page(risk: Risk, path: str | Path, *, title: str | None = None) -> Path:
    """Write the page of a risk assessment, wholly or not at all, and return its path.

    Parameters
    ----------
    risk
        What to show.
    path
        Where the page goes; a file of that name is replaced once the new one is complete.
    title
        The page's heading, by default what the table shows.

    Raises
    ------
    SpecError
        The file cannot be written.
    """
    return write_lines(render(risk, title=title), Path(path))


def render(risk: Risk, *, title: str | None = None, limits: PageLimits | None = None) -> Iterator[str]:
    """Yield the page of a risk assessment piece by piece."""
    findings = summary(risk)
    limits = limits or PageLimits()
    drawing = Drawing.of(risk, limits)
    sheets, missing = drawing.sheets()
    sensitive = np.flatnonzero(risk.sensitive)
    bare = np.arange(len(risk)) if not risk.table.axes else np.zeros(0, dtype=np.int64)
    stream = template("risk.html.j2").stream(
        title=title or findings.table,
        version=__version__,
        summary=findings,
        shares=[variable for variable in findings.variables if variable.value_share is not None],
        marks=len(drawing.marks),
        legend=list(zip(drawing.marks, drawing.words, strict=True)),
        sheets=sheets,
        groups=group_neighbours(sheets, "group"),
        levels=group_neighbours(findings.by_level, "dimension"),
        depth=max((sheet.depth for sheet in sheets), default=0),
        missing=missing,
        label_names=drawing.label_names,
        level_kinds=drawing.level_kinds,
        cells=drawing.lines(bare[: limits.rows]),
        cells_left_out=max(0, len(bare) - limits.rows),
        sensitive=drawing.lines(sensitive[: limits.rows]),
        sensitive_left_out=max(0, len(sensitive) - limits.rows),
    )
    stream.enable_buffering(1_000)
    yield from stream


def group_neighbours(items: Iterable[Item], attribute: str) -> list[tuple[str, list[Item]]]:
    """Return neighbours that agree in an attribute together, in their order (jinja's own ``groupby`` sorts)."""
    return [(name, list(group)) for name, group in itertools.groupby(items, key=operator.attrgetter(attribute))]


@cache
def template(name: str) -> jinja2.Template:
    """Return a template of `celosia.report`."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("celosia", "report/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
