"""Controlled rounding: how fast tables of counts are rounded, and how near to the nearest rounding.

python -m benchmarks.rounding PROBLEM      one measurement, in a process of its own
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

import celosia as cz
from benchmarks.instances import counts
from benchmarks.measure import timed
from benchmarks.registry import Row, benchmark
from celosia.risk.risk import Risk

_BASES = (3, 5, 10)
_SMALL = ("t50x20", "h1", "h3", "hh1", "hh2")
_LARGE = {"big2": 15, "d3h": 25, "d3b": 30}
_SECONDS, _GAP = 0.2, 0.01


@dataclass(frozen=True, slots=True)
class Problem:
    """What to round.

    Parameters
    ----------
    name, base
        The instance, and to multiples of what.
    levels
        Counts of 1 and 2 are sensitive: one below, and two above.
    limit
        Seconds.
    repeats
        The median of so many runs counts.
    """

    name: str
    base: int
    levels: bool = False
    limit: float = 600.0
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class Rounding:
    """What came out.

    Parameters
    ----------
    cost, bound
        The distance from the truth, and what any rounding has at least.
    extra
        How many extra multiples were needed.
    right
        Everything adds up, lies less than the reach from the truth, and an audit says that it is safe.
    seconds
        CPU time.
    """

    cost: float
    bound: float
    extra: int
    right: bool
    seconds: float

    @property
    def gap(self) -> float:
        """How much of the distance is not proved to be needed."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0


@benchmark("rounding")
def rounding(*, smoke: bool) -> list[Row]:
    """Measure roundings of counts with and without protection levels."""
    if smoke:
        return [_small("t20x10", (5,))]
    rows = [_small(name, _BASES) for name in _SMALL]
    rows += [_large(name, seconds, base) for name, seconds in _LARGE.items() for base in _BASES[1:2]]
    return [*rows, *(_with_levels(name, 5) for name in ("t50x20", "h1"))]


def _small(name: str, bases: tuple[int, ...]) -> Row:
    runs = [_rounded(Problem(name, base, repeats=5)) for base in bases]
    worst = max(run.seconds for run in runs)
    right = all(run.right and run.gap <= _GAP for run in runs)
    said = ", ".join(f"{run.seconds:.2f} s" for run in runs)
    gaps = f"gaps at most {100 * max(run.gap for run in runs):.2f} %"
    words = " and ".join(map(str, bases))
    return Row(
        f"counts of {name} to multiples of {words}, to 1 %",
        f"{_SECONDS} s",
        f"{said}; {gaps}{'' if right else '; NOT RIGHT'}",
        right and worst <= _SECONDS,
    )


def _large(name: str, seconds: int, base: int) -> Row:
    run = _run(Problem(name, base))
    what = f"counts of {name} to multiples of {base}, to 1 %"
    return Row(what, f"{seconds} s", _said(run), run.right and run.gap <= _GAP and run.seconds <= seconds)


def _with_levels(name: str, base: int) -> Row:
    run = _run(Problem(name, base, levels=True, limit=60.0))
    return Row(f"counts of {name} to multiples of {base}, counts of 1 and 2 sensitive, to 1 %", "", _said(run))


def _said(run: Rounding) -> str:
    wrong = "" if run.right else "NOT RIGHT, "
    more = f", {run.extra} extra" if run.extra else ""
    return f"{wrong}{run.seconds:.1f} s, gap {100 * run.gap:.2f} % ({run.bound:,.0f} .. {run.cost:,.0f}){more}"


@cache
def _run(problem: Problem) -> Rounding:
    """Return what a process of its own measures."""
    command = [sys.executable, "-m", "benchmarks.rounding", json.dumps(asdict(problem))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Rounding(**json.loads(done.stdout.splitlines()[-1]))


def _rounded(problem: Problem) -> Rounding:
    def step(risk: Risk) -> cz.Protection:
        return cz.protect(risk, cz.Round(problem.base), gap=_GAP, time_limit=problem.limit)

    for name in ("t20x10", "hh1"):  # compiled code is loaded before the clock starts
        step(counts(name, levels=problem.levels))
    risk, results = counts(problem.name, levels=problem.levels), list[cz.Protection]()
    seconds = [timed(lambda: results.append(step(risk))).cpu for _ in range(problem.repeats)]
    result = results[-1]
    extra = (result.method.extra if isinstance(result.method, cz.Round) else None) or 0
    published, truth = result.pattern.published().counts, risk.table.amounts.counts
    right = not bool(risk.table.relations.residuals(published).any())
    right &= bool((np.abs(published - truth) < (extra + 1) * problem.base).all())
    right &= cz.audit(result.pattern, risk).safe
    return Rounding(result.cost, result.bound, extra, right, statistics.median(seconds))


if __name__ == "__main__":
    print(json.dumps(asdict(_rounded(Problem(**json.loads(sys.argv[1]))))))
