"""The page on which an office looks at its sensitive cells: one HTML file that needs nothing else.

It shows true values and is confidential; contributions stay out of it all the same.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import jinja2
import numpy as np

from celosia.errors import SpecError
from celosia.report.sheets import Drawing
from celosia.report.summary import summary
from celosia.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from celosia.risk.risk import Risk

MOST_LISTED = 5_000
"""A list of cells has at most so many rows."""

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
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(rendered(risk, title=title))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise SpecError.one(
            str(path), f"cannot be written ({error.strerror}).", "Is there such a folder, and may you write to it?"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    return path


def rendered(risk: Risk, *, title: str | None = None) -> Iterator[str]:
    """Yield the page of a risk assessment piece by piece."""
    findings = summary(risk)
    drawing = Drawing.of(risk)
    sheets, missing = drawing.sheets()
    sensitive = np.flatnonzero(risk.sensitive)
    bare = np.arange(len(risk)) if not risk.table.axes else np.zeros(0, dtype=np.int64)
    stream = _template().stream(
        title=title or findings.table,
        version=__version__,
        summary=findings,
        shares=[variable for variable in findings.variables if variable.value_share is not None],
        legend=list(zip(drawing.marks, drawing.words, strict=True)),
        sheets=sheets,
        groups=_grouped(sheets, "group"),
        levels=_grouped(findings.by_level, "dimension"),
        depth=max((sheet.depth for sheet in sheets), default=0),
        missing=missing,
        label_names=drawing.label_names,
        level_kinds=drawing.level_kinds,
        cells=drawing.lines(bare[:MOST_LISTED]),
        cells_left_out=max(0, len(bare) - MOST_LISTED),
        sensitive=drawing.lines(sensitive[:MOST_LISTED]),
        sensitive_left_out=max(0, len(sensitive) - MOST_LISTED),
    )
    stream.enable_buffering(1_000)
    yield from stream


def _grouped(items: Iterable[Item], attribute: str) -> list[tuple[str, list[Item]]]:
    """Return neighbours that agree in an attribute together, in their order (jinja's own ``groupby`` sorts)."""
    return [(name, list(group)) for name, group in itertools.groupby(items, key=operator.attrgetter(attribute))]


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("celosia", "report/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("risk.html.j2")
