"""Formulas as MathML, made while the pages are built: a reader needs neither the internet nor JavaScript."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_LOGGER = logging.getLogger(__name__)


def _rendered(node: nodes.Element, *, block: bool) -> str:
    """Return a formula as MathML; as it was written, with a warning, where it cannot be read."""
    formula = node.astext()
    try:
        return str(tex2mathml(formula, as_block=block))
    except MathError as error:
        _LOGGER.warning("formula %r: %s", formula, error, location=node)
        return f"<code>{escape(formula)}</code>"


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(_rendered(node, block=False))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(f"{_rendered(node, block=True)}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx about the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit_math, None), block_renderers=(visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
