"""Rooms that are called like a verb: ``celosia.certify`` is a package, and ``celosia.certify(audit)`` a call.

Importing any module of a room makes the package an attribute of `celosia`, where the verb of the same name ought to
stand. So the verb stands there from the beginning, and stays (`Front`). Whoever asks for ``celosia.certify`` gets the
same object, whatever was imported before: it is called, shown by ``help`` and pickled like the function, and answers
for the modules of the room: ``celosia.certify.verify``. Type checkers see the function.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class Verb:
    """The function of a package's name, which is imported when it is first needed.

    Parameters
    ----------
    package
        The package: ``celosia.certify`` is called like its function ``certify``.
    home
        The module in it that holds the function.
    """

    def __init__(self, package: str, home: str) -> None:
        self.__module__, _, self.__name__ = package.rpartition(".")
        self.__qualname__ = self.__name__
        self._package, self._home = package, home

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401  (those of the function)
        """Call the function."""
        return self.__wrapped__(*args, **options)

    @property
    def __wrapped__(self) -> Any:  # noqa: ANN401
        """The function; `inspect.signature` looks here."""
        return getattr(import_module(f"{self._package}.{self._home}"), self.__name__)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What the function says of itself."""
        return str(self.__wrapped__.__doc__)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(import_module(self._package), name)

    def __get__(self, instance: object, owner: type | None = None) -> Verb:
        """Return the verb itself: what has this method is a routine, and ``help`` shows it as one."""
        return self

    def __reduce__(self) -> str:  # a function is pickled by its name, and so is this
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__name__}>"


class Front(ModuleType):
    """The package `celosia`, in which a verb stays where it stands when the room of its name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and isinstance(self.__dict__.get(name), Verb)):
            super().__setattr__(name, value)


def stand_in_front(package: str) -> None:
    """Let the verbs of a package stay when rooms of their names are imported."""
    sys.modules[package].__class__ = Front
