"""Ends of ranges beside concealed levels: a search puts many of them at the truth, so they are moved outward.

A range that is not sensitive is as narrow as the witnesses of others allow, and where all of these move it to one side
its other end is the truth. Ends are moved outward to steps about as long as the range is wide, from a secret start.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.risk.concealment import draw_start

if TYPE_CHECKING:
    from celosia.protection.intervals.problem import RangeProblem


def conceal_ends(ranges: RangeProblem, slacks: RangeSlacks) -> RangeSlacks:
    """Return ranges whose ends are moved outward, those of sensitive cells excepted, whose levels are concealed.

    Guarantee: no range is narrower than before, so that everything that was safe is.

    Parameters
    ----------
    ranges
        What is to be published.
    slacks
        How far ranges reach.
    """
    problem, table, secret = ranges.problem, ranges.risk.table, ranges.method.secret
    assert secret is not None  # noqa: S101  (levels are concealed by it)
    own = slice(0, problem.n_own)
    wide, free = (slacks.down + slacks.up)[own], ~slacks.no_ranges(problem.cells)[own]
    free &= ~ranges.risk.sensitive[problem.own_cells]
    down, up = slacks.down.copy(), slacks.up.copy()
    scale = 10.0**problem.decimals
    for column in np.flatnonzero((wide > 0) & free).tolist():
        cell = int(problem.own_cells[column])
        truth, name = float(table.values[cell]) * scale, table.label(cell)
        step = 2.0 ** np.floor(np.log2(wide[column]))
        most = ranges.most[column]
        below, above = (draw_start(secret, f"{side} {name}") * step for side in ("below", "above"))
        low, high = truth - down[column], truth + up[column]
        low, high = np.floor((low - below) / step) * step + below, np.ceil((high - above) / step) * step + above
        if high - low <= most:
            down[column], up[column] = max(down[column], truth - low), max(up[column], high - truth)
    return replace(slacks, down=down, up=up)
