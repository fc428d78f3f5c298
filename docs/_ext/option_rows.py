"""Options of a method as rows of a table, from its section of the job file, which is made from its dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from celosia.job.methods.section import Keep
from celosia.job.methods.sections import SECTIONS
from celosia.job.sections.part import describe_options
from celosia.job.sections.selection import Bases, Cells, Factors, Widths
from celosia.job.sections.tables import CostText, Decimals

_CELLS = "[cells](#cells-by-name)"
_VALUES = (
    (Cells, _CELLS),
    (Widths, f"{_CELLS} with `width` or `percent`"),
    (Factors, f"{_CELLS} with `factor`"),
    (Bases, f"{_CELLS} with `base`"),
    (Keep, '`"FILE"` or `{ release = "FILE", factor = 0.5 }`'),
    (CostText, "text"),
    (Decimals, "0 to 9"),
    (float, "number"),
)
"""What options without a default take, by their type; others take whole numbers."""


@dataclass(frozen=True)
class Row:
    """A row of the table: an option, its default or what it takes, whether it must be given, and what it means."""

    option: str
    default: str
    needed: bool
    meaning: str


def rows_of(method: str) -> list[Row]:
    """Return the options of a method."""
    section = SECTIONS[method]
    said, needed = describe_options(section), section(name=method).missing
    return [
        Row(name, _default(field.default, field.annotation), name in needed, said[name])
        for name, field in section.model_fields.items()
        if name != "name"
    ]


def _default(default: object, annotation: Any) -> str:  # noqa: ANN401  (any type of an option)
    """Return the default as a job file writes it, and what an option without one takes."""
    if default is None:
        return next((words for kind, words in _VALUES if kind in get_args(annotation)), "whole number")
    return f"`{default!r}`".replace("'", '"') if isinstance(default, str) else f"`{str(default).lower()}`"
