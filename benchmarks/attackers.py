"""Many attackers: how soon a table is safe against a hundred of them, and what ten cost beside one.

python -m benchmarks.attackers PROBLEM      one measurement, in a process of its own

A table of 100 x 100 cells with its totals, of which one percent are sensitive and must be protected by a tenth
of their value. Every attacker knows 0 <= y <= 11 a, a part of the cells more closely, each within a share of its own,
and some cells of his own exactly (Salazar 2002, section 3). Everything is drawn for each attacker apart, so none of
them knows all that another one knows.

There are two draws. In the harder one every attacker knows half of the cells more closely. Such a draw was tried first
and stayed at a gap of some 4 % for more than a minute; the easier one, in which he knows a tenth, was chosen after it.
Of the first only that half was written down: the shares within which cells are known are ours.
"""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import celosia as cz
from benchmarks.csplib import FOLDER
from benchmarks.instances import drawn, instance
from benchmarks.measure import timed
from benchmarks.registry import Row, benchmark
from celosia.risk.attacker import Attacker
from celosia.risk.risk import SAFE, SENSITIVE, Levels, Risk
from celosia.table.fixed import Fixed

OWN = 20
"""How many cells an attacker knows exactly. Nobody knows a sensitive cell more closely than its level."""

_LEVEL, _FAR, _FIRST, _CLOSE, _AIM = 0.1, 10.0, 30, 120, 60
_TWO_PERCENT, _TWICE, _TEN, _MANY, _RUNS = 0.02, 2.0, 10, 100, 3
_PUBLIC = ("osorio", "table8")


class Knowledge(NamedTuple):
    """What part of the cells an attacker knows more closely, and within which share of their value, least and most."""

    part: float
    least: float
    most: float


DRAWS = {"easier": Knowledge(0.1, 0.3, 1.0), "harder": Knowledge(0.5, 0.1, 1.0)}


