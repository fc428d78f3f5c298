"""Whether results have changed: a hash of release, cost and bound of some seventy runs, beside the committed ones.

    python -m benchmarks fingerprints [--smoke]

Every run takes seconds and has no time limit, so its result is the same every time; a change of code that is meant to
change none of them can show it. A full run writes `fingerprints.json`; whoever commits a changed line says why in the
changelog, under *Results may differ*.

A run whose optimum is not unique compares verdict, cost and bound only. On another kind of processor sums may be taken
in another order, and among patterns of equal cost another may win: there a different release is shown, and only a
different verdict, cost or bound is a failure. Machines of one name can be of several kinds, so the last of the digits
that are kept may differ everywhere.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import celosia as cz
from benchmarks.instances import counts, drawn, instance
from benchmarks.registry import Row, benchmark
from benchmarks.respondents import drawn as drawn_with_contributions
from celosia.protection.method import Method
from celosia.solve.registry import backends

FILE = Path(__file__).parent / "fingerprints.json"
_WANTED = "as committed"
_DIGITS = 9  # in which costs and bounds are kept
_SAME = 1e-8  # by which part they may differ
_CUBE = ((5,), (4,), (2, 2))
_SQUARE = ((7,), (6,))


@dataclass(frozen=True, slots=True)
class Run:
    """One protection.

    Parameters
    ----------
    name
        Under which its fingerprint is kept.
    risk
        Makes what is protected.
    method
        How it is protected.
    solver
        Which solver searches; None for methods that ask none.
    unique
        Whether only one release has the optimal cost, so that it is compared, too.
    seed
        From which the search draws.
    gap
        At which it ends.
    """

    name: str
    risk: Callable[[], cz.Risk]
    method: Method
    solver: str | None = None
    unique: bool = True
    seed: int = 0
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a run came to: its verdict, cost and bound, and the hash of its release."""

    safe: bool
    cost: float
    bound: float
    release: str


@benchmark("fingerprints")
def fingerprints(*, smoke: bool) -> list[Row]:
    """Compare the results of all runs with the committed ones, of a smoke run those of a few."""
    known, same_processor = _committed()
    every = {run.name: run for run in runs()}
    asked = [*every.values()][:: 8 if smoke else 1]
    found = {run.name: fingerprint_of(run) for run in asked}
    rows = [
        row
        for run in asked
        for row in _compared(run, found[run.name], known.get(run.name), same_processor=same_processor)
    ]
    if not smoke:
        rows += [Row(name, _WANTED, "is not run any more", met=False) for name in known if name not in every]
        if not all(row.met for row in rows):
            _commit(found)
    equal = len(asked) - len({row.what for row in rows} & set(found))
    return [Row(f"{len(asked)} runs", _WANTED, f"{equal} equal", all(row.met for row in rows)), *rows]


