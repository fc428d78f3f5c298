"""Libraries that few commands need, loaded when they are first used: loading them all takes longer than most work."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any, TypeVar

Loaded = TypeVar("Loaded")


class OnFirstUse:
    """A module that most calls do not need, imported when something is taken from it.

    Parameters
    ----------
    name
        Its full name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the library has)
        return getattr(import_module(self._name), name)


class EachOnFirstUse(Mapping[str, Loaded]):
    """Things that are known by their names, each loaded or made when it is first asked for.

    Parameters
    ----------
    names
        All of them.
    load
        Returns the one of a name.
    """

    def __init__(self, names: Sequence[str], load: Callable[[str], Loaded]) -> None:
        self._names, self._load = tuple(names), load
        self._loaded: dict[str, Loaded] = {}

    def __getitem__(self, name: str) -> Loaded:
        if name not in self._names:  # asked first: what is no name at all need not have a hash
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@contextmanager
def without_late_names(name: str) -> Iterator[None]:
    """Let a library name only what it has loaded, for those who copy all its names while they are loaded themselves.

    scipy does so with numpy, which loads its parts when they are asked for: all of them, then, such as f2py,
    polynomials and tests, which takes twice as long as loading `scipy.sparse`, and nobody uses them.

    Parameters
    ----------
    name
        The library, which is loaded.
    """
    library: Any = import_module(name)
    names, listing = library.__all__, library.__dir__
    library.__all__ = [known for known in names if known in vars(library)]
    library.__dir__ = lambda: list(vars(library))
    try:
        yield
    finally:
        library.__all__, library.__dir__ = names, listing


def load_late(*names: str) -> None:
    """Let modules that others import, and mostly have no use for, be loaded when something is taken from them.

    numba imports a reader of YAML for a file of settings that hardly anybody has, for instance.

    Parameters
    ----------
    *names
        The modules, by their full names; those that are loaded or not installed stay so.
    """
    for name in names:
        spec = None if name in sys.modules else _find_spec(name)
        if spec is not None:
            sys.modules[name] = module = module_from_spec(spec)
            module.__class__ = _LateModule


def _find_spec(name: str) -> ModuleSpec | None:
    """Return where a module is, None where there is none, without loading the package in which it is."""
    package, _, _ = name.rpartition(".")
    if not package:
        return PathFinder.find_spec(name)
    parent = _find_spec(package)
    return None if parent is None else PathFinder.find_spec(name, parent.submodule_search_locations)


class _LateModule(ModuleType):
    """A module whose code is run when something is taken from it.

    That of `importlib.util.LazyLoader` is loaded when it is imported once more.
    """

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the module has)
        loader: Any = self.__loader__
        self.__class__ = ModuleType  # type: ignore[assignment]  # as that of the library does
        loader.exec_module(self)
        return getattr(self, name)


@contextmanager
def methods_on_first_use() -> Iterator[None]:
    """Let the methods of dataclasses that are defined meanwhile be made when they are first used.

    Python writes the text of each and compiles it, one by one, which takes a fifth of all that it takes to load a
    command; most of them, such as those that compare and print, and those that refuse to change what is frozen, are
    never called. Python 3.13 compiles them together, and is left as it is.
    """
    make = getattr(dataclasses, "_create_fn", None)
    if make is None:
        yield
        return

    def make_late(name: str, *details: object, **more: object) -> _MethodOnFirstUse:
        return _MethodOnFirstUse(name, lambda: make(name, *details, **more))

    setattr(dataclasses, "_create_fn", make_late)  # noqa: B010 - no name of it is public
    try:
        yield
    finally:
        setattr(dataclasses, "_create_fn", make)  # noqa: B010


class _MethodOnFirstUse:
    """A method that is made when somebody calls it, or looks at it, and takes the place of this one.

    Parameters
    ----------
    name
        Its name.
    make
        Returns the method.
    """

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self._make = cache(make)

    def __get__(self, instance: object, owner: type) -> Any:  # noqa: ANN401  (a function, or bound to the instance)
        method = self._make()
        home = next((one for one in owner.__mro__ if vars(one).get(self.__name__) is self), None)
        if home is not None:
            method.__qualname__ = f"{home.__qualname__}.{self.__name__}"
            setattr(home, self.__name__, method)
        return method.__get__(instance, owner)

    def __call__(self, *arguments: object) -> Any:  # noqa: ANN401  (whatever the method returns)
        """Call the method, for those who have wrapped it."""
        return self._make()(*arguments)
