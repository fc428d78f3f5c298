"""Large tables: how soon there is a safe pattern, how good it is after a while, and how much memory that takes.

python -m benchmarks.scale TABLE SECONDS      one measurement, in a process of its own

Seconds are those of the processor, also for the limit, and count from the call of `protect`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import celosia as cz
from benchmarks.instances import FAMILIES, instance
from benchmarks.processor_clock import processor_seconds
from benchmarks.registry import Row, benchmark
from benchmarks.scale_tables import SHAPES, Shape, assess_shape

_SMOKE = Shape(((3, 3), (4,), (3,)), 8.0)


@dataclass(frozen=True, slots=True)
class Found:
    """What came out: the cost is None where there is no pattern; then `why` says why."""

    cells: int
    sensitive: int
    cost: float | None
    bound: float
    share: float
    hidden: int
    first: float | None
    seconds: float
    peak: float
    why: str = ""

    @property
    def gap(self) -> float:
        """How much of the cost is not proved to be needed."""
        return 1.0 if self.cost is None else 1 - self.bound / self.cost

    @property
    def secondary(self) -> float:
        """Which part of the cells is hidden to protect others."""
        return (self.hidden - self.sensitive) / self.cells

    def __str__(self) -> str:
        if self.cost is None:
            return f"none in {self.seconds:.0f} s: {self.why}; {self.peak:,.0f} MB"
        first = "" if self.first is None else f", first after {self.first:.1f} s"
        return (
            f"cost {self.cost:,.10g}, {self.share:.2%} of all, bound {self.bound:,.10g}, gap {self.gap:.1%}; "
            f"{self.sensitive:,} sensitive and {self.secondary:.1%} more of {self.cells:,} cells hidden; "
            f"{self.seconds:.1f} s{first}; {self.peak:,.0f} MB"
        )


@benchmark("scale")
def scale(*, smoke: bool) -> list[Row]:
    """Measure large tables."""
    rows = []
    for row in _smoke() if smoke else _all():
        print(f"  {row.what}: {row.measured}", flush=True)
        rows.append(row)
    return rows


def _smoke() -> Iterator[Row]:
    found = _protect(assess_shape(_SMOKE), 5.0)
    yield Row("a small table", "safe", str(found), found.cost is not None)


def _all() -> Iterator[Row]:
    yield from _cost("big2", 15, 4_883_653, 250)
    yield from _cost("huge", 60, 8_654_938, 600)
    mega = _run("mega", 300)
    yield _first("mega", mega, 30)
    yield Row("mega, 2-D, 300 s", "gap at most 3 %", str(mega), mega.gap <= 0.03)
    big1 = _run("big1", 120)
    yield _first("big1", big1, 2)
    yield Row("big1, 3-D, 120 s", "gap at most 30 % (aim: 10 %)", str(big1), big1.gap <= 0.30)
    four44 = _run("four44", 60)
    yield _first("four44", four44, 2)
    met = four44.cost is not None and four44.share <= 0.0055
    yield Row("four44, 4-D, 60 s", "at most 0.55 % of all costs (aim: 0.45 %)", str(four44), met)
    yield from _sparse("f792", "4-D", 30, 120, 0.30)
    yield from _sparse("five1m", "5-D", 60, 300, 0.25)


def _cost(name: str, limit: float, most: float, megabytes: float) -> Iterator[Row]:
    found = _run(name, limit)
    met = found.cost is not None and found.cost <= most and found.peak <= megabytes
    yield Row(f"{name}, 2-D, {limit:g} s", f"cost at most {most:,} (HiTaS), {megabytes:g} MB", str(found), met)


def _first(name: str, found: Found, seconds: float) -> Row:
    met = found.first is not None and found.first <= seconds
    measured = "none" if found.first is None else f"{found.first:.1f} s"
    return Row(f"{name}, first safe pattern", f"{seconds:g} s", measured, met)


def _sparse(name: str, dimensions: str, soon: float, later: float, most: float) -> Iterator[Row]:
    quick = _run(name, soon)
    what = f"{name}, {dimensions}, {SHAPES[name].n_cells:,} cells with the empty ones"
    yield Row(f"{what}, {soon:g} s", "safe and checked", str(quick), quick.cost is not None)
    found = _run(name, later)
    target = f"at most {100 * most:g} % of the other cells hidden, 4 GB"
    met = found.cost is not None and found.secondary <= most and found.peak <= 4096
    yield Row(f"{what}, {later:g} s", target, str(found), met)


def _run(name: str, limit: float) -> Found:
    """Return what a measurement in a process of its own finds."""
    command = [sys.executable, "-m", "benchmarks.scale", name, str(limit)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def _protect(risk: cz.Risk, limit: float) -> Found:
    with processor_seconds():
        result, why = None, ""
        try:
            result = cz.protect(risk, cz.Suppress(cost="value"), time_limit=limit)
        except (cz.CelosiaError, MemoryError) as error:
            why = type(error).__name__
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    n, sensitive = len(risk), int(risk.sensitive.sum())
    if result is None or not result.safe:
        return Found(n, sensitive, None, 0.0, 0.0, 0, None, limit, peak, why or "not safe")
    first = next((seconds for seconds, cost, _, _ in result.trace if cost is not None), None)
    hidden = sensitive + len(result.secondary)
    share = result.cost / float(risk.cost.sum())
    return Found(n, sensitive, result.cost, result.bound, share, hidden, first, result.seconds, peak)


def main() -> None:
    """Print one measurement."""
    name, limit = sys.argv[1], float(sys.argv[2])
    risk = instance(name) if name in FAMILIES else assess_shape(SHAPES[name])
    print(json.dumps(asdict(_protect(risk, limit))))


if __name__ == "__main__":
    main()
