"""The page of the Python names, held against the names that there are, and where the README leads."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import celosia

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
DOCUMENTED = re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)$", PAGE, flags=re.MULTILINE)
PUBLIC = [name for name in celosia.__all__ if name != "__version__"]


def test_the_reference_has_every_public_name_once_and_no_other() -> None:
    assert sorted(name for name in DOCUMENTED if "." not in name) == sorted(PUBLIC)


def test_what_the_reference_has_besides_is_there_and_is_not_public() -> None:
    for name in DOCUMENTED:
        if "." in name:
            module, _, plain = name.rpartition(".")
            thing = getattr(import_module(module), plain)
            assert thing.__module__ == module, f"{name} is {thing.__module__}.{plain}"
            assert getattr(celosia, plain, None) is not thing, f"{plain} is public: document it under that name"


def test_what_the_readme_links_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        assert (ROOT / path).exists(), link
        if anchor:
            assert anchor in _anchors((ROOT / path).read_text(encoding="utf-8")), link


def _anchors(page: str) -> set[str]:
    """Return what the headings of a page are called in addresses."""
    headings = re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
