"""Rooms that are called like a verb: ``celosia.certify`` is a package, and ``celosia.certify(audit)`` a call.

Importing any module of a room makes the package an attribute of `celosia`, where the verb of the same name ought to
stand. So the package itself can be called. Whoever asks for it gets the same object, whatever was imported before:
``celosia.certify(audit)`` and ``import celosia.certify.verify as judge`` both work. Type checkers see the function.
"""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import Signature, signature
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package that does what the function of its name does, which is imported when it is first called."""

    __home__: str

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401  (those of the function)
        """Call the function of the package's name."""
        return self.function(*args, **options)

    @property
    def function(self) -> Any:  # noqa: ANN401
        """The function of the package's name."""
        return getattr(import_module(f"{self.__name__}.{self.__home__}"), self.__name__.rpartition(".")[2])

    @property
    def __signature__(self) -> Signature:
        return signature(self.function)

    def __reduce__(self) -> tuple[Any, ...]:  # a function can be sent to another process, and so can this
        return import_module, (self.__name__,)


def make_verb(package: str, home: str) -> None:
    """Let a package be called.

    Parameters
    ----------
    package
        The package: ``celosia.certify`` is called like its function ``certify``.
    home
        The module in it that holds the function.
    """
    module = sys.modules[package]
    module.__class__ = Verb
    module.__home__ = home  # type: ignore[attr-defined]
