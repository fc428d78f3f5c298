"""The options of a method as a table, made from its section of the job file, which is made from its dataclass.

In a page: ``{method-options} suppress``, fenced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from celosia.job.methods.section import Keep
from celosia.job.methods.sections import SECTIONS
from celosia.job.sections.part import describe_options
from celosia.job.sections.selection import Bases, Cells, Factors, Widths
from celosia.job.sections.tables import CostText, Decimals

if TYPE_CHECKING:
    from sphinx.application import Sphinx

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


def _default(default: object, annotation: Any) -> str:  # noqa: ANN401
    """Return the default as a job file writes it, and what an option without one takes."""
    if default is None:
        return next((words for kind, words in _VALUES if kind in get_args(annotation)), "whole number")
    return f"`{default!r}`".replace("'", '"') if isinstance(default, str) else f"`{str(default).lower()}`"


class MethodOptions(SphinxDirective):
    """The table of the options of a method."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        lines = ["| option | | meaning |", "|---|---|---|"]
        for row in rows_of(self.arguments[0]):
            value = f"{row.default}; needed" if row.needed else row.default
            lines.append(f"| `{row.option}` | {value} | {row.meaning} |")
        inside = nodes.container()
        self.state.nested_parse(StringList(lines), 0, inside)
        return list(inside.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Give Sphinx the directive."""
    app.add_directive("method-options", MethodOptions)
    return {"parallel_read_safe": True}
