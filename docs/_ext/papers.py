"""The papers' experiments, as the committed run of the benchmark has them: ``{papers} seconds``, fenced."""

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


class Papers(SphinxDirective):
    """A table of the experiments."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the table; the page is read again when the results have changed."""
        sys.path.insert(0, str(_ROOT))  # the folder benchmarks is no part of the package
        try:
            from benchmarks.paper_page import DATA, describe  # noqa: PLC0415
        finally:
            sys.path.remove(str(_ROOT))
        self.env.note_dependency(str(DATA))
        inside = nodes.container()
        self.state.nested_parse(StringList(describe(self.arguments[0])), 0, inside)
        return list(inside.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Give Sphinx the directive."""
    app.add_directive("papers", Papers)
    return {"parallel_read_safe": True}
