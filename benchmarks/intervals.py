"""Interval publication: how fast optima and small gaps are reached, and the ratio to the thesis' algorithm.

python -m benchmarks.intervals ranges|plain PROBLEM ...     measurements, in a process of their own
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass, replace
from functools import cache

import celosia as cz
from benchmarks.instances import instance
from benchmarks.measure import timed
from benchmarks.plain_intervals import plain_intervals
from benchmarks.registry import Row, benchmark
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed

_SEEDS = (0, 1, 2)
_PROVED = 1e-4
"""What rounding ends to decimals may add to the optimum."""

_KNOWN = 50
"""To so many percent a second attacker knows values."""

_RATIO = 20
_PATIENCE = 300.0
"""CPU seconds for the thesis' algorithm: what it does not solve by then counts as that much."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What to solve.

    Parameters
    ----------
    name, seed, unity
        The instance.
    gap
        When to stop.
    limit
        Seconds.
    levels
        ``sliding`` for SPL only, ``separate`` for LPL of half a UPL.
    attackers
        1, or 2 for one more who knows values to 50 percent.
    repeats
        The median of so many runs counts.
    """

    name: str
    seed: int = 0
    unity: bool = False
    gap: float = 0.0
    limit: float = 300.0
    levels: str = "sliding"
    attackers: int = 1
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class Ranged:
    """What came out: cost and bound, whether an audit calls it safe, ranges, CPU seconds, megabytes."""

    cost: float
    bound: float
    safe: bool
    ranges: int
    seconds: float
    peak: float

    @property
    def gap(self) -> float:
        """How much of the cost is not proved to be needed."""
        return (self.cost - self.bound) / self.cost if self.cost < math.inf else 1.0


_OPTIMAL = {"h1": (1.5, 0.5, "122 and 1.5"), "h3": (10.0, 2.0, "165 and 14"), "hh2": (15.0, 4.0, "567 and 200")}
"""Seconds with unit costs and with costs = values, and those of the thesis."""

_GAPS = {"d3a": (2.0, 0.002, 0.006), "d3b": (15.0, 0.002, 0.006), "big1": (60.0, 0.005, 0.005)}
"""Seconds, and the gaps with unit costs and with costs = values."""


@benchmark("intervals")
def intervals(*, smoke: bool) -> list[Row]:
    """Measure optima of two dimensions, gaps of three, and the ratio to the thesis' algorithm."""
    if smoke:
        _run_all([_exactly("t20x10", 0, unity=unity) for unity in (True, False)])
        return [_optimal("t20x10", 5.0, (0,), unity=unity) for unity in (True, False)]
    _run_all(
        [
            *(_exactly(name, seed, unity=unity) for name in _OPTIMAL for unity in (True, False) for seed in _SEEDS),
            *(_exactly("h1", 0, unity=unity, levels="separate") for unity in (True, False)),
            *(_exactly("h1", 0, unity=unity, attackers=2) for unity in (True, False)),
            *(Problem("d3b", 0, unity, _GAPS["d3b"][1 if unity else 2], 600.0, "separate") for unity in (True, False)),
            *(
                Problem(name, seed, unity, gaps[1 if unity else 2], 600.0)
                for name, gaps in _GAPS.items()
                for unity in (True, False)
                for seed in _seeds(name)
            ),
        ]
    )
    rows = []
    for name, (unit, value, thesis) in _OPTIMAL.items():
        rows += [_optimal(name, unit, _SEEDS, unity=True, thesis=thesis.split(" and ")[0])]
        rows += [_optimal(name, value, _SEEDS, unity=False, thesis=thesis.split(" and ")[1])]
    for name, (seconds, unit, value) in _GAPS.items():
        rows += [_within(name, seconds, unit, unity=True), _within(name, seconds, value, unity=False)]
    rows += [_plain()]
    unit, value, _ = _OPTIMAL["h1"]
    for unity, seconds, gap in ((True, unit, _GAPS["d3b"][1]), (False, value, _GAPS["d3b"][2])):
        rows += [_optimal("h1", seconds, (0,), unity=unity, levels="separate", said="LPL = UPL / 2")]
        rows += [_optimal("h1", seconds, (0,), unity=unity, attackers=2, said="two attackers")]
        rows += [_within("d3b", _GAPS["d3b"][0], gap, unity=unity, levels="separate", said="LPL = UPL / 2")]
    return rows


def _seeds(name: str) -> tuple[int, ...]:
    return _SEEDS[:1] if name == "big1" else _SEEDS


def _exactly(name: str, seed: int, *, unity: bool, levels: str = "sliding", attackers: int = 1) -> Problem:
    """Return a problem that is solved to its optimum; where that is a matter of tenths of seconds, three times."""
    return Problem(name, seed, unity, levels=levels, attackers=attackers, repeats=3 if name == "h1" else 1)


def _costs(*, unity: bool) -> str:
    return "unit costs" if unity else "costs = values"


def _optimal(
    name: str,
    seconds: float,
    seeds: tuple[int, ...],
    *,
    unity: bool,
    thesis: str = "",
    levels: str = "sliding",
    attackers: int = 1,
    said: str = "",
) -> Row:
    runs = [_run("ranges", _exactly(name, seed, unity=unity, levels=levels, attackers=attackers)) for seed in seeds]
    worst, proved = max(run.seconds for run in runs), sum(run.safe and run.gap <= _PROVED for run in runs)
    figures = ", ".join(f"{run.seconds:.2f}" for run in runs)
    costs = ", ".join(f"{run.cost:,.10g}" for run in runs)
    return Row(
        f"optimal ranges of {name}, {_costs(unity=unity)}{', ' + said if said else ''}, {len(seeds)} seeds",
        f"{'aim: ' if said else ''}{seconds:g} s{f' (thesis: {thesis} s)' if thesis else ''}",
        f"{figures} s; cost {costs}; {proved} of {len(runs)} proved; at most {max(run.peak for run in runs):.0f} MB",
        proved == len(runs) and worst <= seconds,
    )


