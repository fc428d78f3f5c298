"""Combined suppression: cost per range and per unit of width, on the tables of the thesis' size.

python -m benchmarks.combined PROBLEM [plain]      one measurement, in a process of its own
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass, replace

import numpy as np

import celosia as cz
from benchmarks.instances import instance
from benchmarks.measure import timed
from benchmarks.plain_combined import plain_combined
from benchmarks.registry import Row, benchmark

_PROVED = 1e-4
"""What rounding ends to decimals may add to the optimum."""

_PATIENCE = 300.0
"""CPU seconds that the thesis' algorithm is given."""


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
        return [_row(Problem("t20x10", "value", _PROVED, 60.0), "60 s", 60.0), _plain("t20x10", 10.0)]
    return [
        _plain("t20x10", _PATIENCE),
        _plain("h1", _PATIENCE),
        _row(Problem("h1", "value", _PROVED, 120.0), "optimal in 25 s (thesis: 190 s)", 25.0),
        _row(Problem("h3", "value", 0.001, 120.0), "aim: 2 % in 120 s (thesis: not solved)", 120.0, 0.02),
        _row(Problem("h1", "unity", 0.001, 60.0), "aim: 0.1 % in 60 s", 60.0, 0.001),
    ]


def _plain(name: str, limit: float) -> Row:
    """Measure the thesis' Algorithm 4.3 against ours."""
    ours, peer = _apart(Problem(name, "value", _PROVED, 120.0)), _apart(Problem(name, "value", _PROVED, limit), "plain")
    same = peer.cost == math.inf or abs(peer.cost - ours.cost) <= 2 * _PROVED * ours.cost
    more = "more than " if peer.cost == math.inf else ""
    said = f"{more}{peer.seconds / ours.seconds:,.1f} times ({more}{peer.seconds:.1f} against {ours.seconds:.2f} s"
    return Row(
        f"the thesis' Algorithm 4.3 on HiGHS against ours, {name}, width at 1 a unit, ranges at their value",
        "no less time",
        f"{said}{'' if same else '; costs DIFFER'})",
        same and peer.seconds >= ours.seconds,
    )


def _row(problem: Problem, target: str, seconds: float, gap: float = _PROVED) -> Row:
    found = _apart(problem)
    said = f"{found.gap:.3%} in {found.seconds:.1f} s; cost {found.cost:,.10g}; {found.ranges} ranges"
    return Row(
        f"combined suppression of {problem.name}, width at 1 a unit, ranges at their {problem.cell_cost}",
        target,
        f"{said}; {found.peak:.0f} MB" if found.safe else f"NOT SAFE; {said}",
        found.safe and found.seconds <= seconds and found.gap <= gap,
    )


def _apart(problem: Problem, way: str = "ours") -> Found:
    """Return what a process of its own measures, with one thread."""
    command = [sys.executable, "-m", "benchmarks.combined", json.dumps(asdict(problem)), way]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone)
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def _peer(problem: Problem) -> Found:
    """Return what the thesis' algorithm finds; nobody audits it."""
    risk = instance(problem.name, sliding=True)
    risk = replace(risk, cost=np.ones(len(risk)))
    found = plain_combined(risk, cz.Cost.parse(problem.cell_cost).of(risk.table), problem.limit)
    return Found(found.cost, 0.0, safe=True, ranges=0, seconds=found.seconds, peak=timed(lambda: None).peak)


def _measured(problem: Problem) -> Found:
    warnings.simplefilter("ignore", cz.MidpointWarning)
    method = cz.Combined("unity", cell_cost=problem.cell_cost, secret=1, conceal=False)
    cz.protect(instance("t20x10", sliding=True), method, gap=0.05)  # compiled code is loaded
    risk, results = instance(problem.name, sliding=True), list[cz.Protection]()
    spent = timed(lambda: results.append(cz.protect(risk, method, time_limit=problem.limit, gap=problem.gap / 2)))
    result = results[0]
    safe = cz.audit(result.pattern, risk).safe
    return Found(result.cost, result.gap, safe, int((result.pattern.status == "interval").sum()), spent.cpu, spent.peak)


if __name__ == "__main__":
    measured = _peer if sys.argv[2:] == ["plain"] else _measured
    print(json.dumps(asdict(measured(Problem(**json.loads(sys.argv[1]))))))
