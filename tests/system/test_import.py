"""Importing the package and asking for help cost next to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.instances import instance

import celosia

RECORDS_AND_PAGES = ("duckdb", "pyarrow", "pandas", "polars", "narwhals", "matplotlib", "jinja2", "xlsxwriter")
HEAVY = ("numpy", "numba", "scipy", "highspy", "pydantic", "rich", "scipy.linalg", "scipy.optimize", *RECORDS_AND_PAGES)
COMMAND = str(Path(sys.executable).with_name("celosia"))


def seconds(*command: str, runs: int = 5) -> float:
    """Return the shortest time of a processor that a command took, however busy the machine is."""
    best = float("inf")
    for _ in range(runs):
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        took = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best, took)
    return best


def loaded(code: str, *names: str) -> set[str]:
    """Return which modules of these, or of all heavy ones, are loaded after some code ran."""
    script = f"{code}\nimport sys\nprint(*(name for name in {names or HEAVY!r} if name in sys.modules))"
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(answer.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded("import celosia") == set()


def test_the_entry_point_loads_nothing_heavy() -> None:
    assert loaded("import celosia.cli.main") == set()


def test_a_name_loads_only_what_it_needs() -> None:
    assert loaded("from celosia import Hierarchy, SpecError") == set()


UNUSED = (
    "scipy.linalg",
    "scipy.optimize",
    "numpy.f2py",
    "numpy.testing",
    "celosia.certificate.certificate",
    "celosia.attack.respondents.audit",
    "celosia.job.assessment",
    "celosia.job.spec",
    "celosia.protection.engine.heuristics.joint.search",
    "celosia.protection.engine.heuristics.moves.pattern",
    "celosia.protection.mixed.method",
    "celosia.protection.why",
)
PROTECTED = """
import io, contextlib
from celosia.cli.main import status
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    assert status(["protect", {path!r}, "--output", {output!r}]) == 0
"""


def test_protecting_a_bare_problem_loads_no_library_for_records_or_pages(tmp_path: Path) -> None:
    path = tmp_path / "problem.jj"
    celosia.write_jj(instance("t20x10"), path)
    code = PROTECTED.format(path=str(path), output=str(tmp_path / "release.csv"))
    used = {"numpy", "numba", "scipy.sparse"}
    assert loaded(code, *RECORDS_AND_PAGES, *UNUSED, *used) == used


def test_numpy_offers_all_its_parts_once_a_command_is_loaded() -> None:
    code = """
from celosia.cli.main import status
import numpy
names, listed = list(numpy.__all__), dir(numpy)
status(["protect", "none.jj"])
assert numpy.__all__ == names and set(listed) <= set(dir(numpy)) and numpy.f2py
"""
    assert loaded(code, "numpy.f2py") == {"numpy.f2py"}


def test_import_takes_less_than_a_tenth_of_a_second() -> None:
    empty = seconds(sys.executable, "-c", "pass")
    assert seconds(sys.executable, "-c", "import celosia") - empty < 0.1


def test_help_takes_less_than_half_a_second() -> None:
    assert seconds(COMMAND, "--help") < 0.5


def test_every_public_name_is_there_and_listed() -> None:
    assert "__version__" in dir(celosia)
    for name in celosia.__all__:
        assert getattr(celosia, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nix"):
        _ = celosia.nix  # type: ignore[attr-defined]


def test_no_module_has_the_name_of_something_public() -> None:
    """Importing a module makes it an attribute of its package, where the function of the same name ought to stand."""
    folder = Path(celosia.__file__).parent
    modules = {path.stem for path in folder.iterdir()}
    assert modules.isdisjoint(celosia.__all__)


@pytest.mark.parametrize("name", ["protect", "certify"])
def test_help_shows_the_function_and_no_modules(name: str) -> None:
    script = f"import celosia.protection.protect, celosia.certificate.verify, celosia\nhelp(celosia.{name})"
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert f"{name}(" in said
    assert "Parameters" in said
    assert "PACKAGE CONTENTS" not in said
