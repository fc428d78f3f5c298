from __future__ import annotations

import re
import subprocess
import sys

import pytest

from celosia import SolverError
from celosia.solve.backend import Backend, Capability
from celosia.solve.registry import backend as named
from celosia.solve.registry import backends


def test_highs_is_always_there_and_first() -> None:
    assert backends()[0].name == "highs"


def test_a_back_end_is_found_by_its_name_and_has_a_version(backend: Backend) -> None:
    assert named(backend.name) is backend
    assert re.fullmatch(r"\d+\.\d+\.\d+", backend.version)


def test_back_ends_are_chosen_by_what_they_can_do(backend: Backend) -> None:
    assert Capability.LP in backend.capabilities
    for capability in Capability:
        assert (backend in backends(capability)) is (capability in backend.capabilities)


def test_an_unknown_name_is_an_error_with_a_hint() -> None:
    with pytest.raises(SolverError, match=r"'higs' is not installed\. Did you mean 'highs'\?"):
        named("higs")


@pytest.mark.parametrize("absent", [True, False])
def test_a_missing_scip_is_left_out_and_a_broken_one_is_an_error(*, absent: bool) -> None:
    broken = "import sys, types; sys.modules['pyscipopt'] = types.ModuleType('pyscipopt'); "
    missing = "import sys; sys.modules['pyscipopt'] = None; "
    script = "from celosia.solve.registry import backends; print(*(one.name for one in backends()))"
    answer = subprocess.run(
        [sys.executable, "-c", (missing if absent else broken) + script], capture_output=True, text=True, check=False
    )
    assert (answer.stdout.split() == ["highs"]) is absent
    assert ("ImportError" in answer.stderr or "ModuleNotFoundError" in answer.stderr) is not absent
