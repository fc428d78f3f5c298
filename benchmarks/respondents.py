"""Respondents as attackers: the audit of all pairs beside the paper's program, and patterns that leave nobody exposed.

Tables have the structure of the instances of the same name, some twelve contributors to a leaf cell (the mean of a
geometric distribution, at least one: singletons are common) and lognormal contributions. The rule is p% with p = 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

import celosia as cz
from benchmarks.instances import FAMILIES
from benchmarks.measure import timed
from benchmarks.paper_program import paper_optimum
from benchmarks.registry import Row, benchmark
from celosia.attack.respondents.audit import RespondentAudit
from celosia.risk.risk import Risk
from celosia.solve.registry import backends
from celosia.table.table import Table

_RULE = cz.PPercent(10)
_MEAN = 12.0
_WARM = "t20x10"
_GAP = 0.03


@dataclass(frozen=True, slots=True)
class Promise:
    """How many seconds the audit and the pattern of an instance may take, and how many times the program takes."""

    name: str
    audit: float
    protect: float
    ratio: int | None = None
    sample: int = 6


_PROMISES = (Promise("h1", 5, 40, ratio=50), Promise("hh2", 30, 120))


@benchmark("respondents")
def respondents(*, smoke: bool) -> list[Row]:
    """Measure audits, the ratio to the program of the paper, and patterns."""
    if smoke:
        return _rows(Promise(_WARM, 5, 40, ratio=1, sample=2))
    _rows(Promise(_WARM, 5, 40, ratio=1, sample=1))
    return [row for promise in _PROMISES for row in _rows(promise)]


def drawn(name: str, seed: int = 0) -> Table:
    """Return a table with single contributions."""
    rng = np.random.default_rng(seed)
    branching = FAMILIES[name]
    shape = [int(np.prod(widths)) for widths in branching]
    counts = np.maximum(1, rng.negative_binomial(1.0, 1 / _MEAN, size=int(np.prod(shape))))
    leaf = np.repeat(np.arange(len(counts)), counts)
    columns: dict[str, list[object]] = {
        "value": np.ceil(rng.lognormal(3.0, 1.4, size=len(leaf))).astype(np.int64).tolist(),
        "firm": [f"firm {number}" for number in range(len(leaf))],
    }
    hierarchies = {}
    for axis, (place, widths) in enumerate(zip(np.unravel_index(leaf, shape), branching, strict=True)):
        paths = [_path(f"dim{axis}", int(code), widths) for code in range(shape[axis])]
        columns[f"dim{axis}"] = [paths[int(code)][-1] for code in place]
        if len(widths) > 1:
            hierarchies[f"dim{axis}"] = cz.Hierarchy.from_paths(paths)
    by = [f"dim{axis}" for axis in range(len(shape))]
    return cz.tabulate(pl.DataFrame(columns), by=by, value="value", respondent="firm", hierarchies=hierarchies)


def _path(name: str, code: int, widths: tuple[int, ...]) -> tuple[str, ...]:
    """Return the codes from below the total to a leaf."""
    below = [int(np.prod(widths[level + 1 :])) for level in range(len(widths))]
    return tuple(f"{name}_{level}_{code // size}" for level, size in enumerate(below))


def _rows(promise: Promise) -> list[Row]:
    table = drawn(promise.name)
    risk = cz.assess(table, _RULE, cost="unity", attackers=[cz.Attacker.external(table)])
    plain = cz.protect(risk, cz.Suppress(), gap=_GAP, time_limit=60)
    audits: list[RespondentAudit] = []
    took = min(timed(lambda: audits.append(cz.audit_respondents(plain, rule=_RULE))).cpu for _ in range(3))
    found = audits[0]
    people = found.parts[0].respondents
    leaves = len(people.leaves)
    size = f"{len(table):,} cells, {leaves:,} leaves, {len(people):,} respondents, {found.targets} targets"
    rows = [
        Row(
            f"audit of all pairs, {promise.name}: {size}",
            f"{promise.audit:g} s",
            f"{took:.2f} s; {len(found.open)} open pairs, {found.programs} programs",
            took <= promise.audit,
        )
    ]
    if promise.ratio is not None:
        rows.append(_ratio(promise, promise.ratio, plain, found, took))
    within, exact = (_constructed(risk, gap, 10 * promise.protect) for gap in (_GAP, 0.0))
    return [
        *rows,
        _pattern(within, plain, f"{promise.protect:g} s, gap at most {_GAP:.0%}", promise, _GAP),
        _pattern(exact, plain, f"aim: optimal in {promise.protect:g} s", promise, 0.0),
    ]


@dataclass(frozen=True, slots=True)
class _Constructed:
    """A pattern against respondents, CPU seconds, and whether an audit finds nobody exposed."""

    found: cz.Protection
    seconds: float
    safe: bool


def _constructed(risk: Risk, gap: float, limit: float) -> _Constructed:
    """Return a pattern within a gap."""
    found: list[cz.Protection] = []
    took = timed(
        lambda: found.append(cz.protect(risk, cz.Suppress(), gap=gap, time_limit=limit, respondents=_RULE))
    ).cpu
    return _Constructed(found[0], took, cz.audit_respondents(found[0], rule=_RULE).safe)


def _pattern(made: _Constructed, plain: cz.Protection, target: str, promise: Promise, gap: float) -> Row:
    """Return how long a pattern took, and what it costs beside one for cells alone."""
    found = made.found
    close = "optimal" if found.optimal else f"gap {found.gap:.2%}"
    more = found.cost / plain.cost - 1
    return Row(
        f"pattern safe against every respondent, {promise.name}, unit costs",
        target,
        f"{made.seconds:.1f} s; cost {found.cost:g}, {close}, {more:+.1%} on cells alone",
        made.safe and made.seconds <= promise.protect and found.gap <= gap,
    )


def _open_pairs(found: RespondentAudit) -> list[tuple[int, int]]:
    """Return attacker and target of every open pair by their anonymous numbers, for attackers that work alone."""
    pairs: set[tuple[int, int]] = set()
    for part in found.parts:
        numbers = part.respondents.numbers.tolist()
        for one in part.open:
            who = one.attackers or range(len(numbers))
            pairs |= {(numbers[place], numbers[one.target]) for place in who if place != one.target}
    return sorted(pairs)


def _ratio(promise: Promise, wanted: int, plain: cz.Protection, found: RespondentAudit, took: float) -> Row:
    """Solve the program of the paper for some pairs with attacker and target fixed, open ones among them.

    The pairs that count are the largest respondent of every leaf against the largest of every leaf that is a target:
    the others would make the ratio larger.
    """
    people = found.parts[0].respondents
    numbers, tops = people.numbers, np.asarray(people.sizes.argmax(axis=1)).ravel()
    rng = np.random.default_rng(0)
    open_pairs = _open_pairs(found)
    pairs = [open_pairs[k] for k in rng.permutation(len(open_pairs))[: promise.sample // 2].tolist()]
    while len(pairs) < promise.sample:
        attacker, target = (int(numbers[place]) for place in rng.choice(tops, 2, replace=False))
        pairs.append((attacker, target))
    place = {int(number): k for k, number in enumerate(numbers)}
    verdicts: list[bool] = []

    def solve() -> None:
        for attacker, target in pairs:
            pair = place[attacker], place[target]
            verdicts.append(paper_optimum(plain, rule=_RULE, backend=backends()[0], pair=pair) is not None)

    each = timed(solve).cpu / len(pairs)
    same = verdicts == [pair in set(open_pairs) for pair in pairs]
    total = found.targets * (len(people.leaves) - 1)
    ratio = each * total / took
    said = f"{ratio:,.0f} times ({each:.2f} s a pair, {total:,} pairs{'' if same else '; verdicts DIFFER'})"
    what = f"the paper's program for every pair, attacker and target fixed, {promise.name} ({len(pairs)} pairs tried)"
    return Row(what, f"at least {wanted} times", said, same and ratio >= wanted)
