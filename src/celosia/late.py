"""Verbs of upper rooms that objects of lower rooms offer as methods, such as ``result.report("page.html")``.

Imports point down only. The front of the package, `celosia`, knows every room and is loaded before any of them: it says
here where such verbs are, and an object finds its verb here when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}


def offer(verb: str, home: str) -> None:
    """Say in which module a verb is."""
    _HOMES[verb] = home


def late(verb: str) -> Callable[..., Any]:
    """Return a verb, importing its module."""
    function: Callable[..., Any] = getattr(import_module(_HOMES[verb]), verb)
    return function
