"""Compiled functions: typed by their annotations, compiled once per installation, loaded in milliseconds.

A *kernel* is called from Python, an *inner* function by kernels only. The annotations of a kernel are its signature:
``int``, ``float`` and ``bool``, arrays that lie in one piece, tuples and named tuples of those. An array has one
dimension unless its annotation says otherwise, ``Annotated[NDArray[np.float64], 2]``; one of records says of which,
``Annotated[NDArray[np.void], dtype]``. So what must be compiled is known before anything is called, and one version of
everything is enough. Whatever else a kernel is called with is compiled on the spot, and correct.
"""

from __future__ import annotations

import io
import pickle
import sys
import types as python_types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import binding
from numba import njit, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.np.numpy_support import from_dtype

from celosia.compiler import Pipeline, compile_once
from celosia.progress import SILENT, Progress

COMPILING = "compiling, once per installation"
"""What progress says while kernels are compiled."""

READ_ONLY = "read-only"
"""Marks arrays that nobody may write to, such as those that belong to others."""

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
_NUMBERS: dict[object, types.Type] = {int: types.int64, float: types.float64, bool: types.boolean, None: types.none}


@dataclass(frozen=True, slots=True, eq=False)
class _Kernel:
    """A compiled function, and where it is kept; None where no folder can be written to."""

    dispatcher: Any
    shelf: _Shelf | None

    @property
    def home(self) -> str:
        """The module in which it is."""
        return str(self.dispatcher.py_func.__module__)

    @property
    def signature(self) -> tuple[types.Type, ...]:
        """What it is called with."""
        hints = get_type_hints(self.dispatcher.py_func, include_extras=True)
        return tuple(_type_of(hint) for name, hint in hints.items() if name != "return")

    @property
    def missing(self) -> bool:
        """Whether it has to be compiled."""
        if self.dispatcher.overloads:
            return False
        return self.shelf is None or not self.shelf.holds_any()


_WAITING: list[_Kernel] = []
"""Kernels of which nobody has asked yet whether they are compiled."""


def kernel(*, fastmath: bool = False) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator that compiles a function which is called from Python.

    Parameters
    ----------
    fastmath
        Sums may be taken in any order.
    """

    def decorate(function: FunctionT) -> FunctionT:
        dispatcher = njit(nogil=True, fastmath=fastmath, no_cfunc_wrapper=True, pipeline_class=Pipeline)(function)
        try:
            shelf = _Shelf(function)
        except RuntimeError:  # no folder is ours to write to: every process compiles for itself
            shelf = None
        else:
            dispatcher._cache = shelf  # noqa: SLF001 - as its enable_caching does
        _WAITING.append(_Kernel(dispatcher, shelf))
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def inner(*, fastmath: bool = False, inline: bool = False, merged: bool = False) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator that compiles a function for kernels. Python cannot call it: it has no door to there.

    Parameters
    ----------
    fastmath
        As in `kernel`.
    inline
        Its code becomes part of whoever calls it, before that is typed.
    merged
        The same after it is typed: calls that take longer than what they do, as they count references to every array.
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "inline": "always" if inline else "never"}
    options["forceinline"] = merged

    def decorate(function: FunctionT) -> FunctionT:
        return njit(nogil=True, fastmath=fastmath, pipeline_class=Pipeline, **options)(function)  # type: ignore[no-any-return]

    return decorate


def compile_kernels(progress: Progress = SILENT, *rooms: str, spare: Callable[[], tuple[str, ...]] = tuple) -> int:
    """Compile the kernels of all modules that are loaded, as far as this installation has not; return how many.

    Parameters
    ----------
    progress
        Hears of it where there is something to compile: that takes a while, once per installation.
    *rooms
        Only those of these packages, such as ``celosia.source``.
    spare
        Returns packages whose kernels are not needed now; called only where some have not been compiled.
    """
    asked = [one for one in _WAITING if not rooms or one.home.startswith(rooms)]
    missing = [one for one in asked if one.missing]
    _WAITING[:] = [one for one in _WAITING if one not in asked or one in missing]
    idle = spare() if missing else ()
    missing = [one for one in missing if one in _WAITING and not one.home.startswith(idle)]
    if missing:
        progress.start(COMPILING, len(missing))
        with compile_once():
            for one in missing:
                one.dispatcher.compile(one.signature)
                _WAITING.remove(one)
                progress.advance()
        progress.done()
    return len(missing)


def _type_of(hint: Any) -> types.Type:  # noqa: ANN401  (what annotations may be)
    """Return the compiler's type of what is annotated so."""
    if hint in _NUMBERS:
        return _NUMBERS[hint]
    said: list[object] = []
    if get_origin(hint) is Annotated:
        hint, *said = get_args(hint)
    if get_origin(hint) is np.ndarray:
        rank = next((one for one in said if isinstance(one, int)), 1)
        dtype = next((one for one in said if isinstance(one, np.dtype)), np.dtype(get_args(get_args(hint)[1])[0]))
        return types.Array(from_dtype(dtype), rank, "C", readonly=READ_ONLY in said)
    if get_origin(hint) is tuple:
        return types.BaseTuple.from_types(tuple(map(_type_of, get_args(hint))))
    if get_origin(hint) is python_types.UnionType:
        return types.none  # what may be left out mostly is
    fields = get_type_hints(hint, include_extras=True)
    return types.BaseTuple.from_types(tuple(map(_type_of, fields.values())), hint)


