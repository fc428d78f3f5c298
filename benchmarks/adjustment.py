"""Adjustment and random rounding: how close to the closest table, how fast, and the ratio to the printed program.

python -m benchmarks.adjustment adjust|printed|signs|nearest PROBLEM      one measurement, in a process of its own
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
import scipy.sparse as sp

import celosia as cz
from benchmarks.instances import instance
from benchmarks.measure import timed
from benchmarks.registry import Row, benchmark
from celosia.protection.adjustment.formulation import formulate
from celosia.protection.adjustment.integer import find_whole_moves
from celosia.protection.adjustment.method import Adjust, find_kept_totals
from celosia.protection.adjustment.relaxation import solve_relaxation
from celosia.protection.random_rounding.formulation import sets_of
from celosia.protection.random_rounding.nearest import find_nearest_table
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Levels, Risk
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backend, backends
from celosia.table.fixed import Fixed

SYMMETRIC, ASYMMETRIC = (20, 20), (5, 20)
"""Lower and upper levels in percent of the value (Baena, Castro and González, section 3)."""

_GAP = 0.001
_SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Problem:
    """What to solve.

    Parameters
    ----------
    name, seed
        The instance.
    lower, upper
        The levels in percent.
    weight, norm
        As in `celosia.Adjust`.
    solver
        Whose programs with whole numbers; the best that is installed where it is empty.
    limit
        Seconds.
    gap
        Where to stop.
    """

    name: str
    lower: int = 20
    upper: int = 20
    seed: int = 0
    weight: str = "1"
    norm: Literal[1, 2] = 1
    solver: str = ""
    limit: float = 120.0
    gap: float = _GAP


@dataclass(frozen=True, slots=True)
class Solved:
    """What came out: cost and bound, whether the check in exact arithmetic passed, CPU seconds."""

    cost: float
    bound: float
    safe: bool
    seconds: float

    @property
    def gap(self) -> float:
        """The share of the cost by which it exceeds the bound."""
        return (self.cost - self.bound) / self.cost if self.cost < math.inf else 1.0


@benchmark("adjustment")
def adjustment(*, smoke: bool) -> list[Row]:
    """Measure gaps and seconds, the printed program beside ours, and what asymmetric levels are worth."""
    if smoke:
        problem = Problem("t20x10", weight="1/a")
        return [_ratio(problem, "", 1), _nearest("t20x10", 1.0), *_sides(("t20x10",))]
    h1, hh2 = Problem("h1"), Problem("hh2", *ASYMMETRIC)
    big = Problem("big1", *ASYMMETRIC, weight="1/a", gap=0.011, limit=30)
    solvers = [one.name for one in backends()]
    rows = [_within(replace(h1, solver=solver), 3.0, "h1, equal levels of 20 %, weights 1") for solver in solvers]
    rows += [_within(replace(hh2, solver=solver), 8.0, "hh2, levels of 5 and 20 %, weights 1") for solver in solvers]
    rows += [_within(big, 30.0, "big1, levels of 5 and 20 %, weights 1/a", percent=1.1)]
    more = replace(big, gap=0.0005)
    rows += [_within(more, 30.0, "the same, on to 0.05 %", percent=0.05, aim=True)]
    hard = Problem("big1", weight="1/a", gap=0.02, limit=120)
    rows += [_within(hard, 120.0, "big1, equal levels of 20 %, weights 1/a", percent=8.0, aim=True)]
    square = replace(big, norm=2, gap=_GAP)
    rows += [_within(square, 30.0, "L2: big1, levels of 5 and 20 %, weights 1/a", aim=True)]
    rows += [_signs("hh2", 0.1), _nearest("t50x20", 1.0)]
    rows += [_ratio(h1, "h1, equal levels, weights 1", 1), _ratio(hh2, "hh2, levels of 5 and 20 %, weights 1", 1)]
    return [*rows, *_sides(("h1", "hh2", "d3a"))]


def _within(problem: Problem, seconds: float, what: str, percent: float = 100 * _GAP, *, aim: bool = False) -> Row:
    runs = [_run("adjust", replace(problem, seed=seed)) for seed in (_SEEDS if problem.name != "big1" else (0,))]
    worst, middle = max(run.gap for run in runs), statistics.median(run.seconds for run in runs)
    fine = all(run.safe for run in runs)
    said = f"{middle:.2f} s, gap at most {100 * worst:.3f} %{'' if fine else ', NOT SAFE'}"
    if len(runs) > 1:
        said += f" ({len(runs)} seeds, at worst {max(run.seconds for run in runs):.2f} s)"
    target = f"{percent:g} % in {seconds:g} s"
    met = fine and 100 * worst <= percent and middle <= seconds
    solver = f", {problem.solver}" if problem.solver else ""
    return Row(f"L1: {what}{solver}" if "L2" not in what else what, f"aim: {target}" if aim else target, said, met)


def _ratio(problem: Problem, what: str, least: float) -> Row:
    ours, theirs = _run("adjust", problem), _run("printed", problem)
    same = abs(ours.cost - theirs.cost) <= 2 * problem.gap * ours.cost + 1e-9
    reached = "" if theirs.gap <= problem.gap * (1 + 1e-6) else f", {100 * theirs.gap:.1f} % left"
    said = (
        f"{theirs.seconds / ours.seconds:.1f} times ({theirs.seconds:.2f}{reached} against {ours.seconds:.2f} s"
        f"{'' if same or reached else '; costs DIFFER'})"
    )
    name = what or problem.name
    met = theirs.seconds >= least * ours.seconds
    return Row(f"the program as printed, by HiGHS, on {name}", f"more than {least:g} times", said, met)


def _signs(name: str, seconds: float) -> Row:
    run = _run("signs", Problem(name, *ASYMMETRIC, weight="1/a", norm=2))
    said = f"{run.seconds:.3f} s, whole numbers that add up included"
    return Row(
        f"L2: {name} with its sides fixed, weights 1/a", f"{seconds:g} s", said, run.safe and run.seconds <= seconds
    )


def _nearest(name: str, seconds: float) -> Row:
    run = _run("nearest", Problem(name, weight="1/a", norm=2))
    said = f"{run.seconds:.2f} s, {'proved' if run.gap <= 0 else 'NOT proved'}"
    met = run.safe and run.gap <= 0 and run.seconds <= seconds
    return Row(f"the nearest table around rounded cells (Tiwari), {name}, base 20", f"{seconds:g} s", said, met)


def _sides(names: tuple[str, ...]) -> list[Row]:
    """Return the experiment: equal levels against levels of 5 and 20 percent, to 0.1 percent or 20 seconds."""
    rows = []
    for name in names:
        for weight in ("1", "1/a"):
            equal, uneven = (
                _run("adjust", Problem(name, *levels, weight=weight, limit=20)) for levels in (SYMMETRIC, ASYMMETRIC)
            )
            said = "; ".join(
                f"{word} {run.seconds:.2f} s, cost {run.cost:,.4g}, gap {100 * run.gap:.2f} %"
                for word, run in (("20/20:", equal), ("5/20:", uneven))
            )
            rows.append(Row(f"are asymmetric levels easier? {name}, weights {weight}", "", said))
    return rows


@cache
def _run(way: str, problem: Problem) -> Solved:
    """Return what a process of its own measures."""
    command = [sys.executable, "-m", "benchmarks.adjustment", way, json.dumps(asdict(problem))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Solved(**json.loads(done.stdout.splitlines()[-1]))


def risk_of(problem: Problem) -> Risk:
    """Return an instance with levels in percent of the value."""
    risk = instance(problem.name, problem.seed)
    counts, zero = risk.table.amounts.counts, Fixed(np.zeros(len(risk), dtype=np.int64))
    lower, upper = (
        Fixed(np.where(risk.sensitive, counts * percent, 0), 2) for percent in (problem.lower, problem.upper)
    )
    return replace(risk, levels=Levels(lower, upper, zero))


def _adjusted(problem: Problem) -> Solved:
    method = Adjust(problem.norm, problem.weight)
    named = problem.solver or None
    for name in ("t20x10", "hh1"):  # what is compiled is loaded before
        cz.protect(risk_of(replace(problem, name=name)), method, gap=0.5)
    risk, results = risk_of(problem), list[cz.Protection]()
    cost = timed(
        lambda: results.append(cz.protect(risk, method, gap=problem.gap, time_limit=problem.limit, solver=named))
    )
    result = results[-1]
    return Solved(result.cost, result.bound, result.safe, cost.cpu)


def printed_program(problem: Problem) -> LinearProgram:
    """Return program (6) of Baena, Castro and González as printed: two columns a cell, a binary a sensitive one."""
    risk = risk_of(problem)
    table, n = risk.table, len(risk)
    matrix = table.relations.matrix.astype(np.float64)
    weight, sensitive = Adjust(1, problem.weight).weights(table), np.flatnonzero(risk.sensitive)
    above = risk.attackers[0].upper.floats - table.values
    below = table.values - risk.attackers[0].lower.floats
    down, up = (np.ceil(level.floats[sensitive]) for level in (risk.levels.lower, risk.levels.upper))
    k = len(sensitive)
    pick = sp.csr_array((np.ones(k), (np.arange(k), sensitive)), shape=(k, n))
    none, square = sp.csr_array((k, n)), sp.csr_array((matrix.shape[0], k))

    def diagonal(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> sp.csr_array:
        return sp.csr_array(sp.diags_array(values))

    rows = sp.block_array(
        [
            [matrix, -matrix, square],
            [pick, none, -diagonal(up)],
            [pick, none, -diagonal(above[sensitive])],
            [none, pick, diagonal(down)],
            [none, pick, diagonal(below[sensitive])],
        ],
        format="csr",
    )
    zero, endless = np.zeros(matrix.shape[0]), np.full(k, np.inf)
    return LinearProgram(
        sp.csr_array(rows),
        np.concatenate([zero, np.zeros(k), -endless, down, -endless]),
        np.concatenate([zero, endless, np.zeros(k), endless, below[sensitive]]),
        np.zeros(2 * n + k),
        np.concatenate([above, below, np.ones(k)]),
        np.concatenate([weight, weight, np.zeros(k)]),
        np.arange(2 * n + k) >= 2 * n,
    )


def _printed(problem: Problem) -> Solved:
    program, found = printed_program(problem), list[Solved]()

    def step() -> None:
        said = backend("highs").open(program).solve(time_limit=problem.limit, gap=problem.gap)
        found.append(Solved(said.objective, said.bound, said.x is not None, 0.0))

    cost = timed(step)
    return replace(found[0], seconds=cost.cpu)


def _with_signs(problem: Problem) -> Solved:
    """Measure squares whose sides are known, as the relaxation has them."""
    method = Adjust(problem.norm, problem.weight)
    task, _ = formulate(method.apply_to(risk_of(problem)), method, integer=False)
    first = solve_relaxation(task, Clock(None))
    if first is None:
        raise RuntimeError("the relaxation has no solution")
    fixed, found = task.choose_sides(first.moves > (task.up - task.down) / 2), list[bool]()

    def step() -> None:
        said = find_whole_moves(fixed, backends()[0], Clock(None))
        found.append(said is not None and fixed.admits(said.moves))

    cost = timed(step, repeats=3)
    return Solved(0.0, 0.0, all(found), cost.cpu)


def _around(problem: Problem) -> Solved:
    """Measure Tiwari's step: sensitive cells rounded at random, margins kept, the others as near as can be."""
    risk, base = instance(problem.name, problem.seed), 20
    one, zero = Fixed(risk.sensitive.astype(np.int64)), Fixed(np.zeros(len(risk), dtype=np.int64))
    risk = replace(
        risk,
        levels=Levels(one, one, zero),
        attackers=(Attacker.external(risk.table),),
    )
    values = sets_of(risk, base, base - 1).draw(np.random.default_rng(problem.seed))
    cells, kept, found = np.flatnonzero(risk.sensitive), find_kept_totals(risk.table, "all"), list[Solved]()

    def step() -> None:
        said = find_nearest_table(risk, cells, values, kept, base - 1, backends()[0], Clock(None))
        if said is not None:
            found.append(Solved(said.cost, said.bound, safe=True, seconds=0.0))

    step()
    cost = timed(step, repeats=3)
    return replace(found[-1], seconds=cost.cpu) if found else Solved(math.inf, 0.0, safe=False, seconds=cost.cpu)


if __name__ == "__main__":
    asked = Problem(**json.loads(sys.argv[2]))
    ways = {"adjust": _adjusted, "printed": _printed, "signs": _with_signs, "nearest": _around}
    print(json.dumps(asdict(ways[sys.argv[1]](asked))))
