"""Complete suppression: how fast optima are proved, what gaps remain, and the ratio to the textbook algorithm.

python -m benchmarks.suppression protect|textbook PROBLEM      one measurement, in a process of its own
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache

import celosia as cz
from benchmarks.instances import OPTIMA, instance
from benchmarks.measure import timed
from benchmarks.registry import Row, benchmark
from benchmarks.textbook import textbook
from celosia.risk.risk import Risk
from celosia.solve.registry import backends

_SEEDS = (0, 1, 2, 3)
_PROVED = 1e-9  # costs are whole numbers: a gap like this is none
_MEGABYTES, _FIRST = 1_000, 5


@dataclass(frozen=True, slots=True)
class Problem:
    """What to solve.

    Parameters
    ----------
    name, seed, unity
        The instance.
    solver
        Whose integer programs; the best that is installed where it is empty.
    limit
        Seconds.
    repeats
        The median of so many runs counts.
    """

    name: str
    seed: int = 0
    unity: bool = False
    solver: str = ""
    limit: float = 600.0
    repeats: int = 3


@dataclass(frozen=True, slots=True)
class Solved:
    """What came out.

    Parameters
    ----------
    cost, bound
        What the pattern costs, infinite where there is none, and what any costs at least.
    safe
        An audit says that the pattern is safe.
    seconds
        CPU time.
    peak
        The largest memory of the process, in megabytes.
    """

    cost: float
    bound: float
    safe: bool
    seconds: float
    peak: float

    @property
    def gap(self) -> float:
        """How much of the cost is not proved to be needed."""
        return (self.cost - self.bound) / self.cost if self.cost < math.inf else 1.0

    @property
    def proved(self) -> bool:
        """The pattern is safe, and none is cheaper."""
        return self.safe and self.gap <= _PROVED


@dataclass(frozen=True, slots=True)
class Promise:
    """Optima of an instance, over all seeds and both costs: CPU seconds in the middle and at worst."""

    name: str
    median: float
    worst: float
    ratio: int | None = None


_OPTIMAL = (
    Promise("t50x20", 1, 3),
    Promise("h1", 1, 3, ratio=20),
    Promise("h2", 1, 3),
    Promise("h3", 1, 3, ratio=20),
    Promise("hh1", 1, 8, ratio=20),
)
_HH2_SECONDS = {"scip": 5, "highs": 10}
_THREE_DIMENSIONS = {"d3a": (6.0, "aim: 4 %"), "d3h": (1.7, "aim: proved, 197782"), "d3b": (9.8, "aim: 6 %")}
_HARD = ("hh2", "d3a", "d3h", "d3b")


@benchmark("suppression")
def suppression(*, smoke: bool) -> list[Row]:
    """Measure optima, gaps and first patterns on every solver that is installed."""
    solvers = [backend.name for backend in backends()]
    if smoke:
        rows = [_optimal(Promise("t20x10", 1, 3, ratio=1), solver, _SEEDS[:1]) for solver in solvers]
        return [row for part in rows for row in part]
    rows = [_optimal(promise, solver, _SEEDS) for promise in _OPTIMAL for solver in solvers]
    rows += [_hh2(solver) for solver in solvers]
    rows += [[_within_gap(name, *wanted) for name, wanted in _THREE_DIMENSIONS.items()]]
    rows += [[_first(name, unity=unity) for name in _HARD for unity in (False, True)], [_large()]]
    return [row for part in rows for row in part]


def _optimal(promise: Promise, solver: str, seeds: Sequence[int]) -> list[Row]:
    problems = [Problem(promise.name, seed, unity, solver) for seed in seeds for unity in (False, True)]
    runs = [_run("protect", problem) for problem in problems]
    right = all(run.proved and _as_known(problem, run) for problem, run in zip(problems, runs, strict=True))
    median, worst = statistics.median(run.seconds for run in runs), max(run.seconds for run in runs)
    proved = f"{sum(run.proved for run in runs)} of {len(runs)} proved{'' if right else ', NOT all right'}"
    rows = [
        Row(
            f"optimum of {promise.name}, {solver}, {len(seeds)} seeds, both costs",
            f"{promise.median:g} s (median), {promise.worst:g} s (worst)",
            f"{median:.2f} s, {worst:.2f} s; {proved}; at most {max(run.peak for run in runs):.0f} MB",
            right and median <= promise.median and worst <= promise.worst,
        )
    ]
    if promise.ratio is not None:
        first = [place for place, problem in enumerate(problems) if problem.seed == seeds[0]]
        peers = [_run("textbook", replace(problems[place], solver="")) for place in first]
        same = all(abs(peer.cost - runs[place].cost) < 0.5 for peer, place in zip(peers, first, strict=True))
        ours, theirs = sum(runs[place].seconds for place in first), sum(peer.seconds for peer in peers)
        said = f"{theirs / ours:.1f} times ({theirs:.1f} against {ours:.2f} s{'' if same else '; costs DIFFER'})"
        what = f"textbook algorithm on {promise.name} against {solver}, seed {seeds[0]}, both costs"
        rows.append(Row(what, f"at least {promise.ratio} times", said, same and theirs >= promise.ratio * ours))
    return rows


def _hh2(solver: str) -> list[Row]:
    seconds = _HH2_SECONDS.get(solver)
    problems = Problem("hh2", solver=solver), Problem("hh2", unity=True, solver=solver, limit=60, repeats=1)
    value, unit = (_run("protect", problem) for problem in problems)
    said = f"{value.seconds:.2f} s, cost {value.cost:,.0f}{'' if value.proved else ', NOT proved'}, {value.peak:.0f} MB"
    right = value.proved and _as_known(problems[0], value)
    return [
        Row(
            f"optimum of hh2, {solver}, costs = values",
            f"106,471 in {seconds} s" if seconds else "",
            said,
            right and value.seconds <= seconds if seconds else None,
        ),
        Row(f"hh2, {solver}, unit costs", "gap at most 0.3 % in 60 s", _said(unit), unit.safe and unit.gap <= 0.003),
    ]


def _within_gap(name: str, percent: float, aim: str) -> Row:
    run = _run("protect", Problem(name, limit=120, repeats=1))
    met = run.safe and 100 * run.gap <= percent and run.peak <= _MEGABYTES
    return Row(f"{name} in 120 s", f"gap at most {percent} % ({aim}), 1 GB", _said(run), met)


def _first(name: str, *, unity: bool) -> Row:
    run = _run("protect", Problem(name, unity=unity, limit=_FIRST, repeats=1))
    what = f"first safe pattern of {name}, {'unit costs' if unity else 'costs = values'}"
    return Row(what, f"within {_FIRST} s", _said(run), run.safe)


def _large() -> Row:
    run = _run("protect", Problem("big2", limit=120, repeats=1))
    met = run.safe and run.bound > 0 and run.peak <= 2 * _MEGABYTES
    return Row("big2 in 120 s", "a safe pattern with a bound, 2 GB", _said(run), met)


def _said(run: Solved) -> str:
    if run.cost == math.inf:
        return f"none in {run.seconds:.0f} s"
    safe = "" if run.safe else "NOT SAFE, "
    return (
        f"{safe}gap {100 * run.gap:.2f} % ({run.bound:,.0f} .. {run.cost:,.0f}), {run.seconds:.1f} s, {run.peak:.0f} MB"
    )


def _as_known(problem: Problem, run: Solved) -> bool:
    """Return whether the cost is the known optimum, where one is known."""
    known = OPTIMA.get(problem.name) if problem.seed == 0 else None
    optimum = None if known is None else known.unity if problem.unity else known.value
    return optimum is None or round(run.cost) == optimum


@cache
def _run(way: str, problem: Problem) -> Solved:
    """Return what a process of its own measures; the peer of several solvers is measured once."""
    command = [sys.executable, "-m", "benchmarks.suppression", way, json.dumps(asdict(problem))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Solved(**json.loads(done.stdout.splitlines()[-1]))


def _protected(problem: Problem) -> Solved:
    def step(risk: Risk, limit: float) -> cz.Protection:
        return cz.protect(risk, cz.Suppress(), time_limit=limit, solver=problem.solver or None)

    for name in ("t20x10", "hh1"):  # compiled code is loaded before the clock starts
        step(instance(name), 600.0)
    risk, results = instance(problem.name, problem.seed, unity=problem.unity), list[cz.Protection]()
    try:
        costs = [timed(lambda: results.append(step(risk, problem.limit))) for _ in range(problem.repeats)]
    except cz.CelosiaError as error:
        print(error, file=sys.stderr)
        return Solved(math.inf, 0.0, safe=False, seconds=problem.limit, peak=timed(lambda: None).peak)
    result, seconds = results[-1], statistics.median(cost.cpu for cost in costs)
    safe = cz.audit(result.pattern, risk).safe
    return Solved(result.cost, result.bound, safe, seconds, costs[-1].peak)


def _by_the_textbook(problem: Problem) -> Solved:
    risk = instance(problem.name, problem.seed, unity=problem.unity)
    textbook(instance("t20x10"))
    found = textbook(risk, time_limit=problem.limit)
    safe = found.hidden is not None and cz.audit(cz.Pattern.hide(risk.table, found.hidden), risk).safe
    return Solved(found.cost, found.cost, safe, found.seconds, timed(lambda: None).peak)


if __name__ == "__main__":
    asked = Problem(**json.loads(sys.argv[2]))
    print(json.dumps(asdict({"protect": _protected, "textbook": _by_the_textbook}[sys.argv[1]](asked))))
