"""Runs of methods on tables of the papers' sizes, those on one table in a process of their own.

python -m benchmarks.paper_runs TASKS      prints what came out, as JSON
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction

import numpy as np

import celosia as cz
from benchmarks.measure import timed
from benchmarks.paper_tables import draw_hierarchical, draw_thesis
from benchmarks.processor_clock import processor_seconds
from celosia.pattern.entries import HIDDEN, INTERVAL, SHOWN
from celosia.pattern.midpoint import midpoints
from celosia.protection.method import Method
from celosia.risk.risk import Risk

VARIANTS: dict[str, tuple[Method, bool]] = {
    "Complete-Unity": (cz.Suppress(), True),
    "Complete-Value": (cz.Suppress(), False),
    "Partial-Unity": (cz.Intervals(secret=1, conceal=False), True),
    "Partial-Value": (cz.Intervals(secret=1, conceal=False), False),
    "Combined-Unity-Unity": (cz.Combined("unity", cell_cost="unity", secret=1, conceal=False), True),
    "Combined-Unity-Value": (cz.Combined("unity", cell_cost="value", secret=1, conceal=False), False),
}
"""The thesis' model variants: the method, and whether cells cost 1 each instead of their values."""

_WORKERS = 4
"""Processes at a time: what is measured are seconds of a processor."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to run.

    Parameters
    ----------
    part
        ``thesis``, or ``suppress``, ``adjust`` and ``ranges`` on hierarchical tables.
    table
        A name of `benchmarks.paper_tables`.
    variant
        Of the thesis one of `VARIANTS`; of adjustment the weights; otherwise the costs.
    lower, upper
        Levels in percent, where the thesis' rule does not say them.
    gap, limit
        Where to stop: the share that is not proved, and seconds of the processor.
    """

    part: str
    table: str
    variant: str
    lower: int = 0
    upper: int = 0
    gap: float = 0.0
    limit: float = 10.0

    @property
    def key(self) -> str:
        """The name of the run among all."""
        levels = f", {self.lower}/{self.upper}" if self.upper else ""
        return f"{self.part}, {self.table}, {self.variant}{levels}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out.

    Parameters
    ----------
    cost, bound
        Infinite and zero where nothing was found in time.
    safe
        The audit, or the check of distances, passed.
    cells, sensitive
        Of the table.
    changed
        Cells that are not shown as they are.
    width
        The sum of the widths: of hidden cells what attackers conclude, of ranges what is published.
    cuts
        Constraints that were generated.
    seconds, wall
        Of the processor, and on the wall.
    shares
        Of ranges: the share of each class of Table 4.
    ends
        Of ranges: by how much the ends miss the truth, in percent of the width, range by range.
    """

    cost: float
    bound: float
    safe: bool
    cells: int
    sensitive: int
    changed: int = 0
    width: float = 0.0
    cuts: int = 0
    seconds: float = 0.0
    wall: float = 0.0
    shares: dict[str, float] = field(default_factory=dict)
    ends: list[float] = field(default_factory=list)

    @property
    def gap(self) -> float:
        """The share of the cost that is not proved to be needed."""
        return (
            max(self.cost - self.bound, 0.0) / self.cost if 0 < self.cost < math.inf else float(self.cost == math.inf)
        )


def run_all(tasks: Sequence[Task], *, apart: bool = True) -> dict[str, Outcome]:
    """Return the outcomes of tasks by their keys; apart, every table has a process of its own."""
    if not apart:
        return {task.key: measure_run(task) for task in tasks}
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.part, task.table), []).append(task)
    with ThreadPoolExecutor(_WORKERS) as pool:
        return {key: outcome for found in pool.map(_run_apart, groups.values()) for key, outcome in found.items()}


def _run_apart(tasks: list[Task]) -> dict[str, Outcome]:
    command = [sys.executable, "-m", "benchmarks.paper_runs", json.dumps([asdict(task) for task in tasks])]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone)
    found = [Outcome(**outcome) for outcome in json.loads(done.stdout.splitlines()[-1])]
    for task, outcome in zip(tasks, found, strict=True):
        print(f"  {task.key}: gap {outcome.gap:.2%}, {outcome.seconds:.1f} s", flush=True)
    return dict(zip((task.key for task in tasks), found, strict=True))


def measure_run(task: Task) -> Outcome:
    """Return what a run finds, after compiled code is loaded; limits are seconds of the processor."""
    warnings.simplefilter("ignore")
    risk, method = _problem(task)
    for small in ("toy", "toy linked") if task.part == "thesis" else ("toy",):
        cz.protect(_problem(replace(task, table=small))[0], method, time_limit=60)
    results: list[cz.Protection] = []
    none = Outcome(math.inf, 0.0, safe=False, cells=len(risk), sensitive=int(risk.sensitive.sum()))
    began = time.time()
    try:
        with processor_seconds():
            spent = timed(lambda: results.append(cz.protect(risk, method, gap=task.gap, time_limit=task.limit)))
    except cz.CelosiaError as error:
        print(error, file=sys.stderr)
        return none
    return _describe(risk, results[0], spent.cpu, time.time() - began)


def _describe(risk: Risk, result: cz.Protection, seconds: float, wall: float) -> Outcome:
    """Return the outcome of a protection."""
    pattern = result.pattern
    ranges = pattern.status == INTERVAL
    safe, width, shares, ends = result.safe, 0.0, {}, []
    if result.criterion == "intervals":
        said = cz.audit(pattern, risk, intervals=bool((pattern.status == HIDDEN).any()))
        safe = said.safe
        if (pattern.status == HIDDEN).any():
            width = math.fsum(_width(finding.lower, finding.upper) for finding in said.intervals)
        if ranges.any():
            lower, upper = (side.floats for side in pattern.bounds())
            below, above = risk.table.values - lower, upper - risk.table.values
            width = float((below + above)[ranges].sum())
            shares = midpoints(pattern).shares
            ends = np.sort(100 * (below / (below + above))[ranges]).round(1).tolist()
    moved = pattern.status != SHOWN
    if result.criterion == "distance":
        moved &= cz.publish(result).published.floats != risk.table.values
    return Outcome(
        result.cost,
        result.bound,
        safe,
        len(risk),
        int(risk.sensitive.sum()),
        int(moved.sum()),
        width,
        int(result.trace[-1][3]) if result.trace else 0,
        seconds,
        wall,
        shares,
        ends,
    )


def _width(lower: Fraction | None, upper: Fraction | None) -> float:
    """Return how wide an interval is; infinite where an end is open."""
    return math.inf if lower is None or upper is None else float(upper - lower)


def _problem(task: Task) -> tuple[Risk, Method]:
    """Return the problem and the method of a task."""
    if task.part == "thesis":
        method, unity = VARIANTS[task.variant]
        return draw_thesis(task.table, unity=unity, sliding=not task.variant.startswith("Complete")), method
    unity = task.part == "ranges"
    risk = draw_hierarchical(task.table, (task.lower, task.upper), cost="unity" if unity else "value")
    if task.part == "adjust":
        return risk, cz.Adjust(1, task.variant)
    return risk, cz.Intervals(conceal=False) if unity else cz.Suppress()


if __name__ == "__main__":
    print(json.dumps([asdict(measure_run(Task(**task))) for task in json.loads(sys.argv[1])]))
