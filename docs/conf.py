"""How the documentation is built: ``make docs``."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import celosia

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "celosia"
author = "The celosia developers"
project_copyright = author
release = version = celosia.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest"]
extensions += ["executed", "mathml", "method_options", "best_known", "papers"]
exclude_patterns = ["_build"]

# Pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Reference: docstrings are numpydoc, types stand in the signatures, single backticks are names of ours
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_attr_annotations = False  # types stand in the signature
napoleon_use_rtype = False
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True

# Examples: every page has a folder of its own, and error messages count to the letter
doctest_default_flags = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1
doctest_global_setup = "from executed import Page; page = Page(); run = page.run"
doctest_global_cleanup = "page.leave()"

# HTML
html_theme = "furo"
html_math_renderer = "mathml"
html_title = "celosia"
html_static_path = ["_static"]
html_css_files = ["celosia.css"]
html_show_sphinx = False
html_show_copyright = False

_ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], ~?numpy\.dtype\[~?(?:\w+\.)?(\w+)\]\]")


def head_examples(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Put a heading above the example with which a docstring ends: napoleon would take it for a parameter."""
    examples = [place for place, line in enumerate(lines) if line.startswith(">>>")]
    if examples and "Examples" not in lines:
        lines[examples[0] : examples[0]] = ["Examples", "--------"]


def shorten_types(
    _app: Sphinx, _what: str, _name: str, _thing: object, _options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write arrays as people do, in the signatures of functions and classes."""
    if signature is not None:
        signature = re.sub(r"~[\w.]+\.(\w+)", r"\1", _ARRAY.sub(r"NDArray[\1]", signature)).replace("<factory>", "...")
    return signature, None if returned is None else _ARRAY.sub(r"NDArray[\1]", returned)


def setup(app: Sphinx) -> None:
    """Connect the above; docstrings before napoleon, which has the priority 500."""
    app.connect("autodoc-process-docstring", head_examples, priority=400)
    app.connect("autodoc-process-signature", shorten_types)