class _CompiledParts(CompileResultCacheImpl):  # type: ignore[misc]
    """Takes a compiled function apart and puts it together again, as numba does, without what others link to.

    A kernel is called from Python only: nobody needs its code in the language of the compiler, and to parse that takes
    as long as everything else.
    """

    def reduce(self, cres: Any) -> Any:  # noqa: ANN401  (numba's)
        """Return the parts of a compiled function."""
        (name, kind, (code, _)), *others = super().reduce(cres)
        return (name, kind, (code, binding.parse_assembly("").as_bitcode())), *others

    def rebuild(self, target_context: Any, payload: Any) -> Any:  # noqa: ANN401
        """Return a compiled function, having said what it defines: numba reads that from what is left out."""
        _, function, *_ = payload
        engine = target_context.codegen()._engine  # noqa: SLF001
        engine._defined_symbols.add(function.llvm_cpython_wrapper_name)  # noqa: SLF001
        return super().rebuild(target_context, payload)


class _Shelf(FunctionCache):  # type: ignore[misc]
    """Keeps a compiled function on the disk, as numba does, but for three things.

    It is stale when any function or constant that went into it has changed, not only its own file. What is read is run
    without making ready for compiling, which takes longer than anything else at the start of a process. And only what
    runs is kept and read (`_CompiledParts`), without the modules of numba that compiled it (`_CompiledReader`).
    """

    _impl_class = _CompiledParts

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _ShelfFile(self._cache_path, self._impl.filename_base, None)

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401  (numba's)
        """Return a compiled function, None where there is none."""
        self._stamp()
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        """Keep a compiled function."""
        self._stamp()
        super().save_overload(sig, data)

    def holds_any(self) -> bool:
        """Return whether a function has been compiled for this processor: mostly for its own signature.

        What that is takes longer to find out than everything else here, and another one is compiled on the spot.
        """
        self._stamp()
        _, processor, code = self._index_key((), cpu_target.target_context.codegen())
        return any(key[1:] == (processor, code) for key in self._cache_file._load_index())  # noqa: SLF001

    def _stamp(self) -> None:
        """Say what belongs to the function; only now are all functions of its module there."""
        if self._cache_file._source_stamp is None:  # noqa: SLF001
            self._cache_file._source_stamp = tuple(_ingredients(self._py_func, set()))  # noqa: SLF001


class _ShelfFile(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a compiled function."""

    def _load_index(self) -> Any:  # noqa: ANN401  (numba's)
        """Return what there is, nothing where it speaks of types that an older version of this package had."""
        try:
            return super()._load_index()
        except (AttributeError, ImportError):
            return {}

    def _load_data(self, name: str) -> Any:  # noqa: ANN401
        return _CompiledReader(io.BytesIO(Path(self._data_path(name)).read_bytes())).load()


class _CompiledReader(pickle.Unpickler):
    """Reads a compiled function and its environments, one for every function that went into it.

    An environment has the globals of its function, for code that looks names up while it runs. Compiled code does not,
    so the modules of numba's own functions are not imported for it: that takes longer than to read all kernels.
    """

    def find_class(self, module: str, name: str, /) -> Any:  # noqa: ANN401
        """Return a class or function by its name."""
        if (module, name) == (Environment.__module__, "_rebuild_env"):
            return _rebuild_environment
        return super().find_class(module, name)


def _rebuild_environment(module: str, constants: list[object], name: str) -> Environment:
    """Return an environment by its name, with the globals of a module that is loaded; of another with its name only."""
    environment = lookup_environment(name)
    if environment is None:
        loaded = sys.modules.get(module)
        environment = Environment({"__name__": module} if loaded is None else vars(loaded))
        environment.consts[:] = constants
        environment.env_name = name
        Environment._memo[name] = environment  # noqa: SLF001 - as numba does
    return environment


def _ingredients(function: Any, seen: set[object]) -> Iterator[tuple[object, ...]]:  # noqa: ANN401
    """Give the code and the constants of a function and of those it calls, in a fixed order."""
    seen.add(function)
    code = function.__code__
    yield function.__module__, function.__qualname__, code.co_code, repr([one for one in code.co_consts if one])
    for name in function.__code__.co_names:
        used = function.__globals__.get(name)
        if isinstance(used, int | float | np.generic):
            yield name, repr(used)
        called = getattr(used, "py_func", None)
        if called is not None and called not in seen:
            yield from _ingredients(called, seen)
