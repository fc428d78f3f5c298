"""How kernels are compiled: each is optimised once, with all that it calls, and nothing else is made ready to run.

Numba optimises every function by itself, makes machine code of it, and does both again in whoever calls it. A kernel
needs that once, at its end: nobody runs the functions that it calls, nor numba's own, so that these need no door for C
either. What numba works out again and again is remembered or left out: the types of operators, which variables live
where before anybody asks, and who listens to calls of LLVM.
"""

from __future__ import annotations

import copy
import gc
import operator
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

from llvmlite import binding
from llvmlite.binding.newpassmanagers import create_new_function_pass_manager
from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import (
    DumpParforDiagnostics,
    InlineOverloads,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
)
from numba.core.types.misc import NoneType, Omitted
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FindLiterallyCalls,
    InlineClosureLikes,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    RewriteSemanticConstants,
    WithLifting,
)

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of environments begin."""

_UNUSED = {
    WithLifting,
    InlineClosureLikes,
    RewriteDynamicRaises,
    MakeFunctionToJitFunction,
    FindLiterallyCalls,
    LiteralUnroll,
    LiteralPropagationSubPipelinePass,
    InlineOverloads,
    NoPythonSupportedFeatureValidation,
    DumpParforDiagnostics,
}
_ARITHMETIC = {"binop", "inplace_binop", "unary"}

_OPERATORS = frozenset(one for one in vars(operator).values() if callable(one))
_PLAIN = types.Number | types.Boolean | types.Array
"""Operators on these are numba's own, whatever the options of the function that uses them."""


@contextmanager
def compile_once() -> Iterator[None]:
    """Let numba compile as this module says. Other threads that compile wait, and so does the collection of garbage.

    Until kernels are done there is little garbage, and much to look through.
    """
    with global_compiler_lock:
        context = cpu_target.target_context
        rtsys.initialize(context)
        typing, lock = context.typing_context, binding.ffi.lib._lock  # noqa: SLF001
        collecting = gc.isenabled()
        gc.disable()
        try:
            with ExitStack() as stack:
                for owner, name, instead in (
                    (context, "_internal_codegen", _Codegen.like(context.codegen())),
                    (context, "get_abi_sizeof", lru_cache(maxsize=None)(context.get_abi_sizeof)),
                    (context, "create_cfunc_wrapper", _leave_out),
                    (typing, "resolve_function_type", _remember_operators(typing.resolve_function_type)),
                    (PostProcessor, "run", _postprocess),
                    (lock, "_cblist", []),
                ):
                    _replace(stack, owner, name, instead)
                yield
        finally:
            if collecting:
                gc.enable()


def _replace(stack: ExitStack, owner: Any, name: str, instead: object) -> None:  # noqa: ANN401
    """Let an attribute be another until a stack is closed."""
    if name in vars(owner):
        stack.callback(setattr, owner, name, vars(owner)[name])
    else:
        stack.callback(delattr, owner, name)
    setattr(owner, name, instead)


def _remember_operators(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that asks once for the type of an operator on numbers and arrays."""
    known: dict[tuple[Any, ...], Any] = {}

    def resolve(function: Any, arguments: Any, names: Any) -> Any:  # noqa: ANN401
        if getattr(function, "typing_key", function) not in _OPERATORS or not all(
            isinstance(one, _PLAIN) for one in arguments
        ):
            return usual(function, arguments, names)
        key = (function, *arguments)
        found = known.get(key)
        if found is None:
            found = known[key] = usual(function, arguments, names)
        return found

    return resolve


def _leave_out(*_: Any, **__: Any) -> None:  # noqa: ANN401  (numba's)
    """Make no door for C."""


_postprocess_fully = PostProcessor.run


def _postprocess(self: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:  # noqa: FBT001, FBT002
    """Tidy a function up between two passes; where its variables live is found when it is asked for, at the end."""
    function = self.func_ir
    if emit_dels or function.is_generator:
        _postprocess_fully(self, emit_dels, extend_lifetimes)
        return
    function.blocks = canonicalize_cfg(function.blocks)
    function.variable_lifetime = VariableLifetime(function.blocks)
    function.generator_info = None


@register_pass(mutates_CFG=True, analysis_only=False)
class _ArrayRewrites(NopythonRewrites):  # type: ignore[misc]
    """Makes one loop of an expression with arrays, where there is one."""

    _name = "array_rewrites"

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401  (numba's)
        """Rewrite expressions; return whether anything may have changed."""
        assigned = (one for block in state.func_ir.blocks.values() for one in block.find_insts(ir.Assign))
        expressions = (one for one in assigned if isinstance(one.value, ir.Expr) and one.value.op in _ARITHMETIC)
        if not any(isinstance(state.typemap[one.target.name], types.Array) for one in expressions):
            return False
        return bool(super().run_pass(state))


class Pipeline(CompilerBase):  # type: ignore[misc]
    """What numba does to a function of ours, without what these have no use for.

    They have no closures, no contexts, no generators, nothing in parallel, and write their loops out; arguments that
    are left out are the only dead branches.
    """

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        left_out = any(isinstance(one, NoneType | Omitted) for one in self.state.args)
        spare = _UNUSED if left_out else _UNUSED | {RewriteSemanticConstants, DeadBranchPrune}
        own = {NopythonRewrites: _ArrayRewrites}
        usual.passes[:] = [(own.get(kind, kind), said) for kind, said in usual.passes if kind not in spare]
        return [usual]


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

    def _optimize_functions(self, module: Any) -> None:  # noqa: ANN401  (numba's)
        """Bring variables from memory into registers, which makes functions smaller; the rest is done at the end."""
        module.data_layout = self._codegen._data_layout  # noqa: SLF001
        builder, passes = self._codegen._pass_builder(), create_new_function_pass_manager()  # noqa: SLF001
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

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