def _within(name: str, seconds: float, gap: float, *, unity: bool, levels: str = "sliding", said: str = "") -> Row:
    seeds = _SEEDS[:1] if said else _seeds(name)
    runs = [_run("ranges", Problem(name, seed, unity, gap, 600.0, levels)) for seed in seeds]
    met = all(run.safe and run.gap <= gap and run.seconds <= seconds for run in runs)
    figures = "; ".join(
        f"{'' if run.safe else 'NOT SAFE, '}{100 * run.gap:.2f} % in {run.seconds:.1f} s ({run.ranges} ranges)"
        for run in runs
    )
    return Row(
        f"ranges of {name}, {_costs(unity=unity)}{', ' + said if said else ''}, {len(seeds)} seeds",
        f"{'aim: ' if said else ''}{100 * gap:g} % in {seconds:g} s",
        f"{figures}; at most {max(run.peak for run in runs):.0f} MB",
        met,
    )


def _plain() -> Row:
    ours, peer = (
        _run("ranges", _exactly("h1", 0, unity=True)),
        _run("plain", Problem("h1", unity=True, limit=_PATIENCE)),
    )
    same = peer.cost == math.inf or abs(peer.cost - ours.cost) <= 1e-4 * ours.cost
    more = "more than " if peer.cost == math.inf else ""
    said = f"{more}{peer.seconds / ours.seconds:,.0f} times ({more}{peer.seconds:.1f} against {ours.seconds:.2f} s"
    return Row(
        "the thesis' Algorithm 4.2 on HiGHS against ours, h1, unit costs",
        f"at least {_RATIO} times",
        f"{said}{'' if same else '; costs DIFFER'})",
        same and peer.seconds >= _RATIO * ours.seconds,
    )


_DONE: dict[Problem, Ranged] = {}


def _run(way: str, problem: Problem) -> Ranged:
    """Return what was measured, or is now."""
    if way == "ranges" and problem in _DONE:
        return _DONE[problem]
    return _apart(way, [problem])[0]


def _run_all(problems: list[Problem]) -> None:
    """Measure many problems in one process, one after the other: memory is the largest so far."""
    _DONE.update(zip(problems, _apart("ranges", problems), strict=True))


def measure_ranges(problem: Problem) -> Ranged:
    """Return what a process of its own measures of a problem."""
    return _run("ranges", problem)


def _apart(way: str, problems: list[Problem]) -> list[Ranged]:
    """Return what a process of its own measures, with one thread."""
    said = [json.dumps(asdict(problem)) for problem in problems]
    command = [sys.executable, "-m", "benchmarks.intervals", way, *said]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone)
    return [Ranged(**json.loads(line)) for line in done.stdout.splitlines()[-len(problems) :]]


def _drawn(problem: Problem) -> Risk:
    risk = instance(problem.name, problem.seed, unity=problem.unity, sliding=problem.levels != "separate")
    if problem.attackers > 1:
        risk = replace(risk, attackers=(*risk.attackers, Attacker.percentage(risk.table, _KNOWN)))
    if problem.levels == "separate":
        lower = risk.levels.lower
        return replace(risk, levels=replace(risk.levels, lower=Fixed(5 * lower.counts, lower.decimals + 1)))
    return risk


def _ranged(problem: Problem) -> Ranged:
    warnings.simplefilter("ignore", cz.MidpointWarning)

    def step(risk: Risk, limit: float) -> cz.Protection:
        return cz.protect(risk, cz.Intervals(secret=1, conceal=False), time_limit=limit, gap=problem.gap)

    _warm_up()
    risk, results = _drawn(problem), list[cz.Protection]()
    try:
        costs = [timed(lambda: results.append(step(risk, problem.limit))) for _ in range(problem.repeats)]
    except cz.CelosiaError as error:
        print(error, file=sys.stderr)
        return Ranged(math.inf, 0.0, safe=False, ranges=0, seconds=problem.limit, peak=timed(lambda: None).peak)
    result, seconds = results[-1], statistics.median(cost.cpu for cost in costs)
    safe = cz.audit(result.pattern, risk).safe
    ranges = int((result.pattern.status == "interval").sum())
    return Ranged(result.cost, result.bound, safe, ranges, seconds, costs[-1].peak)


@cache
def _warm_up() -> None:
    """Load compiled code."""
    two = _drawn(Problem("t20x10", attackers=2))
    for warm in (instance("t20x10", sliding=True), two, instance("d3a", sliding=True)):
        cz.protect(warm, cz.Intervals(secret=1, conceal=False), gap=0.05)


def _by_the_thesis(problem: Problem) -> Ranged:
    found = plain_intervals(_drawn(problem), problem.limit)
    return Ranged(found.cost, found.cost, found.cost < math.inf, 0, found.seconds, timed(lambda: None).peak)


if __name__ == "__main__":
    for text in sys.argv[2:]:
        asked = Problem(**json.loads(text))
        found = {"ranges": _ranged, "plain": _by_the_thesis}[sys.argv[1]](asked)
        print(json.dumps(asdict(found)), flush=True)
        print(asked, found, file=sys.stderr, flush=True)