def runs() -> Iterator[Run]:
    """Give all runs: every method, both solvers, respondents, hierarchies, linked tables, counts and JJ files."""
    for solver in (backend.name for backend in backends()):
        for name in ("t50x20", "h1", "h2", "h3", "hh1"):
            yield Run(f"suppress {name} {solver}", partial(instance, name), cz.Suppress(), solver)
        yield Run(
            f"suppress unity h1 {solver}", partial(instance, "h1", unity=True), cz.Suppress(), solver, unique=False
        )
        yield Run(f"suppress sliding t50x20 {solver}", partial(instance, "t50x20", sliding=True), cz.Suppress(), solver)
        yield Run(f"suppress cube {solver}", partial(drawn, _CUBE, 1), cz.Suppress(), solver, unique=False)
        yield Run(f"suppress hh2 {solver}", partial(instance, "hh2"), cz.Suppress(), solver, gap=0.02)
        yield Run(f"suppress sparse {solver}", partial(instance, "h1", sparse=True), cz.Suppress(), solver)
        yield Run(
            f"suppress counts {solver}", partial(counts, "t20x10", levels=True), cz.Suppress(), solver, unique=False
        )
        yield Run(f"suppress wishes {solver}", partial(instance, "t20x10"), _wishes(), solver)
        yield Run(f"suppress few {solver}", partial(instance, "t20x10", 2), cz.Suppress(at_most=40), solver)
        yield Run(f"suppress jj {solver}", lambda: _through_jj(instance("t20x10", 3)), cz.Suppress(), solver)
        yield Run(f"suppress linked {solver}", linked, cz.Suppress(), solver)
        yield Run(f"suppress firms {solver}", firms, cz.Suppress(), solver)
        yield Run(f"suppress firms of groups {solver}", firms_of_groups, cz.Suppress(), solver)
        yield Run(f"suppress frequencies {solver}", frequencies, cz.Suppress(), solver, unique=False)
        yield Run(f"suppress more firms {solver}", more_firms, cz.Suppress(), solver, gap=0.02)
        yield Run(f"intervals firms {solver}", firms, _INTERVALS["intervals"], solver, unique=False)
        for how in ("combined", "mixed"):
            yield Run(f"{how} firms {solver}", firms, _BY_RANGES[how], solver, gap=0.05, unique=False)
        for how, method in _BY_RANGES.items():
            yield Run(f"{how} square {solver}", partial(drawn, _SQUARE, 4), method, solver, unique=False)
        for how, method in _BY_NUMBERS.items():
            yield Run(f"{how} {solver}", partial(counts, "t50x20", levels=True), method, solver, unique=False)
    yield Run("suppress another seed", partial(instance, "h2", 1), cz.Suppress(), seed=7)
    hundreds = cz.Intervals(base=100, secret=1, conceal=False)
    yield Run("intervals in hundreds", partial(instance, "t20x10"), hundreds, unique=False)
    for how, method in _INTERVALS.items():
        for name in ("t20x10", "h1"):
            yield Run(f"{how} {name}", partial(instance, name), method, unique=False)
    yield Run("intervals cube", partial(drawn, _CUBE, 2), cz.Intervals(secret=1, conceal=False), unique=False)
    yield Run("intervals linked", linked, cz.Intervals(secret=1, conceal=False), unique=False)
    yield Run("intervals concealed", outsiders, cz.Intervals(secret=1), gap=0.05, unique=False)
    yield Run("combined concealed", outsiders, cz.Combined(levels="sliding", secret=1), gap=0.1, unique=False)
    yield Run("perturb concealed", outsiders, cz.Perturb(500, secret=1), unique=False)
    for how, method in _BY_DISTANCE.items():
        yield Run(how, partial(drawn, _SQUARE, 5), method, unique=False)
    for scheme in ("sensitive", "controlled", "plain"):
        yield Run(f"random round {scheme}", partial(counts, "t20x10"), cz.RandomRound(5, scheme), seed=3)


_BY_RANGES: Mapping[str, Method] = {
    "combined": cz.Combined(secret=1, conceal=False),
    "mixed": cz.Mixed(secret=1, conceal=False),
    "mixed with rounding": cz.Mixed(secret=1, round_base=10, conceal=False),
}
_BY_NUMBERS: Mapping[str, Method] = {"round": cz.Round(5), "perturb": cz.Perturb(8, secret=1, conceal=False)}
_INTERVALS: Mapping[str, Method] = {
    "intervals": cz.Intervals(secret=1, conceal=False),
    "intervals by cuts": cz.Intervals(secret=1, search="cuts", conceal=False),
    "intervals sliding": cz.Intervals(levels="sliding", cost="unity", secret=1, conceal=False),
}
_BY_DISTANCE: Mapping[str, Method] = {
    "adjust": cz.Adjust(),
    "adjust by squares": cz.Adjust(norm=2),
    "adjust with totals": cz.Adjust(totals="grand"),
}


