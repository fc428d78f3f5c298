"""The audit beside the plain way: two linear programs from scratch for each of a sample of the same questions.

Patterns hide all sensitive cells and a random share of the others, or are those of a protection. Both ways must agree
on the sample.

python -m benchmarks.audit NUMBER      one measurement, in a process of its own
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import celosia as cz
from benchmarks.instances import drawn, instance
from benchmarks.measure import timed
from benchmarks.plain import TOLERANCE, Plain
from benchmarks.registry import Row, benchmark
from celosia.attack.findings import MET, MISSED
from celosia.attack.result import Audit
from celosia.attack.system.decomposition import decompose
from celosia.pattern.entries import SHOWN
from celosia.risk.risk import SAFE, Levels, Risk
from celosia.table.fixed import Fixed

_LINEAR = 1.5  # how much more a cell may cost in a table ten times as large
_REQUIREMENTS, _SECONDS = 10_000, 10
_PATIENCE, _MEMORY = 1_800, 8  # seconds and gigabytes for a case


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured.

    Parameters
    ----------
    name
        What the table of results calls it.
    problem
        Makes the table.
    share
        The share of the other cells that is hidden too.
    protected
        Seconds for `celosia.protect`, whose pattern is audited instead.
    leaves
        Only leaf cells are hidden on top of the sensitive ones, so that components stay inside the lowest blocks.
    intervals
        Ask for the interval of every hidden cell, and not only for the verdicts on the sensitive ones.
    sample
        How many of the questions the plain way answers.
    speed
        How many cells a second are promised.
    ratio, aim
        How many times faster than the plain way is promised, and is hoped for.
    repeats
        The cheapest of so many runs counts.
    """

    name: str
    problem: Callable[[], Risk]
    share: float = 0.3
    protected: float | None = None
    leaves: bool = False
    intervals: bool = False
    sample: int = 20
    speed: int | None = None
    ratio: int | None = None
    aim: int | None = None
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out.

    Parameters
    ----------
    cells
        About how many cells there were questions.
    seconds
        CPU time of the audit.
    plain
        CPU time of the plain way for one cell.
    compared, agreed
        How many cells were asked about in both ways, and about how many both say the same.
    undecided
        How many of all answers say *not shown safe*, or are not proved to be exact.
    memory
        By how many megabytes the audit raised the largest memory of the process.
    largest
        How many cells the largest component has.
    """

    cells: int
    seconds: float
    plain: float
    compared: int
    agreed: int
    undecided: int
    memory: float = 0.0
    largest: int = 0

    @property
    def speed(self) -> float:
        """Cells a second."""
        return self.cells / self.seconds

    @property
    def ratio(self) -> float:
        """How many times faster than the plain way the audit is."""
        return self.plain * self.speed


_TOY = ((2, 10), (2, 9))
_TENTHS = {"mega": ((10, 10, 10), (10, 9)), "net": ((10, 100), (98,))}

_SMOKE = (
    Case("blocks of 10 x 9", lambda: drawn(_TOY), leaves=True, intervals=True, sample=3),
    Case("t20x10", lambda: instance("t20x10"), intervals=True, sample=3),
    Case("hh1", lambda: instance("hh1"), sample=3),
    Case("d3a", lambda: instance("d3a"), intervals=True, sample=3),
)
"""Also what is run before the clock starts."""

_LINES = (
    (
        Case(
            "mega / 10",
            lambda: drawn(_TENTHS["mega"]),
            0.1,
            leaves=True,
            intervals=True,
            sample=5,
            speed=200_000,
            repeats=7,
        ),
        Case("mega", lambda: instance("mega"), 0.1, leaves=True, intervals=True, sample=2, speed=200_000, repeats=7),
    ),
    (
        Case("net6 / 10", lambda: drawn(_TENTHS["net"]), 0.0, intervals=True, sample=5, speed=200_000, repeats=7),
        Case("net6", lambda: instance("net6"), 0.0, intervals=True, sample=2, speed=200_000, repeats=7),
    ),
)
"""The same structure at two sizes."""

_CASES = (
    Case("big2", lambda: instance("big2"), leaves=True, intervals=True, speed=200_000, repeats=7),
    Case("mega / 100", lambda: drawn(((10, 10), (10, 9))), protected=120, intervals=True, speed=200_000, repeats=7),
    Case("t100x100", lambda: instance("t100x100"), intervals=True, speed=3_000),
    Case("big2 sparse", lambda: instance("big2", sparse=True), 0.1, ratio=100, repeats=3),
    Case("big2 sparse", lambda: instance("big2", sparse=True), ratio=100, sample=10),
    Case("hh2", lambda: instance("hh2"), ratio=100, repeats=3),
    Case("d3b", lambda: instance("d3b"), ratio=10, aim=100),
    Case("d3b", lambda: instance("d3b"), intervals=True, ratio=10, aim=100),
    Case("big1", lambda: instance("big1"), 0.35, sample=10, ratio=10, aim=100),
    Case("big1", lambda: instance("big1"), 0.1, intervals=True, sample=10, ratio=10, aim=100),
)


_APART = (*(case for line in _LINES for case in line), *_CASES)


@benchmark("audit")
def audit(*, smoke: bool) -> list[Row]:
    """Measure intervals and verdicts beside the plain way, and how long a certificate takes to verify."""
    if smoke:
        return [*(row_of(case, measured(case)) for case in _SMOKE), *_certificate(drawn(_TOY), 100)]
    rows: list[Row] = []
    for small, large in _LINES:
        both = apart(small), apart(large)
        rows += [row_of(small, both[0]), row_of(large, both[1]), _linear(small, large, *both)]
    rows += [row_of(case, apart(case)) for case in _CASES]
    return rows + _certificate(drawn(_TENTHS["mega"]), _REQUIREMENTS)


def apart(case: Case) -> Measured | None:
    """Return what a process of its own measures; None where it fails or takes too much time or memory."""
    command = [sys.executable, "-m", "benchmarks.audit", str(_APART.index(case))]
    try:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=_PATIENCE)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def measured(case: Case) -> Measured:
    """Return what a case costs in both ways."""
    risk = case.problem()
    hidden = pattern(risk, case.share, leaves=case.leaves) if case.protected is None else _safe(risk, case.protected)
    release = cz.publish(cz.Pattern.hide(risk.table, hidden))
    found: list[Audit] = []
    before = timed(lambda: None).peak

    def step() -> None:
        found[:] = [cz.audit(release, risk, intervals=case.intervals)]  # of several runs only the last is kept

    cost = timed(step, case.repeats)
    cells = np.flatnonzero(hidden if case.intervals else risk.sensitive)
    rng = np.random.default_rng(len(cells))
    places = np.sort(rng.choice(len(cells), min(case.sample, len(cells)), replace=False))
    plain, seconds = Plain.of(risk.table, hidden, risk.attackers[0]).reaches(cells[places])
    agree = agreeing_intervals if case.intervals else agreeing_verdicts
    if case.intervals:
        undecided = sum(not finding.exact for finding in found[-1].intervals)
    else:
        undecided = sum(verdict.result not in {MET, MISSED} for verdict in found[-1].verdicts)
    agreed = int(agree(found[-1], places, plain).sum())
    memory = cost.peak - before
    largest = int(np.diff(decompose(found[-1].systems[0]).starts).max(initial=0))
    return Measured(len(cells), cost.cpu, seconds / len(places), len(places), agreed, undecided, memory, largest)


def _safe(risk: Risk, seconds: float) -> NDArray[np.bool_]:
    """Return which cells the best suppression hides that is found in so many seconds."""
    return np.asarray(cz.publish(cz.protect(risk, cz.Suppress(), time_limit=seconds)).status != SHOWN)


def pattern(risk: Risk, share: float, *, leaves: bool = False) -> NDArray[np.bool_]:
    """Return which cells are hidden: all sensitive ones and a random share of the others, the same every time."""
    others = risk.status == SAFE
    if leaves:
        matrix = risk.table.relations.matrix
        others[matrix.indices[matrix.data < 0]] = False
    return np.asarray(risk.sensitive | (others & (np.random.default_rng(1).random(len(risk)) < share)))


def agreeing_intervals(found: Audit, places: NDArray[np.int64], plain: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for which places in the list of intervals the plain way finds the same, ``(k,)``."""
    findings = [found.intervals[place] for place in places.tolist()]
    truth = [found.risk.table.amounts.fraction(finding.cell) for finding in findings]
    ours = [
        (np.inf if one.lower is None else float(a - one.lower), np.inf if one.upper is None else float(one.upper - a))
        for one, a in zip(findings, truth, strict=True)
    ]
    return np.asarray((np.abs(np.array(ours) - plain) <= TOLERANCE * (1 + np.abs(plain))).all(axis=1))


