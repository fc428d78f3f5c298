"""Libraries that few commands need, loaded when they are first used: loading them all takes longer than most work."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class OnFirstUse:
    """A module of somebody else, imported when something is taken from it.

    Parameters
    ----------
    name
        Its full name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the library has)
        return getattr(import_module(self._name), name)
