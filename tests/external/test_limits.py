"""A limit is a limit on tables that other people made, and that cannot be finished in time."""

from __future__ import annotations

import contextlib
import gzip
import os
import time
from pathlib import Path

import polars as pl
import pytest
from tests.oracles.bare_tables import seeded
from tests.oracles.presses import press_after
from tests.oracles.stopwatch import Stopwatch

from celosia import (
    Adjust,
    Combined,
    Dominance,
    Hierarchy,
    InfeasibleError,
    Intervals,
    MinFrequency,
    Mixed,
    OutOfTimeError,
    Perturb,
    PPercent,
    Risk,
    Round,
    SolverError,
    SpecError,
    Suppress,
    assess,
    cells,
    protect,
    read_jj,
    tabulate,
)
from celosia.protection.method import Method

DATA = Path(__file__).parents[3] / "shared" / "data"
TABLES = ("hier13", "hier16", "jjtabeltest3", "nine12", "ninenew", "table3", "two5in6")
METHODS = (
    Suppress(),
    Intervals(conceal=False),
    Combined(conceal=False),
    Mixed(conceal=False),
    Round(base=1000),
    Perturb(reach=10_000, conceal=False),
    Adjust(),
)
QUICK = {("hier13", "interval"), ("table3", "combined"), ("hier13", "round"), *((name, "suppress") for name in TABLES)}
"""Of all pairs of a table and a method these are tried every time: each takes its limit."""

CASES = [
    pytest.param(name, how, id=f"{name}-{how.name}", marks=[] if (name, how.name) in QUICK else [pytest.mark.slow])
    for name in TABLES
    for how in METHODS
]
FIELDS = {"IndustryCode": (3, 8), "Size": (8, 10), "Region": (11, 13), "Var2": (27, 37)}
"""Where `Tau_TestW.rda` says that the fields stand, counted from 0."""

LIMIT = 5.0

pytestmark = [
    pytest.mark.external,
    pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning"),
    pytest.mark.skipif(not DATA.is_dir(), reason=f"public data are not beside the checkout: {DATA}"),
]


def ends_in_time(risk: Risk, method: Method, limit: float) -> None:
    watch = Stopwatch()
    with contextlib.suppress(OutOfTimeError, InfeasibleError, SolverError):
        assert protect(risk, method, time_limit=limit, progress=watch).safe
    assert watch.seconds < 1.1 * limit + 2.0


@pytest.mark.parametrize(("name", "method"), CASES)
def test_tables_of_csplib(tmp_path: Path, name: str, method: Method) -> None:
    path = tmp_path / f"{name}.jj"
    path.write_bytes(gzip.decompress((DATA / "csplib" / f"{name}.jj.gz").read_bytes()))
    with contextlib.suppress(SpecError):
        ends_in_time(read_jj(path), method, LIMIT)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the way of Unix")
@pytest.mark.parametrize("number", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 12))])
@pytest.mark.parametrize("name", ["hier13", "hier16"])
def test_whenever_ctrl_c_comes_joint_moves_leave_what_is_safe(tmp_path: Path, name: str, number: int) -> None:
    path = tmp_path / f"{name}.jj"
    path.write_bytes(gzip.decompress((DATA / "csplib" / f"{name}.jj.gz").read_bytes()))
    risk, found = read_jj(path), None
    moment = seeded(f"{name} {number}").uniform(0.0, 8.0)
    with press_after(moment) as pressed, contextlib.suppress(OutOfTimeError, KeyboardInterrupt):
        found = protect(risk, time_limit=60)
    assert time.process_time() - pressed[0] < 5.0
    if found is not None:
        assert found.safe
        assert found.bound <= found.cost


@pytest.mark.parametrize(
    "method", [pytest.param(how, id=how.name, marks=[pytest.mark.slow][: how.name != "suppress"]) for how in METHODS]
)
def test_the_table_of_insee(method: Method) -> None:
    """Turnover by activity and size, ready-made, with cents and values of 1e9."""
    folder = DATA / "rtauargus"
    activities = pl.read_csv(folder / "activity_corr_table.csv", infer_schema=False)
    table = cells(
        str(folder / "turnover_act_size.csv"),
        by=["ACTIVITY", "SIZE"],
        value="TOT",
        count="N_OBS",
        largest=["MAX"],
        hierarchies={"ACTIVITY": Hierarchy.from_paths(list(activities.iter_rows()))},
    )
    ends_in_time(assess(table, Dominance(1, 85), MinFrequency(3)), method, LIMIT)


@pytest.mark.parametrize("by", [["IndustryCode", "Region"], ["IndustryCode", "Region", "Size"]], ids=len)
def test_the_table_of_tau_argus(by: list[str]) -> None:
    lines = (DATA / "tau-argus" / "tau_testW.asc").read_text(encoding="latin-1").splitlines()
    columns = {name: [line[start:end].strip() for line in lines] for name, (start, end) in FIELDS.items()}
    table = tabulate(pl.DataFrame(columns), by=by, value="Var2")
    ends_in_time(assess(table, PPercent(10), MinFrequency(3)), Suppress(), 4 * LIMIT)
