"""The options of a method as a table in a page: ``{method-options} suppress``, fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.statemachine import StringList
from option_rows import rows_of
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx


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
