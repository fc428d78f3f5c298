r"""Whether every draw of a scheme is safe: then nothing is ever refused, and what is published is unbiased.

A draw that fails the audit is refused, and one that is taken because it passes no longer has the distribution of the
scheme: whoever runs it again until it does publishes values that are biased. Only a condition that does not depend on
the draw leaves it unbiased. Of a cell that may be published anywhere between l and h, each time with the reach W,
readers always believe all of

.. math:: h - W \ldots l + W.

Where ranges as narrow as these are safe, against attackers of cells and against respondents, every draw is: it leaves
no less open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.pattern.modes.interval import Interval
from celosia.pattern.pattern import Pattern
from celosia.protection.run import Run
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.table.table import Table
from celosia.table.units import grains_of

Layer = tuple[sp.csr_array, NDArray[np.int64], NDArray[np.int64]]
"""Relations, the totals that follow from them, and their right sides."""

_AUDITS = 3.0  # times what one audit takes are left before another one begins

_TIMES = (2, 3, 4, 5, 6, 8, 10, 15, 20)
"""Multiples of a base that are tried in place of one whose draw is not safe."""


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Between what every cell is published, over all draws, and with which reach.

    Parameters
    ----------
    low, high
        The least and the largest value, in counts, ``(n_cells,)`` each.
    extra
        How many further multiples readers must reckon with, ``(n_cells,)``.
    base
        The base, in counts.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    extra: NDArray[np.int64]
    base: int

    @classmethod
    def of_every_cell(cls, table: Table, base: int) -> Draws:
        """Return the draws in which every cell is rounded to a multiple next to it."""
        truth = np.asarray(table.amounts.counts, dtype=np.int64)
        over = truth % base
        low = truth - over
        return cls(low, low + np.where(over > 0, base, 0), np.zeros(len(truth), dtype=np.int64), base)

    @classmethod
    def of_leaves(cls, table: Table, layers: Sequence[Layer], base: int) -> Draws:
        """Return the draws in which totals are sums of what is rounded by itself, layer after layer of relations."""
        found, grain = cls.of_every_cell(table, base), grains_of(table)
        low, high, parts = found.low, found.high, np.ones(len(table), dtype=np.int64)
        for rows, totals, right in layers:
            more, less = rows.maximum(0), (-rows).maximum(0)
            low[totals] = high[totals] = parts[totals] = 0
            ends = [more @ one - less @ other - right for one, other in ((low, high), (high, low))]
            low[totals], high[totals] = ends
            parts[totals] = rows @ parts
        extra = -(-(parts * (base - grain) + grain) // base) - 1
        return cls(low, high, extra, base)

    def least_pattern(self, table: Table) -> Pattern:
        """Return ranges that readers believe whatever is drawn; cells of which that is the truth alone are shown."""
        truth = np.asarray(table.amounts.counts, dtype=np.int64)
        reach = self.base * (self.extra + 1) - grains_of(table)
        lower, upper = np.minimum(self.high - reach, truth), np.maximum(self.low + reach, truth)
        cells = np.flatnonzero(upper > lower)
        low, high = (Fixed(side[cells], table.decimals) for side in (lower, upper))
        return Pattern.of(table, Interval(cells, low, high))

    def are_all_safe(self, risk: Risk, run: Run) -> bool:
        """Return whether no draw lets anybody come too close, by an audit; False where that is not shown."""
        return audit(self.least_pattern(risk.table), risk, integer=run.integer).safe


def describe_draws(risk: Risk, run: Run, draws: Draws, seconds: float) -> str:
    """Return what the office must know of draws other than the one that was audited, in a sentence.

    Parameters
    ----------
    risk, run
        The table, and how long there is time.
    draws
        All draws.
    seconds
        How long the audit of one took.
    """
    if run.clock.left < _AUDITS * seconds:
        return "Whether every draw would have been safe was not asked: there was no time."
    if draws.are_all_safe(risk, run):
        return "Every draw would have been safe: published values are right on average."
    said = (
        "Not every draw is shown to be safe: a draw that is not is refused, and published values are right on average"
    )
    return f"{said} over all draws, those that are refused among them."


def find_base_of_safe_draws(
    risk: Risk, run: Run, base: int, draws: Callable[[int], Draws], seconds: float
) -> int | None:
    """Return a larger base with which every draw is safe, the smallest of a few multiples; None where none is known.

    Parameters
    ----------
    risk, run, seconds
        As for `describe_draws`.
    base
        The base, in counts.
    draws
        Returns the draws with another one.
    """
    most = int(np.abs(risk.table.amounts.counts).max(initial=0))
    for times in _TIMES:
        larger = base * times
        late = run.clock.left < _AUDITS * seconds
        if late or larger > most or bool((risk.table.relations.right % larger != 0).any()):
            return None
        if draws(larger).are_all_safe(risk, run):
            return larger
    return None
