"""How close attackers come: their intervals beside what is required, in multiples of it.

The reach of an interval below the truth is measured in lower levels, above it in upper levels; where only the width is
required, in halves of it. What is required then goes from -1 to 1, whatever the cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.result import Audit


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """The intervals of sensitive cells against what is required, one entry a requirement, the tightest first.

    Parameters
    ----------
    cells, attackers
        Places in the table and in the list of attackers, ``(k,)`` each.
    below, above
        The ends of the interval in multiples of what is required, ``(k,)`` each; infinite where there is none.
    ratio
        How much of what is required is there, ``(k,)``: from 1 on the requirement is met.
    lower, upper
        The ends themselves, ``(k,)`` each.
    exact
        The intervals are followed to their ends, and not only as far as is required.
    """

    cells: NDArray[np.int64]
    attackers: NDArray[np.int64]
    below: NDArray[np.float64]
    above: NDArray[np.float64]
    ratio: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    exact: bool

    def __len__(self) -> int:
        return len(self.cells)

    def first(self, most: int) -> Margins:
        """Return the tightest ones."""
        return Margins(
            self.cells[:most],
            self.attackers[:most],
            self.below[:most],
            self.above[:most],
            self.ratio[:most],
            self.lower[:most],
            self.upper[:most],
            self.exact,
        )


def margins(audit: Audit) -> Margins:
    """Return how close attackers come to the sensitive cells of an audit.

    Where the audit has intervals these are taken, to their ends; else what the verdicts rest on, which is followed only
    as far as the requirements go.
    """
    ends = {(one.cell, one.attacker): (one.lower, one.upper) for one in audit.intervals}
    rows = []
    for verdict in audit.verdicts:
        wanted, finding = verdict.requirement, verdict.finding
        lower, upper = ends.get((wanted.cell, wanted.attacker), (finding.lower, finding.upper))
        truth = audit.risk.table.amounts.fraction(wanted.cell)
        down = math.inf if lower is None else float(truth - lower)
        up = math.inf if upper is None else float(upper - truth)
        levels = (float(wanted.lower), float(wanted.upper), float(wanted.sliding))
        rows.append((wanted.cell, wanted.attacker, *_scale(down, up, *levels), truth - down, truth + up))
    found = sorted(rows, key=lambda row: (row[4], row[0], row[1]))
    columns = [np.array(column) for column in zip(*found, strict=True)] or [np.zeros(0)] * 7
    cells, attackers, below, above, ratio, low, high = columns
    return Margins(
        cells.astype(np.int64),
        attackers.astype(np.int64),
        below.astype(np.float64),
        above.astype(np.float64),
        ratio.astype(np.float64),
        low.astype(np.float64),
        high.astype(np.float64),
        exact=len(audit.intervals) > 0,
    )


def _scale(down: float, up: float, lower: float, upper: float, sliding: float) -> tuple[float, float, float]:
    """Return the reach below and above in multiples of what is required, and how much of it is there."""
    parts = [reach / level for reach, level in ((down, lower), (up, upper), (down + up, sliding)) if level]
    half = sliding / 2
    left, right = lower or upper or half, upper or lower or half
    return -down / (left or 1.0), up / (right or 1.0), min(parts, default=0.0)