def fingerprint_of(run: Run) -> Fingerprint:
    """Return what a run comes to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        found = cz.protect(run.risk(), run.method, solver=run.solver, seed=run.seed, gap=run.gap)
    release = hashlib.sha256(_file_of(cz.publish(found))).hexdigest()[:16]
    return Fingerprint(bool(found.safe), _rounded(found.cost), _rounded(found.bound), release)


def linked() -> cz.Risk:
    """Return two linked tables with hierarchies, and an amount that is the sum of two."""
    table = cz.tabulate(
        _records(240, 6),
        by=[["branch", "region"], ["branch", "size"]],
        value=["turnover", "home", "abroad"],
        respondent="firm",
        relations=["turnover = home + abroad"],
    )
    return cz.assess(table, cz.PPercent(10))


def firms() -> cz.Risk:
    """Return a table whose contributors attack each other."""
    return cz.assess(drawn_with_contributions("t20x10", 1), cz.PPercent(10))


def outsiders() -> cz.Risk:
    """Return a table of firms whose levels are concealed, attacked by outsiders alone."""
    return cz.assess(drawn_with_contributions("t20x10", 2), cz.PPercent(10), respondents=())


def more_firms() -> cz.Risk:
    """Return a table with a hierarchy whose contributors attack each other."""
    return cz.assess(drawn_with_contributions("h1", 0), cz.PPercent(10))


def firms_of_groups() -> cz.Risk:
    """Return a table in which holdings have firms in several cells, under two rules."""
    table = cz.tabulate(_records(160, 7), by=["branch", "region"], value="turnover", respondent="firm", holding="group")
    return cz.assess(table, cz.PPercent(10), cz.Dominance(1, 80))


def frequencies() -> cz.Risk:
    """Return a table of counts under a frequency rule."""
    return cz.assess(cz.tabulate(_records(200, 8), by=["branch", "region", "size"]), cz.MinFrequency(3))


def _records(n: int, seed: int) -> pl.DataFrame:
    """Return firms, each with a branch, a region, a size, a group and amounts."""
    rng = np.random.default_rng(seed)
    home, abroad = (np.ceil(rng.lognormal(4.0, 1.2, size=n)).astype(np.int64) for _ in range(2))
    return pl.DataFrame(
        {
            "firm": [f"firm {k}" for k in range(n)],
            "group": [f"group {k}" for k in rng.integers(0, n // 2, size=n)],
            "branch": [f"branch {k}" for k in rng.integers(0, 6, size=n)],
            "region": [f"region {k}" for k in rng.integers(0, 5, size=n)],
            "size": [f"size {k}" for k in rng.integers(0, 3, size=n)],
            "home": home,
            "abroad": abroad,
            "turnover": home + abroad,
        }
    )


def _wishes() -> cz.Suppress:
    """Return wishes that bind: the cheapest pattern hides cell 3, and shows cell 100."""
    return cz.Suppress(must_show=[3], must_hide=[100], width_if_hidden={40: 50})


def _through_jj(risk: cz.Risk) -> cz.Risk:
    """Return what a JJ file says of a problem."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.jj"
        cz.write_jj(risk, path)
        return cz.read_jj(path)


def _file_of(release: cz.Release) -> bytes:
    """Return a release as it is written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        cz.write_release(release, path)
        return path.read_bytes()


def _rounded(number: float) -> float:
    """Return a number in as many digits as are compared."""
    return float(f"{number:.{_DIGITS}g}")


def _compared(run: Run, now: Fingerprint, before: Fingerprint | None, *, same_processor: bool) -> Iterator[Row]:
    """Give a row where a fingerprint is not the committed one; it is met where only the release may and does differ."""
    if before is None:
        yield Row(run.name, _WANTED, "is new", met=False)
        return
    changed = [name for name, old in asdict(before).items() if not _is_same(asdict(now)[name], old)]
    if changed:
        said = "; ".join(f"{name} {asdict(before)[name]} -> {asdict(now)[name]}" for name in changed)
        yield Row(run.name, _WANTED, said, met=changed == ["release"] and not (run.unique and same_processor))


def _is_same(now: bool | float | str, before: bool | float | str) -> bool:  # noqa: FBT001  (a verdict)
    """Return whether a figure is the committed one, to within what sums in another order make of it."""
    if isinstance(now, float) and isinstance(before, float):
        return math.isclose(now, before, rel_tol=_SAME)
    return now == before


def _processor() -> str:
    """Return the kind of this processor, as far as the system says."""
    said = Path("/proc/cpuinfo")
    lines = said.read_text("utf-8").splitlines() if said.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return f"{platform.system()} {platform.machine()} {model}"


def _committed() -> tuple[dict[str, Fingerprint], bool]:
    """Return the committed fingerprints, and whether they were taken on a processor of this kind."""
    if not FILE.exists():
        return {}, True
    kept = json.loads(FILE.read_text("utf-8"))
    return {name: Fingerprint(**values) for name, values in kept["runs"].items()}, kept["processor"] == _processor()


def _commit(found: Mapping[str, Fingerprint]) -> None:
    """Write fingerprints."""
    kept = {"processor": _processor(), "runs": {name: asdict(one) for name, one in found.items()}}
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
