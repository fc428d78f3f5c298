"""Kernels are optimised and made ready once, with all that they call; numba is left as it was."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llvmlite import binding
from numba import njit
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys
from numpy.typing import NDArray

from celosia.compiler import compile_once
from celosia.kernels import inner, kernel


@inner()
def half(numbers: NDArray[np.int64], k: int) -> int:
    if numbers[k] % 2:
        message = "an odd number"
        raise ValueError(message)
    return int(numbers[k] // 2)


@inner()
def halves(numbers: NDArray[Any]) -> NDArray[np.int64]:
    out = np.zeros(len(numbers), dtype=np.int64)
    for k in range(len(numbers)):
        out[k] = half(numbers, k)
    return out


def _sum(numbers: NDArray[Any]) -> int:
    total = 0
    for one in halves(numbers):
        total += one
    return total


@pytest.fixture(scope="module")
def compiled() -> Callable[[NDArray[Any]], int]:
    one = njit(no_cfunc_wrapper=True)(_sum)
    with compile_once():
        one.compile("(int64[::1],)")
    return one  # type: ignore[no-any-return]


def test_what_a_kernel_calls_is_not_made_ready(compiled: Callable[[NDArray[Any]], int]) -> None:
    assert compiled(np.array([2, 4, 8])) == 7
    engine = cpu_target.target_context.codegen()._engine
    ready = {name: next(iter(one.overloads.values())) for name, one in {"inner": halves, "kernel": compiled}.items()}  # type: ignore[attr-defined]
    wrapper = ready["kernel"].fndesc.llvm_cpython_wrapper_name
    assert engine.is_symbol_defined(wrapper)
    assert not ready["inner"].library._compiled
    assert ready["kernel"].library._compiled


def test_nothing_that_a_kernel_calls_has_a_door_for_c(compiled: Callable[[NDArray[Any]], int]) -> None:
    """Numba makes one for each of its own functions."""
    library = next(iter(compiled.overloads.values())).library  # type: ignore[attr-defined]
    assert not [one.name for one in library._final_module.functions if one.name.startswith("cfunc.")]


def test_an_error_of_an_inner_function_reaches_python(compiled: Callable[[NDArray[Any]], int]) -> None:
    with pytest.raises(ValueError, match="an odd number"):
        compiled(np.array([2, 3]))


def test_memory_is_given_back(compiled: Callable[[NDArray[Any]], int]) -> None:
    numbers = np.array([2, 4])
    before = sys.getrefcount(numbers)
    _nrt_python.memsys_enable_stats()
    try:
        stats = rtsys.get_allocation_stats()
        for _ in range(10):
            compiled(numbers)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert sys.getrefcount(numbers) == before
    assert after.alloc - stats.alloc == after.free - stats.free


def test_numba_compiles_as_usual_afterwards_and_can_call_what_was_compiled(
    compiled: Callable[[NDArray[Any]], int],
) -> None:
    context = cpu_target.target_context
    assert vars(context).keys().isdisjoint(("get_abi_sizeof", "create_cfunc_wrapper"))
    assert "resolve_function_type" not in vars(context.typing_context)
    assert PostProcessor.run.__module__ == "numba.core.postproc"
    assert binding.ffi.lib._lock._cblist
    doubled = njit(lambda numbers: 2 * halves(numbers)[0] + np.zeros(3, dtype=np.int64)[1])
    assert doubled(np.array([6, 4])) == 6
    assert compiled(np.array([2, 4], dtype=np.int32)) == 3  # on the spot


@pytest.mark.parametrize("left_out", [True, False], ids=["left out", "given"])
def test_functions_of_ours_may_have_arrays_in_expressions_and_leave_arguments_out(*, left_out: bool) -> None:
    @inner()
    def scale(numbers: NDArray[Any], factors: NDArray[Any] | None) -> NDArray[Any]:
        return numbers * 2 + 1 if factors is None else numbers * factors + 1

    @kernel()
    def scaled(numbers: NDArray[np.float64], factors: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return scale(numbers, factors)

    factors = None if left_out else np.array([2.0, 3.0])
    with compile_once():
        found = scaled(np.array([1.0, 5.0]), factors)
    assert found.tolist() == ([3.0, 11.0] if left_out else [3.0, 16.0])


def test_an_error_leaves_numba_and_the_collector_as_they_were() -> None:
    usual = cpu_target.target_context.codegen()
    with pytest.raises(ZeroDivisionError), compile_once():
        raise ZeroDivisionError
    assert cpu_target.target_context.codegen() is usual
    assert gc.isenabled()
