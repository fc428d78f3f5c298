"""How kernels are compiled: each is optimised once, with all that it calls, and nothing else is made ready to run.

Numba optimises every function by itself, makes machine code of it, and does both again in whoever calls it. A kernel
needs that once, at its end: nobody runs the functions that it calls, nor numba's own.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of environments begin."""


@contextmanager
def compile_once() -> Iterator[None]:
    """Let numba compile as this module says. Other threads that compile wait, and so does the collection of garbage.

    Until a kernel is done there is little garbage, and much to look through.
    """
    with global_compiler_lock:
        context = cpu_target.target_context
        rtsys.initialize(context)
        usual = context.codegen()
        collecting = gc.isenabled()
        gc.disable()
        context._internal_codegen = _Codegen.like(usual)  # noqa: SLF001
        context.get_abi_sizeof = _remember(context.get_abi_sizeof)
        try:
            yield
        finally:
            del context.get_abi_sizeof
            context._internal_codegen = usual  # noqa: SLF001
            if collecting:
                gc.enable()
                gc.collect(1)


def _remember(size: Callable[[Any], int]) -> Callable[[Any], int]:
    """Return a function that asks for the size of a type once: numba has a module compiled to hear of it."""
    return lru_cache(maxsize=None)(size)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function and of those that it calls, optimised and made ready when Python wants to call it."""

    def finalize(self) -> None:
        """Take in what the function calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)  # noqa: SLF001
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)  # noqa: SLF001
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return where a function begins; 0 where it is not defined here, and not made for Python then."""
        self._ensure_finalized()
        if not self._codegen._engine.is_symbol_defined(name):  # noqa: SLF001
            if all(one.name != name or one.is_declaration for one in self._final_module.functions):
                return 0
            self._make_ready()
        return int(super().get_pointer_to_function(name))

    def _make_ready(self) -> None:
        """Optimise everything and make machine code of it."""
        self._codegen._check_llvm_bugs()  # noqa: SLF001
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


class _Codegen(JITCPUCodegen):  # type: ignore[misc]
    """What makes code of functions; all that has been made is shared with numba's own."""

    _library_class = _Library

    @classmethod
    def like(cls, usual: JITCPUCodegen) -> _Codegen:
        """Return one that shares everything with another."""
        one = copy.copy(usual)
        one.__class__ = cls
        return one  # type: ignore[no-any-return]

    def set_env(self, env_name: str, env: Any) -> None:  # noqa: ANN401  (numba's)
        """Say where the environment of a function is, if that has been made ready."""
        if self._engine.is_symbol_defined(env_name):
            super().set_env(env_name, env)
