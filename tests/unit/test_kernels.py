"""Kernels: typed by their annotations, compiled once per installation and before any clock starts, and said to be."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from benchmarks.instances import drawn, instance
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config, event
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

import celosia as cz
from celosia import CelosiaError, Risk, kernels
from celosia.arrays import argsort, longer, take
from celosia.attack.subproblems.dispatch import PROGRAM_KERNELS, list_unused_kernels
from celosia.attack.system.decomposition import is_network
from celosia.kernels import COMPILING, compile_kernels, inner, kernel
from celosia.progress import Silent
from celosia.protection.protect import MOVE_KERNELS, load_engines
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations

PACKAGE = Path(kernels.__file__).parent
PROJECT = Path(__file__).parents[2]
METHODS = [
    cz.Suppress(),
    cz.Intervals(secret=1),
    cz.Intervals(secret=1, search="splitting"),
    cz.Combined(secret=1),
    cz.Mixed(secret=1),
    cz.Round(1000),
    cz.Perturb(1000, secret=1),
    cz.Adjust(),
    cz.RandomRound(1000),
]


class Compilations(event.Listener):  # type: ignore[misc]
    """Remembers which functions of ours were compiled."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:  # noqa: ANN401
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("celosia"):
            self.names.append(f"{function.__module__}.{function.__name__}{event.data['args']}")

    def on_end(self, event: Any) -> None:  # noqa: ANN401
        pass


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """See that nothing is compiled inside."""
    listener = Compilations()
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
    assert listener.names == []


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    load_engines()
    compile_kernels()


def by_two(risk: Risk) -> Risk:
    """Return a risk with a second attacker, who knows some cells."""
    known = (np.arange(len(risk)) % 5 == 0) & ~risk.sensitive
    counts, outsider = risk.table.amounts.counts, risk.attackers[0]
    ends = (Fixed(np.where(known, counts, end.counts)) for end in (outsider.lower, outsider.upper))
    return replace(risk, attackers=(outsider, cz.Attacker("neighbour", *ends)))


def in_long_numbers(risk: Risk) -> Risk:
    """Return a risk whose relations came in 64 bits, and whose arrays do not lie in one piece."""
    matrix = risk.table.relations.matrix
    parts = matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    relations = Relations(sp.csr_array(parts, shape=matrix.shape), risk.table.relations.right)
    scattered = np.repeat(risk.cost, 2)[::2]
    return replace(risk, table=replace(risk.table, relations=relations), cost=scattered)


def linked() -> Risk:
    """Return two linked tables with contributors, who attack each other."""
    rng = np.random.default_rng(3)
    columns = {name: rng.choice(list(codes), 60) for name, codes in {"a": "pqr", "b": "NSE", "c": "xy"}.items()}
    records = pd.DataFrame(columns | {"firm": np.arange(60).astype(str), "value": rng.integers(1, 1000, 60)})
    tables = [cz.tabulate(records, by=["a", other], value="value", respondent="firm") for other in "bc"]
    return cz.assess(cz.link(tables), cz.PPercent(20))


CASES: dict[str, Callable[[], Risk]] = {
    "a network": lambda: instance("t20x10"),
    "three dimensions, two attackers": lambda: by_two(drawn(((3,), (3,), (2,)), 1)),
    "a hierarchy": lambda: drawn(((2, 2), (2, 3)), 2),
    "long numbers": lambda: in_long_numbers(instance("t20x10", unity=True)),
    "linked tables with contributors": linked,
}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_nothing_is_compiled_on_the_clock(case: str, method: Any) -> None:  # noqa: ANN401
    risk = CASES[case]()
    with nothing_compiled(), contextlib.suppress(CelosiaError):
        found = cz.protect(risk, method, time_limit=0.3)
        cz.audit(cz.publish(found), risk)


