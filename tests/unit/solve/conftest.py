"""Every test that asks for `backend` or `opened` runs on every back end that is installed.

The folder has a module of its own, imported by its full name; see `tests/property/conftest.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia.solve.backend import Backend, Model, needs
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends

ROOT = str(Path(__file__).parents[3])

if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture(params=backends(), ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Return one back end after the other."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def opened(backend: Backend) -> Callable[[LinearProgram], Model]:
    """Return a function that opens a problem, and skips the test where the back end cannot solve such a thing."""

    def open_problem(problem: LinearProgram) -> Model:
        if missing := needs(problem) & ~backend.capabilities:
            pytest.skip(f"{backend.name} solves no {missing.name}")
        return backend.open(problem)

    return open_problem
