"""Best known costs and bounds, as the committed page of benchmark results has them: ``{best-known} csplib``, fenced."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ROOT = Path(__file__).parents[2]


class BestKnown(SphinxDirective):
    """The tables of best known costs and bounds of a benchmark, and where and when they were measured."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the tables; the page is read again when the results have changed."""
        sys.path.insert(0, str(_ROOT))  # the folder benchmarks is no part of the package
        try:
            from benchmarks.best_known import describe  # noqa: PLC0415
            from benchmarks.results import PAGE, circumstances_of, rows_of  # noqa: PLC0415
        finally:
            sys.path.remove(str(_ROOT))
        self.env.note_dependency(str(PAGE))
        name, text = self.arguments[0], PAGE.read_text("utf-8")
        lines = [*describe(rows_of(text, name)), "", circumstances_of(text, name)]
        inside = nodes.container()
        self.state.nested_parse(StringList(lines), 0, inside)
        return list(inside.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Give Sphinx the directive."""
    app.add_directive("best-known", BestKnown)
    return {"parallel_read_safe": True}
