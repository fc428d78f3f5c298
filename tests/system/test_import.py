"""Importing the package and asking for help cost next to nothing."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import celosia
from celosia.certify.certificate import certify

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


def loaded(code: str) -> set[str]:
    """Return which heavy modules are loaded after some code ran."""
    script = f"{code}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(answer.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded("import celosia") == set()


def test_the_entry_point_loads_nothing_heavy() -> None:
    assert loaded("import celosia.cli.main") == set()


def test_a_name_loads_only_what_it_needs() -> None:
    assert loaded("from celosia import Hierarchy, SpecError") == set()


def test_protecting_a_bare_problem_loads_no_library_for_records_or_pages() -> None:
    code = "import celosia.cli.protect, celosia.protect.methods as methods\nmethods.engine_of(methods.Suppress)"
    assert loaded(code).isdisjoint({"scipy.linalg", "scipy.optimize", *RECORDS_AND_PAGES})


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


WAYS = (
    "import celosia.certify.verify\nassert celosia.certify.verify.verify",
    "import celosia.certify.verify as judge\nassert judge.verify",
    "from celosia.certify.certificate import certify as function\nassert inspect.isfunction(function)",
    "from celosia import certify\nassert callable(certify)",
    "assert callable(celosia.certify)",
)


@pytest.mark.parametrize("first", range(len(WAYS)))
def test_a_room_is_called_like_its_verb_whatever_was_imported_before(first: int) -> None:
    order = ["import inspect, celosia", *WAYS[first:], *WAYS[:first], WAYS[first]]
    subprocess.run([sys.executable, "-c", "\n".join(order)], check=True)


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("name", ["protect", "certify"])
def test_help_shows_the_function_and_no_modules(name: str, *, first: bool) -> None:
    lines = [f"import celosia.{name}.{ {'protect': 'methods', 'certify': 'verify'}[name] }"] if first else []
    script = "\n".join([*lines, "import celosia", f"help(celosia.{name})"])
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert f"{name}(" in said
    assert "Parameters" in said
    assert "PACKAGE CONTENTS" not in said


def test_a_room_that_is_called_is_as_good_as_the_function() -> None:
    assert inspect.signature(celosia.certify) == inspect.signature(certify)
    assert pickle.loads(pickle.dumps(celosia.certify)) == celosia.certify  # noqa: S301
    with pytest.raises(TypeError, match="audited"):
        celosia.certify()  # type: ignore[call-arg]
