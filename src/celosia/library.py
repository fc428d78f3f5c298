"""Libraries that few commands need, loaded when they are first used: loading them all takes longer than most work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
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
