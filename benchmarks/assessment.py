"""Assessing a million cells with three rules."""

from __future__ import annotations

import numpy as np

import celosia as cz
from benchmarks.measure import timed
from benchmarks.registry import Row, benchmark
from celosia.table.dimension import Axis
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.statistics import Contributors, Statistics
from celosia.table.table import Table


@benchmark("assessment")
def assessment(*, smoke: bool) -> list[Row]:
    """Measure `assess` with p%, dominance and frequency."""
    cells = 10_000 if smoke else 1_000_000
    table = _table(cells)
    rules = (cz.PPercent(10), cz.Dominance(2, 85), cz.MinFrequency(3))
    cz.assess(_table(100), *rules)
    cost = timed(lambda: cz.assess(table, *rules), 3)
    sensitive = int(cz.assess(table, *rules).sensitive.sum())
    said = f"{cost.wall:.2f} s wall, {cost.cpu:.2f} s CPU ({sensitive:,} sensitive)"
    return [Row(f"assess {cells:.0e} cells with three rules", "under 2 s", said, cost.wall < 2 if not smoke else None)]


def _table(cells: int) -> Table:
    """Return a flat table of cells with lognormal contributions, ten per cell on average."""
    rng = np.random.default_rng(0)
    count = rng.geometric(0.1, size=cells)
    top = -np.sort(-np.ceil(rng.lognormal(3.0, 1.4, size=(cells, 3))), axis=1).astype(np.int64)
    top[np.arange(3) >= count[:, None]] = 0
    rest = np.where(count > 3, np.ceil(top[:, 2] * 0.4 * np.maximum(count - 3, 0)), 0).astype(np.int64)
    value = top.sum(axis=1) + rest
    labels = ("Total", *(str(k) for k in range(cells)))
    axis = Axis("cell", labels, (0, *([1] * cells)))
    return Table(
        axes=(axis,),
        codes=np.arange(1, cells + 1, dtype=np.int32)[:, None],
        variables=("value",),
        variable=np.zeros(cells, dtype=np.int32),
        amounts=Fixed(value),
        relations=Relations.none(cells),
        statistics=Statistics(Contributors.of_known(count, value, top), None, count, count.astype(np.float64)),
    )
