"""How the documentation is built: ``make docs``."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import celosia

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "celosia"
author = "The celosia developers"
project_copyright = author
release = version = celosia.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest", "executed"]
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
napoleon_use_rtype = False
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True

# Examples: every page has a folder of its own, and error messages count to the letter
doctest_default_flags = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1
doctest_global_setup = "from executed import Page; page = Page(); run = page.run"
doctest_global_cleanup = "page.leave()"

# HTML
html_theme = "furo"
html_title = "celosia"
html_static_path = ["_static"]
html_show_sphinx = False
html_show_copyright = False
