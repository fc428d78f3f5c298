"""Small tables with respondents, holdings and releases, drawn at random."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import polars as pl
from hypothesis import reject
from numpy.typing import NDArray

from celosia import (
    Hierarchy,
    InfeasibleError,
    MidpointWarning,
    OutOfTimeError,
    Pattern,
    PPercent,
    PriorPosterior,
    Protection,
    Risk,
    Table,
    assess,
    protect,
    tabulate,
)
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.suppressed import Suppressed
from celosia.protection.method import Method
from celosia.table.fixed import Fixed

MOST_SECONDS = 20


@dataclass(frozen=True, eq=False)
class Case:
    """A table, what is published of it, and what respondents know."""

    table: Table
    pattern: Pattern
    rule: PPercent | PriorPosterior

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Whose contributions they are: holdings' where they are known."""
        said = self.table.contributions
        assert said is not None
        return said.holding


def case_of(seed: int, *, intervals: bool = True, coalition: int = 1) -> Case:
    """Return the case of a seed: two or three dimensions, perhaps a hierarchy, perhaps holdings and negative values."""
    rng = np.random.default_rng(seed)
    table = _table(rng)
    p = int(rng.choice([5, 10, 20]))
    rule = PPercent(p, coalition) if rng.random() < 0.5 else PriorPosterior(p, int(rng.choice([30, 50])), coalition)
    drawn = rng.random(len(table)) < rng.choice([0.2, 0.5, 0.8])
    if rng.random() < 0.8:
        drawn |= assess(table, rule).sensitive
    hidden = np.flatnonzero(drawn)
    modes: list[Mode] = []
    if intervals and rng.random() < 0.5 and len(hidden):
        ranged = hidden[rng.random(len(hidden)) < 0.4]
        hidden = np.setdiff1d(hidden, ranged)
        if len(ranged):
            counts = table.amounts.counts[ranged]
            below, above = rng.integers(0, 30, len(ranged)), rng.integers(1, 30, len(ranged))
            modes.append(Interval(ranged, Fixed(counts - below, 0), Fixed(counts + above, 0), table=table))
    if len(hidden):
        modes.append(Suppressed(hidden, table))
    return Case(table, Pattern.of(table, *modes), rule)


def protected(risk: Risk, method: Method, rule: PPercent | PriorPosterior | None = None) -> Protection | None:
    """Return a protection of respondents, None where there is none.

    Holdings in many cells may take long, so there is a limit; `OutOfTimeError` rejects the case.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MidpointWarning)
        try:
            return protect(risk, method, respondents=rule, time_limit=MOST_SECONDS)
        except InfeasibleError:
            return None
        except OutOfTimeError:
            reject()


def _table(rng: np.random.Generator) -> Table:
    sizes = [[2, 2], [2, 3], [3, 2], [3, 3], [2, 2, 2]][rng.integers(5)]
    names = ["a", "b", "c"][: len(sizes)]
    signed, values = rng.random() < 0.3, [[1, 2, 5, 10], [1, 3, 7, 20, 60, 100]][rng.integers(2)]
    style = int(rng.integers(3))
    lines: list[tuple[object, ...]] = []
    for leaf in np.ndindex(*sizes):
        for _ in range(int(rng.choice([[1, 2], [1, 2, 3], [1, 3, 4]][style]))):
            value = int(rng.choice(values)) * (-1 if signed and rng.random() < 0.3 else 1)
            lines.append((*map(str, leaf), value, f"f{len(lines)}"))
    frame = pl.DataFrame(lines, schema=[*names, "v", "firm"], orient="row")
    if rng.random() < 0.3:  # firms in several cells
        frame = frame.with_columns(
            firm=pl.Series([f"f{k}" for k in rng.integers(0, max(3, len(lines) // 2), len(lines))])
        )
    options: dict[str, object] = {}
    if rng.random() < 0.4:
        groups = rng.integers(0, len(lines), len(lines))
        owner = {name: f"g{groups[k] // 3}" for k, name in enumerate(sorted(set(frame["firm"].to_list())))}
        frame = frame.with_columns(group=pl.Series([owner[name] for name in frame["firm"].to_list()]))
        options["holding"] = "group"
    if sizes[0] == 3 and rng.random() < 0.5:
        options["hierarchies"] = {"a": Hierarchy.from_dict({"x": {"0": {}, "1": {}}, "2": {}})}
    return tabulate(frame, by=names, value="v", respondent="firm", contributions=True, **options)  # type: ignore[arg-type]
