"""Small tables with respondents whose amounts are as large as those of a national economy, beside single units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia import Hierarchy, Pattern, PPercent, PriorPosterior, Table, assess, tabulate
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.suppressed import Suppressed
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.table.fixed import Fixed

SIZES: dict[str, tuple[float, float, int]] = {
    "millions with cents": (5.0, 8.0, 2),
    "up to 1e12 with cents": (-2.0, 12.0, 2),
    "about 1e12 with cents": (10.0, 12.0, 2),
    "up to 1e14 in units": (0.0, 14.0, 0),
    "about 1e14 in units": (12.5, 14.0, 0),
}
"""Powers of ten between which contributions lie, and their decimals."""

RULES: list[tuple[RespondentRule, ...]] = [
    (PPercent(10), PPercent(5, coalition=2)),
    (PPercent(10), PPercent(12.5, by="respondent")),
    (PriorPosterior(10, 40), PPercent(5, coalition=2)),
]


@dataclass(frozen=True, eq=False)
class LargeCase:
    """A table, a release of it, and by which rules respondents are protected."""

    table: Table
    pattern: Pattern
    rules: tuple[RespondentRule, ...]


def large_case_of(seed: int) -> LargeCase:
    """Return the case of a seed: two or three dimensions, perhaps a hierarchy, firms in several cells and holdings."""
    rng = np.random.default_rng(seed)
    low, high, decimals = list(SIZES.values())[rng.integers(len(SIZES))]
    table = _table(rng, low, high, decimals)
    rules = RULES[rng.integers(len(RULES))]
    return LargeCase(table, _release(rng, table, rules), rules)


def _table(rng: np.random.Generator, low: float, high: float, decimals: int) -> Table:
    sizes = [[2, 3], [3, 3], [2, 2, 2], [2, 3, 2]][rng.integers(4)]
    names = ["a", "b", "c"][: len(sizes)]
    lines: list[tuple[object, ...]] = []
    for leaf in np.ndindex(*sizes):
        for _ in range(int(rng.choice([1, 2, 2, 3]))):
            lines.append((*map(str, leaf), _amount(rng, low, high, decimals), f"f{len(lines)}"))
    frame = pl.DataFrame(lines, schema=[*names, "v", "firm"], orient="row")
    if rng.random() < 0.5:  # firms in several cells
        of_two = [f"f{k // 2}" if k < len(lines) // 3 else f"f{k}" for k in rng.permutation(len(lines)).tolist()]
        frame = frame.with_columns(firm=pl.Series(of_two))
    options: dict[str, object] = {}
    if rng.random() < 0.4:
        firms = sorted(set(frame["firm"].to_list()))
        owner = {name: f"g{k // 2}" if k < len(firms) // 3 else f"g{k}" for k, name in enumerate(firms)}
        frame = frame.with_columns(group=pl.Series([owner[name] for name in frame["firm"].to_list()]))
        options["holding"] = "group"
    if sizes[0] == 3 and rng.random() < 0.5:
        options["hierarchies"] = {"a": Hierarchy.from_dict({"x": {"0": {}, "1": {}}, "2": {}})}
    return tabulate(frame, by=names, value="v", respondent="firm", contributions=True, **options)  # type: ignore[arg-type]


def _amount(rng: np.random.Generator, low: float, high: float, decimals: int) -> float:
    """Return a contribution; every seventh is round, so that there are ties."""
    if rng.random() < 1 / 7:
        return float(10 ** int(rng.integers(max(int(low), 0), int(high))))
    return max(round(float(10 ** rng.uniform(low, high)), decimals), 10.0**-decimals)


def _release(rng: np.random.Generator, table: Table, rules: tuple[RespondentRule, ...]) -> Pattern:
    """Return a release in which sensitive cells and others are hidden, or published as ranges."""
    drawn = rng.random(len(table)) < rng.choice([0.2, 0.5, 0.8])
    if rng.random() < 0.9:
        drawn |= assess(table, *rules).sensitive
    hidden = np.flatnonzero(drawn)
    ranged = hidden[rng.random(len(hidden)) < rng.choice([0.0, 0.4, 1.0])]
    hidden = np.setdiff1d(hidden, ranged)
    modes: list[Mode] = []
    if len(ranged):
        modes.append(Interval(ranged, *_ends(rng, table, ranged), table=table))
    if len(hidden):
        modes.append(Suppressed(hidden, table))
    return Pattern.of(table, *modes)


def _ends(rng: np.random.Generator, table: Table, cells: NDArray[np.int64]) -> tuple[Fixed, Fixed]:
    """Return ends of ranges: a round share of the value away from it, or a unit more or less than that."""
    counts = table.amounts.counts[cells]
    shares = rng.choice([1, 5, 10, 20, 50], len(cells))
    widths = [np.maximum(counts // 100 * shares + rng.integers(-1, 2, len(cells)), least) for least in (0, 1)]
    return Fixed(counts - widths[0], table.decimals), Fixed(counts + widths[1], table.decimals)