def agreeing_verdicts(found: Audit, places: NDArray[np.int64], plain: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for which places in the list of verdicts the plain way does not say otherwise, ``(k,)``.

    Where it cannot tell, being no more exact than its solver, it does not; *not shown safe* is no verdict.
    """
    agreed = []
    for place, (down, up) in zip(places.tolist(), plain.tolist(), strict=True):
        wanted, result = found.verdicts[place].requirement, found.verdicts[place].result
        spare = min(down - float(wanted.lower), up - float(wanted.upper), down + up - float(wanted.sliding))
        slack = TOLERANCE * (1 + down + up)
        agreed.append({MET: spare >= -slack, MISSED: spare <= slack}.get(result, False))
    return np.array(agreed, dtype=bool)


def row_of(case: Case, got: Measured | None) -> Row:
    """Return the line of a case: its target is met only if both ways agree and nothing stays open."""
    also = f" and {case.share:.0%} of the other {'leaves' if case.leaves else 'cells'}" if case.share else ""
    hidden = f"sensitive cells{also} hidden" if case.protected is None else f"protected in {case.protected:g} s"
    what = f"{'intervals' if case.intervals else 'verdicts'} of {case.name}, {hidden}"
    targets = [
        *([f"at least {case.speed:,} cells a second"] if case.speed else []),
        *([f"at least {case.ratio} times the plain way"] if case.ratio else []),
        *([f"(aim: {case.aim})"] if case.aim else []),
    ]
    if got is None:
        said = f"no answer: it failed, or took over {_PATIENCE} s or {_MEMORY} GB"
        return Row(what, " ".join(targets), said, met=False)
    parts = f"components of up to {got.largest:,}"
    ours = f"{got.cells:,} cells ({parts}) in {got.seconds:.3g} s: {got.speed:,.0f} a second"
    plain = f"{got.ratio:,.0f} times the plain way ({1000 * got.plain:.3g} ms a cell)"
    undecided = f"; {got.undecided:,} not decided" if got.undecided else ""
    fast = got.speed >= (case.speed or 0) and got.ratio >= (case.ratio or 0)
    return Row(
        what,
        " ".join(targets),
        f"{ours}, {plain}; {got.agreed} of {got.compared} agree{undecided}; {got.memory:.0f} MB",
        fast and got.agreed == got.compared and not got.undecided if targets else None,
    )


def _linear(small: Case, large: Case, one: Measured | None, other: Measured | None) -> Row:
    growth = np.inf if one is None or other is None else one.speed / other.speed
    what = f"CPU per cell, {large.name} against {small.name}"
    return Row(what, f"linear: at most {_LINEAR}", f"{growth:.2f}", bool(growth <= _LINEAR))


def _certificate(risk: Risk, wanted: int) -> list[Row]:
    """Measure verification where all leaf cells are hidden and so many of the sensitive cells need protection."""
    hidden = pattern(risk, 1.0, leaves=True)
    release = cz.publish(cz.Pattern.hide(risk.table, hidden))
    met = [verdict.requirement.cell for verdict in cz.audit(release, risk).verdicts if verdict.result == MET]
    risk = _only(risk, np.array(met[:wanted], dtype=np.int64))
    audited = cz.audit(release, risk)
    with TemporaryDirectory() as folder:
        path = f"{folder}/proof.json"
        made = timed(lambda: cz.certify(audited).write(path))
        proofs: list[bool] = []
        cost = timed(lambda: proofs.append(cz.verify(path, risk, release).proved))
    n = int(risk.sensitive.sum())
    return [
        Row(f"certify {n:,} requirements, {len(risk):,} cells", "", f"{made.cpu:.2f} s"),
        Row(
            f"verify the certificate of {n:,} requirements, {len(risk):,} cells",
            f"seconds: at most {_SECONDS}",
            f"{cost.cpu:.2f} s, {'proved' if proofs[0] else 'NOT proved'}",
            proofs[0] and cost.cpu <= _SECONDS if n >= _REQUIREMENTS else None,
        ),
    ]


def _only(risk: Risk, cells: NDArray[np.int64]) -> Risk:
    """Return the problem in which only some of the sensitive cells are sensitive."""
    kept = np.zeros(len(risk), dtype=bool)
    kept[cells] = True
    levels = risk.levels
    rest = [Fixed(np.where(kept, part.counts, 0), part.decimals) for part in (levels.lower, levels.upper)]
    return replace(
        risk,
        status=np.where(risk.sensitive & ~kept, SAFE, risk.status),
        levels=Levels(rest[0], rest[1], levels.sliding),
    )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY << 30, _MEMORY << 30))
    for toy in _SMOKE:  # compiled code is loaded before the clock starts
        measured(toy)
    print(json.dumps(asdict(measured(_APART[int(sys.argv[1])]))))