class Steps(Silent):
    """Remembers which steps it heard of."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, int | None]] = []

    def start(self, step: str, total: int | None = None) -> None:
        self.heard.append((step, total))


def _doubled(numbers: NDArray[np.int64], by: int) -> NDArray[np.int64]:
    return longer(numbers, len(numbers) * by)


def test_compiling_is_said_once_and_before_the_clock_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_doubled, "__module__", "celosia.attack.doubled")
    kernel()(_doubled)
    steps = Steps()
    cz.protect(instance("t20x10"), progress=steps)
    assert steps.heard[:2] == [(COMPILING, 1), ("protecting", None)]
    kernel()(_doubled)  # as another process would
    again = Steps()
    assert compile_kernels(again) == 0
    assert again.heard == []


def test_an_inner_function_that_has_changed_makes_what_was_compiled_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    kernel()(_doubled)
    assert compile_kernels() == 1

    @inner()
    def other(numbers: NDArray[Any], n: int) -> NDArray[Any]:
        return np.zeros(n, dtype=numbers.dtype)

    monkeypatch.setitem(globals(), "longer", other)
    changed = kernel()(_doubled)
    assert compile_kernels() == 1
    assert changed(np.ones(2, dtype=np.int64), 2).tolist() == [0, 0, 0, 0]


@kernel()
def _sorted(keys: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    return take(numbers, argsort(keys))


@given(st.lists(st.sampled_from([-np.inf, -1.5, 0.0, 1.0, 2.0, np.inf]), max_size=40))
def test_keys_are_ordered_as_numpy_does_it(keys: list[float]) -> None:
    numbers = np.arange(len(keys)) * 7
    expected = numbers[np.argsort(np.array(keys, dtype=np.float64), kind="stable")]
    assert _sorted(np.array(keys, dtype=np.float64), numbers).tolist() == expected.tolist()


def test_what_numba_infers_from_arguments_is_what_annotations_say() -> None:
    """One version is enough: calling with what is annotated compiles nothing."""
    assert _sorted(np.zeros(1), np.zeros(1, dtype=np.int64)).tolist() == [0]
    assert len(_sorted.signatures) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("case", "compiled"),
    [("a bare problem", False), ("a small table", False), ("a large table", True)],
)
def test_moves_are_compiled_for_large_product_tables_only(
    case: str, *, compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {
        "a bare problem": instance("d3a"),
        "a small table": in_three_dimensions(60),
        "a large table": in_three_dimensions(2000),
    }
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_doubled, "__module__", f"{MOVE_KERNELS}.doubled")
    kernel()(_doubled)
    steps = Steps()
    with contextlib.suppress(CelosiaError):
        cz.protect(cases[case], progress=steps, time_limit=0.3)
    assert (steps.heard[0] == (COMPILING, 1)) == compiled
    assert compile_kernels() == (0 if compiled else 1)


def in_three_dimensions(n: int) -> Risk:
    """Return a table in three dimensions, of few or many codes."""
    rng, many = np.random.default_rng(3), 4 if n < 100 else 9
    columns = {name: rng.integers(0, many, n).astype(str) for name in "abc"}
    records = pd.DataFrame(columns | {"firm": np.arange(n).astype(str), "value": rng.integers(1, 1000, n)})
    return cz.assess(cz.tabulate(records, by=["a", "b", "c"], value="value", respondent="firm"), cz.PPercent(20))


def test_moves_have_compiled_functions() -> None:
    assert any(one.py_func.__module__.startswith(MOVE_KERNELS) for one in _dispatchers())


def test_kernels_call_inner_functions_only() -> None:
    """What is kept of a kernel runs; nobody can link to it."""
    ours = {one.py_func for one in _dispatchers() if not one.targetoptions.get("no_cpython_wrapper")}
    for function in ours:
        used = (getattr(function.__globals__.get(name), "py_func", None) for name in function.__code__.co_names)
        assert ours.isdisjoint(used), function


def _dispatchers() -> Iterator[Any]:
    """Yield the compiled functions of all modules that are loaded."""
    for name, module in sys.modules.items():
        if name.startswith("celosia."):
            yield from (one for one in vars(module).values() if isinstance(one, Dispatcher))


UNUSED = """
import sys
import celosia as cz
from benchmarks import fingerprints
from benchmarks.instances import instance
from celosia.attack.subproblems.dispatch import PROGRAM_KERNELS, RESPONDENT_KERNELS
from celosia.protection.protect import load_engines
from numba.core.dispatcher import Dispatcher

load_engines()
for risk, spare in (
    (instance("t20x10"), (*PROGRAM_KERNELS, RESPONDENT_KERNELS)),
    (fingerprints.firms_of_groups(), PROGRAM_KERNELS),
):
    for method in (cz.Suppress(), cz.Intervals(secret=1), cz.Combined(secret=1), cz.Mixed(secret=1), cz.Round(1000)):
        try:
            cz.audit(cz.publish(cz.protect(risk, method, time_limit=3)), risk)
        except cz.CelosiaError:
            pass
    modules = [module for name, module in sys.modules.items() if name.startswith(spare)]
    everything = [one for module in modules for one in vars(module).values() if isinstance(one, Dispatcher)]
    functions = [one for one in everything if one.py_func.__module__.startswith(spare)]
    print(len(functions), [one.py_func.__name__ for one in functions if one.overloads])
