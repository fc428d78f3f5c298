"""Combined suppression: cost per range and per unit of width, on the tables of the thesis' size.

python -m benchmarks.combined PROBLEM      one measurement, in a process of its own
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass

import celosia as cz
from benchmarks.instances import instance
from benchmarks.measure import timed
from benchmarks.registry import Row, benchmark

_PROVED = 1e-4
"""What rounding ends to decimals may add to the optimum."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What to solve: the instance, what a range costs (a unit of width costs 1), the gap, and the seconds allowed."""

    name: str
    cell_cost: str
    gap: float
    limit: float


@dataclass(frozen=True, slots=True)
class Found:
    """What came out: cost and gap, whether an audit calls it safe, ranges, CPU seconds, megabytes."""

    cost: float
    gap: float
    safe: bool
    ranges: int
    seconds: float
    peak: float


@benchmark("combined")
def combined(*, smoke: bool) -> list[Row]:
    """Measure optima and gaps of combined suppression."""
    if smoke:
        return [_row(Problem("t20x10", "value", _PROVED, 60.0), "60 s", 60.0)]
    return [
        _row(Problem("h1", "value", _PROVED, 120.0), "optimal in 25 s (thesis: 190 s)", 25.0),
        _row(Problem("h3", "value", 0.001, 120.0), "aim: 2 % in 120 s (thesis: not solved)", 120.0, 0.02),
        _row(Problem("h1", "unity", 0.001, 60.0), "aim: 0.1 % in 60 s", 60.0, 0.001),
    ]


def _row(problem: Problem, target: str, seconds: float, gap: float = _PROVED) -> Row:
    command = [sys.executable, "-m", "benchmarks.combined", json.dumps(asdict(problem))]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone)
    found = Found(**json.loads(done.stdout.splitlines()[-1]))
    said = f"{found.gap:.3%} in {found.seconds:.1f} s; cost {found.cost:,.10g}; {found.ranges} ranges"
    return Row(
        f"combined suppression of {problem.name}, width at 1 a unit, ranges at their {problem.cell_cost}",
        target,
        f"{said}; {found.peak:.0f} MB" if found.safe else f"NOT SAFE; {said}",
        found.safe and found.seconds <= seconds and found.gap <= gap,
    )


def _measured(problem: Problem) -> Found:
    warnings.simplefilter("ignore", cz.MidpointWarning)
    method = cz.Combined("unity", cell_cost=problem.cell_cost, secret=1)
    cz.protect(instance("t20x10", sliding=True), method, gap=0.05)  # compiled code is loaded
    risk, results = instance(problem.name, sliding=True), list[cz.Protection]()
    spent = timed(lambda: results.append(cz.protect(risk, method, time_limit=problem.limit, gap=problem.gap / 2)))
    result = results[0]
    safe = cz.audit(result.pattern, risk).safe
    return Found(result.cost, result.gap, safe, int((result.pattern.status == "interval").sum()), spent.cpu, spent.peak)


if __name__ == "__main__":
    print(json.dumps(asdict(_measured(Problem(**json.loads(sys.argv[1]))))))
