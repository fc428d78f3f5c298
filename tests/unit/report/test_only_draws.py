"""Reports take data: nothing in them protects, attacks or searches."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import celosia.report

ROOMS = ("celosia.attack", "celosia.protection", "celosia.certificate", "celosia.job", "celosia.comparison")


def imported() -> Iterator[tuple[str, str, str]]:
    """Yield every name that the package takes from a room that computes."""
    for path in Path(next(iter(celosia.report.__path__))).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(ROOMS):
                yield from ((path.name, str(node.module), alias.name) for alias in node.names)


def test_a_report_imports_nouns_of_the_rooms_that_compute_and_no_verb() -> None:
    taken = list(imported())
    assert taken
    for file, module, name in taken:
        thing = getattr(import_module(module), name)
        assert inspect.isclass(thing) or isinstance(thing, str), f"{file} imports {module}.{name}"