"""


def test_networks_need_none_of_the_kernels_that_are_not_compiled_for_them() -> None:
    """Nor do attackers who are no respondents: a bare problem comes first, and records after it."""
    command = [sys.executable, "-W", "ignore", "-c", UNUSED]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT)
    said = done.stdout.splitlines()
    assert len(said) == 2
    for line in said:
        many, called = line.split(maxsplit=1)
        assert int(many) > 0
        assert called == "[]"


@pytest.mark.parametrize(
    ("case", "spared"),
    [("a network", True), ("three dimensions, two attackers", False), ("linked tables with contributors", False)],
)
def test_what_only_programs_need_is_not_compiled_for_networks(case: str, *, spared: bool) -> None:
    table = CASES[case]().table
    unused = list_unused_kernels(table, np.zeros(len(table), dtype=bool), respondents=True, progress=Steps())
    assert set(PROGRAM_KERNELS).issubset(unused) == spared
    some = np.arange(len(table)) % 2 == 0  # then coefficients are powers of ten
    assert set(PROGRAM_KERNELS).isdisjoint(list_unused_kernels(table, some, respondents=True, progress=Steps()))


def test_relations_that_turn_in_an_odd_circle_are_no_network() -> None:
    """Every cell stands in two relations, but no turning of these gives it opposite signs."""
    circle = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    assert not is_network(Relations(sp.csr_array(np.hstack([circle, circle])), np.zeros(3, dtype=np.int64)).matrix)
    signed = np.array([[1, -1, 0], [0, 1, -1], [-1, 0, 1]])
    assert is_network(Relations(sp.csr_array(np.hstack([signed, signed])), np.zeros(3, dtype=np.int64)).matrix)


LATE = """
import importlib, sys
import numpy as np, pandas as pd
import celosia as cz
from benchmarks.instances import instance
from numba.core.dispatcher import Dispatcher

verb = importlib.import_module("celosia.protection.protect")
compile_kernels, before = verb.compile_kernels, set()

def note(*given, **how):
    before.update(sys.modules)
    return compile_kernels(*given, **how)

verb.compile_kernels = note
rng = np.random.default_rng(3)
records = pd.DataFrame({name: rng.integers(0, 9, 2000).astype(str) for name in "abc"})
records = records.assign(firm=np.arange(2000).astype(str), value=rng.integers(1, 1000, 2000))
product = cz.tabulate(records, by=["a", "b", "c"], value="value", respondent="firm")
outsider = [cz.Attacker.external(product)]
runs = [(instance("t20x10"), cz.Suppress()), (cz.read_jj(sys.argv[1]), cz.Suppress())]
runs += [(cz.assess(product, cz.PPercent(20), attackers=outsider), cz.Suppress())]
runs += [(cz.assess(product, cz.PPercent(20)), cz.Mixed(secret=1))]
for risk, method in runs:
    try:
        cz.protect(risk, method, time_limit=0.3)
    except cz.CelosiaError:
        pass
    late = [name for name in sys.modules if name.startswith("celosia.") and name not in before]
    found = [name for name in late if any(isinstance(one, Dispatcher) for one in vars(sys.modules[name]).values())]
    print(*found)
"""


def test_what_has_kernels_is_loaded_before_the_clock_starts(tmp_path: Path) -> None:
    """In a process that has loaded nothing: later it would be compiled on the clock."""
    cz.write_jj(instance("d3a"), tmp_path / "d3a.jj")
    command = [sys.executable, "-W", "ignore", "-c", LATE, str(tmp_path / "d3a.jj")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT)
    assert len(done.stdout.splitlines()) == 4
    assert done.stdout.split() == []


WITHOUT_NUMBAS_MODULES = """
import sys
import celosia as cz
from benchmarks.instances import instance
print(cz.protect(instance("t20x10")).safe, "numba.np.arrayobj" in sys.modules)
"""


def test_what_was_compiled_is_run_without_the_modules_that_compile() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBAS_MODULES], check=True, capture_output=True, text=True, cwd=PROJECT
    )
    assert done.stdout.split() == ["True", "False"]


READ_ONLY = """
import sys
from numba.core import config
from celosia.kernels import compile_kernels
from celosia.source.tabulation.amounts import _to_grid
print(compile_kernels(), _to_grid._cache.cache_path)
"""


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of Unix")
def test_a_package_that_cannot_be_written_to_keeps_it_in_the_users_cache(tmp_path: Path) -> None:
    package = tmp_path / "site" / "celosia"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (folder / "__pycache__").write_text("a file where numba would make a folder")
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    environment.pop("NUMBA_CACHE_DIR", None)
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY], env=environment, cwd=tmp_path, check=True, capture_output=True, text=True
        )
        said.append(done.stdout.split())
    assert int(said[0][0]) > 0
    assert int(said[1][0]) == 0
    assert Path(said[1][1]).is_relative_to(tmp_path)
    assert not Path(said[1][1]).is_relative_to(package)


def test_what_was_compiled_with_types_that_are_gone_is_compiled_anew(tmp_path: Path) -> None:
    """Whoever updates the package has such files; they ended every command in an AttributeError."""

    class Gone:
        """A type of an older version."""

    Gone.__qualname__ = "Gone"
    sys.modules[__name__].__dict__["Gone"] = Gone
    kept = kernels._ShelfFile(str(tmp_path), "kernel", "stamp")
    kept._save_index({Gone(): "kernel.1.nbc"})
    assert len(kept._load_index()) == 1
    del sys.modules[__name__].__dict__["Gone"]
    assert kept._load_index() == {}
