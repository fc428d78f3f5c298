"""Many attackers: how soon a table is safe against a hundred of them, and what ten cost beside one.

python -m benchmarks.attackers PROBLEM      one measurement, in a process of its own

A table of 100 x 100 cells with its totals, of which one percent are sensitive and must be protected by a tenth
of their value. Every attacker knows 0 <= y <= 11 a, a part of the cells more closely, each within a share of its own,
and some cells of his own exactly (Salazar 2002, section 3).
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

PART, CLOSENESS, OWN = 0.1, (0.3, 1.0), 20
"""The part of the cells that an attacker knows more closely, within which share of their value he knows them, least and
most, and how many cells he knows exactly. Nobody knows a sensitive cell more closely than its level."""

_LEVEL, _FIRST, _CLOSE, _AIM = 0.1, 30, 120, 60
_TWO_PERCENT, _TWICE, _FEW, _TEN = 0.02, 2.0, 1.0, 10
_PUBLIC = "osorio"


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
    """

    attackers: int
    size: int = 100
    share: float = 0.01
    seed: int = 0
    gap: float = 0.0
    limit: float = 600.0


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


def draw_problem(size: int, share: float, attackers: int, seed: int = 0) -> Risk:
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
        attackers=_draw_attackers(value, level, attackers, seed),
    )


def _draw_attackers(
    value: NDArray[np.float64], level: NDArray[np.float64], number: int, seed: int
) -> tuple[Attacker, ...]:
    """Return attackers with bounds of their own in whole numbers, which leave every level open."""
    found = []
    for who in range(number):
        rng = np.random.default_rng([seed, who])
        near = np.where(rng.random(len(value)) < PART, rng.uniform(*CLOSENESS, len(value)), np.inf)
        near[rng.choice(np.flatnonzero(level == 0), OWN, replace=False)] = 0.0
        down = np.where(near < np.inf, np.minimum(near, 1.0) * value, value)
        up = np.where(near < np.inf, near * value, 10.0 * value)
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
    narrow = _draw_attackers(value, np.ceil(level), attackers - 1, 0)
    return replace(risk, attackers=(known, *(Attacker.together([known, one], one.name) for one in narrow)))


@benchmark("attackers")
def attackers(*, smoke: bool) -> list[Row]:
    """Measure first safe patterns and gaps against many attackers, and what ten cost beside one."""
    if smoke:
        found = _run(Problem(3, size=8, share=0.05))
        return [Row("8 x 8 cells, three attackers", "a safe pattern", str(found), found.safe)]
    rows = []
    for number in (1, 10, 100):
        for seed in (0, 1):
            what = f"100 x 100 cells, 1 % sensitive, {number} attackers, seed {seed}"
            first = _run(Problem(number, seed=seed, gap=1.0))
            rows.append(
                Row(f"{what}: first", f"safe in {_FIRST} s", str(first), first.safe and first.seconds <= _FIRST)
            )
            close = _run(Problem(number, seed=seed, gap=_TWO_PERCENT))
            met = close.safe and close.gap <= _TWO_PERCENT and close.seconds <= _CLOSE
            rows.append(Row(f"{what}: close", f"2 % in {_CLOSE} s (aim: {_AIM})", str(close), met))
    for gap, said in ((1.0, "first safe pattern"), (_TWO_PERCENT, "within 2 %")):
        one, ten = (_run(Problem(number, gap=gap)) for number in (1, _TEN))
        ratio = ten.seconds / one.seconds
        rows.append(Row(f"ten attackers against one, {said}", "at most twice", f"{ratio:.2f} times", ratio <= _TWICE))
    if public_problem(_PUBLIC, 1) is not None:
        one, ten = (_run(Problem(number, size=0)) for number in (1, _TEN))
        met = ten.safe and ten.seconds <= max(_TWICE * one.seconds, _FEW)
        what = f"{_PUBLIC} of CSPLIB, ten attackers against one"
        rows.append(Row(what, f"at most twice, or {_FEW:g} s", f"{one}; {ten}", met))
    return rows


@cache
def _run(problem: Problem) -> Found:
    """Return what a process of its own measures."""
    command = [sys.executable, "-m", "benchmarks.attackers", json.dumps(asdict(problem))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def _measure(problem: Problem) -> Found:
    cz.protect(instance("t20x10"))  # compiled code is loaded before the clock starts
    cz.protect(draw_problem(60, 0.05, 2), gap=1.0)
    given = None if problem.size else public_problem(_PUBLIC, problem.attackers)
    risk = given or draw_problem(problem.size, problem.share, problem.attackers, problem.seed)
    results: list[cz.Protection] = []
    try:
        cost = timed(lambda: results.append(cz.protect(risk, gap=problem.gap, time_limit=problem.limit)))
    except cz.CelosiaError as error:
        print(error, file=sys.stderr)
        return Found(math.inf, 0.0, safe=False, seconds=problem.limit)
    return Found(results[0].cost, results[0].bound, cz.audit(results[0].pattern, risk).safe, cost.cpu)


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(Problem(**json.loads(sys.argv[1]))))))