@dataclass(frozen=True, slots=True)
class Problem:
    """What to solve.

    Parameters
    ----------
    attackers
        How many there are.
    size, share
        Rows and columns of the table, and the share of its inner cells that are sensitive; a size of 0 stands for a
        table of CSPLIB.
    seed
        Another draw.
    gap
        The search ends within this share of the bound: 1 with the first safe pattern.
    limit
        Seconds.
    draw
        What attackers know: a name of `DRAWS`.
    public
        The table of CSPLIB, where the size is 0.
    run
        Which of several runs of the same problem.
    """

    attackers: int
    size: int = 100
    share: float = 0.01
    seed: int = 0
    gap: float = 0.0
    limit: float = 600.0
    draw: str = "easier"
    public: str = "osorio"
    run: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What came out: costs, infinite where there is no pattern, whether an audit says that it is safe, CPU seconds."""

    cost: float
    bound: float
    safe: bool
    seconds: float

    @property
    def gap(self) -> float:
        """How much of the cost is not proved to be needed."""
        return (self.cost - self.bound) / self.cost if self.cost < math.inf else 1.0

    def __str__(self) -> str:
        if self.cost == math.inf:
            return f"none in {self.seconds:.0f} s"
        said = "" if self.safe else "NOT SAFE, "
        return f"{said}{self.seconds:.1f} s, gap {100 * self.gap:.2f} % ({self.bound:,.0f} .. {self.cost:,.0f})"


def draw_problem(size: int, share: float, attackers: int, seed: int = 0, draw: str = "easier") -> Risk:
    """Return a table with attackers as the head of this module says; the first are the same for any number of them."""
    risk = drawn(((size,), (size,)), seed)
    rng = np.random.default_rng(seed)
    value, n = risk.table.values, len(risk.table)
    inner = np.arange(n).reshape(size + 1, size + 1)[1:, 1:].ravel()
    sensitive = np.zeros(n, dtype=bool)
    sensitive[rng.choice(inner, round(share * len(inner)), replace=False)] = True
    level = np.where(sensitive, np.ceil(_LEVEL * value), 0.0)
    zero, either = Fixed(np.zeros(n, dtype=np.int64)), Fixed.of_floats(level)
    return replace(
        risk,
        status=np.where(sensitive, SENSITIVE, SAFE),
        levels=Levels(either, either, zero),
        attackers=_draw_attackers(value, level, attackers, seed, DRAWS[draw]),
    )


def _draw_attackers(
    value: NDArray[np.float64], level: NDArray[np.float64], number: int, seed: int, known: Knowledge
) -> tuple[Attacker, ...]:
    """Return attackers with bounds of their own in whole numbers, which leave every level open."""
    found = []
    for who in range(number):
        rng = np.random.default_rng([seed, who])
        closely = rng.random(len(value)) < known.part
        near = rng.uniform(known.least, known.most, len(value))
        down, up = np.where(closely, near, 1.0) * value, np.where(closely, near, _FAR) * value
        own = rng.choice(np.flatnonzero(level == 0), OWN, replace=False)
        down[own] = up[own] = 0.0
        lower, upper = value - np.maximum(np.ceil(down), level), value + np.maximum(np.ceil(up), level)
        found.append(Attacker(f"attacker {who}", Fixed.of_floats(lower), Fixed.of_floats(upper)))
    return tuple(found)


def public_problem(name: str, attackers: int) -> Risk | None:
    """Return a table of CSPLIB with attackers of its own bounds and narrower ones; None where it is not there."""
    path = FOLDER / f"{name}.jj.gz"
    if not path.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / f"{name}.jj"
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        risk = cz.read_jj(plain)
    known, value = risk.attackers[0], risk.table.values
    level = np.max([getattr(risk.levels, kind).floats for kind in ("lower", "upper", "sliding")], axis=0)
    narrow = _draw_attackers(value, np.ceil(level), attackers - 1, 0, DRAWS["easier"])
    return replace(risk, attackers=(known, *(Attacker.together([known, one], one.name) for one in narrow)))


@benchmark("attackers")
def attackers(*, smoke: bool) -> list[Row]:
    """Measure first safe patterns and gaps against many attackers, and what ten cost beside one."""
    if smoke:
        each = [(draw, _run(Problem(3, size=8, share=0.05, draw=draw))) for draw in DRAWS]
        return [Row(f"8 x 8 cells, three attackers, {draw}", "a safe pattern", str(it), it.safe) for draw, it in each]
    rows = [
        row
        for draw, numbers in (("easier", (1, _TEN, _MANY)), ("harder", (_MANY,)))
        for number in numbers
        for seed in (0, 1)
        for row in _measure_draw(Problem(number, seed=seed, draw=draw))
    ]
    for gap, said in ((1.0, "first safe pattern"), (_TWO_PERCENT, "within 2 %")):
        ratio = _cost_ratio(*(Problem(number, gap=gap) for number in (1, _TEN)))
        rows.append(_judge_ratio(f"100 x 100 cells, {said}", ratio))
    for name in _PUBLIC:
        if public_problem(name, 1) is not None:
            ratio = _cost_ratio(*(Problem(number, size=0, public=name) for number in (1, _TEN)))
            rows.append(_judge_ratio(f"{name} of CSPLIB", ratio))
    return rows


def _measure_draw(problem: Problem) -> list[Row]:
    """Return how soon there is a safe pattern against drawn attackers, and how soon one within two percent."""
    what = f"100 x 100 cells, 1 % sensitive, {problem.attackers} attackers, {problem.draw} draw, seed {problem.seed}"
    first, close = (_run(replace(problem, gap=gap)) for gap in (1.0, _TWO_PERCENT))
    met = close.safe and close.gap <= _TWO_PERCENT and close.seconds <= _CLOSE
    return [
        Row(f"{what}: first", f"safe in {_FIRST} s", str(first), first.safe and first.seconds <= _FIRST),
        Row(f"{what}: close", f"2 % in {_CLOSE} s (aim: {_AIM})", str(close), met),
    ]


class Ratio(NamedTuple):
    """The CPU seconds of one attacker and of ten, the median of some runs each, and whether all results were safe."""

    one: float
    ten: float
    safe: bool


def _cost_ratio(one: Problem, ten: Problem) -> Ratio:
    """Return what ten attackers cost beside one: they take turns, since other processes slow some runs down."""
    found = [[_run(replace(problem, run=run)) for problem in (one, ten)] for run in range(_RUNS)]
    few, many = zip(*found, strict=True)
    safe = all(each.safe for each in (*few, *many))
    return Ratio(median(each.seconds for each in few), median(each.seconds for each in many), safe)


def _judge_ratio(what: str, found: Ratio) -> Row:
    times = found.ten / found.one
    said = f"{times:.2f} times ({found.one:.2f} and {found.ten:.2f} s, medians of {_RUNS})"
    met = found.safe and times <= _TWICE
    return Row(f"{what}, ten attackers against one", "at most twice", said if found.safe else f"NOT SAFE, {said}", met)


@cache
def _run(problem: Problem) -> Found:
    """Return what a process of its own measures."""
    command = [sys.executable, "-m", "benchmarks.attackers", json.dumps(asdict(problem))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def _measure(problem: Problem) -> Found:
    cz.protect(instance("t20x10"))  # compiled code is loaded before the clock starts
    cz.protect(draw_problem(60, 0.05, 2), gap=1.0)
    given = None if problem.size else public_problem(problem.public, problem.attackers)
    risk = given or draw_problem(problem.size, problem.share, problem.attackers, problem.seed, problem.draw)
    results: list[cz.Protection] = []
    try:
        cost = timed(lambda: results.append(cz.protect(risk, gap=problem.gap, time_limit=problem.limit)))
    except cz.CelosiaError as error:
        print(error, file=sys.stderr)
        return Found(math.inf, 0.0, safe=False, seconds=problem.limit)
    return Found(results[0].cost, results[0].bound, cz.audit(results[0].pattern, risk).safe, cost.cpu)


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(Problem(**json.loads(sys.argv[1]))))))
