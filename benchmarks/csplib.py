"""CSPLIB, the field's own tables: the first safe pattern, and cost and bound when time is up.

python -m benchmarks.csplib PROBLEM      one measurement, in a process of its own

The files lie beside the checkout, in ``../shared/data/csplib``. Seconds are those of the processor, also for the limit.
Every pattern is audited by `benchmarks.jj_judge`.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

import celosia as cz
from benchmarks import jj_judge
from benchmarks.csplib_targets import TARGETS, Target, Wanted
from benchmarks.instances import instance
from benchmarks.processor_clock import processor_seconds
from benchmarks.registry import Row, benchmark
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "csplib"
VARIANTS = {"": "costs = values", "unity": "unit costs", "half": "LPL = UPL / 2"}
_PROVED = 1e-9
_AUDIT = {"": 60.0, "unity": 20.0, "half": 20.0}
"""Seconds of the processor for the audit of a pattern."""

_RUN = "from celosia.cli.main import run; run()"
_SMOKE_TABLE, _SMOKE_SECONDS = "targus", 5.0


@dataclass(frozen=True, slots=True)
class Part:
    """What of the benchmark to run.

    Parameters
    ----------
    tables
        Some tables, none for all.
    limit
        Seconds instead of those of the targets.
    variants
        With the rows that have no target.
    """

    tables: tuple[str, ...] = ()
    limit: float | None = None
    variants: bool = True

    @property
    def kept(self) -> bool:
        """Whether what is measured may be kept: the limit is that of the targets."""
        return self.limit is None

    @property
    def complete(self) -> bool:
        """Whether all rows are measured."""
        return self.kept and self.variants and not self.tables


@dataclass(frozen=True, slots=True)
class Problem:
    """What to solve: a table, one of `VARIANTS`, the seed, and seconds of the processor."""

    name: str
    variant: str
    seed: int
    limit: float


@dataclass(frozen=True, slots=True)
class Found:
    """What came out.

    Parameters
    ----------
    cost, bound
        Of the pattern that was audited, and of any; the cost is None where there is none.
    hidden
        The cells that it hides.
    trace
        Seconds, cost of the best pattern so far or None, and bound.
    seconds
        Of the processor, for all of it.
    everything
        What hiding everything costs: a search that has nothing else has no pattern.
    why
        Why there is no pattern.
    """

    cost: float | None
    bound: float
    hidden: Sequence[int]
    trace: Sequence[tuple[float, float | None, float]]
    seconds: float
    everything: float = math.inf
    why: str = ""

    @property
    def gap(self) -> float:
        """How much of the cost is not proved to be needed."""
        return 1.0 if self.cost is None else (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0

    def after(self, seconds: float) -> tuple[float | None, float]:
        """Return the best cost and bound that were known after some time."""
        known = [(cost, bound) for moment, cost, bound in self.trace if moment <= seconds]
        costs = [cost for cost, _ in known if cost is not None and cost < self.everything]
        return min(costs, default=None), max((bound for _, bound in known), default=0.0)

    @property
    def first(self) -> tuple[float, float] | None:
        """Seconds and cost of the first pattern that does not hide everything."""
        return next(
            ((moment, cost) for moment, cost, _ in self.trace if cost is not None and cost < self.everything), None
        )


@benchmark("csplib")
def csplib(*, smoke: bool, part: Part | None = None) -> list[Row]:
    """Measure first patterns, costs and bounds; without the files there are no rows."""
    part = part or Part()
    if smoke:
        part = Part((_SMOKE_TABLE,), _SMOKE_SECONDS)
    if not FOLDER.is_dir():
        print(f"skipped: the tables of CSPLIB are not beside the checkout ({FOLDER.name} in ../shared/data)")
        return []
    names = part.tables or tuple(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        message = f"no such table of CSPLIB: {', '.join(unknown)}"
        raise SystemExit(message)
    rows: list[Row] = []
    for name in names:
        for row in _rows(name, TARGETS[name], part):
            print(f"  {row.what}: {row.measured}", flush=True)
            rows.append(row)
    return rows


def _rows(name: str, target: Target, part: Part) -> Iterable[Row]:
    """Yield the rows of a table; those without a target come last."""
    path = FOLDER / f"{name}.jj.gz"
    problem, seconds = jj_judge.read(path), part.limit or target.limit
    for seed in target.seeds:
        found = _apart(Problem(name, "", seed, seconds))
        verdict = _judge(problem, found, "", seconds)
        yield from _first_rows(name, seed, target, found, safe=_safe(verdict))
        for wanted in (target.last, target.aim):
            if wanted is not None:
                row = _last_row(f"{name}, seed {seed}", wanted, problem, found, verdict, aim=wanted is target.aim)
                yield replace(row, measured=row.measured + target.impossible(wanted))
    if target.process is not None:
        yield _process_row(path, target.process)
    for variant in ("unity", "half") if part.variants else ():
        found = _apart(Problem(name, variant, 0, seconds))
        said = _said(problem, found, _judge(problem, found, variant, seconds), unity=variant == "unity")
        yield Row(f"{name}, {VARIANTS[variant]}, {seconds:g} s", "", said)


def _judge(problem: jj_judge.Problem, found: Found, variant: str, seconds: float) -> jj_judge.Verdict | None:
    if found.cost is None:
        return None
    budget = min(_AUDIT[variant], seconds)
    return jj_judge.judge(problem, found.hidden, half=variant == "half", seconds=budget)


def _safe(verdict: jj_judge.Verdict | None) -> bool:
    return verdict is not None and verdict.safe


def _first_rows(name: str, seed: int, target: Target, found: Found, *, safe: bool) -> Iterable[Row]:
    """Yield when the first pattern was known, beside target and aim."""
    said = "none" if found.first is None else f"{found.first[0]:.2f} s, cost {found.first[1]:,.0f}"
    for wanted, aim in ((target.first, ""), (target.first_aim, "aim: ")):
        if wanted is None:
            continue
        cost, _ = found.after(wanted.seconds)
        cheap = "" if wanted.cost is None else f", at most {wanted.cost:,.0f}"
        met = safe and cost is not None and (wanted.cost is None or cost <= wanted.cost)
        then = "" if cost is None else f"; {cost:,.0f} after {wanted.seconds:g} s"
        yield Row(f"{name}, seed {seed}, first safe pattern", f"{aim}{wanted.seconds:g} s{cheap}", said + then, met)


def _last_row(
    what: str, wanted: Wanted, problem: jj_judge.Problem, found: Found, verdict: jj_judge.Verdict | None, *, aim: bool
) -> Row:
    """Return cost and bound beside a target; of an earlier moment those of the trace."""
    cost, bound = found.cost, found.bound
    earlier = found.trace and wanted.seconds < 0.9 * found.seconds
    if earlier:
        cost, bound = found.after(wanted.seconds)
    met = _safe(verdict) and cost is not None and len(found.hidden) < _hideable(problem)
    if met and cost is not None:
        met &= wanted.cost is None or cost <= wanted.cost
        met &= wanted.gap is None or cost - bound <= max(wanted.gap, _PROVED) * cost
        met &= wanted.share is None or cost <= wanted.share * float(problem.cost.sum())
    if not aim:
        return Row(what, str(wanted), _said(problem, found, verdict), met)
    said = "none" if cost is None else f"cost {cost:,.0f}, gap {max(0.0, 1 - bound / cost):.1%}"
    return Row(what, f"aim: {wanted}", said, met)


def _said(problem: jj_judge.Problem, found: Found, verdict: jj_judge.Verdict | None, *, unity: bool = False) -> str:
    if found.cost is None:
        return f"none in {found.seconds:.0f} s: {found.why}"
    everything, bound = len(found.hidden) >= _hideable(problem), math.floor(found.bound * (1 + _PROVED))
    first = "" if found.first is None else f", first after {found.first[0]:.2f} s"
    share = found.cost / (len(problem) if unity else float(problem.cost.sum()))
    gap = "proved" if found.gap <= _PROVED else f"gap {found.gap:.1%}"
    return (
        f"{'EVERYTHING HIDDEN, ' if everything else ''}cost {found.cost:,.0f}, bound {bound:,}, {gap}, "
        f"{len(found.hidden):,} of {len(problem):,} hidden, {share:.1%} of all costs, "
        f"{found.seconds:.1f} s{first}; {verdict}"
    )


def _hideable(problem: jj_judge.Problem) -> int:
    return int((problem.status != "z").sum())


def _process_row(path: Path, seconds: float) -> Row:
    """Return what the command takes in all, the start of Python included; the second run has all compiled."""
    with tempfile.TemporaryDirectory() as name:
        plain = Path(name) / path.stem
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        command = [sys.executable, "-c", _RUN, "protect", str(plain), "--output", str(Path(name) / "out.csv")]
        usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        took = []
        for _ in range(2):
            before = os.times()
            done = subprocess.run(command, check=False, capture_output=True, env=usual)
            after = os.times()
            took.append(after.children_user + after.children_system - before.children_user - before.children_system)
    said = f"{min(took):.2f} s" + ("" if not done.returncode else f", exit code {done.returncode}")
    met = not done.returncode and min(took) <= seconds
    return Row(f"{plain.stem}, the whole process", f"{seconds:g} s", said, met)


def _apart(problem: Problem) -> Found:
    """Return what a process of its own measures, with one thread."""
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.csplib", json.dumps(asdict(problem))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone)
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def _read(problem: Problem) -> Risk:
    """Return the problem of a file, with the levels and costs of a variant."""
    with tempfile.TemporaryDirectory() as name:
        plain = Path(name) / f"{problem.name}.jj"
        plain.write_bytes(gzip.decompress((FOLDER / f"{problem.name}.jj.gz").read_bytes()))
        risk = cz.read_jj(plain)
    if problem.variant == "unity":
        return replace(risk, cost=np.ones(len(risk)))
    if problem.variant == "half":
        upper = risk.levels.upper
        return replace(risk, levels=replace(risk.levels, lower=Fixed(5 * upper.counts, upper.decimals + 1)))
    return risk


def _measured(problem: Problem) -> Found:
    for name in ("t20x10", "d3a"):  # compiled code is loaded before the clock starts
        with contextlib.suppress(cz.OutOfTimeError):
            cz.protect(instance(name), time_limit=5.0, gap=0.1)
    risk = _read(problem)
    with processor_seconds():
        try:
            found = cz.protect(risk, cz.Suppress(), time_limit=problem.limit, seed=problem.seed)
        except cz.CelosiaError as error:
            return Found(None, 0.0, (), (), problem.limit, why=" ".join(str(error).split()))
    trace = [(moment, cost, bound) for moment, cost, bound, _ in found.trace]
    hidden = np.flatnonzero(found.pattern.status != "shown").tolist()
    return Found(found.cost, found.bound, hidden, trace, found.seconds, found.cost_of_hiding_everything or math.inf)


if __name__ == "__main__":
    print(json.dumps(asdict(_measured(Problem(**json.loads(sys.argv[1]))))))
